#include "core/interner.h"

#include <functional>
#include <string_view>

namespace podium {
namespace {

class Hasher {
 public:
  void Add(std::string_view text) { Mix(std::hash<std::string_view>{}(text)); }
  void Add(std::size_t number) { Mix(number); }

  void Add(const Labels& labels) {
    Mix(labels.size());
    for (const auto& [key, value] : labels) Add(key), Add(value);
  }

  void Add(const ResourceList& resources) {
    Mix(resources.size());
    for (const auto& [name, amount] : resources) Add(name), Mix(static_cast<std::size_t>(amount.nano()));
  }

  void Add(const std::vector<Container>& containers) {
    Mix(containers.size());
    for (const Container& container : containers) {
      Add(container.name), Add(container.requests), Add(container.limits);
      Mix(container.restart_always ? 1 : 0);
    }
  }

  [[nodiscard]] std::size_t value() const { return value_; }

 private:
  // The finalizer of MurmurHash3 on the running value: order counts.
  void Mix(std::size_t more) {
    value_ = (value_ ^ more) * 0xff51afd7ed558ccdULL;
    value_ ^= value_ >> 33;
  }

  std::size_t value_ = 0x9e3779b97f4a7c15ULL;
};

}  // namespace

std::size_t HashOf(const std::string& value) { return std::hash<std::string>{}(value); }

std::size_t HashOf(const Labels& value) {
  Hasher hasher;
  hasher.Add(value);
  return hasher.value();
}

std::size_t HashOf(const OwnerReference& value) {
  Hasher hasher;
  hasher.Add(value.kind), hasher.Add(value.name), hasher.Add(value.uid);
  return hasher.value();
}

std::size_t HashOf(const PodSpec& value) {
  Hasher hasher;
  hasher.Add(value.trio.class_name.value_or(""));
  hasher.Add(static_cast<std::size_t>(value.trio.priority.value_or(-1)));
  hasher.Add(value.service_account);
  hasher.Add(value.containers), hasher.Add(value.init_containers);
  hasher.Add(value.overhead), hasher.Add(value.pod_requests);
  return hasher.value();
}

// Not every field: equal values must have equal hashes, others may.
std::size_t HashOf(const SchedulingSpec& value) {
  Hasher hasher;
  hasher.Add(value.scheduler_name), hasher.Add(value.node_selector);
  for (const Toleration& toleration : value.tolerations) hasher.Add(toleration.key), hasher.Add(toleration.value);
  for (const auto* terms : {&value.pod_affinity, &value.pod_anti_affinity})
    for (const PodAffinityTerm& term : *terms)
      hasher.Add(term.topology_key), hasher.Add(term.selector ? term.selector->match_labels : Labels{});
  for (const SpreadConstraint& constraint : value.spread)
    hasher.Add(constraint.topology_key), hasher.Add(constraint.selector ? constraint.selector->match_labels : Labels{});
  for (const HostPort& port : value.host_ports) hasher.Add(static_cast<std::size_t>(port.port));
  hasher.Add(value.volumes.size()), hasher.Add(value.node_affinity ? value.node_affinity->terms.size() : 0);
  hasher.Add(static_cast<std::size_t>(value.grace_period_seconds.value_or(-1)));
  return hasher.value();
}

std::size_t HashOf(const SchedulingStatus& value) {
  Hasher hasher;
  hasher.Add(value.nominated_node);
  hasher.Add(static_cast<std::size_t>(value.deletion_time.value_or(TimePoint()).time_since_epoch().count()));
  for (const ContainerReport& report : value.containers) hasher.Add(report.name);
  return hasher.value();
}

}  // namespace podium
