// CPU milliseconds per verdict on one thread: nodes of 8 GPUs, all held by one-GPU batch pods, and a pod that wants 1,
// 4 or 8 of them. And what advice at admission adds to that.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <vector>

#include "admission/advisor.h"
#include "builders/clusters.h"
#include "feasibility/prepared_cluster.h"

namespace podium {
namespace {

// Of this thread: what else runs on the machine does not count.
double CpuMilliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Everything that makes a verdict dear: zones, spreading, anti-affinity, budgets.
enum class Load { kPlain, kBusy };

ClusterSnapshot MakeCluster(int nodes, Load load) {
  ClusterBuilder cluster;
  std::vector<Pod> kinds;
  for (int kind = 0; kind < 8; ++kind)
    kinds.push_back(
        MakePod("batch", {.gpus = 1, .priority = 100, .labels = {{"app", "batch-" + std::to_string(kind)}}}));
  for (int n = 0; n < nodes; ++n) {
    char name[32];
    std::snprintf(name, sizeof name, "gpu-%06d", n);
    cluster.WithNode(name, {.gpus = 8, .labels = {{"topology.kubernetes.io/zone", "zone-" + std::to_string(n % 3)}}});
    for (int p = 0; p < 8; ++p) {
      Pod pod = kinds[static_cast<std::size_t>(p)];
      pod.name = "batch-" + std::to_string(n) + '-' + std::to_string(p);
      pod.node_name = std::string(name);
      pod.start_time = TimePoint(std::chrono::seconds(1 + (n * 7919 + p * 104729) % 86400));
      cluster.WithPod(std::move(pod));
    }
  }
  if (load == Load::kBusy) cluster.WithBudget("batch-0", {{"app", "batch-0"}}, 1);
  return cluster.Build();
}

Pod MakePreemptor(std::int64_t gpus, Load load) {
  SchedulingSpec scheduling;
  if (load == Load::kBusy) {
    const LabelSelector own = {{{"app", "chat"}}, {}};
    scheduling.pod_anti_affinity.push_back({own, {}, std::nullopt, "kubernetes.io/hostname"});
    SpreadConstraint constraint;
    constraint.topology_key = "topology.kubernetes.io/zone";
    constraint.selector = own;
    scheduling.spread.push_back(constraint);
  }
  return MakePod("chat", {.gpus = gpus, .priority = 1000, .labels = {{"app", "chat"}}, .scheduling = scheduling});
}

// The median of several runs.
template <typename Run>
double MedianOf(int runs, Run run) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const double start = CpuMilliseconds();
    run();
    times.push_back(CpuMilliseconds() - start);
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<std::size_t>(runs / 2)];
}

void Measure(int nodes, Load load) {
  const ClusterSnapshot snapshot = MakeCluster(nodes, load);
  const EvaluateOptions options;
  const double prepare = MedianOf(5, [&] { (void)Prepare(snapshot, RulesOf(options.version)); });
  const PreparedCluster cluster = Prepare(snapshot, RulesOf(options.version));
  std::printf("%5d nodes, %s: prepare %7.3f ms;", nodes, load == Load::kBusy ? "busy " : "plain", prepare);
  for (const std::int64_t gpus : {1, 4, 8}) {
    const Pod pod = MakePreemptor(gpus, load);
    std::size_t candidates = 0;
    const double time = MedianOf(21, [&] { candidates = Evaluate(cluster, pod, options).candidates.size(); });
    std::printf(" %d GPU %7.3f ms (%zu candidates);", static_cast<int>(gpus), time, candidates);
  }
  std::printf("\n");
}

// What advice at admission costs: the picture beside the request path, a question that is new, one that is not.
void MeasureAdvice(int nodes) {
  const auto snapshot = std::make_shared<const ClusterSnapshot>(MakeCluster(nodes, Load::kBusy));
  const EvaluateOptions options;
  const double prepare = MedianOf(5, [&] { const Advisor advisor(snapshot, options); });
  const Advisor advisor(snapshot, options);
  const std::vector<GpuResource> gpus = {{"nvidia.com/gpu", GpuUnit::kDevice}};
  std::int64_t asked = 0;
  const double first = MedianOf(21, [&] { (void)advisor.Ask(MakePreemptor(4, Load::kBusy), gpus, ++asked); });
  const double again = MedianOf(201, [&] { (void)advisor.Ask(MakePreemptor(4, Load::kBusy), gpus, asked); });
  std::printf("%5d nodes, advice: picture %7.3f ms; new question %7.3f ms; known question %7.4f ms\n", nodes, prepare,
              first, again);
}

}  // namespace
}  // namespace podium

int main() {
  for (const podium::Load load : {podium::Load::kPlain, podium::Load::kBusy})
    for (const int nodes : {100, 1000, 5000}) podium::Measure(nodes, load);
  for (const int nodes : {100, 1000, 5000}) podium::MeasureAdvice(nodes);
}
