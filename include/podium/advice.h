// What the evaluator says of a pod while it is being admitted: for its author, for the audit log, and to be compared
// later with what the scheduler did. Holds nothing of the snapshot it was made from.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podium/feasibility.h"
#include "podium/policy.h"

namespace podium {

using NodeNames = std::vector<std::string>;  // sorted

// Some of the nodes of a cluster: a bit for each. The names are shared by everything that was said of one cluster.
class NodeSet {
 public:
  NodeSet() = default;
  // Requires: `positions` are positions in `names`.
  NodeSet(std::shared_ptr<const NodeNames> names, const std::vector<std::uint32_t>& positions)
      : names_(std::move(names)), holds_(names_->size()) {
    for (const std::uint32_t position : positions) holds_[position] = true;
  }

  [[nodiscard]] bool Contains(std::string_view node) const {
    if (names_ == nullptr) return false;
    const auto found = std::lower_bound(names_->begin(), names_->end(), node);
    return found != names_->end() && *found == node && holds_[static_cast<std::size_t>(found - names_->begin())];
  }
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(std::count(holds_.begin(), holds_.end(), true));
  }

 private:
  std::shared_ptr<const NodeNames> names_;
  std::vector<bool> holds_;
};

// A candidate that the scheduler may take: those it may choose from are equal in all that it looks at.
struct AdvisedPlan {
  std::string node;
  std::vector<std::string> victims;  // uids, sorted
  bool operator==(const AdvisedPlan&) const = default;
};

struct Advice {
  Feasibility verdict = Feasibility::kUnknown;
  std::optional<Ineligible> ineligible;
  std::string warning;  // one line for the author, at most 120 bytes; empty: it fits now, or nobody knows
  std::string refusal;  // of kPreemptionCannotHelp and kShapeNeverFits: the arithmetic, and what the scheduler will say
  std::string node;     // of kFitsAfterPreemption: the first of `chosen`
  std::size_t victims = 0;                // on that node
  std::chrono::seconds wait_at_most{};    // for them to go
  std::string message;                    // what the scheduler will write into the PodScheduled condition
  NodeSet fit;                            // of kFitsNow
  std::vector<AdvisedPlan> chosen;        // at most kMostPlans; not those with pods as important as a victim
  NodeSet chosen_nodes;                   // all of them
  std::uint64_t snapshot_generation = 0;  // of the picture this was made from

  static constexpr std::size_t kMostPlans = 16;
};

// Why there is no advice although it was asked for.
enum class NoAdvice {
  kNone,
  kStale,     // what it would rest on has not been heard of for too long
  kUnsynced,  // or was never listed
  kNoNodes,   // a cluster file, mostly, that is about other things
  kBehind,    // the newest picture is not prepared yet
  kTooMuch,   // it would take too long while requests wait: thousands of selector terms, or many templates
  kFailed,    // an exception, or a field that Kubernetes will refuse
};

constexpr std::string_view ToString(NoAdvice reason) {
  switch (reason) {
    case NoAdvice::kNone: return "none";
    case NoAdvice::kStale: return "stale";
    case NoAdvice::kUnsynced: return "unsynced";
    case NoAdvice::kNoNodes: return "no_nodes";
    case NoAdvice::kBehind: return "behind";
    case NoAdvice::kTooMuch: return "too_much";
    case NoAdvice::kFailed: return "failed";
  }
  return "none";
}

// What was asked for one pod template, and the answer.
struct TemplateAdvice {
  Mode mode = Mode::kWarn;              // of the workload type
  std::shared_ptr<const Advice> given;  // null: see `missing`
  NoAdvice missing = NoAdvice::kNone;
  bool operator==(const TemplateAdvice&) const = default;
};

}  // namespace podium
