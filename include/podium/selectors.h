// Labels, amounts of resources and label selectors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "podium/quantity.h"

namespace podium {

using Labels = std::map<std::string, std::string>;
using ResourceList = std::map<std::string, Quantity>;  // resource name -> amount, e.g. "nvidia.com/gpu" -> 1

enum class SelectorOp { kIn, kNotIn, kExists, kDoesNotExist };

struct SelectorRequirement {
  std::string key;
  SelectorOp op = SelectorOp::kIn;
  std::vector<std::string> values;
  bool operator==(const SelectorRequirement&) const = default;
};

// metav1.LabelSelector. An empty one selects everything; "no selector" is a std::optional without value and selects
// nothing (k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go). core/selector.h matches.
struct LabelSelector {
  Labels match_labels;
  std::vector<SelectorRequirement> match_expressions;
  bool operator==(const LabelSelector&) const = default;
};

}  // namespace podium
