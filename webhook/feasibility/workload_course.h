// One way in which the scheduler could place a number of equal pods, and what it decided on the way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "feasibility/prospect.h"
#include "podium/outlook.h"

namespace podium {

// One pod goes somewhere.
struct Move {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> victims;  // positions in PreparedNode::pods before the move
};

enum class CourseEnd { kAllPlaced, kNoPlace, kBudgetSpent, kBroken };

struct Course {
  std::vector<Move> moves;
  std::vector<ReplicaOutcome> steps;  // of the moves; not of the one that found no place
  CourseEnd end = CourseEnd::kAllPlaced;
  Feasibility stopped_with = Feasibility::kFitsNow;  // of kNoPlace: the verdict on the next pod
  std::int64_t fit_now = 0;
  std::int64_t fit_after = 0;
  // What happened on the way that may go another way in the cluster.
  bool had_a_choice = false;             // more than one node for a pod
  bool had_a_choice_of_victims = false;  // more than one node where room could be made
  bool budget_order_mattered = false;
  bool budgets_changed = false;  // pods were evicted after one that a disruption budget protects
  bool node_local = true;        // Prospect::IsNodeLocal
};

// Who is to be placed, on what.
struct CourseSetting {
  const ChangedCluster* before = nullptr;  // the replica is announced in it
  PreparedPod replica;
  std::int64_t replicas = 0;
  const EvaluateOptions* options = nullptr;
};

// Asked before each move that is not given: may reorder the nodes, of which the first is taken; false breaks off.
using CourseGuide = std::function<bool(const Course& so_far, const Prospect& prospect, Choices& choices)>;

struct CourseResult {
  Course course;
  std::unique_ptr<ChangedCluster> after;
};

// Makes the moves of `beginning` first: they are taken from another course of the same setting.
CourseResult FollowCourse(const CourseSetting& setting, const std::vector<Move>& beginning, const CourseGuide& guide,
                          SearchBudget& budget);

}  // namespace podium
