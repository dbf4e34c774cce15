// What `podium feasibility` found out, before it is printed in one of its forms.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admission/question.h"
#include "cli/layout.h"
#include "cli/seen_cluster.h"
#include "podium/outlook.h"
#include "wire/manifest.h"

namespace podium {

// What is said of one pod template, or of one object that was refused.
struct FeasibilityItem {
  Manifest manifest;
  std::string namespace_name;
  std::string name;
  std::optional<Decision> refusal;    // present: there is nothing else
  std::vector<std::string> warnings;  // of the policy
  PodQuestion question;
  std::vector<GpuRequest> gpus;  // of one pod
  Outlook outlook;               // of one pod
  std::optional<WorkloadReport> workload;  // of more than one replica
};

struct FeasibilityAnswer {
  SeenCluster cluster;
  std::string cluster_name;  // a file's, "sample", "live"
  std::string policy_name;
  std::string policy_revision;
  std::vector<FeasibilityItem> items;
};

// All of the item's pods find a place, now or after preemption. Of a DaemonSet: on each node that is not ruled out by
// what evictions cannot change.
bool Fits(const FeasibilityItem& item);

struct FeasibilityForm {
  TableStyle style = {};
  bool is_wide = false;
};

std::string FeasibilityText(const FeasibilityAnswer& answer, const FeasibilityForm& form);

// A FeasibilityReport with what the command knows beside it; of several items a FeasibilityReportList.
std::string FeasibilityJson(const FeasibilityAnswer& answer);

}  // namespace podium
