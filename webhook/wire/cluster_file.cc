#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "wire/decode.h"
#include "wire/field_reader.h"
#include "wire/yaml.h"

namespace podium {
namespace {

// A dump of a big cluster, not a policy.
constexpr YamlLimits kLimits{.bytes = 16 << 20, .depth = 128, .nodes = 1'000'000, .documents = 100'000};
constexpr std::size_t kMaxProblems = 50;
constexpr std::string_view kAllowedKinds =
    "allowed are Namespace, Node, Pod, PodDisruptionBudget, PriorityClass, ResourceQuota and List";

std::string Place(const SourceSpan& span) {
  if (span.line == 0) return span.file;
  return span.file + ':' + std::to_string(span.line) + ':' + std::to_string(span.column);
}

// Checks a PodDisruptionBudget; true when it has a spec.
bool ReadBudget(FieldReader& in, JsonElement json, const At& at) {
  bool has_spec = false;
  const auto check_spec = [&](std::string_view key, JsonElement value, const At& here) {
    const bool limit = key == "minAvailable" || key == "maxUnavailable";
    if (limit && !value.is_string() && !value.is_int64()) in.FailType(here, value, "a whole number or a percentage");
    if (key == "selector" && !value.is_object()) in.FailType(here, value, "an object");
  };
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key != "spec") return;
    has_spec = true;
    in.EachMember(value, here, check_spec);
  });
  return has_spec;
}

PodPhase PhaseOf(std::string_view text) {
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return text == "Unknown" ? PodPhase::kUnknown : PodPhase::kPending;
}

// What a Pod has beyond a pod template.
Pod ReadBinding(FieldReader& in, JsonElement json, const At& at) {
  Pod pod;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key != "spec" && key != "status") return;
    in.EachMember(value, here, [&](std::string_view name, JsonElement text, const At& place) {
      if (key == "spec" && name == "nodeName") pod.node_name = in.Text(text, place);
      if (key == "status" && name == "phase") pod.phase = PhaseOf(in.Text(text, place));
    });
  });
  return pod;
}

ResourceList ReadAllocatable(FieldReader& in, JsonElement json, const At& at) {
  ResourceList allocatable;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key != "status") return;
    in.EachMember(value, here, [&](std::string_view name, JsonElement list, const At& place) {
      if (name == "allocatable") allocatable = in.Resources(list, place);
    });
  });
  return allocatable;
}

class ClusterReader {
 public:
  explicit ClusterReader(TimePoint taken_at) {
    snapshot_.generation = 1;  // 0 would say that there is no snapshot
    snapshot_.taken_at = taken_at;
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
    for (auto& pod : pods_) {
      const auto node = nodes_.find(*pod->node_name);
      (node == nodes_.end() ? snapshot_.waiting : node->second.pods).push_back(std::move(pod));
    }
    for (auto& [name, state] : nodes_) {
      std::sort(state.pods.begin(), state.pods.end(), ByName);
      snapshot_.nodes.Put(name, std::move(state));
    }
    std::sort(snapshot_.waiting.begin(), snapshot_.waiting.end(), ByName);
    return std::move(snapshot_);
  }

  static bool ByName(const std::shared_ptr<const Pod>& a, const std::shared_ptr<const Pod>& b) {
    return std::tie(*a->namespace_name, a->name) < std::tie(*b->namespace_name, b->name);
  }

  struct KindRow {
    std::string_view kind;
    void (ClusterReader::*add)(JsonElement json, const std::string& pointer, ObjectMeta meta);
    bool namespaced;
  };

  static constexpr std::array<KindRow, 6> Kinds() {
    return {{{"Namespace", &ClusterReader::AddNamespace, false},
             {"Node", &ClusterReader::AddNode, false},
             {"Pod", &ClusterReader::AddPod, true},
             {"PodDisruptionBudget", &ClusterReader::AddBudget, true},
             {"PriorityClass", &ClusterReader::AddClass, false},
             {"ResourceQuota", &ClusterReader::AddQuota, true}}};
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
    JsonElement metadata;
    if (json["metadata"].get(metadata) != simdjson::SUCCESS)
      return Complain(pointer, "metadata.name is missing; every object needs a name");
    Result<ObjectMeta> meta = DecodeObjectMeta(metadata, pointer + "/metadata");
    if (!meta) return AddProblem(document_, meta.error().message);
    if (meta->name.empty()) return Complain(pointer, "metadata.name is missing; every object needs a name");
    if (row.namespaced && meta->namespace_name.empty()) meta->namespace_name = "default";
    if (!row.namespaced) meta->namespace_name.clear();
    const std::string id = row.namespaced ? meta->namespace_name + '/' + meta->name : meta->name;
    const auto [first, is_new] = seen_.emplace(std::pair(row.kind, id), Place(document_) + Suffix(pointer));
    if (!is_new) {
      return Complain(pointer, std::string(row.kind) + " '" + id + "' is already written at " + first->second +
                                   "; remove one of the two");
    }
    (this->*row.add)(json, pointer, std::move(*meta));
  }

  // The value, or nothing after telling the problem.
  template <typename T>
  T* Checked(Result<T>& result) {
    if (result) return &*result;
    AddProblem(document_, result.error().message);
    return nullptr;
  }

  template <typename T>
  Result<T> Read(JsonElement json, const std::string& pointer, T (*read)(FieldReader&, JsonElement, const At&)) {
    FieldReader in;
    T value = read(in, json, At{nullptr, pointer});
    if (in.problem()) return *in.problem();
    return value;
  }

  void AddNamespace(JsonElement, const std::string&, ObjectMeta meta) {
    const std::string name = meta.name;
    snapshot_.namespaces.Put(name, {std::move(meta.name), std::move(meta.labels)});
  }

  void AddNode(JsonElement json, const std::string& pointer, ObjectMeta meta) {
    Result<ResourceList> allocatable = Read(json, pointer, ReadAllocatable);
    if (auto* list = Checked(allocatable))
      nodes_[meta.name].node = {.name = meta.name, .labels = std::move(meta.labels), .allocatable = std::move(*list)};
  }

  void AddPod(JsonElement json, const std::string& pointer, ObjectMeta meta) {
    Result<PodTemplate> pod = DecodePodTemplate(json, pointer);
    Result<Pod> binding = Read(json, pointer, ReadBinding);
    if (Checked(pod) == nullptr || Checked(binding) == nullptr) return;
    binding->name = std::move(meta.name);
    binding->namespace_name = std::move(meta.namespace_name);
    binding->labels = std::move(meta.labels);
    binding->deleting = meta.deleting;
    if (const OwnerReference* controller = meta.Controller()) binding->controller = *controller;
    binding->spec = std::move(pod->spec);
    pods_.push_back(std::make_shared<const Pod>(std::move(*binding)));
  }

  void AddBudget(JsonElement json, const std::string& pointer, ObjectMeta) {
    Result<bool> has_spec = Read(json, pointer, ReadBudget);
    if (const bool* found = Checked(has_spec); found != nullptr && !*found)
      Complain(pointer, "spec is missing in a PodDisruptionBudget");
  }

  void AddClass(JsonElement json, const std::string& pointer, ObjectMeta meta) {
    Result<PriorityClass> decoded = DecodePriorityClass(json, pointer);
    if (auto* added = Checked(decoded)) snapshot_.classes.Put(meta.name, std::move(*added));
  }

  void AddQuota(JsonElement json, const std::string& pointer, ObjectMeta meta) {
    Result<Quota> decoded = DecodeQuota(json, pointer);
    if (auto* added = Checked(decoded)) snapshot_.quotas.Put(meta.namespace_name + '/' + meta.name, std::move(*added));
  }

  static std::string Suffix(const std::string& pointer) { return pointer.empty() ? "" : ": " + pointer; }

  void Complain(const std::string& pointer, const std::string& message) {
    AddProblem(document_, (pointer.empty() ? "" : pointer + ": ") + message);
  }

  ClusterSnapshot snapshot_;
  std::map<std::string, NodeState> nodes_;
  PodList pods_;
  SourceSpan document_;
  std::map<std::pair<std::string_view, std::string>, std::string> seen_;  // kind and name -> where
  std::string problems_;
  std::size_t problem_count_ = 0;
};

void AddYamlText(ClusterReader& reader, std::string_view file, std::string_view text) {
  const YamlParse parse = ParseYaml(file, text, kLimits);
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

Result<ClusterSnapshot> DecodeClusterFile(std::string_view file, std::string_view text, TimePoint taken_at) {
  ClusterReader reader(taken_at);
  simdjson::dom::parser parser;
  JsonElement root;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  // `kubectl get -o json` is not read as YAML: that is slower, and yaml-cpp does not know JSON's surrogate pairs.
  if (text.size() <= kLimits.bytes && first != std::string_view::npos && text[first] == '{' &&
      parser.parse(text.data(), text.size()).get(root) == simdjson::SUCCESS) {
    reader.AddDocument({std::string(file), 1, 1}, root);
  } else {
    AddYamlText(reader, file, text);
  }
  return std::move(reader).Finish(file);
}

}  // namespace podium
