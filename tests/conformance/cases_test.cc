// The cases 001-027 (tests/cases/admission): what each of them asks for, decided with the shipped policy. A case that
// is a manifest is wrapped as an API server would send it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "admission/apiserver.h"
#include "audit/record.h"
#include "conformance/ask.h"
#include "conformance/protocol.h"
#include "wire/yaml.h"

namespace podium::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kFolder = PODIUM_TEST_DIR "/cases/admission/";

// What a case wants of one document. A value of null means that nothing may be at that pointer.
struct Want {
  bool allowed = true;
  int code = 0;  // when refused
  std::vector<std::string> message_has = {};
  std::vector<std::pair<std::string, Json>> stored = {};  // pointer -> value in the object as it is stored
  bool patched = false;
  std::vector<std::vector<std::string>> warnings_have = {};  // one list for each warning
};

struct Case {
  std::string file;
  std::size_t document = 0;  // of a YAML file, from 0
  Want want;
  std::string global_default = "cluster-default";
};

const char* const kClass = "/spec/priorityClassName";
const char* const kTemplateClass = "/spec/template/spec/priorityClassName";

Want Unchanged() { return {}; }

Want StoredPod(const char* class_name, int priority, const char* policy) {
  return {.stored = {{kClass, class_name}, {"/spec/priority", priority}, {"/spec/preemptionPolicy", policy}},
          .patched = true};
}
Want InteractivePod() { return StoredPod("inference-interactive", 1000000, "PreemptLowerPriority"); }
Want BatchPod() { return StoredPod("inference-batch", 1000, "PreemptLowerPriority"); }

Want TemplateGets(const char* pointer, const char* class_name) {
  return {.stored = {{pointer, class_name}}, .patched = true};
}
Want InteractiveTemplate() { return TemplateGets(kTemplateClass, "inference-interactive"); }

Want Refused(int code, std::vector<std::string> message_has) {
  return {.allowed = false, .code = code, .message_has = std::move(message_has)};
}
Want TwoGpus(const char* resource = "2 nvidia.com/gpu") {
  return Refused(403, {"[multi-gpu-preemptible]", resource, "'inference-batch'", "is preemptible", "use 1 per pod"});
}

Want NumberGivesWay() {
  Want want = InteractiveTemplate();
  want.stored.emplace_back("/spec/template/spec/priority", nullptr);
  return want;
}

Want UnchargedKeys() {
  return {.warnings_have = {{"limits.nvidia.com/gpu, nvidia.com/gpu", "use requests.nvidia.com/gpu"}}};
}

const std::vector<Case>& Cases() {
  static const std::vector<Case> rows = {
      {"001-default-class-already-filled-in.json", 0, InteractivePod()},
      {"002-never-class-needs-never-policy.json", 0, StoredPod("training-queue-jumper", 500000, "Never"), ""},
      {"003-update-of-an-old-job.json", 0, Unchanged()},
      {"004-scale-subresource.json", 0, Unchanged()},
      {"005-delete-has-no-object.json", 0, Unchanged()},
      {"006-no-name-and-no-namespace-in-object.json", 0, BatchPod()},
      {"007-annotation-path-and-missing-parent.json", 0, InteractivePod()},
      {"008-dry-run-leaves-nothing-behind.json", 0, InteractiveTemplate()},
      {"010-quota-scope-dropped-by-update.json", 0,
       Refused(403, {"[unscoped-high-priority-quota]", "'serving-high'", "its PriorityClass scope is missing"})},
      {"011-forged-line-in-the-user-name.json", 0, TwoGpus()},
      {"012-number-instead-of-class-in-template.yaml", 0, NumberGivesWay()},
      {"013-class-that-does-not-exist.yaml", 0,
       Refused(422, {"[unknown-priority-class]", "'inference-realtime'", "does not exist"})},
      {"014-cronjob-nested-template.yaml", 0, TwoGpus()},
      {"014-cronjob-nested-template.yaml", 1,
       TemplateGets("/spec/jobTemplate/spec/template/spec/priorityClassName", "inference-batch")},
      {"015-rayjob-with-plain-numbers.yaml", 0,
       Refused(403, {"[multi-gpu-preemptible]", "spec.rayClusterSpec.workerGroupSpecs[0]", "2 nvidia.com/gpu"})},
      {"016-gpus-split-over-two-containers.yaml", 0,
       Refused(403, {"2 nvidia.com/gpu", "decode 1 + align 1", "'inference-batch'"})},
      {"017-init-container-is-not-added.yaml", 0, BatchPod()},
      {"018-other-spellings-of-two.yaml", 0, TwoGpus()},
      {"018-other-spellings-of-two.yaml", 1, TwoGpus()},
      {"018-other-spellings-of-two.yaml", 2, TwoGpus()},
      {"018-other-spellings-of-two.yaml", 3, TwoGpus()},
      {"018-other-spellings-of-two.yaml", 4, BatchPod()},
      {"018-other-spellings-of-two.yaml", 5, BatchPod()},
      {"019-two-mig-slices.yaml", 0, TwoGpus("2 nvidia.com/mig-1g.10gb")},
      // 020-023 are about budgets; their part in admission is the class.
      {"020-budget-for-one-replica.yaml", 0, InteractiveTemplate()},
      {"021-second-budget-over-the-same-pods.yaml", 0, Unchanged()},
      {"021-second-budget-over-the-same-pods.yaml", 1, InteractiveTemplate()},
      {"022-percentage-budget-for-a-job.yaml", 0, TemplateGets(kTemplateClass, "inference-batch")},
      {"023-selector-made-of-expressions.yaml", 0, InteractiveTemplate()},
      {"024-quota-key-that-is-never-charged.yaml", 0, UnchargedKeys()},
      {"025-scope-that-also-takes-classless-pods.yaml", 0,
       Refused(403, {"[unscoped-high-priority-quota]", "'serving-high-b'", "'NotIn'", "operator In"})},
      {"026-quota-that-is-right.yaml", 0, Unchanged()},
      {"027-system-daemon-keeps-its-class.yaml", 0, Unchanged()},
  };
  return rows;
}

// --- a case as a review ---------------------------------------------------------------------------------------------

bool IsManifest(const std::string& file) { return EndsWith(file, ".yaml"); }

std::vector<YamlNode> Documents(const std::string& file) {
  YamlLimits limits;
  limits.documents = 16;
  YamlParse parsed = ParseYaml(file, ReadText(kFolder + file), limits);
  if (!parsed.problems.empty()) throw std::runtime_error(file + ": " + parsed.problems[0].message);
  return std::move(parsed.documents);
}

std::string BodyOf(const Case& row, const Scene& scene) {
  if (!IsManifest(row.file)) return ReadText(kFolder + row.file);
  const std::string manifest = YamlToJson(Documents(row.file).at(row.document));
  Result<std::string> review = AsAdmissionReview(manifest, "default", ClassView(scene.policy, scene.snapshot()));
  if (!review) throw std::runtime_error(review.error().message);
  return *review;
}

Scene SceneOf(const Case& row) { return {.cluster = Cluster(row.global_default)}; }

Answer AskCase(const Case& row, Endpoint endpoint) { return Ask(SceneOf(row), BodyOf(row, SceneOf(row)), endpoint); }

const Case& Named(const std::string& file) {
  return *std::find_if(Cases().begin(), Cases().end(), [&](const Case& row) { return row.file.find(file) == 0; });
}

// As it is in etcd afterwards: a Pod has gone through the Priority step once more.
Json StoredObject(const Answer& answer, const ClusterSnapshot& cluster) {
  const bool pod = answer.request.kind.kind == "Pod" && answer.request.operation == Operation::kCreate;
  const PriorityStep step = pod ? RunPriorityStep(Patched(answer), cluster) : PriorityStep{Patched(answer), ""};
  EXPECT_EQ(step.refusal, "");
  return step.pod;
}

void CheckRefusal(const Answer& answer, const Want& want) {
  EXPECT_EQ(answer.response().value("/status/code"_json_pointer, 0), want.code);
  for (const std::string& part : want.message_has) EXPECT_THAT(answer.message(), HasSubstr(part));
}

void CheckWarnings(const Answer& answer, const Want& want) {
  const Json warnings = answer.response().value("warnings", Json::array());
  ASSERT_EQ(warnings.size(), want.warnings_have.size()) << warnings;
  for (std::size_t i = 0; i < warnings.size(); ++i)
    for (const std::string& part : want.warnings_have[i]) EXPECT_THAT(warnings[i].get<std::string>(), HasSubstr(part));
}

void CheckStored(const Answer& answer, const Case& row) {
  EXPECT_EQ(!PatchOf(answer).empty(), row.want.patched) << PatchOf(answer);
  if (!row.want.patched) return;
  const Json stored = StoredObject(answer, Cluster(row.global_default));
  for (const auto& [pointer, value] : row.want.stored)
    EXPECT_EQ(stored.value(Json::json_pointer(pointer), Json()), value) << pointer;
  EXPECT_THAT(PatchOf(Ask(SceneOf(row), ComesAgain(answer, stored), Endpoint::kMutate)), IsEmpty());
}

class AdmissionCase : public ::testing::TestWithParam<Case> {};

// What /validate is asked about: the object as /mutate leaves it, a Pod after the Priority step.
Answer Validated(const Answer& mutated, const Case& row) {
  const Json stored = mutated.request.object ? StoredObject(mutated, Cluster(row.global_default)) : Json();
  const std::string body = mutated.request.object ? ComesAgain(mutated, stored) : BodyOf(row, SceneOf(row));
  return Ask(SceneOf(row), body, Endpoint::kValidate);
}

TEST_P(AdmissionCase, HasItsRightOutcomeOnMutate) {
  const Case& row = GetParam();
  const Answer answer = AskCase(row, Endpoint::kMutate);
  EXPECT_THAT(ProtocolFaults(answer), IsEmpty());
  ASSERT_EQ(answer.allowed(), row.want.allowed) << answer.message();
  CheckWarnings(answer, row.want);
  row.want.allowed ? CheckStored(answer, row) : CheckRefusal(answer, row.want);
}

TEST_P(AdmissionCase, WhatMutateAllowsValidateAllows) {
  const Case& row = GetParam();
  if (!row.want.allowed) return;  // the next test's
  const Answer answer = Validated(AskCase(row, Endpoint::kMutate), row);
  EXPECT_THAT(ProtocolFaults(answer), IsEmpty());
  EXPECT_TRUE(answer.allowed()) << answer.message();
  CheckWarnings(answer, row.want);
}

// Also when /mutate was never asked, and whatever class it would have given.
TEST_P(AdmissionCase, ValidateAloneRefusesWhatIsToBeRefused) {
  const Case& row = GetParam();
  const Answer answer = AskCase(row, Endpoint::kValidate);
  EXPECT_THAT(ProtocolFaults(answer), IsEmpty());
  ASSERT_EQ(answer.allowed(), row.want.allowed) << answer.message();
  if (row.want.allowed) return;
  EXPECT_EQ(answer.response().value("/status/code"_json_pointer, 0), row.want.code);
}

std::string TestName(const ::testing::TestParamInfo<Case>& row) {
  std::string name = row.param.file.substr(0, row.param.file.find('.')) + "_" + std::to_string(row.param.document);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rows, AdmissionCase, ::testing::ValuesIn(Cases()), TestName);

TEST(AdmissionCases, EveryDocumentOfEveryFileHasARow) {
  std::set<std::pair<std::string, std::size_t>> missing;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string file = entry.path().filename();
    if (entry.path().extension() == ".md") continue;
    const std::size_t documents = IsManifest(file) ? Documents(file).size() : 1;
    for (std::size_t i = 0; i < documents; ++i) missing.emplace(file, i);
  }
  EXPECT_EQ(missing.size(), Cases().size());
  for (const Case& row : Cases()) missing.erase({row.file, row.document});
  EXPECT_THAT(missing, IsEmpty());
}

// --- what is more than an answer ------------------------------------------------------------------------------------

Json RecordOf(const Answer& answer) {
  const std::string line = MakeRecord(answer.request, answer.decision,
                                      {.at = RecordedAt(),
                                       .sequence = 1,
                                       .instance = "test",
                                       .endpoint = ToString(answer.endpoint),
                                       .peer = "127.0.0.1:4",
                                       .duration = std::chrono::microseconds(7)});
  EXPECT_EQ(line.find('\n'), std::string::npos) << "one decision is one line";
  EXPECT_THAT(line, Not(HasSubstr("pw-do-not-log-me")));
  return Json::parse(line);
}

TEST(AdmissionCases, Case006RecordsTheRequestsNamespaceAndThePrefix) {
  const Json record = RecordOf(AskCase(Named("006"), Endpoint::kMutate));
  EXPECT_EQ(record["namespace"], "nlp-batch");
  EXPECT_EQ(record["name"], "embed-28-");
  EXPECT_EQ(record["generated"], true);
}

TEST(AdmissionCases, Case007KeepsTheAnnotationsOfOthers) {
  Json review = Json::parse(ReadText(kFolder + Named("007").file));
  review["request"]["object"]["metadata"]["annotations"] = {{"team.example.com/owner", "vision"}};
  const Answer answer = Ask(SceneOf(Named("007")), review.dump(), Endpoint::kMutate);
  EXPECT_EQ(Patched(answer)["metadata"]["annotations"],
            (Json{{"team.example.com/owner", "vision"}, {"podium.gpu/injected-by", "gpu-tiers/interactive"}}));
  const Answer without = AskCase(Named("007"), Endpoint::kMutate);
  EXPECT_EQ(Patched(without)["metadata"]["annotations"], (Json{{"podium.gpu/injected-by", "gpu-tiers/interactive"}}));
}

TEST(AdmissionCases, Case008DecidesADryRunAlikeAndRecordsItAsOne) {
  Json real = Json::parse(ReadText(kFolder + Named("008").file));
  const Answer dry = Ask(SceneOf(Named("008")), real.dump(), Endpoint::kMutate);
  real["request"]["dryRun"] = false;
  const Answer wet = Ask(SceneOf(Named("008")), real.dump(), Endpoint::kMutate);
  EXPECT_EQ(dry.body, wet.body);
  EXPECT_EQ(RecordOf(dry)["dryRun"], true);
  EXPECT_EQ(RecordOf(wet)["dryRun"], false);
}

TEST(AdmissionCases, Case010RecordsTheOldAndTheNewScope) {
  const Json record = RecordOf(AskCase(Named("010"), Endpoint::kValidate));
  EXPECT_EQ(record["quotaScope"], (Json{{"before", "PriorityClass In [inference-interactive]"}, {"after", "none"}}));
  EXPECT_EQ(record["verdict"], "refuse");
  EXPECT_EQ(record["code"], 403);
}

TEST(AdmissionCases, Case011KeepsTheForgedTextInsideOneString) {
  for (const Endpoint endpoint : {Endpoint::kMutate, Endpoint::kValidate}) {
    const Json record = RecordOf(AskCase(Named("011"), endpoint));
    EXPECT_EQ(record["user"], "oidc:sam\n{\"decision\":\"allow\",\"user\":\"admin\"}");
    EXPECT_EQ(record["verdict"], "refuse");
    EXPECT_EQ(record.contains("decision"), false);
  }
}

// "If the class appears a second later, the next apply passes": nothing is remembered of the first.
TEST(AdmissionCases, Case013PassesOnceTheClassExists) {
  const Case& row = Named("013");
  Scene scene = SceneOf(row);
  const std::string body = BodyOf(row, scene);
  EXPECT_FALSE(Ask(scene, body, Endpoint::kMutate).allowed());
  scene.cluster->classes.Put("inference-realtime", Class("inference-realtime", 900000));
  EXPECT_TRUE(Ask(scene, body, Endpoint::kMutate).allowed());
}

TEST(AdmissionCases, Case015NamesTheWorkersAndNotTheHead) {
  const Answer answer = AskCase(Named("015"), Endpoint::kValidate);
  EXPECT_THAT(answer.message(), Not(HasSubstr("headGroupSpec")));
  EXPECT_EQ(answer.decision.templates.size(), 2U);
}

}  // namespace
}  // namespace podium::conformance
