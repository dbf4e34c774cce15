// The part of a cluster that budgets are about, in memory: it stores what is written and its snapshot shows it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "builders/workloads.h"
#include "podium/ports.h"

namespace podium {

struct WrittenObject {
  std::string verb;  // "apply", "delete", "create"
  ObjectRef object;
  bool operator==(const WrittenObject&) const = default;
};

// Not thread-safe. Answers like the API server: one write that changes nothing leaves the object as it is, a budget
// with both limits is refused, a deletion needs the right uid, an apply with a uid too, one that is not forced does not
// change what others made, an event's name can be used once.
class BudgetCluster final : public ObjectWriter, public SnapshotSource {
 public:
  explicit BudgetCluster(ClusterSnapshot start) : now_(std::move(start)) { Publish(); }

  void Put(const Workload& workload) { now_.workloads.Put(builders::RowKey(workload), workload), Changed(); }
  void Put(const Pdb& budget) { now_.budgets.Put(KeyOf(budget.namespace_name, budget.name), budget), Changed(); }
  void Put(const Autoscaler& each) { now_.autoscalers.Put(KeyOf(each.namespace_name, each.name), each), Changed(); }
  void Remove(const Workload& workload) {
    now_.workloads = Without(now_.workloads, builders::RowKey(workload)), Changed();
  }

  // From now on the snapshot shows a change only after Publish().
  void Lag() { lagging_ = true; }
  void Publish() { published_ = std::make_shared<const ClusterSnapshot>(now_); }
  [[nodiscard]] ClusterSnapshot& state() { return now_; }
  void FailWith(std::function<std::optional<Error>(const WrittenObject&)> fails) { fails_ = std::move(fails); }

  [[nodiscard]] std::shared_ptr<const ClusterSnapshot> Current() const override { return published_; }

  Result<std::string> Apply(const ObjectRef& object, std::string_view json, Ownership ownership) override {
    if (const auto failed = Note("apply", object)) return *failed;
    const nlohmann::json given = nlohmann::json::parse(json);
    Result<Pdb> budget = Read(given);
    if (!budget) return budget.error();
    const Pdb* stored = now_.budgets.Find(KeyOf(object.namespace_name, object.name));
    if (!budget->uid.empty() && (stored == nullptr || stored->uid != budget->uid))
      return Error{ErrorKind::kConflict, "the uid in the object is of no budget that exists"};
    if (stored != nullptr && ownership == Ownership::kNew && !stored->labels.contains("app.kubernetes.io/managed-by"))
      return Error{ErrorKind::kConflict, "conflict with \"kubectl\": .spec.selector"};
    budget->uid = stored == nullptr ? "uid-pdb-" + std::to_string(++last_uid_) : stored->uid;
    budget->resource_version = stored == nullptr ? "" : stored->resource_version;
    if (stored != nullptr && *stored == *budget) return std::string(json);
    budget->resource_version = std::to_string(++last_version_);
    ++changes_;
    Put(*budget);
    return std::string(json);
  }

  Status Delete(const ObjectRef& object, std::string_view uid) override {
    if (const auto failed = Note("delete", object)) return *failed;
    const std::string key = KeyOf(object.namespace_name, object.name);
    const Pdb* stored = now_.budgets.Find(key);
    if (stored == nullptr) return {};
    if (stored->uid != uid) return Error{ErrorKind::kConflict, "the uid in the precondition is another"};
    now_.budgets = Without(now_.budgets, key);
    ++changes_;
    Changed();
    return {};
  }

  Status Create(const ObjectRef& object, std::string_view json) override {
    if (const auto failed = Note("create", object)) return *failed;
    const bool added = events_.emplace(KeyOf(object.namespace_name, object.name), nlohmann::json::parse(json)).second;
    return added ? Status{} : Error{ErrorKind::kConflict, "events \"" + object.name + "\" already exists"};
  }

  [[nodiscard]] const std::vector<WrittenObject>& written() const { return written_; }
  [[nodiscard]] std::size_t changes() const { return changes_; }  // writes of budgets that changed something
  [[nodiscard]] std::size_t budget_writes() const {
    std::size_t count = 0;
    for (const WrittenObject& each : written_) count += each.verb == "create" ? 0 : 1;
    return count;
  }
  // "BudgetCreated: budget 'podium-deployment-web': ..."
  [[nodiscard]] std::vector<std::string> events() const {
    std::vector<std::string> out;
    for (const auto& [name, event] : events_)
      out.push_back(event.at("reason").get<std::string>() + ": " + event.at("note").get<std::string>());
    return out;
  }

 private:
  static std::string KeyOf(const std::string& namespace_name, const std::string& name) {
    return namespace_name + "/" + name;
  }

  template <typename T>
  static Table<T> Without(const Table<T>& table, const std::string& key) {
    typename Table<T>::Rows rows = table.rows();
    std::erase_if(rows, [&key](const auto& row) { return row->key == key; });
    return Table<T>(std::move(rows));
  }

  static std::optional<std::string> Limit(const nlohmann::json& spec, const char* key) {
    if (!spec.contains(key)) return {};
    return spec[key].is_string() ? spec[key].get<std::string>() : std::to_string(spec[key].get<std::int64_t>());
  }

  static SelectorOp Operator(const std::string& name) {
    if (name == "NotIn") return SelectorOp::kNotIn;
    if (name == "Exists") return SelectorOp::kExists;
    return name == "DoesNotExist" ? SelectorOp::kDoesNotExist : SelectorOp::kIn;
  }

  static LabelSelector Selector(const nlohmann::json& json) {
    LabelSelector selector;
    selector.match_labels = json.value("matchLabels", Labels());
    for (const nlohmann::json& each : json.value("matchExpressions", nlohmann::json::array()))
      selector.match_expressions.push_back({each.at("key").get<std::string>(),
                                            Operator(each.at("operator").get<std::string>()),
                                            each.value("values", std::vector<std::string>())});
    return selector;
  }

  static Result<Pdb> Read(const nlohmann::json& given) {
    Pdb budget;
    const nlohmann::json& metadata = given.at("metadata");
    const nlohmann::json& spec = given.at("spec");
    budget.namespace_name = metadata.at("namespace").get<std::string>();
    budget.name = metadata.at("name").get<std::string>();
    budget.uid = metadata.value("uid", "");
    budget.labels = metadata.at("labels").get<Labels>();
    budget.annotations = metadata.at("annotations").get<Labels>();
    for (const nlohmann::json& owner : metadata.at("ownerReferences"))
      budget.owners.push_back({owner.at("apiVersion").get<std::string>(), owner.at("kind").get<std::string>(),
                               owner.at("name").get<std::string>(), false, owner.at("uid").get<std::string>()});
    budget.selector = Selector(spec.at("selector"));
    budget.min_available = Limit(spec, "minAvailable");
    budget.max_unavailable = Limit(spec, "maxUnavailable");
    budget.unhealthy_pod_eviction_policy = spec.at("unhealthyPodEvictionPolicy").get<std::string>();
    if (budget.min_available && budget.max_unavailable)
      return Error{ErrorKind::kInvalidInput, "minAvailable and maxUnavailable cannot be both set"};
    return budget;
  }

  std::optional<Error> Note(const char* verb, const ObjectRef& object) {
    written_.push_back({verb, object});
    return fails_ ? fails_(written_.back()) : std::nullopt;
  }

  void Changed() {
    ++now_.generation;
    if (!lagging_) Publish();
  }

  ClusterSnapshot now_;
  std::shared_ptr<const ClusterSnapshot> published_;
  bool lagging_ = false;
  std::function<std::optional<Error>(const WrittenObject&)> fails_;
  std::vector<WrittenObject> written_;
  std::map<std::string, nlohmann::json> events_;
  std::size_t changes_ = 0;
  std::uint64_t last_uid_ = 0;
  std::uint64_t last_version_ = 0;
};

}  // namespace podium
