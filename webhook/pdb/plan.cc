#include "pdb/plan.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/snapshot_builder.h"
#include "pdb/render.h"
#include "pdb/selector_index.h"
#include "pdb/wish.h"
#include "rules/catalog.h"

namespace podium {
namespace {

constexpr std::size_t kMostNames = 4;  // of budgets in one sentence

WorkloadId IdOf(const Workload& workload) {
  return {workload.api_version, workload.kind, workload.namespace_name, workload.name, workload.uid};
}

std::string KeyOf(const std::string& namespace_name, const std::string& name) { return namespace_name + "/" + name; }

// --- ours, as it is and as it should be -----------------------------------------------------------------------------

Pdb DesiredBudget(const Workload& workload, const Wish& wish, std::string name) {
  Pdb budget;
  budget.namespace_name = workload.namespace_name;
  budget.name = std::move(name);
  budget.labels = {{std::string(kManagedByLabel), std::string(kManagedByPodium)},
                   {std::string(kWorkloadTypeLabel), wish.workload_type}};
  budget.annotations = {{std::string(kBudgetReasonAnnotation), wish.reason}};
  budget.owners = {{workload.api_version, workload.kind, workload.name, false, workload.uid}};
  budget.selector = workload.selector;
  budget.min_available = wish.budget.min_available;
  budget.max_unavailable = wish.budget.max_unavailable;
  budget.unhealthy_pod_eviction_policy = wish.budget.always_allow_unhealthy ? "AlwaysAllow" : "IfHealthyBudget";
  return budget;
}

bool Includes(const Labels& all, const Labels& some) {
  return std::all_of(some.begin(), some.end(), [&all](const auto& each) {
    const auto found = all.find(each.first);
    return found != all.end() && found->second == each.second;
  });
}

bool HasOwner(const Pdb& budget, const OwnerReference& wanted) {
  return std::any_of(budget.owners.begin(), budget.owners.end(), [&wanted](const OwnerReference& owner) {
    return owner.api_version == wanted.api_version && owner.kind == wanted.kind && owner.name == wanted.name &&
           owner.uid == wanted.uid;
  });
}

// Others may have added labels and owners: those are theirs.
bool IsAsDesired(const Pdb& existing, const Pdb& desired) {
  return existing.selector == desired.selector && existing.min_available == desired.min_available &&
         existing.max_unavailable == desired.max_unavailable &&
         existing.unhealthy_pod_eviction_policy == desired.unhealthy_pod_eviction_policy &&
         Includes(existing.labels, desired.labels) && Includes(existing.annotations, desired.annotations) &&
         HasOwner(existing, desired.owners.front());
}

// --- budgets whose workload the snapshot does not show --------------------------------------------------------------

// The kinds of a snapshot are not of one moment: a workload that is not there may only not be there yet. Garbage
// collection asks the API server itself, by the owner's uid, so whatever has an owner is left to it.
BudgetRow OrphanRow(const Pdb& budget) {
  BudgetRow row;
  row.existing = budget;
  row.workload.namespace_name = budget.namespace_name;
  if (budget.owners.empty()) {
    row.step = BudgetStep::kRemove;
    row.reason = "budget '" + budget.name + "' belongs to no workload";
    return row;
  }
  const OwnerReference& owner = budget.owners.front();
  row.workload = {owner.api_version, owner.kind, budget.namespace_name, owner.name, owner.uid};
  row.step = BudgetStep::kKeep;
  row.reason = "Podium does not see " + owner.kind + " '" + owner.name +
               "': garbage collection removes the budget when it is gone";
  return row;
}

// --- the plan -------------------------------------------------------------------------------------------------------

struct Candidate {
  const Workload* workload = nullptr;
  Wish wish;
  std::vector<const Pdb*> ours;         // the one to keep is in front
  const Pdb* of_another_uid = nullptr;  // the budget of an earlier, or a later, workload of that kind and name
};

class Planner {
 public:
  Planner(const ClusterSnapshot& snapshot, const Policy& policy, const DecideOptions& options, TimePoint now)
      : snapshot_(snapshot), surroundings_(snapshot) {
    const WishInput input{snapshot, policy, surroundings_, options, now};
    for (const auto& row : snapshot.workloads)
      candidates_.push_back({&row.value, WishOf(row.value, input), {}, nullptr});
    ClaimBudgets();
  }

  BudgetPlan Run() {
    BudgetPlan plan;
    plan.snapshot_generation = snapshot_.generation;
    const SelectorIndex foreign = IndexOthers();
    FindRivals();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      plan.rows.push_back(RowOf(i, foreign));
      AddDuplicates(plan.rows, candidates_[i]);
    }
    for (BudgetRow& row : orphans_) plan.rows.push_back(std::move(row));
    return plan;
  }

 private:
  // By owner; by name where the reference was taken off.
  void ClaimBudgets() {
    std::unordered_map<const Workload*, std::size_t> by_workload;
    std::unordered_map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Workload& workload = *candidates_[i].workload;
      by_workload.emplace(&workload, i);
      by_name.emplace(KeyOf(workload.namespace_name, BudgetName(IdOf(workload))), i);
    }
    for (const auto& row : snapshot_.budgets) {
      const Pdb& budget = row.value;
      if (!IsPodiumsBudget(budget)) continue;
      const auto named = by_name.find(row.key);
      if (const Workload* owner = OwnerOf(budget)) {
        candidates_[by_workload.at(owner)].ours.push_back(&budget);
      } else if (named != by_name.end() && (budget.owners.empty() || budget.deleting)) {
        candidates_[named->second].ours.push_back(&budget);
      } else if (const Workload* namesake = NamesakeOf(budget); namesake != nullptr && !budget.deleting) {
        SetAside(candidates_[by_workload.at(namesake)], budget);
      } else if (!budget.deleting) {
        orphans_.push_back(OrphanRow(budget));
      }
    }
    for (Candidate& each : candidates_) PutBestFirst(each);
  }

  // Either the snapshot shows the workload as it was before it was made anew, or the budget is of the one before. To
  // write this workload's uid into it would, in the first case, have garbage collection remove a budget that is right.
  void SetAside(Candidate& candidate, const Pdb& budget) {
    left_.insert(KeyOf(budget.namespace_name, budget.name));
    if (candidate.of_another_uid == nullptr)
      candidate.of_another_uid = &budget;
    else
      orphans_.push_back(OrphanRow(budget));
  }

  [[nodiscard]] const Workload* OwnerOf(const Pdb& budget) const {
    for (const OwnerReference& owner : budget.owners)
      if (const Workload* workload = surroundings_.Find(owner, budget.namespace_name)) return workload;
    return nullptr;
  }

  // The workload of its owner's kind and name, whatever its uid.
  [[nodiscard]] const Workload* NamesakeOf(const Pdb& budget) const {
    for (OwnerReference owner : budget.owners) {
      owner.uid.clear();
      if (const Workload* workload = surroundings_.Find(owner, budget.namespace_name)) return workload;
    }
    return nullptr;
  }

  static void PutBestFirst(Candidate& candidate) {
    if (candidate.ours.size() < 2) return;
    const std::string name = BudgetName(IdOf(*candidate.workload));
    std::stable_sort(candidate.ours.begin(), candidate.ours.end(), [&name](const Pdb* a, const Pdb* b) {
      if (a->deleting != b->deleting) return b->deleting;
      return (a->name == name) > (b->name == name);
    });
  }

  // All that Podium will not change: users' own budgets, and ours that are left to garbage collection.
  SelectorIndex IndexOthers() {
    for (const BudgetRow& row : orphans_)
      if (row.step == BudgetStep::kKeep) left_.insert(KeyOf(row.existing->namespace_name, row.existing->name));
    std::vector<SelectorIndex::Entry> entries;
    for (const auto& row : snapshot_.budgets) {
      const Pdb& budget = row.value;
      if (budget.deleting || !budget.selector || (IsPodiumsBudget(budget) && !left_.contains(row.key))) continue;
      entries.push_back({budget.namespace_name, &*budget.selector});
      others_.push_back(&budget);
    }
    return SelectorIndex(std::move(entries));
  }

  // Which workloads' budgets would hold for each other's pods.
  void FindRivals() {
    std::vector<SelectorIndex::Entry> entries;
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (!MayHaveBudget(candidates_[i])) continue;
      entries.push_back({candidates_[i].workload->namespace_name, &*candidates_[i].workload->selector});
      positions.push_back(i);
    }
    const SelectorIndex index(std::move(entries));
    for (const std::size_t of_pods : positions) {
      const Workload& workload = *candidates_[of_pods].workload;
      for (const std::size_t at : index.Matching(workload.namespace_name, LabelsOf(workload))) {
        if (positions[at] == of_pods) continue;
        rivals_[of_pods].insert(positions[at]);
        rivals_[positions[at]].insert(of_pods);
      }
    }
  }

  static bool MayHaveBudget(const Candidate& candidate) {
    const Standing standing = candidate.wish.standing;
    return standing == Standing::kWanted || (standing == Standing::kNoNew && !candidate.ours.empty());
  }

  static const Labels& LabelsOf(const Workload& workload) { return workload.pod_template->metadata.labels; }

  BudgetRow RowOf(std::size_t position, const SelectorIndex& foreign) {
    const Candidate& candidate = candidates_[position];
    if (candidate.of_another_uid != nullptr && candidate.ours.empty()) return WaitingRow(position);
    BudgetRow row;
    row.workload = IdOf(*candidate.workload);
    if (!candidate.ours.empty()) row.existing = *candidate.ours.front();
    const bool exists = row.existing && !row.existing->deleting;
    row.reason = candidate.wish.reason;
    if (candidate.wish.standing == Standing::kUntouched) {
      row.step = exists ? BudgetStep::kKeep : BudgetStep::kNone;
    } else if (!MayHaveBudget(candidate)) {
      if (candidate.wish.standing == Standing::kNoNew)
        row.reason = "the policy would refuse it now, so it is not given a budget";
      row.step = exists ? BudgetStep::kRemove : BudgetStep::kNone;
    } else if (!StepAside(row, *candidate.workload, foreign) && !GiveWay(row, position)) {
      Want(row, position);
    }
    if (!exists && row.existing) row.existing.reset();  // it is on its way out by itself
    return row;
  }

  BudgetRow WaitingRow(std::size_t position) {
    const Candidate& candidate = candidates_[position];
    if (MayHaveBudget(candidate)) budgeted_.insert(position);
    BudgetRow row;
    row.workload = IdOf(*candidate.workload);
    row.existing = *candidate.of_another_uid;
    row.step = BudgetStep::kKeep;
    row.reason = "budget '" + row.existing->name + "' belongs to another " + row.workload.kind +
                 " of this name (its uid differs): garbage collection removes it when that one is gone";
    return row;
  }

  bool StepAside(BudgetRow& row, const Workload& workload, const SelectorIndex& foreign) const {
    const std::vector<std::size_t> found = foreign.Matching(workload.namespace_name, LabelsOf(workload));
    if (found.empty()) return false;
    std::string names;
    for (std::size_t i = 0; i < std::min(found.size(), kMostNames); ++i)
      names += (i > 0 ? ", '" : "'") + others_[found[i]]->name + "'";
    if (found.size() > kMostNames) names += ", ...";
    row.step = BudgetStep::kStepAside;
    row.problem = found.size() > 1;
    row.reason = row.problem ? std::to_string(found.size()) + " budgets (" + names +
                                   ") cover its pods: Kubernetes refuses to evict a pod with more than one; keep one"
                             : "budget " + names + " covers its pods already";
    return true;
  }

  // The first of several keeps its budget. Two would be as bad as a user's and ours.
  bool GiveWay(BudgetRow& row, std::size_t position) const {
    const auto rivals = rivals_.find(position);
    if (rivals == rivals_.end()) return false;
    for (const std::size_t rival : rivals->second) {
      if (!budgeted_.contains(rival)) continue;
      const Workload& other = *candidates_[rival].workload;
      row.step = row.existing && !row.existing->deleting ? BudgetStep::kRemove : BudgetStep::kNone;
      row.problem = true;
      row.reason = "its pods and those of " + other.kind + " '" + other.name +
                   "' are selected by one selector, and a pod may have one budget only; make the selectors distinct";
      return true;
    }
    return false;
  }

  void Want(BudgetRow& row, std::size_t position) {
    const Candidate& candidate = candidates_[position];
    if (row.existing && row.existing->deleting) {
      row.reason = "the budget it had is still being deleted";
      return;
    }
    const std::string name = row.existing ? row.existing->name : FreeName(row.workload);
    if (name.empty()) {
      row.problem = true;
      row.reason = "budgets that are not Podium's have the names '" + BudgetName(row.workload) + "' and '" +
                   SecondBudgetName(row.workload) + "'; rename one of them";
      return;
    }
    budgeted_.insert(position);
    Pdb desired = DesiredBudget(*candidate.workload, candidate.wish, name);
    const bool right = row.existing && IsAsDesired(*row.existing, desired);
    row.step = right ? BudgetStep::kKeep : row.existing ? BudgetStep::kUpdate : BudgetStep::kCreate;
    if (row.existing) desired.uid = row.existing->uid;  // gone meanwhile: then it is not revived
    if (!right) row.desired = std::move(desired);
  }

  // Empty: both are taken.
  [[nodiscard]] std::string FreeName(const WorkloadId& workload) const {
    for (std::string name : {BudgetName(workload), SecondBudgetName(workload)})
      if (snapshot_.budgets.Find(KeyOf(workload.namespace_name, name)) == nullptr) return name;
    return "";
  }

  static void AddDuplicates(std::vector<BudgetRow>& rows, const Candidate& candidate) {
    if (candidate.wish.standing == Standing::kUntouched) return;
    for (std::size_t i = 1; i < candidate.ours.size(); ++i) {
      if (candidate.ours[i]->deleting) continue;
      rows.push_back({IdOf(*candidate.workload),
                      BudgetStep::kRemove,
                      {},
                      *candidate.ours[i],
                      "it has another budget of Podium's, '" + candidate.ours.front()->name + "'"});
    }
  }

  const ClusterSnapshot& snapshot_;
  Surroundings surroundings_;
  std::vector<Candidate> candidates_;
  std::vector<BudgetRow> orphans_;
  std::set<std::string> left_;      // keys of budgets of ours that garbage collection decides about
  std::vector<const Pdb*> others_;  // as in the index of IndexOthers
  std::unordered_map<std::size_t, std::set<std::size_t>> rivals_;
  std::set<std::size_t> budgeted_;  // those that have a budget, of the rows so far
};

}  // namespace

bool IsPodiumsBudget(const Pdb& budget) {
  const auto found = budget.labels.find(std::string(kManagedByLabel));
  return found != budget.labels.end() && found->second == kManagedByPodium;
}

BudgetPlan PlanBudgets(const ClusterSnapshot& snapshot, const Policy& policy, TimePoint now,
                       const DecideOptions& options) {
  return Planner(snapshot, policy, options, now).Run();
}

}  // namespace podium
