#include "serving/webhook.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "builders/clusters.h"
#include "builders/policies.h"
#include "fakes/temp_dir.h"
#include "serving/operations.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class FakeClock final : public Clock {
 public:
  [[nodiscard]] TimePoint Now() const override { return TimePoint{} + std::chrono::seconds(1'795'000'000); }
};

class FakeSnapshots final : public SnapshotSource {
 public:
  [[nodiscard]] std::shared_ptr<const ClusterSnapshot> Current() const override { return snapshot; }
  std::shared_ptr<const ClusterSnapshot> snapshot;
};

class FakeAudit final : public AuditSink {
 public:
  AppendOutcome Append(std::string_view text) override {
    if (full) return {0, Error{ErrorKind::kUnavailable, "the disk is full"}};
    EXPECT_TRUE(text.ends_with('\n'));
    lines.emplace_back(text.substr(0, text.size() - 1));
    return {text.size(), std::nullopt};
  }
  bool full = false;
  std::vector<std::string> lines;
};

// Both listeners over the same state, without sockets.
class WebhookTest : public testing::Test {
 protected:
  HttpResponse Send(const std::string& path, std::string_view body, std::string_view query = "timeout=10s") {
    WebhookDeps deps;
    deps.policy = &policy_;
    deps.snapshots = &snapshots_;
    deps.advisors = &advisors_;
    deps.decided = [this](const AdmissionRequest& request, const Decision& decision, TimePoint) {
      decided_.push_back(std::string(request.DisplayName()) + ' ' +
                         (decision.verdict == Verdict::kAllow ? "in" : "out"));
    };
    deps.audit_mode = audit_mode_;
    deps.clock = &clock_;
    deps.metrics = &metrics_;
    deps.instance = "cafebabe";
    if (routes_.empty()) routes_ = WebhookRoutes(deps);
    return Call(routes_, "POST", path, body, query, AuditJournal(audit_, metrics_));
  }

  HttpResponse Get(const std::string& path, std::string_view query = "") {
    OperationsDeps deps;
    deps.sources = {
        .state = &state_, .policy = &policy_, .snapshots = &snapshots_, .clock = &clock_, .version = "1.2.3"};
    deps.metrics = &metrics_;
    deps.snapshot = need_;
    deps.sources.cluster = figures_;
    deps.unsynced = unsynced_;
    return Call(OperationsRoutes(deps), "GET", path, "", query);
  }

  // What the engine does in a turn of one request.
  static HttpResponse Call(const std::vector<Route>& routes, std::string_view method, const std::string& path,
                           std::string_view body, std::string_view query, const Journal& journal = {}) {
    for (const Route& route : routes) {
      if (route.path != path || route.method != method) continue;
      const auto answer =
          route.handler({.method = method, .path = path, .query = query, .body = body, .peer = "127.0.0.1:40312"});
      const auto* journaled = std::get_if<JournaledAnswer>(&answer);
      if (journaled == nullptr) return std::get<HttpResponse>(answer);
      return journaled->answer(journal(journaled->entry) == journaled->entry.size());
    }
    ADD_FAILURE() << "no route " << path;
    return {};
  }

  static std::string Body(const std::string& name) {
    return ReadFileText(std::string(PODIUM_TEST_DIR) + "/bench/bodies/" + name + ".json");
  }

  FakeClock clock_;
  FakeSnapshots snapshots_;
  Cell<Advisor> advisors_;
  std::vector<std::string> decided_;
  FakeAudit audit_;
  AuditMode audit_mode_ = AuditMode::kStrict;
  std::function<ClusterFigures()> figures_;
  std::function<std::vector<std::string>()> unsynced_;
  SnapshotNeed need_ = SnapshotNeed::kOptional;
  Cell<Policy> policy_{std::make_shared<const Policy>(builders::ThreeTiers())};
  Metrics metrics_;
  ServingState state_;
  std::vector<Route> routes_;
};

// --- reviews --------------------------------------------------------------------------------------------------------

TEST_F(WebhookTest, InjectsRecordsAndAnswers) {
  const HttpResponse response = Send("/mutate", Body("pod-embedder"));
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  const json review = json::parse(response.body);
  EXPECT_EQ(review["response"]["uid"], "e30938d2-6e52-461e-84a7-2d7b79e5d412");
  EXPECT_EQ(review["response"]["allowed"], true);
  EXPECT_EQ(review["response"]["patchType"], "JSONPatch");
  ASSERT_EQ(audit_.lines.size(), 1U);
  const json record = json::parse(audit_.lines[0]);
  EXPECT_THAT(audit_.lines[0], HasSubstr("\"cafebabe\""));
  EXPECT_THAT(audit_.lines[0], HasSubstr("127.0.0.1:40312"));
  EXPECT_THAT(audit_.lines[0], HasSubstr("inference-batch"));
}

TEST_F(WebhookTest, ValidatesWithoutAPatch) {
  const json review = json::parse(Send("/validate", Body("pod-embedder")).body);
  EXPECT_EQ(review["response"]["allowed"], true);
  EXPECT_FALSE(review["response"].contains("patch"));
  EXPECT_FALSE(review["response"].contains("patchType"));
}

TEST_F(WebhookTest, AcceptsAnyQuery) {
  for (const std::string_view query : {"", "timeout=1s", "timeout=x&&%00"})
    EXPECT_EQ(Send("/mutate", Body("pod-embedder"), query).status, 200) << query;
}

TEST_F(WebhookTest, NumbersItsRecords) {
  for (int i = 0; i < 3; ++i) Send("/mutate", Body("pod-embedder"));
  ASSERT_EQ(audit_.lines.size(), 3U);
  EXPECT_EQ(json::parse(audit_.lines[2])["seq"], 3);
}

TEST_F(WebhookTest, AnswersWhatIsNoReviewWith400AndTheReason) {
  for (const std::string_view body : {"", "{", "[]", "null", "{\"kind\":\"Pod\"}", "\xff\xfe\"\n"}) {
    const HttpResponse response = Send("/mutate", body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_FALSE(json::parse(response.body)["error"].get<std::string>().empty()) << body;
  }
  EXPECT_THAT(audit_.lines, ElementsAre());
  EXPECT_THAT(
      Get("/metrics").body,
      HasSubstr(
          "podium_admission_requests_total{endpoint=\"mutate\",operation=\"unknown\",verdict=\"unreadable\"} 6\n"));
}

TEST_F(WebhookTest, AsksToComeBackWhileThereIsNoPolicy) {
  policy_.Store(nullptr);
  const HttpResponse response = Send("/mutate", Body("pod-embedder"));
  EXPECT_EQ(response.status, 503);
  EXPECT_THAT(response.headers, ElementsAre(std::pair<std::string, std::string>("Retry-After", "1")));
  EXPECT_EQ(response.body, "{\"error\": \"no policy is loaded yet; try again\"}\n");
}

// --- advice ---------------------------------------------------------------------------------------------------------

std::shared_ptr<const ClusterSnapshot> OneNodeWithoutGpus(std::uint64_t generation, std::chrono::seconds taken_at) {
  ClusterSnapshot snapshot = ClusterBuilder().WithNode("cpu-1", {}).Build();
  for (const LadderClass& row : builders::ThreeTiers().ladder)
    snapshot.classes.Put(row.priority_class.name, row.priority_class);
  snapshot.generation = generation;
  snapshot.taken_at = TimePoint() + taken_at;
  return std::make_shared<const ClusterSnapshot>(std::move(snapshot));
}

TEST_F(WebhookTest, AdviceComesWithTheAnswerTheRecordAndTheMetrics) {
  snapshots_.snapshot = OneNodeWithoutGpus(8, std::chrono::seconds(1));
  advisors_.Store(std::make_shared<const Advisor>(OneNodeWithoutGpus(7, std::chrono::seconds(0)), EvaluateOptions{}));
  const json answer = json::parse(Send("/validate", Body("pod-embedder")).body)["response"];
  ASSERT_EQ(answer["warnings"].size(), 2U) << "a finding has the first word";
  EXPECT_EQ(answer["warnings"][1], "podium: will never fit: 1 nvidia.com/gpu wanted on one node, no node has any");
  EXPECT_EQ(answer["auditAnnotations"]["feasibility"], "ShapeNeverFits");
  const json record = json::parse(audit_.lines.at(0));
  EXPECT_EQ(record["snapshotGeneration"], 7) << "one picture for everything";
  EXPECT_EQ(record["templates"][0]["advice"]["verdict"], "ShapeNeverFits");
  EXPECT_THAT(Get("/metrics").body, HasSubstr("podium_advice_total{verdict=\"ShapeNeverFits\"} 1\n"));
  EXPECT_EQ(decided_, std::vector<std::string>{"embedder-0 in"});
}

TEST_F(WebhookTest, AnAdvisorThatHasFallenBehindIsNotAsked) {
  snapshots_.snapshot = OneNodeWithoutGpus(8, std::chrono::seconds(2));
  advisors_.Store(std::make_shared<const Advisor>(OneNodeWithoutGpus(7, std::chrono::seconds(0)), EvaluateOptions{}));
  const json answer = json::parse(Send("/validate", Body("pod-embedder")).body)["response"];
  EXPECT_EQ(answer["warnings"].size(), 1U) << "the finding's";
  EXPECT_EQ(json::parse(audit_.lines.at(0))["snapshotGeneration"], 8);
  EXPECT_EQ(json::parse(audit_.lines.at(0))["templates"][0]["advice"]["missing"], "behind");
}

TEST_F(WebhookTest, TakesThePolicyThatIsInForceNow) {
  Send("/mutate", Body("pod-embedder"));
  Policy next = builders::ThreeTiers();
  next.workload_types.clear();
  policy_.Store(std::make_shared<const Policy>(next));
  EXPECT_FALSE(json::parse(Send("/mutate", Body("pod-embedder")).body)["response"].contains("patch"));
}

TEST_F(WebhookTest, StrictRefusesWhatItCannotRecord) {
  audit_.full = true;
  const json response = json::parse(Send("/mutate", Body("pod-embedder")).body)["response"];
  EXPECT_EQ(response["allowed"], false);
  EXPECT_FALSE(response.contains("patch"));
  EXPECT_EQ(response["status"]["code"], 500);
  EXPECT_THAT(response["status"]["message"].get<std::string>(),
              HasSubstr("the audit log cannot be written and the policy server runs in strict mode: try again later"));
  audit_.full = false;
  EXPECT_EQ(json::parse(Send("/mutate", Body("pod-embedder")).body)["response"]["allowed"], true);
}

TEST_F(WebhookTest, RelaxedCountsWhatItCannotRecord) {
  audit_mode_ = AuditMode::kRelaxed;
  audit_.full = true;
  EXPECT_EQ(json::parse(Send("/mutate", Body("pod-embedder")).body)["response"]["allowed"], true);
  EXPECT_THAT(Get("/metrics").body, HasSubstr("podium_audit_records_total{result=\"failed\"} 1\n"));
}

TEST_F(WebhookTest, CountsTheLinesOfATurnAndTellsWhichAreRecorded) {
  class HalfDisk final : public AuditSink {
   public:
    AppendOutcome Append(std::string_view lines) override {
      return {lines.find('\n') + 1, Error{ErrorKind::kUnavailable, "full after one line"}};
    }
  } disk;
  EXPECT_EQ(AuditJournal(disk, metrics_)("one\ntwo\nthree\n"), 4U);
  EXPECT_THAT(Get("/metrics").body, HasSubstr("podium_audit_records_total{result=\"written\"} 1\n"));
  EXPECT_THAT(Get("/metrics").body, HasSubstr("podium_audit_records_total{result=\"failed\"} 2\n"));
}

TEST_F(WebhookTest, CountsAnUnrecordedReviewAsRefused) {
  audit_.full = true;
  Send("/mutate", Body("pod-embedder"));
  EXPECT_THAT(
      Get("/metrics").body,
      HasSubstr("podium_admission_requests_total{endpoint=\"mutate\",operation=\"CREATE\",verdict=\"refused\"} 1\n"));
}

// --- operations -----------------------------------------------------------------------------------------------------

TEST_F(WebhookTest, IsReadyWithAPolicy) {
  EXPECT_EQ(Get("/readyz").status, 200);
  EXPECT_EQ(Get("/readyz").body, "ok\n");
  EXPECT_EQ(Get("/readyz", "verbose").body,
            "[+]serving ok\n[+]not-draining ok\n[+]policy ok\n[+]snapshot ok\nreadyz check passed\n");
  EXPECT_EQ(Get("/readyz", "x=1&verbose=1").body, Get("/readyz", "verbose").body);
}

TEST_F(WebhookTest, IsNotReadyWithoutAPolicyOrWhileDrainingOrUnsynced) {
  need_ = SnapshotNeed::kRequired;
  state_.draining = true;
  policy_.Store(nullptr);
  const HttpResponse response = Get("/readyz");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body,
            "[+]serving ok\n[-]not-draining failed: shutting down\n[-]policy failed: no policy is loaded\n"
            "[-]snapshot failed: the cluster has not been read yet\nreadyz check failed\n");
  EXPECT_EQ(Get("/livez").body, "ok\n");
  EXPECT_EQ(Get("/healthz").body, "[+]serving ok\nhealthz check passed\n");
}

TEST_F(WebhookTest, IsReadyOnceTheSnapshotIsThere) {
  need_ = SnapshotNeed::kRequired;
  snapshots_.snapshot = std::make_shared<const ClusterSnapshot>();
  EXPECT_EQ(Get("/readyz").status, 200);
}

TEST_F(WebhookTest, TellsHowFreshEachWatchedResourceIs) {
  ClusterSnapshot snapshot;
  snapshot.sources["pods"] = {
      .synced = true, .last_event = clock_.Now() - std::chrono::seconds(12), .objects = 40, .skipped = 2};
  snapshot.sources["rollouts.argoproj.io"] = {};
  snapshots_.snapshot = std::make_shared<const ClusterSnapshot>(std::move(snapshot));
  EXPECT_EQ(Get("/readyz", "verbose").body,
            "[+]serving ok\n[+]not-draining ok\n[+]policy ok\n[+]snapshot ok\nreadyz check passed\n"
            "   pods: 40 objects, heard of 12 s ago, 2 cannot be read\n   rollouts.argoproj.io: not synced\n");
  const std::string metrics = Get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("podium_watch_age_seconds{resource=\"pods\"} 12\n"));
  EXPECT_THAT(metrics, HasSubstr("podium_watch_objects{resource=\"pods\"} 40\n"));
  EXPECT_THAT(metrics, HasSubstr("podium_watch_objects_skipped{resource=\"pods\"} 2\n"));
  EXPECT_THAT(metrics, Not(HasSubstr("podium_watch_age_seconds{resource=\"rollouts.argoproj.io\"}")));
}

TEST_F(WebhookTest, ShowsWhatOtherPartsCount) {
  figures_ = [this] {
    ClusterFigures figures;
    figures.watches = {{.resource = "pods", .lists = 1, .watches = 2, .events = 30, .errors = 4}};
    figures.class_drift["value"] = 2;
    figures.accuracy = {{"FitsNow", "Bound", "agreed", 41}, {"FitsNow", "Unschedulable", "overtaken", 2}};
    figures.accuracy_waiting = 9;
    figures.budgets = BudgetFigures{.leader = true,
                                    .last_round = clock_.Now() - std::chrono::seconds(3),
                                    .managed = 5,
                                    .stepped_aside = 6,
                                    .problems = 7,
                                    .created = 8,
                                    .updated = 9,
                                    .removed = 10,
                                    .failed = 11,
                                    .events = 12};
    return figures;
  };
  const std::string metrics = Get("/metrics").body;
  for (const std::string_view line : {
           "podium_watch_lists_total{resource=\"pods\"} 1\n",
           "podium_watch_starts_total{resource=\"pods\"} 2\n",
           "podium_watch_events_total{resource=\"pods\"} 30\n",
           "podium_watch_errors_total{resource=\"pods\"} 4\n",
           "podium_class_drift{difference=\"value\"} 2\n",
           "podium_class_drift{difference=\"missing\"} 0\n",
           "podium_feasibility_accuracy_total{predicted=\"FitsNow\",actual=\"Bound\",outcome=\"agreed\"} 41\n",
           "podium_feasibility_accuracy_total{predicted=\"FitsNow\",actual=\"Unschedulable\",outcome=\"overtaken\"} "
           "2\n",
           "podium_feasibility_accuracy_waiting 9\n",
           "podium_budgets_leader 1\n",
           "podium_budgets_round_age_seconds 3\n",
           "podium_budgets_managed 5\n",
           "podium_budgets_stepped_aside 6\n",
           "podium_budgets_problems 7\n",
           "podium_budget_writes_total{result=\"created\"} 8\n",
           "podium_budget_writes_total{result=\"updated\"} 9\n",
           "podium_budget_writes_total{result=\"removed\"} 10\n",
           "podium_budget_writes_total{result=\"failed\"} 11\n",
           "podium_budget_events_total 12\n",
       })
    EXPECT_THAT(metrics, HasSubstr(line));
}

TEST_F(WebhookTest, SaysWhatIsNotSyncedYet) {
  need_ = SnapshotNeed::kRequired;
  unsynced_ = [] { return std::vector<std::string>{"nodes", "pods"}; };
  EXPECT_THAT(Get("/readyz").body, HasSubstr("[-]snapshot failed: the cluster has not been read yet: nodes, pods\n"));
}

TEST_F(WebhookTest, ShowsItsWorkInTheMetrics) {
  Send("/mutate", Body("pod-embedder"));
  Send("/mutate", Body("pod-chat-frontend"));
  Send("/validate", Body("pod-chat-frontend"));
  const HttpResponse response = Get("/metrics");
  EXPECT_THAT(response.content_type, StartsWith("text/plain; version=0.0.4"));
  for (const std::string_view line : {
           "podium_admission_requests_total{endpoint=\"mutate\",operation=\"CREATE\",verdict=\"allowed\"} 2\n",
           "podium_admission_requests_total{endpoint=\"validate\",operation=\"CREATE\",verdict=\"allowed\"} 1\n",
           "podium_admission_duration_seconds_count{endpoint=\"mutate\"} 2\n",
           "podium_admission_duration_seconds_bucket{endpoint=\"mutate\",le=\"+Inf\"} 2\n",
           "podium_injections_total{workload_type=\"batch\"} 1\n",
           "podium_injections_total{workload_type=\"interactive\"} 1\n",
           "podium_audit_records_total{result=\"written\"} 3\n",
           "podium_policy_info{name=\"gpu-tiers\",revision=\"cafe\"} 1\n",
           "podium_build_info{version=\"1.2.3\"} 1\n",
           "# TYPE process_resident_memory_bytes gauge\n",
       })
    EXPECT_THAT(response.body, HasSubstr(line));
}

}  // namespace
}  // namespace podium
