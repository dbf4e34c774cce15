// Remembers what was said of pods at admission until the scheduler has had its turn, and counts how often it was right.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "accuracy/compare.h"
#include "admission/advisor.h"
#include "core/mutex.h"
#include "podium/admission.h"

namespace podium {

struct AccuracyCount {
  Feasibility predicted = Feasibility::kUnknown;
  Actual actual = Actual::kNothing;
  Outcome outcome = Outcome::kUnknown;
  std::uint64_t count = 0;
  bool operator==(const AccuracyCount&) const = default;
};

// Remember and Counts: any thread. Look: one thread at a time. Bounded: kMostPods pods, each for kPatience.
class AccuracyLedger {
 public:
  static constexpr std::size_t kMostPods = 4096;  // the oldest goes first, and counts as unknown
  static constexpr std::chrono::minutes kPatience{10};
  // A nomination is compared when its victims have had so long to be marked, or when the pod is bound.
  static constexpr std::chrono::seconds kSettle{2};
  // Evaluations in one look to find out why what happened is not what was said; what is beyond counts as unknown.
  static constexpr std::size_t kMostChecks = 20;

  // Keeps what was said of a Pod that is being created, as it will be stored (at /validate). Everything else is left
  // alone: dry runs, refused pods, pods without advice, and the verdict Unknown, which claims nothing.
  void Remember(const AdmissionRequest& request, const Decision& decision, TimePoint now);

  // A new picture of the cluster. Each pod in it that the scheduler has dealt with is compared and forgotten. A line
  // for each disagreement, with both sides.
  //
  // On what was not to be, the ledger asks again: where Podium, on the last picture before the scheduler's turn was
  // seen (or, of a refusal, on the one that shows it), says what then happened, the verdict was overtaken. So it was
  // where anything beside the pod and its victims moved between those two pictures: the order is not known. Else the
  // two disagree.
  std::vector<std::string> Look(const std::shared_ptr<const Advisor>& advisor, TimePoint now);

  [[nodiscard]] std::vector<AccuracyCount> Counts() const;
  [[nodiscard]] std::size_t waiting() const;  // pods that are remembered

 private:
  struct Entry {
    std::string namespace_name;
    std::string name;
    std::string uid;
    std::shared_ptr<const Advice> advice;
    TimePoint at{};
    bool was_seen = false;
    // Of a nominated pod: what was seen first, when, and the pictures around that.
    Sighting nomination = {};
    TimePoint nominated_at{};
    std::shared_ptr<const Advisor> before = nullptr;
    bool moved = false;
    Evictions evictions = {};
  };
  // One picture, and what an entry is looked at with.
  struct Glance;

  void TakeIn();
  void GiveUp(const Entry& entry);
  bool IsDone(Entry& entry, Glance& glance);
  bool Judge(Entry& entry, const Pod& pod, Glance& glance);
  bool Settle(Entry& entry, const Pod& pod, const Sighting& sighting, Glance& glance);
  void Compare(const Entry& entry, const Pod& pod, const Sighting& sighting, Glance& glance);
  Outcome WhyNot(const Entry& entry, const Pod& pod, const Sighting& sighting, Glance& glance) const;
  static bool Moved(const Entry& entry, const Sighting& sighting, const Glance& glance);
  void Count(Feasibility predicted, Actual actual, Outcome outcome);

  using CountKey = std::tuple<Feasibility, Actual, Outcome>;
  mutable Mutex mutex_;
  std::vector<Entry> incoming_ PODIUM_GUARDED_BY(mutex_);
  std::map<CountKey, std::uint64_t> counts_ PODIUM_GUARDED_BY(mutex_);
  std::size_t held_ PODIUM_GUARDED_BY(mutex_) = 0;
  // Of the thread that looks.
  std::deque<Entry> entries_;  // oldest first
  std::shared_ptr<const Advisor> previous_;
};

}  // namespace podium
