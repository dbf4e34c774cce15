#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/snapshot_builder.h"
#include "wire/decode.h"
#include "wire/decode_cluster.h"
#include "wire/yaml.h"

namespace podium {
namespace {

constexpr std::size_t kMaxProblems = 50;
constexpr std::string_view kAllowedKinds =
    "allowed are CronJob, DaemonSet, Deployment, HorizontalPodAutoscaler, Job, Namespace, Node, Pod, "
    "PodDisruptionBudget, PriorityClass, ReplicaSet, ReplicationController, ResourceQuota, StatefulSet, custom "
    "resources with a spec, and List";

// A dump of a big cluster, not a policy. A node of the tree takes 16 bytes of text or more.
YamlLimits Limits(std::size_t max_bytes) {
  return {.bytes = max_bytes, .depth = 128, .nodes = max_bytes / 16, .documents = 100'000};
}

std::string Place(const SourceSpan& span) {
  if (span.line == 0) return span.file;
  return span.file + ':' + std::to_string(span.line) + ':' + std::to_string(span.column);
}

// What a workload is when its object does not say so: the items of a typed list.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kWorkloadKinds = {{
    {"CronJob", "batch/v1"},
    {"DaemonSet", "apps/v1"},
    {"Deployment", "apps/v1"},
    {"Job", "batch/v1"},
    {"ReplicaSet", "apps/v1"},
    {"ReplicationController", "v1"},
    {"StatefulSet", "apps/v1"},
}};

std::string ApiVersionOf(std::string_view kind) {
  const auto* const found =
      std::find_if(kWorkloadKinds.begin(), kWorkloadKinds.end(), [&](const auto& row) { return row.first == kind; });
  return found == kWorkloadKinds.end() ? std::string() : std::string(found->second);
}

// A custom resource is taken as something that makes pods: which fields say how is its own affair. Services and
// ConfigMaps are not: a file that has them was not written to describe a cluster to Podium.
bool IsCustomWorkload(JsonElement json) {
  std::string_view api_version;
  if (json["apiVersion"].get(api_version) != simdjson::SUCCESS) return false;
  const std::string_view group = GroupOf(api_version);
  return group.find('.') != std::string_view::npos && !group.ends_with(".k8s.io") && json["spec"].is_object();
}

class ClusterReader {
 public:
  explicit ClusterReader(TimePoint taken_at) : taken_at_(taken_at) {
    // One list: sorted once in the end.
    builder_.placement().BeginPods();
    builder_.placement().BeginNodes();
    workloads().BeginList();
    builder_.classes().BeginList();
    builder_.namespaces().BeginList();
    builder_.quotas().BeginList();
    builder_.budgets().BeginList();
    builder_.autoscalers().BeginList();
  }

  void AddDocument(const SourceSpan& span, JsonElement json) {
    document_ = span;
    AddObject(json, "", "");
  }

  void AddProblem(const SourceSpan& span, const std::string& message) {
    if (++problem_count_ > kMaxProblems) return;
    problems_ += Place(span) + ": " + message + '\n';
  }

  Result<ClusterSnapshot> Finish(std::string_view file) && {
    if (problem_count_ == 0 && seen_.empty())
      AddProblem({std::string(file), 0, 0}, "no Kubernetes object in it; " + std::string(kAllowedKinds));
    if (problem_count_ == 0) return Assemble();
    if (problem_count_ > kMaxProblems)
      problems_ += "and " + std::to_string(problem_count_ - kMaxProblems) + " more problems\n";
    problems_.pop_back();
    return Error{ErrorKind::kInvalidInput, std::move(problems_)};
  }

 private:
  ClusterSnapshot Assemble() {
    builder_.placement().EndPods();
    builder_.placement().EndNodes();
    workloads().EndList();
    builder_.classes().EndList();
    builder_.namespaces().EndList();
    builder_.quotas().EndList();
    builder_.budgets().EndList();
    builder_.autoscalers().EndList();
    return *builder_.Build(1, taken_at_);  // generation 0 would say that there is no snapshot
  }

  TableDraft<Workload>& workloads() { return builder_.workloads(""); }

  struct KindRow {
    std::string_view kind;
    void (ClusterReader::*add)(JsonElement json, const std::string& pointer, const ObjectName& name);
    bool namespaced;
  };

  static constexpr std::array<KindRow, 14> Kinds() {
    return {{{"CronJob", &ClusterReader::AddWorkload, true},
             {"DaemonSet", &ClusterReader::AddWorkload, true},
             {"Deployment", &ClusterReader::AddWorkload, true},
             {"HorizontalPodAutoscaler", &ClusterReader::AddAutoscaler, true},
             {"Job", &ClusterReader::AddWorkload, true},
             {"Namespace", &ClusterReader::AddNamespace, false},
             {"Node", &ClusterReader::AddNode, false},
             {"Pod", &ClusterReader::AddPod, true},
             {"PodDisruptionBudget", &ClusterReader::AddBudget, true},
             {"PriorityClass", &ClusterReader::AddClass, false},
             {"ReplicaSet", &ClusterReader::AddWorkload, true},
             {"ReplicationController", &ClusterReader::AddWorkload, true},
             {"ResourceQuota", &ClusterReader::AddQuota, true},
             {"StatefulSet", &ClusterReader::AddWorkload, true}}};
  }

  // `item_kind`: what the items of a typed list are; they do not say it themselves.
  void AddObject(JsonElement json, const std::string& pointer, std::string_view item_kind) {
    if (!json.is_object()) return Complain(pointer, "this is no Kubernetes object: expected a mapping with a kind");
    std::string_view kind = item_kind;
    if (json["kind"].get(kind) != simdjson::SUCCESS && item_kind.empty())
      return Complain(pointer, "kind is missing or not a text; " + std::string(kAllowedKinds));
    if (kind.ends_with("List")) return AddItems(json, pointer, kind.substr(0, kind.size() - 4));
    for (const KindRow& row : Kinds())
      if (row.kind == kind) return AddNamed(row, json, pointer);
    if (!kind.empty() && IsCustomWorkload(json))
      return AddNamed({kind, &ClusterReader::AddWorkload, true}, json, pointer);
    Complain(pointer, "kind '" + std::string(kind.substr(0, 60)) + "' does not belong in a cluster file; " +
                          std::string(kAllowedKinds));
  }

  void AddItems(JsonElement list, const std::string& pointer, std::string_view item_kind) {
    JsonElement items;
    simdjson::dom::array array;
    if (list["items"].get(items) != simdjson::SUCCESS || items.is_null()) return;
    if (items.get(array) != simdjson::SUCCESS) return Complain(pointer + "/items", "expected a sequence");
    std::size_t index = 0;
    for (const JsonElement item : array) AddObject(item, pointer + "/items/" + std::to_string(index++), item_kind);
  }

  void AddNamed(const KindRow& row, JsonElement json, const std::string& pointer) {
    Result<ObjectName> decoded = DecodeObjectName(json, pointer);
    if (!decoded) return AddProblem(document_, decoded.error().message);
    ObjectName& name = *decoded;
    name.kind.kind = row.kind;
    if (row.namespaced && name.namespace_name.empty()) name.namespace_name = "default";
    if (!row.namespaced) name.namespace_name.clear();
    if (name.kind.api_version.empty()) name.kind.api_version = ApiVersionOf(row.kind);
    const std::string id = row.namespaced ? KeyOf(name) : name.name;
    const auto [first, is_new] = seen_.emplace(SeenKey(row, name), Place(document_) + Suffix(pointer));
    if (!is_new) {
      return Complain(pointer, std::string(row.kind) + " '" + id + "' is already written at " + first->second +
                                   "; remove one of the two");
    }
    (this->*row.add)(json, pointer, name);
  }

  // Kinds of different groups may share a name among what makes pods: Job of batch and of volcano.sh.
  static std::string SeenKey(const KindRow& row, const ObjectName& name) {
    const bool by_group = row.add == &ClusterReader::AddWorkload;
    return WorkloadKey(by_group ? name.kind.api_version : "", name.kind.kind, name.namespace_name, name.name);
  }

  static std::string KeyOf(const ObjectName& name) { return name.namespace_name + '/' + name.name; }

  // The value, or nothing after telling the problem.
  template <typename T>
  T* Checked(Result<T>& result) {
    if (result) return &*result;
    AddProblem(document_, result.error().message);
    return nullptr;
  }

  void AddNamespace(JsonElement json, const std::string& pointer, const ObjectName& name) {
    Result<Namespace> decoded = DecodeNamespace(json, pointer);
    if (auto* added = Checked(decoded)) builder_.namespaces().Put(name.name, std::move(*added));
  }

  void AddNode(JsonElement json, const std::string& pointer, const ObjectName&) {
    Result<Node> decoded = DecodeNode(json, pointer);
    if (auto* added = Checked(decoded)) builder_.placement().PutNode(std::move(*added));
  }

  void AddPod(JsonElement json, const std::string& pointer, const ObjectName& name) {
    Result<Pod> decoded = DecodePodObject(json, pointer);
    auto* added = Checked(decoded);
    if (added == nullptr) return;
    added->namespace_name = name.namespace_name;
    builder_.placement().PutPod(std::move(*added));
  }

  void AddWorkload(JsonElement json, const std::string& pointer, const ObjectName& name) {
    Result<Workload> decoded = DecodeWorkload(json, pointer, name.kind);
    auto* added = Checked(decoded);
    if (added == nullptr) return;
    added->namespace_name = name.namespace_name;
    std::string key = WorkloadKey(added->api_version, added->kind, added->namespace_name, added->name);
    workloads().Put(std::move(key), std::move(*added));
  }

  void AddBudget(JsonElement json, const std::string& pointer, const ObjectName& name) {
    Result<Pdb> decoded = DecodePdb(json, pointer);
    auto* added = Checked(decoded);
    if (added == nullptr) return;
    added->namespace_name = name.namespace_name;
    builder_.budgets().Put(KeyOf(name), std::move(*added));
  }

  void AddAutoscaler(JsonElement json, const std::string& pointer, const ObjectName& name) {
    Result<Autoscaler> decoded = DecodeAutoscaler(json, pointer);
    auto* added = Checked(decoded);
    if (added == nullptr) return;
    added->namespace_name = name.namespace_name;
    builder_.autoscalers().Put(KeyOf(name), std::move(*added));
  }

  void AddClass(JsonElement json, const std::string& pointer, const ObjectName& name) {
    Result<PriorityClass> decoded = DecodePriorityClass(json, pointer);
    if (auto* added = Checked(decoded)) builder_.classes().Put(name.name, std::move(*added));
  }

  void AddQuota(JsonElement json, const std::string& pointer, const ObjectName& name) {
    Result<Quota> decoded = DecodeQuota(json, pointer);
    if (auto* added = Checked(decoded)) builder_.quotas().Put(KeyOf(name), std::move(*added));
  }

  static std::string Suffix(const std::string& pointer) { return pointer.empty() ? "" : ": " + pointer; }

  void Complain(const std::string& pointer, const std::string& message) {
    AddProblem(document_, (pointer.empty() ? "" : pointer + ": ") + message);
  }

  SnapshotBuilder builder_;
  TimePoint taken_at_;
  SourceSpan document_;
  std::map<std::string, std::string> seen_;  // kind and name -> where
  std::string problems_;
  std::size_t problem_count_ = 0;
};

void AddYamlText(ClusterReader& reader, std::string_view file, std::string_view text, std::size_t max_bytes) {
  const YamlParse parse = ParseYaml(file, text, Limits(max_bytes));
  for (const YamlProblem& problem : parse.problems) reader.AddProblem(problem.span, problem.message);
  simdjson::dom::parser parser;
  for (const YamlNode& document : parse.documents) {
    JsonElement root;
    const std::string json = YamlToJson(document);
    const simdjson::error_code error = parser.parse(json).get(root);
    if (error == simdjson::SUCCESS)
      reader.AddDocument(document.span, root);
    else
      reader.AddProblem(document.span, std::string("this document cannot be read: ") + simdjson::error_message(error));
  }
}

}  // namespace

Result<ClusterSnapshot> DecodeClusterFile(std::string_view file, std::string_view text, TimePoint taken_at,
                                          std::size_t max_bytes) {
  ClusterReader reader(taken_at);
  simdjson::dom::parser parser;
  JsonElement root;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  // `kubectl get -o json` is not read as YAML: that is slower, and yaml-cpp does not know JSON's surrogate pairs.
  if (text.size() <= max_bytes && first != std::string_view::npos && text[first] == '{' &&
      parser.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS) {
    reader.AddDocument({std::string(file), 1, 1}, root);
  } else {
    AddYamlText(reader, file, text, max_bytes);
  }
  return std::move(reader).Finish(file);
}

}  // namespace podium
