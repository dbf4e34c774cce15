// Stored workloads, budgets and autoscalers as values. Everything is in namespace "chat".
//
//   Deployed("web").Type("interactive").Replicas(3)
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podium/objects.h"
#include "podium/snapshot.h"

namespace podium::builders {

// A workload whose pods and selector carry app=<name>.
class Stored {
 public:
  Stored(std::string api_version, std::string kind, const std::string& name) {
    workload_.api_version = std::move(api_version);
    workload_.kind = std::move(kind);
    workload_.namespace_name = "chat";
    workload_.name = name;
    workload_.uid = "uid-" + name;
    workload_.replicas = 3;
    workload_.selector = LabelSelector{{{"app", name}}, {}};
    template_.path = "/spec/template";
    template_.has_metadata = true;
    PodLabel("app", name);
  }

  Stored& In(const std::string& namespace_name) {
    workload_.namespace_name = namespace_name;
    return *this;
  }
  Stored& Uid(const std::string& uid) {
    workload_.uid = uid;
    return *this;
  }
  Stored& PodLabel(const std::string& key, const std::string& value) {
    template_.metadata.labels[key] = value;
    template_.metadata.has_labels = true;
    return *this;
  }
  Stored& Type(const std::string& workload_type) { return PodLabel("podium.gpu/workload-type", workload_type); }
  Stored& Class(const std::string& name) {
    template_.spec.trio.class_name = name;
    return *this;
  }
  Stored& Replicas(std::optional<std::int64_t> replicas) {
    workload_.replicas = replicas;
    return *this;
  }
  Stored& Selects(std::optional<LabelSelector> selector) {
    workload_.selector = std::move(selector);
    return *this;
  }
  Stored& OwnedBy(const std::string& api_version, const std::string& kind, const std::string& name) {
    workload_.owners.push_back({api_version, kind, name, true, "uid-" + name});
    return *this;
  }
  Stored& Rollout(const std::string& max_unavailable) {
    workload_.rollout_max_unavailable = max_unavailable;
    return *this;
  }
  Stored& Deleting() {
    workload_.deleting = true;
    return *this;
  }

  [[nodiscard]] Workload Build() const {
    Workload workload = workload_;
    workload.pod_template = template_;
    return workload;
  }

 private:
  Workload workload_;
  PodTemplate template_;
};

inline Stored Deployed(const std::string& name) { return {"apps/v1", "Deployment", name}; }

inline std::string RowKey(const Workload& workload) {
  const std::size_t slash = workload.api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : "." + workload.api_version.substr(0, slash);
  return workload.kind + group + "/" + workload.namespace_name + "/" + workload.name;
}

// A user's own budget for the pods with these labels.
inline Pdb UserBudget(const std::string& name, Labels match_labels) {
  Pdb budget;
  budget.namespace_name = "chat";
  budget.name = name;
  budget.uid = "uid-pdb-" + name;
  budget.selector = LabelSelector{std::move(match_labels), {}};
  budget.max_unavailable = "1";
  return budget;
}

inline Autoscaler Scales(const std::string& kind, const std::string& name, std::int64_t min_replicas) {
  Autoscaler autoscaler;
  autoscaler.namespace_name = "chat";
  autoscaler.name = "hpa-" + name;
  autoscaler.target_api_version = "apps/v1";
  autoscaler.target_kind = kind;
  autoscaler.target_name = name;
  autoscaler.min_replicas = min_replicas;
  return autoscaler;
}

}  // namespace podium::builders
