#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/run.h"
#include "fakes/temp_dir.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kMisspelt = "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nmetadata: {nmae: x}\nspec: {}\n";

TEST(LintTest, ACleanPolicyIsOneLineAndZero) {
  const CliRun run = RunPodium({"lint", "policy.yaml"});
  EXPECT_EQ(run.code, kExitOk);
  EXPECT_EQ(run.out,
            "policy.yaml: policy 'for-tests': 2 classes, 2 workload types, 0 exemptions\n0 errors, 0 warnings\n");
  EXPECT_EQ(run.err, "");
}

TEST(LintTest, ErrorsAreToldWithTheirPlace) {
  const TempDir dir;
  const std::string path = dir.Write("p.yaml", kMisspelt);
  const CliRun run = RunPodium({"lint", path});
  EXPECT_EQ(run.code, kExitRefused);
  EXPECT_THAT(run.out, HasSubstr(path + ":3:12: error: unknown key 'nmae'"));
}

TEST(LintTest, EveryArgumentIsLinted) {
  const TempDir dir;
  const CliRun run = RunPodium({"lint", "policy.yaml", dir.Write("p.yaml", kMisspelt), dir.File("missing.yaml")});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_THAT(run.out, HasSubstr("policy.yaml: policy 'for-tests'"));
  EXPECT_THAT(run.out, HasSubstr("unknown key 'nmae'"));
  EXPECT_THAT(run.out, HasSubstr("missing.yaml:1:1: error: "));
  EXPECT_THAT(run.out, HasSubstr("3 errors, 0 warnings"));
}

TEST(LintTest, ADashIsStandardInput) {
  const CliRun clean = RunPodium({"lint", "-"}, ReadFileText(std::string(PODIUM_TEST_DIR) + "/cli/data/policy.yaml"));
  EXPECT_EQ(clean.code, kExitOk);
  EXPECT_EQ(clean.out, "-: policy 'for-tests': 2 classes, 2 workload types, 0 exemptions\n0 errors, 0 warnings\n");
  const CliRun misspelt = RunPodium({"lint", "-"}, kMisspelt);
  EXPECT_EQ(misspelt.code, kExitRefused);
  EXPECT_THAT(misspelt.out, HasSubstr("-:3:12: error: unknown key 'nmae'"));
  const CliRun large = RunPodium({"lint", "-"}, std::string((1 << 20) + 1, '#'));
  EXPECT_EQ(large.code, kExitUnusable);
  EXPECT_THAT(large.out, HasSubstr("-: it has more than 1048576 bytes, the most that is read; split it"));
}

TEST(LintTest, JsonIsOneReport) {
  const TempDir dir;
  const std::string path = dir.Write("p.yaml", kMisspelt);
  const CliRun run = RunPodium({"lint", "-o", "json", path});
  EXPECT_EQ(run.code, kExitRefused);
  const json report = json::parse(run.out);
  EXPECT_EQ(report["apiVersion"], "podium.gpu/v1");
  EXPECT_EQ(report["kind"], "LintReport");
  EXPECT_EQ(report["errors"], report["items"].size());
  const json& first = report["items"][0];
  EXPECT_EQ(first["severity"], "error");
  EXPECT_EQ(first["file"], path);
  EXPECT_EQ(first["line"], 3);
  EXPECT_EQ(first["column"], 11);
}

TEST(LintTest, StrictMakesWarningsErrors) {
  const TempDir dir;
  const std::string expired = dir.Write("p.yaml", ReadFileText(std::string(PODIUM_TEST_DIR) + "/cli/data/policy.yaml") +
                                                      "  exemptions:\n"
                                                      "    - {rules: [multi-gpu-preemptible], namespace: a, owner: o, "
                                                      "reason: r, expires: 2020-01-31}\n");
  const CliRun relaxed = RunPodium({"lint", expired});
  EXPECT_EQ(relaxed.code, kExitOk);
  EXPECT_THAT(relaxed.out, HasSubstr("0 errors, 1 warning\n"));
  EXPECT_EQ(RunPodium({"lint", "--strict", expired}).code, kExitRefused);
}

}  // namespace
}  // namespace podium
