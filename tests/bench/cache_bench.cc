// What watching a big cluster costs: memory after the first sync, speed of the first sync on one thread, and the time
// from one pod event to its published snapshot. Run by `./dev bench cache`; fails when a target is missed.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "kube/cluster_store.h"
#include "podium/ports.h"

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

// As the API server returns it: compact, with managedFields, defaults, status. About 4 KiB.
std::string PodJson(int pod, const std::string& node, const std::string& ready) {
  const int workload = pod / kPodsOfOne;
  const bool stateful = workload % 10 == 0;  // those have labels of their own
  const std::string owner = stateful ? DeploymentOf(workload) : ReplicaSetOf(workload);
  const std::string name = owner + "-" + (stateful ? std::to_string(pod % kPodsOfOne) : Number(pod % 99'991, 5));
  std::string json = R"({"metadata":{"name":")" + name + R"(","generateName":")" + owner + R"(-","namespace":")" +
                     NamespaceOf(workload) + R"(","uid":")" + Uid(1, pod) + R"(","resourceVersion":")" +
                     std::to_string(90'000'000 + pod) +
                     R"(","generation":1,"creationTimestamp":"2026-11-29T12:36:09Z",)";
  json +=
      R"("labels":{"app":")" + DeploymentOf(workload) +
      R"(","app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/part-of":"chat","pod-template-hash":"7d9c5b8f6d",)";
  if (stateful) json += R"("apps.kubernetes.io/pod-index":")" + std::to_string(pod % kPodsOfOne) + "\",";
  if (stateful) json += R"("statefulset.kubernetes.io/pod-name":")" + name + "\",";
  json +=
      R"("podium.gpu/workload-type":"interactive"},"annotations":{"prometheus.io/scrape":"true","prometheus.io/port":"8080",)"
      R"("kubectl.kubernetes.io/restartedAt":"2026-11-29T12:00:00Z"},"ownerReferences":[{"apiVersion":"apps/v1","kind":")";
  json +=
      std::string(stateful ? "StatefulSet" : "ReplicaSet") + R"(","name":")" + owner + R"(","uid":")" +
      Uid(2, workload) +
      R"(","controller":true,"blockOwnerDeletion":true}],"managedFields":[{"manager":"kube-controller-manager","operation":"Update",)"
      R"("apiVersion":"v1","time":"2026-11-29T12:36:09Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:generateName":{},)"
      R"("f:labels":{".":{},"f:app":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\")" +
      Uid(2, workload) +
      R"(\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"server\"}":{".":{},"f:env":{".":{},"k:{\"name\":\"MODEL\"}":{".":{},"f:name":{},"f:value":{}}},)"
      R"("f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:httpGet":{".":{},"f:path":{},"f:port":{}}},"f:name":{},)"
      R"("f:resources":{".":{},"f:limits":{".":{},"f:nvidia.com/gpu":{}}}}},"f:priorityClassName":{},"f:restartPolicy":{}}}},)"
      R"({"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-11-29T12:36:41Z","fieldsType":"FieldsV1",)"
      R"("fieldsV1":{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},)"
      R"("f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:startTime":{}}},"subresource":"status"}]},)";
  json +=
      R"("spec":{"volumes":[{"name":"model-cache","persistentVolumeClaim":{"claimName":"model-cache"}},{"name":"kube-api-access-)" +
      Number(pod, 6) +
      R"(","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},)"
      R"({"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}}],"defaultMode":420}}],)"
      R"("containers":[{"name":"server","image":"registry.example.com/ml/chat-completion:2026.11.3","args":["--port=8080","--tensor-parallel=1"],)"
      R"("ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[{"name":"MODEL","value":"llm-13b-instruct"},)"
      R"({"name":"POD_IP","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"status.podIP"}}},{"name":"CUDA_VISIBLE_DEVICES","value":"0"}],)"
      R"("resources":{"limits":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"},"requests":{"cpu":")" + std::to_string(1'000 + workload) +
      R"(m","memory":"48Gi","nvidia.com/gpu":"1"}},)"
      R"("volumeMounts":[{"name":"model-cache","mountPath":"/models"},{"name":"kube-api-access-)" +
      Number(pod, 6) +
      R"(","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"livenessProbe":{"httpGet":{"path":"/healthz",)"
      R"("port":8080,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3},)"
      R"("terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"},)"
      R"({"name":"metrics","image":"registry.example.com/infra/exporter:1.4","resources":{"limits":{"memory":"128Mi"},)"
      R"("requests":{"cpu":"50m","memory":"128Mi"}},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File",)"
      R"("imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",)";
  json += R"("serviceAccountName":"chat","serviceAccount":"chat",)";
  if (!node.empty()) json += R"("nodeName":")" + node + "\",";
  json +=
      R"("securityContext":{"runAsNonRoot":true},"schedulerName":"default-scheduler","tolerations":[{"key":"nvidia.com/gpu","operator":"Exists"},)"
      R"({"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],)"
      R"("priorityClassName":"inference-interactive","priority":1000000,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},)"
      R"("status":{"phase":")" +
      std::string(node.empty() ? "Pending" : "Running") +
      R"(","conditions":[{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-29T12:36:41Z"},)"
      R"({"type":"Initialized","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-11-29T12:36:41Z"},)"
      R"({"type":"Ready","status":")" +
      ready +
      R"(","lastProbeTime":null,"lastTransitionTime":"2026-11-29T12:36:51Z"}],)"
      R"("hostIP":"10.4.17.21","podIP":"10.120.3.44","podIPs":[{"ip":"10.120.3.44"}],"startTime":"2026-11-29T12:36:41Z",)"
      R"("containerStatuses":[{"name":"server","state":{"running":{"startedAt":"2026-11-29T12:36:44Z"}},"lastState":{},"ready":true,)"
      R"("restartCount":0,"image":"registry.example.com/ml/chat-completion:2026.11.3","imageID":"registry.example.com/ml/chat-completion@sha256:)"
      R"(9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","containerID":"containerd://3c9909afec25354d551dae21590bb26e38d53f2173b8d3dc3eee4c047e7ab1c1","started":true}],)"
      R"("qosClass":"Burstable"}})";
  return json;
}

std::string NodeJson(int node) {
  const std::string name = NodeName(node);
  std::string json = R"({"metadata":{"name":")" + name + R"(","uid":")" + Uid(3, node) + R"(","labels":{)";
  for (int i = 0; i < 12; ++i) json += R"("feature.node.kubernetes.io/cpu-feature-)" + Number(i, 2) + R"(":"true",)";
  json +=
      R"("beta.kubernetes.io/arch":"amd64","kubernetes.io/arch":"amd64","kubernetes.io/os":"linux","kubernetes.io/hostname":")" +
      name +
      R"(","node.kubernetes.io/instance-type":"p5.48xlarge","nvidia.com/gpu.count":"8","nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3",)"
      R"("topology.kubernetes.io/region":"eu-central-1","topology.kubernetes.io/zone":"eu-central-1a"}},"spec":{"providerID":"aws:///x"},"status":{)";
  json +=
      R"("capacity":{"cpu":"192","ephemeral-storage":"200Gi","memory":"2048Gi","nvidia.com/gpu":"8","pods":"110"},)"
      R"("allocatable":{"cpu":"190","ephemeral-storage":"180Gi","hugepages-2Mi":"0","memory":"2000Gi","nvidia.com/gpu":"8","pods":"110"},)"
      R"("conditions":[{"type":"Ready","status":"True"}]}})";
  return json;
}

std::string TemplateJson(int workload) {
  return R"("template":{"metadata":{"labels":{"app":")" + DeploymentOf(workload) +
         R"(","app.kubernetes.io/managed-by":"Helm","app.kubernetes.io/part-of":"chat","podium.gpu/workload-type":"interactive"}},)"
         R"("spec":{"containers":[{"name":"server","resources":{"limits":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"},)"
         R"("requests":{"cpu":"4","memory":"48Gi","nvidia.com/gpu":"1"}}},{"name":"metrics","resources":{"limits":{"memory":"128Mi"},)"
         R"("requests":{"cpu":"50m","memory":"128Mi"}}}],"serviceAccountName":"chat","priorityClassName":"inference-interactive"}})";
}

std::string WorkloadJson(int workload, const std::string& name, int uid_group, const std::string& owners) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":")" + NamespaceOf(workload) + R"(","uid":")" +
         Uid(uid_group, workload) + R"(","labels":{"app":")" + DeploymentOf(workload) +
         R"(","app.kubernetes.io/managed-by":"Helm"})" + owners + R"(},"spec":{"replicas":)" +
         std::to_string(kPodsOfOne) + R"(,"selector":{"matchLabels":{"app":")" + DeploymentOf(workload) + R"("}},)" +
         TemplateJson(workload) + "}}";
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

std::string OwnerJson(int workload) {
  return R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":")" + DeploymentOf(workload) +
         R"(","uid":")" + Uid(4, workload) + R"(","controller":true}])";
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
EventTimes RunEvents(ClusterStore& store) {
  std::vector<double> microseconds;
  ObjectSink& pods = *store.Sink("pods");
  for (int i = 0; i < kEvents; ++i) {
    const int pod = static_cast<int>((static_cast<long long>(i) * 7'919) % kPods);
    const std::string json = PodJson(pod, i % 10 == 0 ? NodeName((pod + i) % kNodes) : NodeOfPod(pod), "False");
    const double start = CpuSeconds();
    (void)pods.Upsert(json);
    microseconds.push_back((CpuSeconds() - start) * 1e6);
  }
  std::sort(microseconds.begin(), microseconds.end());
  return {microseconds[kEvents / 2], microseconds[kEvents * 99 / 100]};
}

}  // namespace

int main() {
  const RunningClock clock;
  ClusterStore store({{"deployments.apps"}, {"replicasets.apps"}, {"nodes"}, {"pods"}}, clock);
  Print("deployments", Feed(*store.Sink("deployments.apps"), kWorkloads,
                            [](int i) { return WorkloadJson(i, DeploymentOf(i), 4, ""); }));
  Print("replicasets", Feed(*store.Sink("replicasets.apps"), kWorkloads,
                            [](int i) { return WorkloadJson(i, ReplicaSetOf(i), 2, OwnerJson(i)); }));
  Print("nodes", Feed(*store.Sink("nodes"), kNodes, NodeJson));
  const Fed fed = Feed(*store.Sink("pods"), kPods, [](int i) { return PodJson(i, NodeOfPod(i), "True"); });
  Print("pods", fed);
  const double rss = RssMiB();
  const double speed = fed.megabytes / fed.seconds;
  const EventTimes times = RunEvents(store);
  const auto snapshot = store.Current();
  std::printf("held: %zu nodes, %zu workloads, %zu pods wait; %zu bytes a pod's JSON\n", snapshot->nodes.size(),
              snapshot->workloads.size(), snapshot->waiting.size(), PodJson(1, NodeOfPod(1), "True").size());
  std::printf("memory after sync: %.0f MiB (target: at most %.0f)\n", rss, kMaxRssMiB);
  std::printf("first sync of pods: %.0f MB/s (target: at least %.0f)\n", speed, kMinMegabytesPerSecond);
  std::printf("event to published snapshot: p50 %.0f us, p99 %.0f us (target: below %.0f)\n", times.p50, times.p99,
              kMaxEventMicroseconds);
  std::printf("memory after %d events: %.0f MiB\n", kEvents, RssMiB());
  return rss <= kMaxRssMiB && speed >= kMinMegabytesPerSecond && times.p99 < kMaxEventMicroseconds ? 0 : 1;
}
