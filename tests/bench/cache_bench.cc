// What watching a big cluster costs: memory after the first sync, speed of the first sync on one thread, and the time
// from one pod event to its published snapshot. Run by `./dev bench cache`; fails when a target is missed.

#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kube/cluster_store.h"
#include "podium/ports.h"
#include "wire/decode.h"
#include "wire/snapshot_file.h"

namespace {

using podium::ClusterStore;
using podium::ObjectSink;

constexpr int kNodes = 5'000;
constexpr int kPods = 150'000;
constexpr int kWorkloads = 10'000;
constexpr int kPodsOfOne = kPods / kWorkloads;
constexpr int kNamespaces = 200;
constexpr int kEvents = 20'000;
constexpr double kMaxRssMiB = 200;
constexpr double kMinMegabytesPerSecond = 150;
constexpr double kMaxEventMicroseconds = 1'000;

// Every change is published: the interval is over at each call.
class RunningClock final : public podium::Clock {
 public:
  [[nodiscard]] podium::TimePoint Now() const override { return now_ += std::chrono::seconds(1); }

 private:
  mutable podium::TimePoint now_{std::chrono::seconds(1'796'000'000)};
};

std::string Number(int value, int width) {
  std::string text = std::to_string(value);
  return std::string(static_cast<std::size_t>(width) - std::min<std::size_t>(width, text.size()), '0') + text;
}

std::string Uid(int a, int b) { return Number(a, 8) + "-7f3a-4c11-9d2e-" + Number(b, 12); }

std::string NamespaceOf(int workload) { return "team-" + Number(workload % kNamespaces, 3) + "-serving"; }
std::string DeploymentOf(int workload) { return "chat-completion-" + Number(workload, 5); }
std::string ReplicaSetOf(int workload) { return DeploymentOf(workload) + "-7d9c5b8f6d"; }
std::string NodeName(int node) { return "gpu-node-" + Number(node, 5) + ".eu-central-1.compute.internal"; }

// A body of tests/bench/bodies without its blanks, as the API server sends it; "@KEY@" is to be filled in.
class Body {
 public:
  explicit Body(const std::string& name) {
    std::ifstream file(std::string(PODIUM_TEST_DIR) + "/bench/bodies/" + name);
    std::stringstream text;
    text << file.rdbuf();
    const std::string pretty = text.str();
    std::size_t length = 0;
    text_.resize(pretty.size());
    if (simdjson::minify(pretty.data(), pretty.size(), text_.data(), length) != simdjson::SUCCESS) std::abort();
    text_.resize(length);
  }

  [[nodiscard]] std::string Filled(const std::map<std::string_view, std::string>& values) const {
    std::string filled;
    std::size_t done = 0;
    for (std::size_t at = text_.find('@'); at != std::string::npos; at = text_.find('@', done)) {
      const std::string_view key = std::string_view(text_).substr(at + 1, text_.find('@', at + 1) - at - 1);
      const auto value = values.find(key);
      filled.append(text_, done, at - done);
      filled += value == values.end() ? "@" : value->second;  // an '@' of the text itself
      done = at + 1 + (value == values.end() ? 0 : key.size() + 1);
    }
    return filled.append(text_, done);
  }

 private:
  std::string text_;
};

struct Bodies {
  Body pod{"cluster-pod.json"};
  Body node{"cluster-node.json"};
  Body workload{"cluster-workload.json"};
};

// Every tenth workload is a StatefulSet: its pods have labels of their own. Each workload has a spec of its own.
std::string PodJson(const Bodies& bodies, int pod, const std::string& node, const std::string& ready) {
  const int workload = pod / kPodsOfOne;
  const bool stateful = workload % 10 == 0;
  const std::string owner = stateful ? DeploymentOf(workload) : ReplicaSetOf(workload);
  const std::string name = owner + "-" + (stateful ? std::to_string(pod % kPodsOfOne) : Number(pod % 99'991, 5));
  return bodies.pod.Filled({{"NAME", name},
                            {"NAMESPACE", NamespaceOf(workload)},
                            {"UID", Uid(1, pod)},
                            {"VERSION", std::to_string(90'000'000 + pod)},
                            {"APP", DeploymentOf(workload)},
                            {"INDEX", stateful ? name : "0"},
                            {"OWNER", owner},
                            {"OWNER_KIND", stateful ? "StatefulSet" : "ReplicaSet"},
                            {"OWNER_UID", Uid(2, workload)},
                            {"CPU", std::to_string(1'000 + workload) + "m"},
                            {"TOKEN", Number(pod, 6)},
                            {"NODE", node},
                            {"READY", ready}});
}

std::string NodeJson(const Bodies& bodies, int node) {
  return bodies.node.Filled({{"NAME", NodeName(node)}, {"UID", Uid(3, node)}});
}

struct WorkloadNames {
  std::string name;
  std::string uid;
  std::string owner_kind;
};

std::string WorkloadJson(const Bodies& bodies, int workload, const WorkloadNames& names) {
  return bodies.workload.Filled({{"NAME", names.name},
                                 {"NAMESPACE", NamespaceOf(workload)},
                                 {"UID", names.uid},
                                 {"APP", DeploymentOf(workload)},
                                 {"OWNER_KIND", names.owner_kind},
                                 {"OWNER_UID", Uid(4, workload)},
                                 {"CPU", std::to_string(1'000 + workload) + "m"}});
}

// Of this thread: what the work costs, also on a machine that does other things.
double CpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double RssMiB() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

struct Fed {
  double megabytes = 0;
  double seconds = 0;
  std::size_t refused = 0;
};

// Only the sink's time counts; the JSON of a thousand objects at a time is made outside of it.
template <typename Make>
Fed Feed(ObjectSink& sink, int count, const Make& make) {
  Fed fed;
  sink.BeginList();
  for (int first = 0; first < count; first += 1'000) {
    std::vector<std::string> page;
    for (int i = first; i < std::min(count, first + 1'000); ++i) page.push_back(make(i));
    const double start = CpuSeconds();
    for (const std::string& json : page) {
      if (!sink.ListItem(json)) ++fed.refused;
      fed.megabytes += static_cast<double>(json.size()) / 1e6;
    }
    fed.seconds += CpuSeconds() - start;
  }
  const double start = CpuSeconds();
  sink.EndList();
  fed.seconds += CpuSeconds() - start;
  return fed;
}

// One in a hundred waits for a node.
std::string NodeOfPod(int pod) { return pod % 100 == 7 ? "" : NodeName(pod * 7 % kNodes); }

void Print(const char* what, const Fed& fed) {
  std::printf("%-12s %8.1f MB in %6.2f s: %6.1f MB/s; %zu not read\n", what, fed.megabytes, fed.seconds,
              fed.megabytes / fed.seconds, fed.refused);
}

struct EventTimes {
  double p50 = 0;
  double p99 = 0;
};

// Each event changes one pod: it becomes unready or ready, some move to another node.
EventTimes RunEvents(ClusterStore& store, const Bodies& bodies) {
  std::vector<double> microseconds;
  ObjectSink& pods = *store.Sink("pods");
  for (int i = 0; i < kEvents; ++i) {
    const int pod = static_cast<int>((static_cast<long long>(i) * 7'919) % kPods);
    const std::string json = PodJson(bodies, pod, i % 10 == 0 ? NodeName((pod + i) % kNodes) : NodeOfPod(pod), "False");
    const double start = CpuSeconds();
    (void)pods.Upsert(json);
    microseconds.push_back((CpuSeconds() - start) * 1e6);
  }
  std::sort(microseconds.begin(), microseconds.end());
  return {microseconds[kEvents / 2], microseconds[kEvents * 99 / 100]};
}

// A snapshot as a file, there and back.
void RunFile(const podium::ClusterSnapshot& snapshot) {
  const double start = CpuSeconds();
  const std::string file = podium::EncodeSnapshot(snapshot);
  const double written = CpuSeconds();
  const auto again = podium::DecodeClusterFile("s.json", file, snapshot.taken_at, podium::kMaxSnapshotFileBytes);
  const double read = CpuSeconds();
  const std::string redacted = podium::EncodeSnapshot(snapshot, {.redact = true});
  std::printf("snapshot file: %.0f MB, written in %.2f s, read in %.2f s (%s), with pseudonyms written in %.2f s\n",
              static_cast<double>(file.size()) / 1e6, written - start, read - written, again ? "well" : "REFUSED",
              CpuSeconds() - read);
}

}  // namespace

int main() {
  const RunningClock clock;
  ClusterStore store({{"deployments.apps"}, {"replicasets.apps"}, {"nodes"}, {"pods"}}, clock);
  const Bodies bodies;
  const auto deployment = [&](int i) { return WorkloadJson(bodies, i, {DeploymentOf(i), Uid(4, i), "Application"}); };
  const auto replica_set = [&](int i) { return WorkloadJson(bodies, i, {ReplicaSetOf(i), Uid(2, i), "Deployment"}); };
  Print("deployments", Feed(*store.Sink("deployments.apps"), kWorkloads, deployment));
  Print("replicasets", Feed(*store.Sink("replicasets.apps"), kWorkloads, replica_set));
  Print("nodes", Feed(*store.Sink("nodes"), kNodes, [&](int i) { return NodeJson(bodies, i); }));
  const auto pod = [&](int i) { return PodJson(bodies, i, NodeOfPod(i), "True"); };
  const Fed fed = Feed(*store.Sink("pods"), kPods, pod);
  Print("pods", fed);
  const double rss = RssMiB();
  const double speed = fed.megabytes / fed.seconds;
  const EventTimes times = RunEvents(store, bodies);
  const auto snapshot = store.Current();
  std::printf("held: %zu nodes, %zu workloads, %zu pods wait; %zu bytes a pod's JSON\n", snapshot->nodes.size(),
              snapshot->workloads.size(), snapshot->waiting.size(), PodJson(bodies, 1, NodeOfPod(1), "True").size());
  std::printf("memory after sync: %.0f MiB (target: at most %.0f)\n", rss, kMaxRssMiB);
  std::printf("first sync of pods: %.0f MB/s (target: at least %.0f)\n", speed, kMinMegabytesPerSecond);
  std::printf("event to published snapshot: p50 %.0f us, p99 %.0f us (target: below %.0f)\n", times.p50, times.p99,
              kMaxEventMicroseconds);
  std::printf("memory after %d events: %.0f MiB\n", kEvents, RssMiB());
  Print("pods again", Feed(*store.Sink("pods"), kPods, pod));
  std::printf("memory after a second list: %.0f MiB\n", RssMiB());
  RunFile(*store.Current());
  return rss <= kMaxRssMiB && speed >= kMinMegabytesPerSecond && times.p99 < kMaxEventMicroseconds ? 0 : 1;
}
