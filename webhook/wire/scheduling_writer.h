// What the scheduler reads of pods and nodes, as JSON members that decode_scheduling reads back. Only for wire's own
// sources.
#pragma once

#include <span>
#include <string_view>

#include "podium/objects.h"
#include "wire/json.h"

namespace podium {

// Into an open object. Members that are absent or have their default are left out.
class SchedulingWriter {
 public:
  explicit SchedulingWriter(JsonWriter& json) : json_(json) {}

  void SpecMembers(const SchedulingSpec& spec);  // of PodSpec, without what stands in its containers
  // Of one container. Host ports and needed features are not kept by container: the first of a pod gets them all.
  void ContainerMembers(const SchedulingSpec& spec);
  void StatusMembers(const Pod& pod);  // of PodStatus, without phase
  void Taints(const std::vector<Taint>& taints);
  void SelectorMember(std::string_view key, const std::optional<LabelSelector>& selector);
  void Texts(std::string_view key, const std::vector<std::string>& texts);
  void Resources(std::string_view key, const ResourceList& resources);

 private:
  void BeginMember(std::string_view key);
  void BeginList(std::string_view key);
  void Text(std::string_view key, std::string_view value);
  void Number(std::string_view key, std::int64_t value);
  void Map(std::string_view key, const Labels& labels);
  void Names(std::string_view key, const std::vector<std::string>& names, std::string_view beside = {});
  void Affinity(const SchedulingSpec& spec);
  void Requirements(std::string_view key, std::span<const NodeRequirement> requirements);
  void Terms(std::string_view key, const std::vector<PodAffinityTerm>& terms);
  void Spread(const std::vector<SpreadConstraint>& constraints);
  void Tolerations(const std::vector<Toleration>& tolerations);
  void Reported(const ReportedResources& reported);
  void Conditions(const Pod& pod);
  struct ConditionText {
    std::string_view type, status, reason, message;  // empty: left out
  };
  void Condition(const ConditionText& condition);

  JsonWriter& json_;
};

}  // namespace podium
