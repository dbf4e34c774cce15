// AdmissionRequests as values.
//
//   Create(MakePod("asr").Label("batch").Gpus("decode", 1).Gpus("align", 1).FilledIn(policy))
//   Create(MakeWorkload("apps", "Deployment", "chat").Gpus("server", 1))
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podium/admission.h"
#include "rules/classes.h"

namespace podium::builders {

// One pod slot: a Pod (path "") or the template of a workload.
class Slot {
 public:
  explicit Slot(std::string path) {
    slot_.path = std::move(path);
    slot_.has_metadata = true;
  }

  Slot& Label(const std::string& key, const std::string& value) {
    slot_.metadata.labels[key] = value;
    slot_.metadata.has_labels = true;
    return *this;
  }
  Slot& Type(const std::string& workload_type) { return Label("podium.gpu/workload-type", workload_type); }
  Slot& Asks(const std::string& container, const std::string& resource, std::int64_t count) {
    slot_.spec.containers.push_back(Made(container, resource, count));
    return *this;
  }
  Slot& Gpus(const std::string& container, std::int64_t count) { return Asks(container, "nvidia.com/gpu", count); }
  Slot& InitGpus(const std::string& container, std::int64_t count) {
    slot_.spec.init_containers.push_back(Made(container, "nvidia.com/gpu", count));
    return *this;
  }
  Slot& SidecarGpus(const std::string& container, std::int64_t count) {
    InitGpus(container, count);
    slot_.spec.init_containers.back().restart_always = true;
    return *this;
  }
  Slot& Class(const std::string& name) {
    slot_.spec.trio.class_name = name;
    return *this;
  }
  Slot& Priority(std::int64_t value) {
    slot_.spec.trio.priority = value;
    return *this;
  }
  Slot& Preempts(PreemptionPolicy policy) {
    slot_.spec.trio.preemption_policy = policy;
    return *this;
  }
  Slot& Account(const std::string& name) {
    slot_.spec.service_account = name;
    return *this;
  }
  Slot& OwnedBy(const std::string& kind, const std::string& name) {
    const bool batch = kind == "Job" || kind == "CronJob";
    slot_.metadata.owners.push_back({batch ? "batch/v1" : "apps/v1", kind, name, true});
    return *this;
  }
  Slot& Unchanged() {
    slot_.changed = false;
    return *this;
  }
  Slot& WithoutMetadata() {
    slot_.has_metadata = false;
    slot_.metadata = {};
    return *this;
  }
  // What the Priority step of the API server does to a Pod before a webhook sees it.
  Slot& FilledIn(const ClassView& classes) {
    Trio& trio = slot_.spec.trio;
    const PriorityClass* row = trio.class_name ? classes.Find(*trio.class_name) : classes.GlobalDefault();
    if (row != nullptr) trio = {row->name, row->value, row->preemption_policy};
    if (row == nullptr) trio = {trio.class_name, 0, PreemptionPolicy::kPreemptLowerPriority};
    return *this;
  }

  [[nodiscard]] const PodTemplate& Build() const { return slot_; }

 private:
  static Container Made(const std::string& name, const std::string& resource, std::int64_t count) {
    Container container;
    container.name = name;
    if (count > 0) container.limits[resource] = Quantity::FromUnits(count);
    return container;
  }

  PodTemplate slot_;
};

inline Slot MakePod() { return Slot(""); }
inline Slot MakeTemplate() { return Slot("/spec/template"); }

inline AdmissionRequest MakeRequest(GroupVersionKind kind, const std::string& name, AdmissionObject object) {
  AdmissionRequest request;
  request.uid = "6f0e7a52-0b7f-4c1e-9d15-3f6a2c9b3880";
  request.kind = std::move(kind);
  request.name = name;
  request.namespace_name = "nlp-batch";
  request.user = "dana.example";
  object.metadata.name = name;
  request.object = std::move(object);
  return request;
}

inline AdmissionRequest CreatePod(const std::string& name, const Slot& slot) {
  AdmissionObject object;
  object.metadata = slot.Build().metadata;
  object.templates = {slot.Build()};
  return MakeRequest({"", "v1", "Pod"}, name, std::move(object));
}

// CREATE of a workload; `labels` are its own, not its templates'.
inline AdmissionRequest CreateWorkload(const std::string& group, const std::string& kind, const std::string& name,
                                       const std::vector<Slot>& slots, Labels labels = {}) {
  AdmissionObject object;
  object.metadata.has_labels = !labels.empty();
  object.metadata.labels = std::move(labels);
  for (const Slot& slot : slots) object.templates.push_back(slot.Build());
  return MakeRequest({group, "v1", kind}, name, std::move(object));
}

inline AdmissionRequest CreateDeployment(const std::string& name, const Slot& slot, Labels labels = {}) {
  return CreateWorkload("apps", "Deployment", name, {slot}, std::move(labels));
}

inline AdmissionRequest CreateQuota(const std::string& name, Quota quota, Labels labels = {}) {
  AdmissionObject object;
  object.metadata.labels = std::move(labels);
  object.quota = std::move(quota);
  return MakeRequest({"", "v1", "ResourceQuota"}, name, std::move(object));
}

inline Quota MakeQuota(const std::string& key, std::int64_t amount, std::vector<QuotaScopeExpression> scopes = {}) {
  Quota quota;
  quota.hard[key] = Quantity::FromUnits(amount);
  quota.scope_selector = std::move(scopes);
  return quota;
}

// The request of the other direction: `request` as an update of what it was.
inline AdmissionRequest AsUpdate(AdmissionRequest request) {
  request.operation = Operation::kUpdate;
  request.old_object = request.object;
  return request;
}

}  // namespace podium::builders
