// Runs tests/rules/<rule-id>.yaml: every case is one test, named after it. The format is tests/rules/README.md; a key
// that it does not know is an error, so that a misspelt expectation cannot pass for one that holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/ask.h"
#include "conformance/protocol.h"
#include "rules/catalog.h"
#include "wire/decode.h"
#include "wire/yaml.h"

namespace podium::conformance {
namespace {

constexpr const char* kFolder = PODIUM_TEST_DIR "/rules/";

// --- a file of cases ------------------------------------------------------------------------------------------------

struct RuleCase {
  std::string file;
  int line = 0;
  std::string name;
  Json fields;
  Scene scene;
};

std::string At(const RuleCase& row) { return row.file + ":" + std::to_string(row.line); }

void CheckKeys(const Json& mapping, const std::set<std::string>& known, const std::string& where) {
  if (!mapping.is_object()) throw std::runtime_error(where + " is no mapping");
  for (const auto& [key, value] : mapping.items())
    if (known.count(key) == 0) throw std::runtime_error(where + ": unknown key '" + key + "'");
}

std::string NameIn(const Json& texts, const Json& name, const std::string& where) {
  if (!name.is_string() || !texts.contains(name)) throw std::runtime_error(where + ": no text named " + name.dump());
  return texts.at(name.get<std::string>());
}

ClusterSnapshot ClusterOf(const std::string& file, const std::string& text) {
  Result<ClusterSnapshot> cluster = DecodeClusterFile(file, text, RecordedAt());
  if (!cluster) throw std::runtime_error(cluster.error().message);
  cluster->generation = 1;
  return *cluster;
}

Scene SceneOf(const Json& fields, const Json& file, const std::string& where) {
  Scene scene;
  if (fields.contains("policy"))
    scene.policy = PolicyOf(where, NameIn(file.value("policies", Json::object()), fields["policy"], where));
  if (fields.contains("cluster"))
    scene.cluster = ClusterOf(where, NameIn(file.value("clusters", Json::object()), fields["cluster"], where));
  if (!fields.contains("now")) return scene;
  const Result<TimePoint> now = ParseDate(fields["now"].get<std::string>());
  if (!now) throw std::runtime_error(where + ": " + now.error().message);
  scene.now = *now;
  return scene;
}

void CheckCaseKeys(const Json& fields, const std::string& where) {
  CheckKeys(fields,
            {"name", "policy", "cluster", "now", "operation", "subResource", "endpoint", "dryRun", "object",
             "oldObject", "want"},
            where);
  CheckKeys(fields.value("want", Json()),
            {"verdict", "code", "message", "skipped", "workloadType", "findings", "warnings", "patch"},
            where + ": want");
  for (const Json& finding : fields["want"].value("findings", Json::array()))
    CheckKeys(finding, {"rule", "path", "mode", "exempted", "message"}, where + ": finding");
  for (const char* needed : {"name", "object"})
    if (!fields.contains(needed)) throw std::runtime_error(where + ": '" + needed + "' is missing");
  if (!fields["want"].contains("verdict")) throw std::runtime_error(where + ": 'want.verdict' is missing");
}

YamlNode OnlyDocument(const std::string& file) {
  YamlParse parsed = ParseYaml(file, ReadText(kFolder + file), {});
  for (const YamlProblem& problem : parsed.problems)
    throw std::runtime_error(file + ":" + std::to_string(problem.span.line) + ": " + problem.message);
  if (parsed.documents.size() != 1) throw std::runtime_error(file + " has no document");
  return std::move(parsed.documents[0]);
}

std::vector<RuleCase> CasesOf(const std::string& file) {
  const YamlNode document = OnlyDocument(file);
  const Json content = Json::parse(YamlToJson(document));
  CheckKeys(content, {"rule", "policies", "clusters", "cases"}, file);
  if (content.value("rule", "") + ".yaml" != file) throw std::runtime_error(file + ": 'rule' is not the file's name");
  const YamlNode* cases = document.Find("cases");
  if (cases == nullptr || cases->items.empty()) throw std::runtime_error(file + " has no cases");
  std::vector<RuleCase> rows;
  for (std::size_t i = 0; i < cases->items.size(); ++i) {
    const Json& fields = content["cases"][i];
    const int line = cases->items[i].span.line;
    const std::string where = file + ":" + std::to_string(line);
    CheckCaseKeys(fields, where);
    rows.push_back({file, line, fields["name"], fields, SceneOf(fields, content, where)});
  }
  return rows;
}

// --- what a case asks ------------------------------------------------------------------------------------------------

Json KindOf(const Json& object) {
  const std::string api_version = object.at("apiVersion");
  const std::size_t slash = api_version.find('/');
  const bool core = slash == std::string::npos;
  return {{"group", core ? "" : api_version.substr(0, slash)},
          {"version", core ? api_version : api_version.substr(slash + 1)},
          {"kind", object.at("kind")}};
}

std::string LowerPlural(std::string kind) {
  std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) { return std::tolower(c); });
  return kind + "s";
}

std::string BodyOf(const Json& fields) {
  const Json old_object = fields.value("oldObject", Json());
  const Json& object = fields["object"];
  const Json& subject = object.is_null() ? old_object : object;
  const Json kind = KindOf(subject);
  const Json resource = {
      {"group", kind["group"]}, {"version", kind["version"]}, {"resource", LowerPlural(kind["kind"])}};
  Json request = {{"uid", "5f1c0c1e-0000-4000-8000-000000000001"},
                  {"kind", kind},
                  {"resource", resource},
                  {"namespace", subject.value("/metadata/namespace"_json_pointer, "default")},
                  {"operation", fields.value("operation", "CREATE")},
                  {"userInfo", {{"username", "rule-test"}}},
                  {"object", object},
                  {"oldObject", old_object},
                  {"dryRun", fields.value("dryRun", false)}};
  if (fields.contains("subResource")) request["subResource"] = fields["subResource"];
  const std::string name = subject.value("/metadata/name"_json_pointer, "");
  if (!name.empty()) request["name"] = name;
  return Json{{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}}.dump();
}

std::vector<Endpoint> EndpointsOf(const Json& fields) {
  const std::string only = fields.value("endpoint", "");
  // A Pod at /validate is judged as it stands, before which /mutate has changed it: another decision by design.
  if (only.empty() && fields["object"].value("kind", "") == "Pod") return {Endpoint::kMutate};
  if (only.empty()) return {Endpoint::kMutate, Endpoint::kValidate};
  if (only != "mutate" && only != "validate") throw std::runtime_error("endpoint '" + only + "'; mutate or validate");
  return {only == "mutate" ? Endpoint::kMutate : Endpoint::kValidate};
}

// --- comparing: both sides in the words of the file -----------------------------------------------------------------

const char* ModeWord(Mode mode) {
  switch (mode) {
    case Mode::kOff: return "off";
    case Mode::kAudit: return "audit";
    case Mode::kWarn: return "warn";
    case Mode::kEnforce: return "enforce";
  }
  return "?";
}

// A finding as the case describes one: with the message only where the case gives it.
Json FindingsOf(const Decision& decision, const Json& wanted) {
  Json findings = Json::array();
  for (const Finding& each : decision.findings) {
    const std::size_t at = findings.size();
    const bool with_message = at < wanted.size() && wanted[at].contains("message");
    findings.push_back(
        {{"rule", each.rule}, {"path", each.path}, {"mode", ModeWord(each.mode)}, {"exempted", each.exempted}});
    if (with_message) findings.back()["message"] = each.message;
  }
  return findings;
}

Json WantedFindings(const Json& want) {
  Json findings = want.value("findings", Json::array());
  for (Json& each : findings) {
    each.emplace("mode", "enforce");
    each.emplace("exempted", false);
  }
  return findings;
}

// The whole expectation with its defaults. `message` and `workloadType` are compared where the case gives them.
Json WantedOutcome(const Json& want, Endpoint endpoint) {
  Json wanted = {{"verdict", want.at("verdict")},
                 {"code", want.value("code", 200)},
                 {"skipped", want.value("skipped", "none")},
                 {"findings", WantedFindings(want)},
                 {"warnings", want.value("warnings", Json::array())},
                 {"patch", endpoint == Endpoint::kMutate ? want.value("patch", Json::array()) : Json::array()}};
  for (const char* key : {"message", "workloadType"})
    if (want.contains(key)) wanted[key] = want[key];
  return wanted;
}

Json ActualOutcome(const Answer& answer, const Json& want) {
  const Decision& decision = answer.decision;
  Json actual = {{"verdict", answer.allowed() ? "Allow" : "Refuse"},
                 {"code", answer.response().value("/status/code"_json_pointer, 200)},
                 {"skipped", ToString(decision.skipped)},
                 {"findings", FindingsOf(decision, want.value("findings", Json::array()))},
                 {"warnings", answer.response().value("warnings", Json::array())},
                 {"patch", PatchOf(answer)}};
  if (want.contains("message")) actual["message"] = answer.message();
  if (want.contains("workloadType"))
    actual["workloadType"] = decision.templates.empty() ? "" : decision.templates[0].classification.workload_type;
  return actual;
}

class RuleTest : public ::testing::Test {
 public:
  explicit RuleTest(RuleCase row) : row_(std::move(row)) {}

  void TestBody() override {
    std::optional<Decision> first;
    for (const Endpoint endpoint : EndpointsOf(row_.fields)) {
      SCOPED_TRACE(At(row_) + " " + std::string(ToString(endpoint)));
      const Answer answer = Ask(row_.scene, BodyOf(row_.fields), endpoint);
      EXPECT_THAT(ProtocolFaults(answer), ::testing::IsEmpty());
      EXPECT_EQ(ActualOutcome(answer, row_.fields["want"]).dump(2),
                WantedOutcome(row_.fields["want"], endpoint).dump(2));
      EXPECT_TRUE(!first || *first == answer.decision) << "the endpoints decide differently";
      first = answer.decision;
    }
  }

 private:
  RuleCase row_;
};

// A file that cannot be run is a test that fails and says why.
class BrokenFile : public ::testing::Test {
 public:
  explicit BrokenFile(std::string problem) : problem_(std::move(problem)) {}
  void TestBody() override { FAIL() << problem_; }

 private:
  std::string problem_;
};

std::string TestName(const std::string& name) {
  std::string out;
  for (const unsigned char c : name) out += std::isalnum(c) != 0 ? static_cast<char>(c) : '_';
  return out;
}

void RegisterFile(const std::string& file) {
  const std::string suite = "Rule_" + TestName(file.substr(0, file.find('.')));
  const std::string path = kFolder + file;
  try {
    std::set<std::string> names;
    for (const RuleCase& row : CasesOf(file)) {
      if (!names.insert(TestName(row.name)).second) throw std::runtime_error(At(row) + ": a second '" + row.name + "'");
      ::testing::RegisterTest(suite.c_str(), TestName(row.name).c_str(), nullptr, nullptr, path.c_str(), row.line,
                              [row]() -> ::testing::Test* { return new RuleTest(row); });
    }
  } catch (const std::exception& problem) {
    const std::string text = problem.what();
    ::testing::RegisterTest(suite.c_str(), "CanBeRun", nullptr, nullptr, path.c_str(), 1,
                            [text]() -> ::testing::Test* { return new BrokenFile(text); });
  }
}

std::vector<std::string> RuleFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().filename());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(RuleTests, EveryRuleHasItsFileAndEveryFileItsRule) {
  std::vector<std::string> wanted;
  for (const RuleRow& row : Catalog()) wanted.push_back(std::string(row.id) + ".yaml");
  EXPECT_THAT(RuleFiles(), ::testing::UnorderedElementsAreArray(wanted));
}

}  // namespace

void RegisterRuleTests() {
  for (const std::string& file : RuleFiles()) RegisterFile(file);
}

}  // namespace podium::conformance

// The cases are known only when the files are read, and that is no work for a static initialiser: they would run before
// the tables of the modules they need. Hence a main of our own for this executable.
int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  podium::conformance::RegisterRuleTests();
  return RUN_ALL_TESTS();
}
