// Small clusters in plain numbers: made from a seed, judged by an oracle that shares nothing with the evaluator, and
// turned into a snapshot for the evaluator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "builders/clusters.h"
#include "podium/feasibility.h"

namespace podium {

struct ToyTaint {
  std::string value;
  std::string effect;
};

struct ToyNode {
  std::string name;
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;
  std::int64_t pods = 0;
  std::string zone;  // label "zone"; empty: none
  std::string disk;  // label "disk"; empty: none
  bool cordoned = false;
  std::optional<ToyTaint> taint;  // of the key "team"
};

struct ToyPod {
  std::string name;
  std::int64_t node = -1;  // position; -1: waiting
  std::int64_t gpus = 0;
  std::int64_t cpus = 0;
  std::int64_t priority = 0;
  int start_minute = 1;  // 0: not started
  std::string app;       // label "app"; empty: no labels at all
  bool over = false;
  bool deleting = false;
  bool preempted = false;  // the scheduler deletes it
  bool never_preempts = false;
  std::int64_t nominated = -1;           // position of a node
  std::optional<std::string> tolerates;  // value of the taint "team"
  std::string wants_disk;                // nodeSelector; empty: none
  std::vector<std::string> zones;        // required node affinity; empty: none
  bool wants_port = false;               // one host port, the same for all
  // Between pods, for the tests that follow the evaluator's own steps. Empty: none.
  std::string apart_from;  // anti-affinity: app
  std::string apart_key = "kubernetes.io/hostname";
  std::string beside;    // affinity: app, in one zone
  bool spreads = false;  // its app over zones, skew 1
  bool operator==(const ToyPod&) const = default;
};

struct ToyBudget {
  std::string app;  // empty: the empty selector
  std::int64_t allowed = 0;
  std::vector<std::string> disrupted;
};

struct ToyWorld {
  std::vector<ToyNode> nodes;
  std::vector<ToyPod> pods;  // in the order in which they became known
  std::vector<ToyBudget> budgets;
  ToyPod incoming;
};

enum class ToyScope { kNodesOnly, kBetweenPods };

// The same world for the same seed, everywhere.
ToyWorld MakeToyWorld(std::uint64_t seed, ToyScope scope);

ClusterSnapshot BuildSnapshot(const ToyWorld& world);
Pod BuildPod(const ToyWorld& world, const ToyPod& toy);

// For the message of a failed test.
std::string Describe(const ToyWorld& world);

}  // namespace podium
