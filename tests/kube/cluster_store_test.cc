#include "kube/cluster_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "wire/decode.h"

namespace podium {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart = TimePoint(seconds(1'796'000'000));

class FakeClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return kStart + milliseconds(passed_ms_.load()); }
  void Advance(milliseconds by) { passed_ms_ += by.count(); }

 private:
  std::atomic<std::int64_t> passed_ms_ = 0;
};

std::string PodJson(const std::string& name, const std::string& node) {
  return R"({"metadata":{"name":")" + name + R"(","namespace":"ml"},"spec":{"nodeName":")" + node +
         R"("},"status":{"phase":"Running"}})";
}

std::string NodeJson(const std::string& name) { return R"({"metadata":{"name":")" + name + R"("}})"; }

std::vector<std::string> Names(const PodList& pods) {
  std::vector<std::string> names;
  for (const auto& pod : pods) names.push_back(pod->name);
  return names;
}

using Strings = std::vector<std::string>;

// A store of pods and nodes (and an optional kind), with gpu-a and chat-1 on it once Sync was called.
class ClusterStoreTest : public testing::Test {
 protected:
  void Sync() {
    List("nodes", {NodeJson("gpu-a")});
    List("pods", {PodJson("chat-1", "gpu-a")});
  }

  void List(const std::string& resource, const Strings& objects) {
    ObjectSink& sink = *store_.Sink(resource);
    sink.BeginList();
    for (const std::string& json : objects) (void)sink.ListItem(json);
    sink.EndList();
  }

  ObjectSink& Pods() { return *store_.Sink("pods"); }
  Strings PodNames() { return Names(store_.Current()->nodes.Find("gpu-a")->pods); }

  FakeClock clock_;
  ClusterStore store_{{{"pods"}, {"nodes"}, {"rayjobs.ray.io", Need::kOptional}}, clock_};
};

TEST_F(ClusterStoreTest, ThereIsNothingBeforeEveryRequiredKindIsSynced) {
  EXPECT_EQ(store_.Unsynced(), (Strings{"nodes", "pods"}));
  List("nodes", {NodeJson("gpu-a")});
  EXPECT_EQ(store_.Unsynced(), Strings{"pods"});
  clock_.Advance(seconds(1));
  store_.PublishDue(clock_.Now());
  EXPECT_EQ(store_.Current(), nullptr);
  List("pods", {PodJson("chat-1", "gpu-a")});
  EXPECT_EQ(store_.Unsynced(), Strings{});
  ASSERT_NE(store_.Current(), nullptr);
  EXPECT_EQ(PodNames(), Strings{"chat-1"});
}

TEST_F(ClusterStoreTest, TellsHowFarEachKindCanBeTrusted) {
  List("nodes", {NodeJson("gpu-a"), NodeJson("gpu-b")});
  clock_.Advance(seconds(5));
  List("pods", {PodJson("chat-1", "gpu-a"), "{", R"({"metadata":{"name":"bad","namespace":"ml"},"spec":5})"});
  const std::map<std::string, SourceState> want = {
      {"nodes", {.synced = true, .last_event = kStart, .objects = 2, .skipped = 0}},
      {"pods", {.synced = true, .last_event = kStart + seconds(5), .objects = 1, .skipped = 2}},
      {"rayjobs.ray.io", {}},
  };
  EXPECT_EQ(store_.Current()->sources, want);
  EXPECT_EQ(store_.Current()->generation, 1U);
  EXPECT_EQ(store_.Current()->taken_at, kStart + seconds(5));
}

TEST_F(ClusterStoreTest, PublishesAtMostOnceInAnInterval) {
  Sync();
  ASSERT_TRUE(Pods().Upsert(PodJson("chat-2", "gpu-a")));
  EXPECT_EQ(PodNames(), Strings{"chat-1"}) << "published a moment ago";
  clock_.Advance(milliseconds(199));
  store_.PublishDue(clock_.Now());
  EXPECT_EQ(PodNames(), Strings{"chat-1"});
  clock_.Advance(milliseconds(1));
  store_.PublishDue(clock_.Now());
  EXPECT_EQ(PodNames(), (Strings{"chat-1", "chat-2"}));
  const auto published = store_.Current();
  clock_.Advance(seconds(1));
  store_.PublishDue(clock_.Now());
  EXPECT_EQ(store_.Current(), published) << "nothing happened since";
  ASSERT_TRUE(Pods().Delete(PodJson("chat-1", "gpu-a")));
  EXPECT_EQ(PodNames(), Strings{"chat-2"}) << "the last publication is old: at once";
  EXPECT_EQ(store_.Current()->generation, published->generation + 1);
}

TEST_F(ClusterStoreTest, WhoWaitsForTheNextSnapshotGetsItOrHearsOfTheEnd) {
  std::stop_source stop;
  std::promise<std::shared_ptr<const ClusterSnapshot>> first;
  const std::jthread waiter([&] { first.set_value(store_.WaitForNext(0, stop.get_token())); });
  Sync();
  const auto snapshot = first.get_future().get();
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(store_.WaitForNext(0, stop.get_token()), store_.Current()) << "there is a newer one already";
  const std::uint64_t newest = store_.Current()->generation;
  std::promise<std::shared_ptr<const ClusterSnapshot>> none;
  const std::jthread patient([&] { none.set_value(store_.WaitForNext(newest, stop.get_token())); });
  stop.request_stop();
  EXPECT_EQ(none.get_future().get(), nullptr);
  EXPECT_EQ(store_.WaitForNext(0, stop.get_token()), nullptr);
}

TEST_F(ClusterStoreTest, AClockThatWasSetBackDoesNotStopIt) {
  Sync();
  clock_.Advance(-seconds(3600));
  ASSERT_TRUE(Pods().Upsert(PodJson("chat-2", "gpu-a")));
  EXPECT_EQ(PodNames(), (Strings{"chat-1", "chat-2"}));
}

TEST_F(ClusterStoreTest, ASignOfLifeKeepsTheViewFresh) {
  Sync();
  clock_.Advance(seconds(30));
  Pods().Alive();
  EXPECT_EQ(store_.Current()->sources.at("pods").last_event, kStart + seconds(30));
  EXPECT_EQ(store_.Current()->sources.at("nodes").last_event, kStart);
}

TEST_F(ClusterStoreTest, ReadersKeepTheOldViewDuringAList) {
  Sync();
  const auto before = store_.Current();
  clock_.Advance(seconds(1));
  Pods().BeginList();
  ASSERT_TRUE(Pods().ListItem(PodJson("chat-9", "gpu-a")));
  store_.PublishDue(clock_.Now());
  EXPECT_EQ(PodNames(), Strings{"chat-1"});
  Pods().AbandonList();
  EXPECT_EQ(PodNames(), Strings{"chat-1"});
  List("pods", {PodJson("chat-9", "gpu-a")});
  EXPECT_EQ(PodNames(), Strings{"chat-9"});
  EXPECT_EQ(Names(before->nodes.Find("gpu-a")->pods), Strings{"chat-1"});
}

TEST_F(ClusterStoreTest, AnUnreadableObjectIsLeftOutUntilItCanBeRead) {
  Sync();
  clock_.Advance(seconds(1));
  const Status bad = Pods().Upsert(R"({"metadata":{"name":"chat-1","namespace":"ml"},"spec":{"nodeName":7}})");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error(), (Error{ErrorKind::kInvalidInput,
                                "pods 'ml/chat-1': /spec/nodeName: found the number 7; expected a string"}));
  EXPECT_EQ(PodNames(), Strings{});
  EXPECT_EQ(store_.Current()->sources.at("pods").skipped, 1U);
  clock_.Advance(seconds(1));
  ASSERT_TRUE(Pods().Upsert(PodJson("chat-1", "gpu-a")));
  EXPECT_EQ(PodNames(), Strings{"chat-1"});
  EXPECT_EQ(store_.Current()->sources.at("pods").skipped, 0U);
}

TEST_F(ClusterStoreTest, WhatIsNoObjectIsAnErrorAndCounted) {
  Sync();
  clock_.Advance(seconds(1));
  const Status broken = Pods().Upsert("{\"metadata\":");
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().message.starts_with("pods: this object cannot be read: ")) << broken.error().message;
  EXPECT_EQ(store_.Current()->sources.at("pods").skipped, 1U);
  const Status nameless = Pods().Delete("{}");
  ASSERT_FALSE(nameless);
  EXPECT_EQ(nameless.error().message, "/metadata/name: is missing; every object needs a name");
  const auto nested = [](std::size_t depth) {
    return R"({"metadata":{"name":"chat-1","namespace":"ml"},"spec":{"nodeName":"gpu-a"},"x":)" +
           std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_FALSE(Pods().Upsert(nested(kMaxJsonDepth)));
  EXPECT_TRUE(Pods().Upsert(nested(kMaxJsonDepth - 2)));
  EXPECT_EQ(PodNames(), Strings{"chat-1"});
}

TEST_F(ClusterStoreTest, ALargeObjectIsReadAndATooLargeOneIsNot) {
  Sync();
  clock_.Advance(seconds(1));
  const auto padded = [](std::size_t bytes) {
    std::string json = PodJson("large", "gpu-a");
    json.insert(json.size() - 1, bytes, ' ');
    return json;
  };
  ASSERT_TRUE(Pods().Upsert(padded(1 << 20)));
  EXPECT_EQ(PodNames(), (Strings{"chat-1", "large"}));
  EXPECT_TRUE(Pods().Upsert(PodJson("small", "gpu-a")));
  EXPECT_FALSE(Pods().Upsert(padded(kMaxJsonBytes)));
}

TEST_F(ClusterStoreTest, ACustomResourceSaysWhatItIs) {
  Sync();
  clock_.Advance(seconds(1));
  ObjectSink& jobs = *store_.Sink("rayjobs.ray.io");
  const std::string job =
      R"({"apiVersion":"ray.io/v1","kind":"RayJob","metadata":{"name":"a","namespace":"ml"},"spec":{}})";
  ASSERT_TRUE(jobs.Upsert(job));
  EXPECT_NE(store_.Current()->workloads.Find("RayJob.ray.io/ml/a"), nullptr);
  const Status unnamed = jobs.Upsert(R"({"metadata":{"name":"b","namespace":"ml"}})");
  ASSERT_FALSE(unnamed);
  EXPECT_EQ(unnamed.error().message, "rayjobs.ray.io 'ml/b': /kind: is missing");
  clock_.Advance(seconds(1));
  ASSERT_TRUE(jobs.Delete(job));
  EXPECT_TRUE(store_.Current()->workloads.empty());
}

TEST(ClusterStore, KeepsEveryKindInItsTable) {
  const FakeClock clock;
  const Strings resources = {"namespaces",     "priorityclasses.scheduling.k8s.io",
                             "resourcequotas", "poddisruptionbudgets.policy",
                             "jobs.batch",     "horizontalpodautoscalers.autoscaling"};
  std::vector<WatchedResource> watched;
  for (const std::string& resource : resources) watched.push_back({resource});
  ClusterStore store(watched, clock, milliseconds(0));
  EXPECT_EQ(store.Sink("pods"), nullptr);
  const std::string object = R"({"metadata":{"name":"a","namespace":"ml"},"spec":{}})";
  for (const std::string& resource : resources) {
    ObjectSink& sink = *store.Sink(resource);
    sink.BeginList();
    ASSERT_TRUE(sink.ListItem(object)) << resource;
    sink.EndList();
  }
  const auto full = store.Current();
  ASSERT_NE(full, nullptr);
  EXPECT_NE(full->namespaces.Find("a"), nullptr);
  EXPECT_NE(full->classes.Find("a"), nullptr);
  EXPECT_NE(full->quotas.Find("ml/a"), nullptr);
  EXPECT_NE(full->budgets.Find("ml/a"), nullptr);
  EXPECT_NE(full->workloads.Find("Job.batch/ml/a"), nullptr);
  EXPECT_NE(full->autoscalers.Find("ml/a"), nullptr);
  for (const std::string& resource : resources) {
    EXPECT_EQ(full->sources.at(resource).synced, true) << resource;
    ASSERT_TRUE(store.Sink(resource)->Delete(object)) << resource;
    EXPECT_EQ(store.Current()->sources.at(resource).objects, 0U) << resource;
  }
}

TEST(ClusterStore, KeepsOfADeploymentsReplicaSetOnlyTheLink) {
  const FakeClock clock;
  ClusterStore store({{"replicasets.apps"}}, clock, milliseconds(0));
  const auto json = [](const std::string& name, const std::string& owner) {
    return R"({"metadata":{"name":")" + name + R"(","namespace":"ml","uid":"u-1","labels":{"app":"chat"},)" +
           R"("ownerReferences":[{"apiVersion":"apps/v1","kind":")" + owner +
           R"(","name":"chat","uid":"u-2","controller":true}]},)"
           R"("spec":{"replicas":2,"selector":{"matchLabels":{"app":"chat"}},"template":{"spec":{}}}})";
  };
  ObjectSink& sink = *store.Sink("replicasets.apps");
  sink.BeginList();
  ASSERT_TRUE(sink.ListItem(json("linked", "Deployment")));
  ASSERT_TRUE(sink.ListItem(json("whole", "Rollout")));
  sink.EndList();
  Workload link;
  link.api_version = "apps/v1";
  link.kind = "ReplicaSet";
  link.namespace_name = "ml";
  link.name = "linked";
  link.uid = "u-1";
  link.owners = {{"apps/v1", "Deployment", "chat", true, "u-2"}};
  link.replicas = 2;
  EXPECT_EQ(*store.Current()->workloads.Find("ReplicaSet.apps/ml/linked"), link);
  EXPECT_EQ(store.Current()->workloads.Find("ReplicaSet.apps/ml/whole")->pod_template->path, "/spec/template");
}

// For ThreadSanitizer: readers hold snapshots while two kinds change and publish.
TEST(ClusterStore, ReadersHoldSnapshotsWhileEventsAreApplied) {
  const FakeClock clock;
  ClusterStore store({{"pods"}, {"nodes"}}, clock, milliseconds(0));
  for (const std::string resource : {"nodes", "pods"}) {
    store.Sink(resource)->BeginList();
    store.Sink(resource)->EndList();
  }
  constexpr int kEvents = 300;
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  const auto read = [&] {
    std::vector<std::shared_ptr<const ClusterSnapshot>> held;
    std::uint64_t last = 0;
    while (!done) {
      held.push_back(store.Current());
      if (held.back()->generation < last) ++torn;
      last = held.back()->generation;
      for (const auto& row : held.front()->nodes)
        for (const auto& pod : row.value.pods) torn += *pod->node_name == row.key && !pod->labels->empty() ? 0 : 1;
      if (held.size() > 8) held.erase(held.begin());
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) readers.emplace_back(read);
  std::thread nodes([&] {
    for (int i = 0; i < kEvents; ++i) (void)store.Sink("nodes")->Upsert(NodeJson("gpu-" + std::to_string(i % 5)));
  });
  for (int i = 0; i < kEvents; ++i) {
    // Labels of their own: the shared values are swept, too.
    (void)store.Sink("pods")->Upsert(R"({"metadata":{"name":"pod-)" + std::to_string(i % 40) +
                                     R"(","namespace":"ml","labels":{"event":")" + std::to_string(i) +
                                     R"("}},"spec":{"nodeName":"gpu-)" + std::to_string(i % 7) + R"("}})");
    if (i % 3 == 0) (void)store.Sink("pods")->Delete(PodJson("pod-" + std::to_string(i % 11), ""));
  }
  nodes.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
  const auto last = store.Current();
  EXPECT_EQ(last->nodes.size(), 5U);
  EXPECT_EQ(last->sources.at("nodes").objects, 5U);
}

}  // namespace
}  // namespace podium
