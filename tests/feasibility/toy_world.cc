#include "feasibility/toy_world.h"

#include <random>
#include <sstream>

namespace podium {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 2654435761U + 1) {}

  // 0 .. below - 1. Distributions of the standard library differ between implementations.
  std::int64_t Below(std::int64_t below) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(below));
  }
  bool OneIn(std::int64_t n) { return Below(n) == 0; }
  template <typename T>
  T Of(std::initializer_list<T> values) {
    return *(values.begin() + Below(static_cast<std::int64_t>(values.size())));
  }

 private:
  std::mt19937_64 engine_;
};

ToyNode MakeToyNode(Dice& dice, std::size_t number) {
  ToyNode node;
  node.name = "n" + std::to_string(number);
  node.gpus = dice.Below(5);
  node.cpus = 4 + dice.Below(12);
  node.pods = dice.OneIn(4) ? dice.Below(5) : 10;
  node.zone = dice.Of<std::string>({"east", "east", "west", "west", ""});
  node.disk = dice.Of<std::string>({"fast", "slow", ""});
  node.cordoned = dice.OneIn(10);
  if (dice.OneIn(6))
    node.taint = ToyTaint{dice.Of<std::string>({"red", "blue"}),
                          dice.Of<std::string>({"NoSchedule", "NoExecute", "PreferNoSchedule"})};
  return node;
}

void AddNodeWishes(Dice& dice, ToyPod& pod) {
  if (dice.OneIn(3)) pod.tolerates = dice.Of<std::string>({"red", "blue"});
  if (dice.OneIn(6)) pod.wants_disk = dice.Of<std::string>({"fast", "slow"});
  if (dice.OneIn(6))
    pod.zones = dice.OneIn(2) ? std::vector<std::string>{"east"} : std::vector<std::string>{"east", "west"};
}

void AddPodWishes(Dice& dice, ToyPod& pod) {
  if (dice.OneIn(3)) {
    pod.apart_from = dice.Of<std::string>({"chat", "batch"});
    pod.apart_key = dice.Of<std::string>({"kubernetes.io/hostname", "zone"});
  }
  if (dice.OneIn(6)) pod.beside = dice.Of<std::string>({"chat", "batch"});
  pod.spreads = dice.OneIn(5);
}

ToyPod MakeToyPod(Dice& dice, const std::string& name) {
  ToyPod pod;
  pod.name = name;
  pod.gpus = dice.Below(4);
  pod.cpus = dice.Below(4);
  pod.priority = dice.Of<std::int64_t>({-10, 0, 0, 10, 100, 1000});
  pod.start_minute = static_cast<int>(dice.Below(5));
  pod.app = dice.Of<std::string>({"batch", "batch", "train", ""});
  pod.over = dice.OneIn(20);
  pod.deleting = dice.OneIn(12);
  pod.preempted = pod.deleting && dice.OneIn(2);
  pod.wants_port = dice.OneIn(8);
  return pod;
}

ToyPod MakeIncoming(Dice& dice, const ToyWorld& world) {
  ToyPod pod = MakeToyPod(dice, "chat");
  pod.app = "chat";
  pod.gpus = dice.OneIn(8) ? 0 : 1 + dice.Below(4);
  pod.priority = dice.Of<std::int64_t>({0, 10, 100, 100, 1000, 2000});
  pod.start_minute = 0;
  pod.over = pod.deleting = pod.preempted = false;
  pod.never_preempts = dice.OneIn(10);
  if (dice.OneIn(6)) pod.nominated = dice.Below(static_cast<std::int64_t>(world.nodes.size()));
  AddNodeWishes(dice, pod);
  return pod;
}

LabelSelector SelectApp(const std::string& app) { return {{{"app", app}}, {}}; }

SchedulingSpec SchedulingOf(const ToyPod& toy) {
  SchedulingSpec spec;
  if (toy.wants_port) spec.host_ports.push_back({.port = 8080});
  if (toy.tolerates) spec.tolerations.push_back({"team", "Equal", *toy.tolerates, ""});
  if (!toy.wants_disk.empty()) spec.node_selector["disk"] = toy.wants_disk;
  if (!toy.zones.empty())
    spec.node_affinity = NodeSelector{{{.expressions = {{"zone", NodeSelectorOp::kIn, toy.zones}}}}};
  if (!toy.apart_from.empty())
    spec.pod_anti_affinity.push_back({SelectApp(toy.apart_from), {}, std::nullopt, toy.apart_key});
  if (!toy.beside.empty()) spec.pod_affinity.push_back({SelectApp(toy.beside), {}, std::nullopt, "zone"});
  if (toy.spreads) spec.spread.push_back({.topology_key = "zone", .selector = SelectApp(toy.app)});
  return spec;
}

}  // namespace

ToyWorld MakeToyWorld(std::uint64_t seed, ToyScope scope) {
  Dice dice(seed);
  ToyWorld world;
  const std::int64_t nodes = 1 + dice.Below(4);
  for (std::int64_t n = 0; n < nodes; ++n) world.nodes.push_back(MakeToyNode(dice, static_cast<std::size_t>(n)));
  for (std::int64_t n = 0; n < nodes; ++n) {
    const std::int64_t pods = dice.Below(scope == ToyScope::kNodesOnly ? 6 : 4);
    for (std::int64_t p = 0; p < pods; ++p) {
      world.pods.push_back(MakeToyPod(dice, "p" + std::to_string(n) + std::to_string(p)));
      world.pods.back().node = n;
      if (scope == ToyScope::kBetweenPods && dice.OneIn(4)) AddPodWishes(dice, world.pods.back());
    }
  }
  for (std::int64_t w = dice.Below(3); w > 0; --w) {
    ToyPod waiting = MakeToyPod(dice, "w" + std::to_string(w));
    if (dice.OneIn(2)) waiting.nominated = dice.Below(nodes);
    world.pods.push_back(waiting);
  }
  for (std::int64_t b = dice.Below(3); b > 0; --b) {
    ToyBudget budget{dice.Of<std::string>({"batch", "batch", "train", ""}), dice.Below(3), {}};
    if (dice.OneIn(4)) budget.disrupted.push_back("p00");
    world.budgets.push_back(budget);
  }
  world.incoming = MakeIncoming(dice, world);
  if (scope == ToyScope::kBetweenPods) {
    if (dice.OneIn(2))
      AddPodWishes(dice, world.incoming);
    else
      world.incoming.beside = "chat";
    world.incoming.gpus = 1 + dice.Below(2);
    world.incoming.cpus = dice.Below(2);
  }
  return world;
}

Pod BuildPod(const ToyWorld& world, const ToyPod& toy) {
  PodWish wish{.gpus = toy.gpus, .priority = toy.priority, .start_minute = toy.start_minute};
  if (!toy.app.empty()) wish.labels = {{"app", toy.app}};
  if (toy.cpus > 0) wish.requests["cpu"] = Quantity::FromUnits(toy.cpus);
  wish.scheduling = SchedulingOf(toy);
  if (toy.nominated >= 0) wish.standing.nominated_node = world.nodes[static_cast<std::size_t>(toy.nominated)].name;
  wish.standing.preempted_by_scheduler = toy.preempted;
  Pod pod = MakePod(toy.name, std::move(wish));
  if (toy.node >= 0) pod.node_name = world.nodes[static_cast<std::size_t>(toy.node)].name;
  if (toy.over) pod.phase = PodPhase::kFailed;
  pod.deleting = toy.deleting;
  pod.controller = OwnerReference{"batch/v1", "Job", "job", true, "uid-job"};
  if (toy.never_preempts) {
    PodSpec spec = *pod.spec;
    spec.trio.preemption_policy = PreemptionPolicy::kNever;
    pod.spec = std::move(spec);
  }
  return pod;
}

ClusterSnapshot BuildSnapshot(const ToyWorld& world) {
  ClusterBuilder cluster;
  for (std::size_t n = 0; n < world.nodes.size(); ++n) {
    const ToyNode& node = world.nodes[n];
    NodeWish wish{.gpus = node.gpus, .cpus = node.cpus, .pods = node.pods};
    if (!node.zone.empty()) wish.labels["zone"] = node.zone;
    if (!node.disk.empty()) wish.labels["disk"] = node.disk;
    if (node.taint) wish.taints.push_back({"team", node.taint->value, node.taint->effect});
    cluster.WithNode(node.name, wish);
    if (node.cordoned) cluster.Cordoned();
    for (const ToyPod& pod : world.pods)
      if (pod.node == static_cast<std::int64_t>(n)) cluster.WithPod(BuildPod(world, pod));
  }
  for (const ToyPod& pod : world.pods)
    if (pod.node < 0) cluster.Waiting(BuildPod(world, pod));
  for (std::size_t b = 0; b < world.budgets.size(); ++b)
    cluster.WithBudget("b" + std::to_string(b),
                       world.budgets[b].app.empty() ? Labels{} : Labels{{"app", world.budgets[b].app}},
                       world.budgets[b].allowed, world.budgets[b].disrupted);
  return cluster.Build();
}

namespace {

void Describe(std::ostream& out, const ToyPod& pod) {
  out << "  pod " << pod.name << " node=" << pod.node << " gpus=" << pod.gpus << " cpus=" << pod.cpus
      << " priority=" << pod.priority << " start=" << pod.start_minute << " app=" << pod.app
      << (pod.over ? " over" : "") << (pod.deleting ? " deleting" : "") << (pod.preempted ? " preempted" : "")
      << (pod.never_preempts ? " never" : "") << " nominated=" << pod.nominated
      << " tolerates=" << pod.tolerates.value_or("-") << " disk=" << pod.wants_disk << " zones=" << pod.zones.size()
      << " apart=" << pod.apart_from << '/' << pod.apart_key << " beside=" << pod.beside
      << (pod.spreads ? " spreads" : "") << (pod.wants_port ? " port" : "") << '\n';
}

}  // namespace

std::string Describe(const ToyWorld& world) {
  std::ostringstream out;
  for (const ToyNode& node : world.nodes)
    out << "  node " << node.name << " gpus=" << node.gpus << " cpus=" << node.cpus << " pods=" << node.pods
        << " zone=" << node.zone << " disk=" << node.disk << (node.cordoned ? " cordoned" : "")
        << " taint=" << (node.taint ? node.taint->value + ':' + node.taint->effect : "-") << '\n';
  for (const ToyPod& pod : world.pods) Describe(out, pod);
  for (const ToyBudget& budget : world.budgets)
    out << "  budget app=" << budget.app << " allowed=" << budget.allowed << " disrupted=" << budget.disrupted.size()
        << '\n';
  Describe(out, world.incoming);
  return out.str();
}

}  // namespace podium
