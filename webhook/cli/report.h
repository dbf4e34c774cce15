// What `podium review` found out, before it is printed in one of its forms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podium/admission.h"
#include "podium/result.h"
#include "wire/manifest.h"

namespace podium {

struct ReviewItem {
  Manifest manifest;
  std::string namespace_name;  // where it would be created; empty for cluster-scoped objects
  Verdict verdict = Verdict::kAllow;
  int code = 200;
  std::string message;  // why, when refused
  SkipReason skipped = SkipReason::kNone;
  std::optional<std::string> internal_error;  // why the policy was not applied: the object could not be read
  std::vector<TemplateDecision> templates;
  std::optional<QuotaScopeChange> quota_scope;
  std::vector<Finding> findings;  // empty when a server was asked: an answer does not carry them
  std::vector<std::string> warnings;
  std::string patch = "[]";           // RFC 6902
  std::optional<std::string> stored;  // JSON of the object as it would be stored; absent when refused
};

struct ReviewReport {
  std::string policy_name;  // of a server: empty
  std::string policy_revision;
  std::string cluster;  // "sample", a file name, or empty
  std::string server;   // URL, or empty: decided here
  std::vector<ReviewItem> items;
};

std::size_t CountRefused(const ReviewReport& report);
std::size_t CountUndecided(const ReviewReport& report);  // by internal_error

}  // namespace podium
