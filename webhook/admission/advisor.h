// Will a pod fit, and whom would it evict: answers on one picture of the cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "podium/advice.h"
#include "podium/feasibility.h"
#include "podium/policy.h"
#include "podium/snapshot.h"

namespace podium {

// Thread-safe. Owns the snapshot together with what was prepared from it, so that the two are replaced as one. Answers
// do not depend on who asks when: an equal question is answered from a small memory.
class Advisor {
 public:
  // Prepares the snapshot: about 5 ms at 5,000 nodes, so not while a request waits. `previous`, when not null, is only
  // read here: node names that did not change are shared with it.
  Advisor(std::shared_ptr<const ClusterSnapshot> snapshot, const EvaluateOptions& options,
          const Advisor* previous = nullptr);
  ~Advisor();
  Advisor(const Advisor&) = delete;
  Advisor& operator=(const Advisor&) = delete;

  [[nodiscard]] const std::shared_ptr<const ClusterSnapshot>& snapshot() const;
  [[nodiscard]] const EvaluateOptions& options() const;

  // `pod` as it will be stored; its name and owner are not looked at. `gpus` says what a GPU is. `replicas`: it is one
  // of so many, which only changes the words. An evaluation takes up to 4 ms at 5,000 nodes.
  [[nodiscard]] std::shared_ptr<const Advice> Ask(const Pod& pod, const std::vector<GpuResource>& gpus,
                                                  std::int64_t replicas = 1) const;

  // Questions that are kept with their answers, at most.
  static constexpr std::size_t kRemembered = 64;
  // Evaluations so far; the other questions were answered from memory.
  [[nodiscard]] std::uint64_t evaluations() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace podium
