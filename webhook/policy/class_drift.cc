#include "policy/class_drift.h"

#include "wire/json.h"

namespace podium {
namespace {

constexpr const char* kFixedForGood =
    "; it cannot be changed in place: give the class a new name in the policy, or delete and create it while no pod "
    "uses it";

std::string YesNo(bool yes) { return yes ? "true" : "false"; }

void CompareRow(const PriorityClass& wanted, const PriorityClass& live, std::vector<ClassDrift>& drifts) {
  const std::string name = "class '" + wanted.name + "'";
  if (live.value != wanted.value)
    drifts.push_back({ClassDriftKind::kValue, wanted.name,
                      name + " has value " + std::to_string(live.value) + " in the cluster and " +
                          std::to_string(wanted.value) + " in the policy" + kFixedForGood});
  if (live.preemption_policy != wanted.preemption_policy)
    drifts.push_back({ClassDriftKind::kPolicy, wanted.name,
                      name + " has preemptionPolicy " + std::string(ToString(live.preemption_policy)) +
                          " in the cluster and " + std::string(ToString(wanted.preemption_policy)) + " in the policy" +
                          kFixedForGood});
  if (live.global_default != wanted.global_default)
    drifts.push_back({ClassDriftKind::kGlobalDefault, wanted.name,
                      name + " has globalDefault " + YesNo(live.global_default) + " in the cluster and " +
                          YesNo(wanted.global_default) + " in the policy; 'podium classes apply' sets it"});
}

void FindManyDefaults(const Table<PriorityClass>& live, std::vector<ClassDrift>& drifts) {
  const PriorityClass* lowest = nullptr;
  std::string names;
  int count = 0;
  for (const auto& [name, each] : live) {
    if (!each.global_default) continue;
    names += (count++ == 0 ? "'" : ", '") + name + "'";
    if (lowest == nullptr || each.value < lowest->value) lowest = &each;
  }
  if (count < 2) return;
  drifts.push_back({ClassDriftKind::kManyDefaults, lowest->name,
                    "the cluster has " + std::to_string(count) + " global default classes: " + names +
                        "; pods without a class get the lowest value, '" + lowest->name +
                        "'. Set globalDefault: false on the others"});
}

}  // namespace

std::string_view ToString(ClassDriftKind kind) {
  switch (kind) {
    case ClassDriftKind::kMissing: return "missing";
    case ClassDriftKind::kValue: return "value";
    case ClassDriftKind::kPolicy: return "preemption_policy";
    case ClassDriftKind::kGlobalDefault: return "global_default";
    case ClassDriftKind::kManyDefaults: return "many_defaults";
  }
  return "missing";
}

std::vector<ClassDrift> FindClassDrift(const Policy& policy, const Table<PriorityClass>& live) {
  std::vector<ClassDrift> drifts;
  for (const LadderClass& row : policy.ladder) {
    const PriorityClass& wanted = row.priority_class;
    const PriorityClass* found = live.Find(wanted.name);
    if (found != nullptr)
      CompareRow(wanted, *found, drifts);
    else
      drifts.push_back(
          {ClassDriftKind::kMissing, wanted.name,
           "class '" + wanted.name +
               "' is in the policy and not in the cluster: nothing can get it; 'podium classes apply' creates it"});
  }
  FindManyDefaults(live, drifts);
  return drifts;
}

std::string RenderPriorityClass(const LadderClass& row) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  json.Key("apiVersion");
  json.String("scheduling.k8s.io/v1");
  json.Key("kind");
  json.String("PriorityClass");
  json.Key("metadata");
  json.BeginObject();
  json.Key("name");
  json.String(row.priority_class.name);
  json.EndObject();
  json.Key("value");
  json.Int(row.priority_class.value);
  json.Key("preemptionPolicy");
  json.String(ToString(row.priority_class.preemption_policy));
  json.Key("globalDefault");
  json.Bool(row.priority_class.global_default);
  json.Key("description");
  json.String(row.description);
  json.EndObject();
  return out;
}

}  // namespace podium
