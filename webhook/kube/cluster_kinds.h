// How the objects of each kind are read and where the builder keeps them. Only for cluster_store.cc. Each kind has:
//   Value; Read(json) -> Result<Value>, called without the lock; Begin, End, Abandon, Put, Remove, size on the builder.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "core/snapshot_builder.h"
#include "wire/decode_cluster.h"

namespace podium {

inline std::string NamespacedKey(const std::string& namespace_name, const std::string& name) {
  return namespace_name + '/' + name;
}

struct PodKind {
  using Value = Pod;
  static Result<Pod> Read(JsonElement json) { return DecodePodObject(json, ""); }
  static void Begin(SnapshotBuilder& builder) { builder.placement().BeginPods(); }
  static void End(SnapshotBuilder& builder) { builder.placement().EndPods(); }
  static void Abandon(SnapshotBuilder& builder) { builder.placement().AbandonPods(); }
  static void Put(SnapshotBuilder& builder, Pod pod) { builder.placement().PutPod(std::move(pod)); }
  static void Remove(SnapshotBuilder& builder, const ObjectName& name) {
    builder.placement().RemovePod(name.namespace_name, name.name);
  }
  static std::size_t Size(SnapshotBuilder& builder) { return builder.placement().pod_count(); }
};

struct NodeKind {
  using Value = Node;
  static Result<Node> Read(JsonElement json) { return DecodeNode(json, ""); }
  static void Begin(SnapshotBuilder& builder) { builder.placement().BeginNodes(); }
  static void End(SnapshotBuilder& builder) { builder.placement().EndNodes(); }
  static void Abandon(SnapshotBuilder& builder) { builder.placement().AbandonNodes(); }
  static void Put(SnapshotBuilder& builder, Node node) { builder.placement().PutNode(std::move(node)); }
  static void Remove(SnapshotBuilder& builder, const ObjectName& name) { builder.placement().RemoveNode(name.name); }
  static std::size_t Size(SnapshotBuilder& builder) { return builder.placement().node_count(); }
};

// A kind with a table of its own. `Self` has T* Draft(builder), Read(json) and Key(value), Key(name).
template <typename Self>
struct TableKind {
  void Begin(SnapshotBuilder& builder) const { self().Draft(builder).BeginList(); }
  void End(SnapshotBuilder& builder) const { self().Draft(builder).EndList(); }
  void Abandon(SnapshotBuilder& builder) const { self().Draft(builder).AbandonList(); }
  template <typename Value>
  void Put(SnapshotBuilder& builder, Value value) const {
    std::string key = self().Key(value);
    self().Draft(builder).Put(std::move(key), std::move(value));
  }
  void Remove(SnapshotBuilder& builder, const ObjectName& name) const {
    self().Draft(builder).Remove(self().Key(name));
  }
  std::size_t Size(SnapshotBuilder& builder) const { return self().Draft(builder).size(); }

 private:
  [[nodiscard]] const Self& self() const { return static_cast<const Self&>(*this); }
};

struct NamespaceKind : TableKind<NamespaceKind> {
  using Value = Namespace;
  static Result<Namespace> Read(JsonElement json) { return DecodeNamespace(json, ""); }
  static TableDraft<Namespace>& Draft(SnapshotBuilder& builder) { return builder.namespaces(); }
  template <typename Named>
  static std::string Key(const Named& named) {
    return named.name;
  }
};

struct ClassKind : TableKind<ClassKind> {
  using Value = PriorityClass;
  static Result<PriorityClass> Read(JsonElement json) { return DecodePriorityClass(json, ""); }
  static TableDraft<PriorityClass>& Draft(SnapshotBuilder& builder) { return builder.classes(); }
  template <typename Named>
  static std::string Key(const Named& named) {
    return named.name;
  }
};

struct BudgetKind : TableKind<BudgetKind> {
  using Value = Pdb;
  static Result<Pdb> Read(JsonElement json) { return DecodePdb(json, ""); }
  static TableDraft<Pdb>& Draft(SnapshotBuilder& builder) { return builder.budgets(); }
  template <typename Named>
  static std::string Key(const Named& named) {
    return NamespacedKey(named.namespace_name, named.name);
  }
};

struct AutoscalerKind : TableKind<AutoscalerKind> {
  using Value = Autoscaler;
  static Result<Autoscaler> Read(JsonElement json) { return DecodeAutoscaler(json, ""); }
  static TableDraft<Autoscaler>& Draft(SnapshotBuilder& builder) { return builder.autoscalers(); }
  template <typename Named>
  static std::string Key(const Named& named) {
    return NamespacedKey(named.namespace_name, named.name);
  }
};

// A Quota does not know its name.
struct NamedQuota {
  ObjectName name;
  Quota quota;
};

struct QuotaKind {
  using Value = NamedQuota;
  static Result<NamedQuota> Read(JsonElement json) {
    Result<ObjectName> name = DecodeObjectName(json, "");
    if (!name) return name.error();
    Result<Quota> quota = DecodeQuota(json, "");
    if (!quota) return quota.error();
    return NamedQuota{std::move(*name), std::move(*quota)};
  }
  static std::string Key(const ObjectName& name) { return NamespacedKey(name.namespace_name, name.name); }
  static void Begin(SnapshotBuilder& builder) { builder.quotas().BeginList(); }
  static void End(SnapshotBuilder& builder) { builder.quotas().EndList(); }
  static void Abandon(SnapshotBuilder& builder) { builder.quotas().AbandonList(); }
  static void Put(SnapshotBuilder& builder, NamedQuota named) {
    builder.quotas().Put(Key(named.name), std::move(named.quota));
  }
  static void Remove(SnapshotBuilder& builder, const ObjectName& name) { builder.quotas().Remove(Key(name)); }
  static std::size_t Size(SnapshotBuilder& builder) { return builder.quotas().size(); }
};

struct WorkloadTableKind : TableKind<WorkloadTableKind> {
  using Value = Workload;
  std::string resource;
  ObjectKind kind;  // of objects that do not say it: built-in ones in a list

  WorkloadTableKind(std::string the_resource, ObjectKind the_kind)
      : resource(std::move(the_resource)), kind(std::move(the_kind)) {}

  // A Deployment keeps ten old ReplicaSets. They are links from a pod to its Deployment, and nothing else is asked of
  // them.
  static void Trim(Workload& workload) {
    const auto controller = std::find_if(workload.owners.begin(), workload.owners.end(),
                                         [](const OwnerReference& owner) { return owner.controller; });
    if (workload.kind != "ReplicaSet" || controller == workload.owners.end() || controller->kind != "Deployment")
      return;
    workload.labels.clear();
    workload.selector.reset();
    workload.pod_template = {};
  }

  [[nodiscard]] Result<Workload> Read(JsonElement json) const {
    Result<Workload> workload = DecodeWorkload(json, "", kind);
    if (!workload) return workload;
    if (workload->kind.empty()) return Error{ErrorKind::kInvalidInput, "/kind: is missing"};
    Trim(*workload);
    return workload;
  }
  [[nodiscard]] TableDraft<Workload>& Draft(SnapshotBuilder& builder) const { return builder.workloads(resource); }
  static std::string Key(const Workload& workload) {
    return WorkloadKey(workload.api_version, workload.kind, workload.namespace_name, workload.name);
  }
  [[nodiscard]] std::string Key(const ObjectName& name) const {
    const ObjectKind& known = name.kind.kind.empty() ? kind : name.kind;
    return WorkloadKey(known.api_version, known.kind, name.namespace_name, name.name);
  }
};

}  // namespace podium
