#include "audit/record.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace podium {
namespace {

using nlohmann::json;

const TimePoint kAt = TimePoint(std::chrono::seconds(1'796'057'913)) + std::chrono::microseconds(123'456);

AuditContext Context() {
  AuditContext context;
  context.at = kAt;
  context.sequence = 7;
  context.instance = "f3a1";
  context.endpoint = "mutate";
  context.peer = "10.0.0.1:40312";
  context.duration = std::chrono::nanoseconds(84'900);
  return context;
}

AdmissionRequest PodRequest() {
  AdmissionRequest request;
  request.uid = "af4dd3dd-5f76-44e0-b7a1-3a7461a0baea";
  request.kind = {"", "v1", "Pod"};
  request.namespace_name = "serving";
  request.user = "system:serviceaccount:kube-system:replicaset-controller";
  request.groups = {"system:serviceaccounts", "system:authenticated"};
  request.object.emplace().metadata.generate_name = "chat-5bf49-";
  return request;
}

TemplateDecision InjectedPod() {
  TemplateDecision slot;
  slot.classification = {"interactive", ClassificationSource::kLabel};
  slot.gpus = {{"nvidia.com/gpu", GpuUnit::kDevice, 1}};
  slot.before = {"cluster-default", 100, PreemptionPolicy::kPreemptLowerPriority};
  slot.after = {"inference-interactive", 1'000'000, PreemptionPolicy::kPreemptLowerPriority};
  return slot;
}

Decision InjectedDecision() {
  Decision decision;
  decision.policy_name = "gpu-tiers";
  decision.policy_revision = "c0ffee";
  decision.snapshot_generation = 3;
  decision.templates = {InjectedPod()};
  return decision;
}

Finding RefusingFinding() {
  return {"multi-gpu-preemptible", Mode::kEnforce, false, "spec.containers", "asks for 2 GPUs; at most 1"};
}

TEST(RecordTest, AnInjectedPodIsOneWholeLine) {
  EXPECT_EQ(
      MakeRecord(PodRequest(), InjectedDecision(), Context()),
      R"({"v":1,"seq":7,"instance":"f3a1","at":"2026-11-30T16:58:33.123456Z","endpoint":"mutate",)"
      R"("peer":"10.0.0.1:40312","durationUs":84,"uid":"af4dd3dd-5f76-44e0-b7a1-3a7461a0baea",)"
      R"("user":"system:serviceaccount:kube-system:replicaset-controller",)"
      R"("groups":["system:serviceaccounts","system:authenticated"],"operation":"CREATE",)"
      R"("kind":{"group":"","version":"v1","kind":"Pod"},"namespace":"serving","name":"chat-5bf49-",)"
      R"("generated":true,"dryRun":false,"verdict":"allow","code":200,)"
      R"("policy":{"name":"gpu-tiers","revision":"c0ffee"},"snapshotGeneration":3,)"
      R"("templates":[{"path":"","workloadType":"interactive","source":"label",)"
      R"("gpus":[{"resource":"nvidia.com/gpu","unit":"device","count":1}],)"
      R"("before":{"priorityClassName":"cluster-default","priority":100,"preemptionPolicy":"PreemptLowerPriority"},)"
      R"("after":{"priorityClassName":"inference-interactive","priority":1000000,)"
      R"("preemptionPolicy":"PreemptLowerPriority"}}]})");
}

TEST(RecordTest, AdviceIsTheVerdictAndWhatTheAuthorIsTold) {
  const auto record_of = [](TemplateAdvice advice) {
    Decision decision = InjectedDecision();
    decision.templates[0].advice = std::move(advice);
    return json::parse(MakeRecord(PodRequest(), decision, Context()))["templates"][0]["advice"];
  };
  auto advice = std::make_shared<Advice>();
  advice->verdict = Feasibility::kFitsAfterPreemption;
  advice->warning = "podium: fits after evicting 2 pods on gpu-7, up to 300 s";
  advice->node = "gpu-7";
  advice->victims = 2;
  advice->wait_at_most = std::chrono::seconds(300);
  advice->snapshot_generation = 3;
  EXPECT_EQ(record_of({Mode::kWarn, advice, NoAdvice::kNone}),
            json::parse(R"({"mode":"warn","verdict":"FitsAfterPreemption","node":"gpu-7","victims":2,
              "waitAtMostSeconds":300,"text":"podium: fits after evicting 2 pods on gpu-7, up to 300 s",
              "snapshotGeneration":3})"));
  auto fits = std::make_shared<Advice>();
  fits->verdict = Feasibility::kFitsNow;
  fits->snapshot_generation = 4;
  EXPECT_EQ(record_of({Mode::kAudit, fits, NoAdvice::kNone}),
            json::parse(R"({"mode":"audit","verdict":"FitsNow","snapshotGeneration":4})"));
  EXPECT_EQ(record_of({Mode::kEnforce, nullptr, NoAdvice::kStale}),
            json::parse(R"({"mode":"enforce","missing":"stale"})"));
}

TEST(RecordTest, ARefusedQuotaTellsScopesAndFindings) {
  AdmissionRequest request = PodRequest();
  request.kind.kind = "ResourceQuota";
  request.name = "serving-high";
  request.operation = Operation::kUpdate;
  request.dry_run = true;
  Decision decision;
  decision.verdict = Verdict::kRefuse;
  decision.code = 403;
  decision.quota_scope = QuotaScopeChange{"PriorityClass In [a]", "none"};
  decision.findings = {{"unscoped-high-priority-quota", Mode::kEnforce, true, "spec.scopeSelector", "no scope"}};
  const json record = json::parse(MakeRecord(request, decision, Context()));
  EXPECT_EQ(record["operation"], "UPDATE");
  EXPECT_EQ(record["name"], "serving-high");
  EXPECT_FALSE(record.contains("generated"));
  EXPECT_EQ(record["dryRun"], true);
  EXPECT_EQ(record["verdict"], "refuse");
  EXPECT_EQ(record["code"], 403);
  EXPECT_EQ(record["quotaScope"], (json{{"before", "PriorityClass In [a]"}, {"after", "none"}}));
  EXPECT_EQ(record["findings"], json::array({{{"rule", "unscoped-high-priority-quota"},
                                              {"mode", "enforce"},
                                              {"exempted", true},
                                              {"path", "spec.scopeSelector"},
                                              {"message", "no scope"}}}));
}

TEST(RecordTest, SkippedAndInternalErrorAreTold) {
  Decision decision;
  decision.skipped = SkipReason::kPodUpdate;
  decision.internal_error = "/spec/containers: found a string, wanted an array";
  const json record = json::parse(MakeRecord(PodRequest(), decision, Context()));
  EXPECT_EQ(record["skipped"], "pod_update");
  EXPECT_EQ(record["internalError"], "/spec/containers: found a string, wanted an array");
  EXPECT_FALSE(record.contains("templates"));
  EXPECT_FALSE(record.contains("findings"));
  EXPECT_FALSE(record.contains("truncated"));
}

TEST(RecordTest, AnAbsentFieldOfTheTrioIsAbsent) {
  Decision decision = InjectedDecision();
  decision.templates[0].before = {};
  decision.templates[0].after = {"training", std::nullopt, PreemptionPolicy::kNever};
  const json slot = json::parse(MakeRecord(PodRequest(), decision, Context()))["templates"][0];
  EXPECT_EQ(slot["before"], json::object());
  EXPECT_EQ(slot["after"], (json{{"priorityClassName", "training"}, {"preemptionPolicy", "Never"}}));
}

TEST(RecordTest, ALongNameIsCutWithAMarker) {
  AdmissionRequest request = PodRequest();
  request.name = std::string(65'536, 'n');
  const json record = json::parse(MakeRecord(request, InjectedDecision(), Context()));
  EXPECT_EQ(record["name"], std::string(226, 'n') + "...[+65310]");
  EXPECT_EQ(record["truncated"], true);
}

TEST(RecordTest, TheLongestNameKubernetesStoresIsWhole) {
  AdmissionRequest request = PodRequest();
  request.name = std::string(253, 'n');
  request.namespace_name = std::string(63, 's');
  const json record = json::parse(MakeRecord(request, InjectedDecision(), Context()));
  EXPECT_EQ(record["name"], request.name);
  EXPECT_EQ(record["namespace"], request.namespace_name);
  EXPECT_FALSE(record.contains("truncated"));
}

TEST(RecordTest, ACutNeverSplitsACharacter) {
  AdmissionRequest request = PodRequest();
  for (const int offset : {0, 1, 2, 3}) {
    request.user = std::string(static_cast<std::size_t>(offset), 'a');
    for (int i = 0; i < 1000; ++i) request.user += "\xF0\x9F\x98\x80";
    const std::string user = json::parse(MakeRecord(request, {}, Context()))["user"];
    EXPECT_EQ(user.find("\xEF\xBF\xBD"), std::string::npos) << "an U+FFFD from half a character, offset " << offset;
  }
}

TEST(RecordTest, GroupsAreBoundedWithTheCountOfTheRest) {
  AdmissionRequest request = PodRequest();
  request.groups.assign(40, "g");
  const json record = json::parse(MakeRecord(request, {}, Context()));
  EXPECT_EQ(record["groups"].size(), 16U);
  EXPECT_EQ(record["groupsOmitted"], 24);
}

TEST(RecordTest, OfTenThousandFindingsTheRefusingOnesComeFirst) {
  Decision decision = InjectedDecision();
  decision.findings.assign(10'000, {"unknown-workload-type", Mode::kWarn, false, "metadata.labels", "no such type"});
  decision.findings.push_back(RefusingFinding());
  const std::string line = MakeRecord(PodRequest(), decision, Context());
  const json record = json::parse(line);
  EXPECT_LE(line.size(), kMaxRecordBytes);
  EXPECT_EQ(record["findings"][0]["rule"], "multi-gpu-preemptible");
  EXPECT_EQ(record["findings"].size() + record["findingsOmitted"].get<std::size_t>(), 10'001U);
  EXPECT_GT(record["findings"].size(), 10U);
}

TEST(RecordTest, ManyTemplatesLeaveRoomForAFinding) {
  Decision decision = InjectedDecision();
  decision.templates.assign(500, InjectedPod());
  decision.findings = {RefusingFinding()};
  const json record = json::parse(MakeRecord(PodRequest(), decision, Context()));
  EXPECT_EQ(record["findings"].size(), 1U);
  EXPECT_EQ(record["templates"].size() + record["templatesOmitted"].get<std::size_t>(), 500U);
}

struct HostileText {
  const char* name;
  std::string text;
};

std::string Repeat(std::string_view part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

std::vector<HostileText> HostileTexts() {
  return {
      {"64KiB", std::string(65'536, 'x')},
      {"newlines", "a\nb\r\n" + Repeat("\n", 4000)},
      {"forged", "x\"}\n{\"v\":1,\"verdict\":\"allow\"}"},
      {"escape", Repeat("\x1b[31m", 2000)},
      {"nul", std::string(5000, '\0')},
      {"quotes", Repeat("\"\\", 3000)},
      {"continuation", std::string(5000, '\x80')},
      {"lone_lead", std::string(5000, '\xF0')},
      {"surrogate", Repeat("\xED\xA0\x80", 2000)},
      {"emoji", Repeat("\xF0\x9F\x98\x80", 2000)},
      {"c1_and_del", Repeat("\x7f\xC2\x85\xE2\x80\xA8", 2000)},
  };
}

// Every text of a request and a decision is `text`; every list is long.
std::string RecordOf(const std::string& text) {
  AdmissionRequest request;
  request.uid = request.user = request.name = request.namespace_name = request.sub_resource = text;
  request.kind = {text, text, text};
  request.groups.assign(20, text);
  TemplateDecision slot;
  slot.path = text;
  slot.classification.workload_type = text;
  slot.gpus.assign(6, {text, GpuUnit::kShared, INT64_MAX});
  slot.before = slot.after = {text, INT64_MIN, PreemptionPolicy::kPreemptLowerPriority};
  Decision decision;
  decision.policy_name = decision.policy_revision = text;
  decision.templates.assign(10, slot);
  decision.quota_scope = QuotaScopeChange{text, text};
  decision.findings.assign(20, {text, Mode::kWarn, false, text, text});
  decision.findings.push_back({"the-reason", Mode::kEnforce, false, text, text});
  decision.snapshot_generation = UINT64_MAX;
  decision.internal_error = text;
  decision.skipped = SkipReason::kTemplateImmutable;
  AuditContext context = Context();
  context.sequence = INT64_MAX;
  context.instance = context.endpoint = context.peer = text;
  context.duration = std::chrono::nanoseconds::max();
  return MakeRecord(request, decision, context);
}

class HostileRecordTest : public testing::TestWithParam<HostileText> {};

TEST_P(HostileRecordTest, StaysOneValidBoundedLineWithTheReasonInIt) {
  const std::string line = RecordOf(GetParam().text);
  EXPECT_LE(line.size(), kMaxRecordBytes);
  for (const unsigned char byte : line) ASSERT_GE(byte, 0x20);
  const json record = json::parse(line);  // throws on invalid JSON or UTF-8: the test fails
  EXPECT_EQ(record["v"], 1);
  ASSERT_FALSE(record["findings"].empty());
  EXPECT_EQ(record["findings"][0]["rule"], "the-reason");
  EXPECT_EQ(record["truncated"], true);
}

INSTANTIATE_TEST_SUITE_P(Texts, HostileRecordTest, testing::ValuesIn(HostileTexts()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(RecordTest, RandomBytesNeverBreakTheLine) {
  std::mt19937 random(20261130);
  for (int round = 0; round < 60; ++round) {
    std::string text(random() % 700, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    const std::string line = RecordOf(text);
    ASSERT_LE(line.size(), kMaxRecordBytes);
    ASSERT_EQ(line.find('\n'), std::string::npos);
    ASSERT_TRUE(json::accept(line)) << line;
  }
}

}  // namespace
}  // namespace podium
