// The part of a pod's status that scheduling depends on.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>
#include <utility>

#include "core/text.h"
#include "wire/decode_scheduling.h"

namespace podium {
namespace {

std::optional<int> Digits(std::string_view text, std::size_t at) {
  int number = 0;
  if (text.size() < at + 2) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 2, number);
  if (error != std::errc() || end != text.data() + at + 2) return std::nullopt;
  return number;
}

// "Z" or "+02:00".
std::optional<std::chrono::minutes> ZoneOf(std::string_view text) {
  if (text == "Z" || text == "z") return std::chrono::minutes(0);
  const std::optional<int> hours = Digits(text, 1);
  const std::optional<int> minutes = Digits(text, 4);
  if (text.size() != 6 || !hours || !minutes || text[3] != ':') return std::nullopt;
  const std::chrono::minutes offset(*hours * 60 + *minutes);
  return text[0] == '-' ? -offset : offset;
}

// RFC 3339, down to microseconds.
std::optional<TimePoint> TimeOf(std::string_view text) {
  constexpr std::size_t kToSeconds = 19;
  if (text.size() < kToSeconds + 1 || text[13] != ':' || text[16] != ':') return std::nullopt;
  const Result<TimePoint> day = ParseDate(text.substr(0, 10));
  const std::optional<int> hour = Digits(text, 11);
  const std::optional<int> minute = Digits(text, 14);
  const std::optional<int> second = Digits(text, 17);
  std::size_t end = kToSeconds;
  std::int64_t micros = 0;
  if (text[end] == '.')
    for (std::int64_t unit = 100'000; ++end < text.size() && text[end] >= '0' && text[end] <= '9'; unit /= 10)
      micros += (text[end] - '0') * unit;
  const std::optional<std::chrono::minutes> zone = ZoneOf(text.substr(end));
  if (!day || !hour || !minute || !second || !zone) return std::nullopt;
  return *day + std::chrono::seconds(*hour * 3600 + *minute * 60 + *second) + std::chrono::microseconds(micros) - *zone;
}

ReportedResources ReadReported(FieldReader& in, JsonElement json, const At& at) {
  ReportedResources reported;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "allocatedResources") {
      reported.allocated = in.Resources(value, here);
    } else if (key == "resources") {
      reported.has_resources = true;
      in.EachMember(value, here, [&](std::string_view name, JsonElement amounts, const At& place) {
        if (name == "requests") reported.requests = in.Resources(amounts, place);
      });
    }
  });
  return reported;
}

ContainerReport ReadContainerReport(FieldReader& in, JsonElement json, const At& at) {
  return {ReadName(in, json, at), ReadReported(in, json, at)};
}

struct Condition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
};

Condition ReadCondition(FieldReader& in, JsonElement json, const At& at) {
  Condition condition;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "type")
      condition.type = in.Text(value, here);
    else if (key == "status")
      condition.status = in.Text(value, here);
    else if (key == "reason")
      condition.reason = in.Text(value, here);
    else if (key == "message")
      condition.message = in.Text(value, here);
  });
  return condition;
}

// Of each type the first condition counts.
SchedulingStatus WithConditions(SchedulingStatus status, const std::vector<Condition>& conditions) {
  const auto first = [&](std::string_view type) {
    const auto found = std::find_if(conditions.begin(), conditions.end(), [&](auto& c) { return c.type == type; });
    return found == conditions.end() ? Condition{} : *found;
  };
  const Condition disruption = first("DisruptionTarget");
  status.preempted_by_scheduler = disruption.status == "True" && disruption.reason == "PreemptionByScheduler";
  Condition scheduled = first("PodScheduled");
  if (scheduled.status == "False" && scheduled.reason == "Unschedulable")
    status.unschedulable = std::move(scheduled.message);
  status.resize_infeasible = first("PodResizePending").reason == "Infeasible";
  return status;
}

}  // namespace

std::optional<TimePoint> ReadTime(FieldReader& in, JsonElement json, const At& at) { return TimeOf(in.Text(json, at)); }

PodScheduling WithPodStatus(PodScheduling pod, FieldReader& in, JsonElement json, const At& at) {
  std::vector<ContainerReport> init_containers;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "nominatedNodeName")
      pod.status.nominated_node = in.Text(value, here);
    else if (key == "startTime")
      pod.start_time = ReadTime(in, value, here).value_or(TimePoint());
    else if (key == "conditions")
      pod.status = WithConditions(std::move(pod.status), ListOf(in, value, here, ReadCondition));
    else if (key == "containerStatuses")
      pod.status.containers = ListOf(in, value, here, ReadContainerReport);
    else if (key == "initContainerStatuses")
      init_containers = ListOf(in, value, here, ReadContainerReport);
  });
  std::move(init_containers.begin(), init_containers.end(), std::back_inserter(pod.status.containers));
  pod.status.pod = ReadReported(in, json, at);
  return pod;
}

SchedulingStatus WithoutRepetition(SchedulingStatus status, const PodSpec& spec) {
  if (status.resize_infeasible) return status;
  const auto repeats = [&](const ContainerReport& report) {
    const ReportedResources& reported = report.resources;
    if (reported == ReportedResources{}) return true;
    for (const auto* containers : {&spec.containers, &spec.init_containers}) {
      for (const Container& container : *containers) {
        if (container.name != report.name) continue;
        return reported.requests.value_or(container.requests) == container.requests &&
               reported.allocated.value_or(container.requests) == container.requests;
      }
    }
    return true;  // no such container
  };
  // The first report of a name counts: what would stand behind one that is left out must go with it.
  const std::vector<ContainerReport> all = std::move(status.containers);
  status.containers.clear();
  for (auto report = all.begin(); report != all.end(); ++report) {
    const auto same = [&](const ContainerReport& other) { return other.name == report->name; };
    if (std::none_of(all.begin(), report, same) && !repeats(*report)) status.containers.push_back(*report);
  }
  return status;
}

}  // namespace podium
