// Label selectors: which labels they match, and how people write them.
// Source: apimachinery pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector), pkg/labels/selector.go
// (Requirement.Matches, Requirement.String).
#pragma once

#include <string>

#include "podium/objects.h"

namespace podium {

// All of match_labels and all expressions must hold; an empty selector matches everything. kNotIn and kDoesNotExist
// hold when the key is absent. Requires: kIn and kNotIn have values (the API server refuses others).
bool Matches(const LabelSelector& selector, const Labels& labels);

// The syntax of `kubectl get --selector`, sorted by key: "app=chat,!legacy,tier in (a,b),zone". Empty: "".
std::string FormatSelector(const LabelSelector& selector);

}  // namespace podium
