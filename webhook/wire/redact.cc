// RedactSnapshot: first every text that is to be hidden is collected, then numbered, then replaced.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/snapshot_builder.h"
#include "wire/snapshot_file.h"

namespace podium {
namespace {

// Of a text with several roles the first one names the pseudonym.
enum class Role { kNamespace, kNode, kName, kUid, kValue };

constexpr std::array<std::pair<Role, std::string_view>, 5> kPrefixes = {{{Role::kNamespace, "namespace-"},
                                                                         {Role::kNode, "node-"},
                                                                         {Role::kName, "name-"},
                                                                         {Role::kUid, "uid-"},
                                                                         {Role::kValue, "value-"}}};

constexpr std::array<std::string_view, 5> kKeptNames = {"", "default", "kube-system", "kube-public", "kube-node-lease"};

// Scheduling and classification look at the values of these.
constexpr std::array<std::string_view, 10> kKeptKeyPrefixes = {"podium.gpu/",
                                                               "nvidia.com/",
                                                               "amd.com/",
                                                               "gpu.intel.com/",
                                                               "beta.kubernetes.io/",
                                                               "kubernetes.io/arch",
                                                               "kubernetes.io/os",
                                                               "node.kubernetes.io/instance-type",
                                                               "feature.node.kubernetes.io/",
                                                               "node-role.kubernetes.io/"};

bool IsKeptKey(std::string_view key) {
  return std::any_of(kKeptKeyPrefixes.begin(), kKeptKeyPrefixes.end(),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}

// No name: a truth value or a small number.
bool SaysNothing(std::string_view value) {
  constexpr std::size_t kShort = 4;
  const bool digits = std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
  return value == "true" || value == "false" || (digits && value.size() <= kShort);
}

// Called for every text that may have to be hidden; the answer stands in its place.
class Pseudonyms {
 public:
  std::string operator()(Role role, const std::string& text) {
    if (std::find(kKeptNames.begin(), kKeptNames.end(), text) != kKeptNames.end()) return text;
    if (const auto found = assigned_.find(text); found != assigned_.end()) return found->second;
    const auto [seen, is_new] = roles_.emplace(text, role);
    if (!is_new && role < seen->second) seen->second = role;
    return text;
  }

  // After this, what was seen so far is replaced.
  void Assign() {
    const std::string widest = std::to_string(roles_.size());
    std::map<Role, std::size_t> last;
    for (const auto& [text, role] : roles_) {
      const std::string number = std::to_string(++last[role]);
      assigned_[text] = Prefix(role) + std::string(widest.size() - number.size(), '0') + number;
    }
  }

 private:
  static std::string Prefix(Role role) {
    for (const auto& [known, prefix] : kPrefixes)
      if (known == role) return std::string(prefix);
    return {};
  }

  std::map<std::string, Role> roles_;  // sorted: numbers follow the alphabet
  std::map<std::string, std::string> assigned_;
};

// A copy of the snapshot, every text passed through `hide_`.
class Copier {
 public:
  explicit Copier(Pseudonyms& hide) : hide_(hide) {}

  ClusterSnapshot Copy(const ClusterSnapshot& snapshot) {
    SnapshotBuilder builder;
    CopyPlacement(snapshot, builder.placement());
    builder.namespaces() = CopyTable(snapshot.namespaces);
    builder.quotas() = CopyTable(snapshot.quotas);
    builder.budgets() = CopyTable(snapshot.budgets);
    builder.autoscalers() = CopyTable(snapshot.autoscalers);
    builder.workloads("") = CopyTable(snapshot.workloads);
    ClusterSnapshot copy = *builder.Build(snapshot.generation, snapshot.taken_at, snapshot.sources);
    copy.classes = snapshot.classes;
    return copy;
  }

 private:
  std::string Name(const std::string& text) { return hide_(Role::kName, text); }
  std::string NamespaceName(const std::string& text) { return hide_(Role::kNamespace, text); }
  std::string Uid(const std::string& text) { return hide_(Role::kUid, text); }
  std::string Value(std::string_view key, const std::string& text) {
    return IsKeptKey(key) || SaysNothing(text) ? text : hide_(Role::kValue, text);
  }

  Labels Copy(Labels labels) {
    for (auto& [key, value] : labels) value = Value(key, value);
    return labels;
  }
  OwnerReference Copy(OwnerReference owner) {
    owner.name = Name(owner.name);
    owner.uid = Uid(owner.uid);
    return owner;
  }
  std::vector<OwnerReference> Copy(std::vector<OwnerReference> owners) {
    for (OwnerReference& owner : owners) owner = Copy(std::move(owner));
    return owners;
  }
  std::optional<LabelSelector> Copy(std::optional<LabelSelector> selector) {
    if (!selector) return selector;
    selector->match_labels = Copy(std::move(selector->match_labels));
    for (SelectorRequirement& requirement : selector->match_expressions)
      for (std::string& value : requirement.values) value = Value(requirement.key, value);
    return selector;
  }
  PodSpec Copy(PodSpec spec) {
    spec.service_account = Name(spec.service_account);
    for (Container& container : spec.containers) container.name = Name(container.name);
    for (Container& container : spec.init_containers) container.name = Name(container.name);
    return spec;
  }
  NodeRequirement Copy(NodeRequirement requirement, bool is_field) {
    for (std::string& value : requirement.values)
      value = is_field ? hide_(Role::kNode, value) : Value(requirement.key, value);
    return requirement;
  }
  NodeSelector Copy(NodeSelector selector) {
    for (NodeSelectorTerm& term : selector.terms) {
      for (NodeRequirement& requirement : term.expressions) requirement = Copy(std::move(requirement), false);
      for (NodeRequirement& requirement : term.fields) requirement = Copy(std::move(requirement), true);
    }
    return selector;
  }
  std::vector<PodAffinityTerm> Copy(std::vector<PodAffinityTerm> terms) {
    for (PodAffinityTerm& term : terms) {
      term.selector = Copy(std::move(term.selector));
      term.namespace_selector = Copy(std::move(term.namespace_selector));
      for (std::string& name : term.namespaces) name = NamespaceName(name);
    }
    return terms;
  }
  SchedulingSpec Copy(SchedulingSpec spec) {
    for (Toleration& toleration : spec.tolerations) toleration.value = Value(toleration.key, toleration.value);
    spec.node_selector = Copy(std::move(spec.node_selector));
    if (spec.node_affinity) spec.node_affinity = Copy(std::move(*spec.node_affinity));
    spec.pod_affinity = Copy(std::move(spec.pod_affinity));
    spec.pod_anti_affinity = Copy(std::move(spec.pod_anti_affinity));
    for (SpreadConstraint& constraint : spec.spread) constraint.selector = Copy(std::move(constraint.selector));
    for (auto* names : {&spec.volumes, &spec.resource_claims})
      for (std::string& name : *names) name = Name(name);
    return spec;
  }
  SchedulingStatus Copy(SchedulingStatus standing) {
    standing.nominated_node = hide_(Role::kNode, standing.nominated_node);
    standing.unschedulable.clear();  // names nodes, taints and claims in words
    for (ContainerReport& report : standing.containers) report.name = Name(report.name);
    return standing;
  }
  PodTemplate Copy(PodTemplate pod_template) {
    ObjectMeta& meta = pod_template.metadata;
    meta.name = Name(meta.name);
    meta.generate_name = Name(meta.generate_name);
    meta.namespace_name = NamespaceName(meta.namespace_name);
    meta.labels = Copy(std::move(meta.labels));
    meta.owners = Copy(std::move(meta.owners));
    pod_template.spec = Copy(std::move(pod_template.spec));
    return pod_template;
  }

  Pod Copy(Pod pod) {
    pod.name = Name(pod.name);
    pod.namespace_name = NamespaceName(*pod.namespace_name);
    pod.uid = Uid(pod.uid);
    pod.labels = Copy(*pod.labels);
    if (pod.controller) pod.controller = Copy(**pod.controller);
    pod.spec = Copy(*pod.spec);
    pod.node_name = hide_(Role::kNode, *pod.node_name);
    pod.scheduling = Copy(*pod.scheduling);
    pod.standing = Copy(*pod.standing);
    return pod;
  }
  Node Copy(Node node) {
    node.name = hide_(Role::kNode, node.name);
    node.labels = Copy(std::move(node.labels));
    for (Taint& taint : node.taints) taint.value = Value(taint.key, taint.value);
    return node;
  }
  void CopyPlacement(const ClusterSnapshot& snapshot, PlacementDraft& placement) {
    placement.BeginPods();
    for (const auto& row : snapshot.nodes) {
      placement.PutNode(Copy(row.value.node));
      for (const auto& pod : row.value.pods) placement.PutPod(Copy(*pod));
    }
    for (const auto& pod : snapshot.waiting) placement.PutPod(Copy(*pod));
    placement.EndPods();
  }

  std::string KeyOf(const std::string& namespace_name, const std::string& name) { return namespace_name + '/' + name; }

  std::pair<std::string, Namespace> CopyRow(const std::string&, Namespace value) {
    value.name = NamespaceName(value.name);
    value.labels = Copy(std::move(value.labels));
    return {value.name, value};
  }
  std::pair<std::string, Quota> CopyRow(const std::string& key, const Quota& quota) {
    const std::size_t slash = key.find('/');
    return {KeyOf(NamespaceName(key.substr(0, slash)), Name(key.substr(slash + 1))), quota};
  }
  std::pair<std::string, Pdb> CopyRow(const std::string&, Pdb pdb) {
    pdb.namespace_name = NamespaceName(pdb.namespace_name);
    pdb.name = Name(pdb.name);
    pdb.uid = Uid(pdb.uid);
    pdb.labels = Copy(std::move(pdb.labels));
    pdb.owners = Copy(std::move(pdb.owners));
    pdb.selector = Copy(std::move(pdb.selector));
    for (std::string& pod : pdb.disrupted_pods) pod = Name(pod);
    std::sort(pdb.disrupted_pods.begin(), pdb.disrupted_pods.end());
    return {KeyOf(pdb.namespace_name, pdb.name), std::move(pdb)};
  }
  std::pair<std::string, Autoscaler> CopyRow(const std::string&, Autoscaler autoscaler) {
    autoscaler.namespace_name = NamespaceName(autoscaler.namespace_name);
    autoscaler.name = Name(autoscaler.name);
    autoscaler.target_name = Name(autoscaler.target_name);
    return {KeyOf(autoscaler.namespace_name, autoscaler.name), std::move(autoscaler)};
  }
  std::pair<std::string, Workload> CopyRow(const std::string&, Workload workload) {
    workload.namespace_name = NamespaceName(workload.namespace_name);
    workload.name = Name(workload.name);
    workload.uid = Uid(workload.uid);
    workload.labels = Copy(std::move(workload.labels));
    workload.owners = Copy(std::move(workload.owners));
    workload.selector = Copy(std::move(workload.selector));
    workload.pod_template = Copy(*workload.pod_template);
    return {WorkloadKey(workload.api_version, workload.kind, workload.namespace_name, workload.name),
            std::move(workload)};
  }

  template <typename T>
  TableDraft<T> CopyTable(const Table<T>& table) {
    TableDraft<T> draft;
    draft.BeginList();
    for (const auto& row : table) {
      auto [key, value] = CopyRow(row.key, row.value);
      draft.Put(std::move(key), std::move(value));
    }
    draft.EndList();
    return draft;
  }

  Pseudonyms& hide_;
};

}  // namespace

ClusterSnapshot RedactSnapshot(const ClusterSnapshot& snapshot) {
  Pseudonyms pseudonyms;
  (void)Copier(pseudonyms).Copy(snapshot);  // only to see every text
  pseudonyms.Assign();
  return Copier(pseudonyms).Copy(snapshot);
}

}  // namespace podium
