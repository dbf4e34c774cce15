#include "rules/catalog.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "podium/admission.h"
#include "rules/wording.h"

namespace podium {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string WithUnderscores(std::string_view id) {
  std::string name(id);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::set<std::string> Stems(const fs::path& folder, const std::string& extension) {
  std::set<std::string> stems;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == extension && entry.path().stem() != "README") stems.insert(entry.path().stem());
  return stems;
}

std::set<std::string> Ids() {
  std::set<std::string> ids;
  for (const RuleRow& row : Catalog()) ids.emplace(row.id);
  return ids;
}

TEST(Catalog, HasTheRulesInExecutionOrder) {
  std::vector<std::string_view> ids;
  for (const RuleRow& row : Catalog()) ids.push_back(row.id);
  EXPECT_THAT(ids, ElementsAre("copy-workload-type-label", "inject-priority-class", "unknown-priority-class",
                               "disallowed-priority-class", "inconsistent-priority", "multi-gpu-preemptible",
                               "unknown-workload-type", "unscoped-high-priority-quota", "uncharged-quota-key"));
  EXPECT_TRUE(std::is_sorted(Catalog().begin(), Catalog().end(), [](const RuleRow& a, const RuleRow& b) {
    return a.phase < b.phase;
  })) << "every injection comes before every validation";
}

// A rule is its source, its test and its page; each of the three folders has nothing else.
TEST(Catalog, EveryRuleHasItsSourceItsTestAndItsPage) {
  const fs::path root(PODIUM_SOURCE_DIR);
  for (const std::string& id : Ids())
    EXPECT_TRUE(fs::is_regular_file(root / "webhook/rules" / (WithUnderscores(id) + ".cc"))) << id;
  EXPECT_EQ(Stems(root / "tests/rules", ".yaml"), Ids());
  EXPECT_EQ(Stems(root / "policies/rules", ".md"), Ids());
}

TEST(Catalog, EveryPageNamesItsRuleAndItsSettings) {
  for (const RuleRow& row : Catalog()) {
    const std::string page = ReadFile(fs::path(PODIUM_SOURCE_DIR) / "policies/rules" / (std::string(row.id) + ".md"));
    EXPECT_THAT(page, HasSubstr("# " + std::string(row.id) + "\n"));
    for (const char* section : {"## Why", "## Refused", "## Fixed", "## Settings", "## Exempt"})
      EXPECT_THAT(page, HasSubstr(section)) << row.id;
    for (const SettingRow& setting : row.settings) EXPECT_THAT(page, HasSubstr("`" + std::string(setting.name) + "`"));
  }
}

TEST(Catalog, EveryDefaultLiesInItsRange) {
  for (const RuleRow& row : Catalog())
    for (const SettingRow& setting : row.settings) {
      const auto* number = std::get_if<std::int64_t>(&setting.default_value);
      if (number == nullptr) continue;
      EXPECT_GE(*number, setting.min) << row.id << "." << setting.name;
      EXPECT_LE(*number, setting.max) << row.id << "." << setting.name;
    }
}

TEST(Catalog, FindsARuleById) {
  for (const RuleRow& row : Catalog()) EXPECT_EQ(FindRule(row.id), &row);
  EXPECT_EQ(FindRule("multi-gpu"), nullptr);
  EXPECT_EQ(FindRule(""), nullptr);
}

TEST(Catalog, OnlyWhatKubernetesWouldRefuseIsA422) {
  for (const RuleRow& row : Catalog()) {
    const bool bad_spec = row.id == "unknown-priority-class" || row.id == "inconsistent-priority";
    EXPECT_EQ(row.refusal_code, bad_spec ? 422 : 403) << row.id;
  }
}

TEST(FieldPath, ReadsAsKubectlUsersWriteIt) {
  const struct {
    const char* pointer;
    const char* field;
    const char* want;
  } rows[] = {
      {"", "spec.priority", "spec.priority"},
      {"/spec/template", "spec.priority", "spec.template.spec.priority"},
      {"/spec/rayClusterSpec/workerGroupSpecs/0/template", "", "spec.rayClusterSpec.workerGroupSpecs[0].template"},
      {"/spec/tasks/12/template", "spec", "spec.tasks[12].template.spec"},
      {"/spec/pytorchReplicaSpecs/Worker/template", "spec", "spec.pytorchReplicaSpecs.Worker.template.spec"},
      {"/metadata/labels/podium.gpu~1workload-type", "", "metadata.labels[podium.gpu/workload-type]"},
      {"/a/x~01y", "", "a[x~1y]"},
      {"/a//b", "", "a[].b"},
      {"/a/x~", "", "a[x~]"},
  };
  for (const auto& row : rows) {
    PodTemplate pod;
    pod.path = row.pointer;
    EXPECT_EQ(FieldPath(pod, row.field), row.want) << row.pointer;
  }
}

TEST(WorkloadTypeLabel, IsTheTemplatesOwnBeforeTheWorkloads) {
  AdmissionRequest request;
  PodTemplate pod;
  EXPECT_EQ(WorkloadTypeLabel(request, pod), nullptr);
  request.object.emplace();
  EXPECT_EQ(WorkloadTypeLabel(request, pod), nullptr);
  request.object->metadata.labels["podium.gpu/workload-type"] = "batch";
  EXPECT_EQ(*WorkloadTypeLabel(request, pod), "batch");
  pod.metadata.labels["podium.gpu/workload-type"] = "";
  EXPECT_EQ(*WorkloadTypeLabel(request, pod), "");
}

TEST(Wording, QuotesAndListsStayShort) {
  EXPECT_EQ(Quote("batch"), "'batch'");
  EXPECT_EQ(Quote(std::string(81, 'x')), "'" + std::string(80, 'x') + "...'");
  EXPECT_EQ(Quote(std::string(79, 'x') + "\u00e9tat"), "'" + std::string(79, 'x') + "...'");
  EXPECT_EQ(ListNames({}), "none");
  EXPECT_EQ(ListNames({"a", "b"}), "a, b");
  EXPECT_EQ(ListNames({"a", "b", "c", "d"}, 2), "a, b and 2 more");
  EXPECT_EQ(EndOrDidYouMean("interactve", {"batch", "interactive"}), "; did you mean 'interactive'?");
  EXPECT_EQ(EndOrDidYouMean("zzz", {"batch", "interactive"}), ".");
}

}  // namespace
}  // namespace podium
