#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cli/descriptors.h"
#include "cli/endpoint.h"
#include "cli/run.h"
#include "fakes/golden.h"
#include "fakes/temp_dir.h"

namespace podium {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(CommandsTest, HelpIsWrittenDown) {
  const CliRun overview = RunPodium({"help"});
  EXPECT_EQ(overview.code, kExitOk);
  ExpectGolden("cli/help.txt", overview.out);
  for (const std::string command :
       {"serve", "review", "feasibility", "why", "gpus", "lint", "status", "classes", "pdb", "accuracy", "snapshot"}) {
    const CliRun help = RunPodium({"help", command});
    EXPECT_EQ(help.code, kExitOk);
    ExpectGolden("cli/help-" + command + ".txt", help.out);
    EXPECT_EQ(RunPodium({command, "--help"}).out, help.out);
  }
}

TEST(CommandsTest, WithoutACommandTheOverviewIsAnError) {
  const CliRun run = RunPodium({});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_EQ(run.err, RunPodium({"help"}).out);
}

TEST(CommandsTest, AnUnknownCommandIsSuggested) {
  const CliRun run = RunPodium({"reveiw"});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_EQ(run.err,
            "podium: there is no command 'reveiw'; did you mean 'review'?\n'podium help' lists the commands\n");
  EXPECT_EQ(RunPodium({"help", "xyzzy"}).err,
            "podium: there is no command 'xyzzy'\n'podium help' lists the commands\n");
}

TEST(CommandsTest, Version) { EXPECT_THAT(RunPodium({"--version"}).out, testing::MatchesRegex("podium [0-9.]+\n")); }

TEST(CommandsTest, WrongUsageNamesTheHelp) {
  const CliRun run = RunPodium({"review", "--otput", "json", "x.yaml"});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_THAT(run.err, HasSubstr("--otput"));
  EXPECT_THAT(run.err, HasSubstr("'podium help review' shows the options\n"));
  EXPECT_EQ(RunPodium({"review"}).code, kExitUnusable);
  EXPECT_EQ(RunPodium({"review", "-o", "xml", "policy.yaml"}).code, kExitUnusable);
  EXPECT_EQ(RunPodium({"review", "--server", "https://127.0.0.1:1", "policy.yaml"}).code, kExitUnusable);
}

TEST(CommandsTest, ServeTellsEveryReasonNotToStart) {
  const CliRun run =
      RunPodium({"serve", "--cert-file", "none.crt", "--key-file", "none.key", "--policy", "none.yaml", "--cluster",
                 "none-cluster.yaml", "--listen", "everywhere", "--drain", "soon", "--audit-log", "/dev/null"});
  EXPECT_EQ(run.code, kExitUnusable);
  for (const char* what : {"none.crt", "none.yaml", "none-cluster.yaml: cannot read: No such file or directory",
                           "--listen: 'everywhere' is no address", "--drain: 'soon' is no duration",
                           "audit log /dev/null: is not a regular file"})
    EXPECT_THAT(run.err, HasSubstr(what));
}

TEST(CommandsTest, ServeStartsInNoNamespaceThatCannotBe) {
  for (const std::string name : {"", "Podium", "a.b", "-a"}) {
    const CliRun run = RunPodium({"serve", "--cert-file", "none.crt", "--key-file", "none.key", "--own-namespace", name,
                                  "--audit-log", "/dev/null"});
    EXPECT_EQ(run.code, kExitUnusable);
    EXPECT_THAT(run.err, HasSubstr("podium serve: --own-namespace: '" + name +
                                   "' is no name of a namespace; allowed: 1 to 63 lower-case letters, digits and '-', "
                                   "with a letter or digit at both ends\n"));
  }
}

// A FIFO without a writer: opening it would wait for ever, and serve has its signals blocked.
TEST(CommandsTest, ServeDoesNotWaitForAFileThatIsAPipe) {
  const TempDir dir;
  const std::string fifo = dir.File("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const CliRun run = RunPodium(
      {"serve", "--cert-file", fifo, "--key-file", fifo, "--policy", fifo, "--cluster", fifo, "--audit-log", fifo});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_EQ(run.err, "podium serve: cannot read policy " + fifo + ": it is a pipe; wanted: a regular file\n" +
                         "podium serve: " + fifo + ": cannot read: it is a pipe; wanted: a regular file\n" +
                         "podium serve: " + fifo + ": cannot be read: it is a pipe; wanted: a regular file\n" +
                         "podium serve: audit log " + fifo + ": is not a regular file; use '-' for standard output\n");
}

TEST(CommandsTest, WhatIsRepeatedOfAnArgumentCannotSteerTheTerminal) {
  EXPECT_EQ(RunPodium({"\x1b[2Jx\ny"}).err,
            "podium: there is no command '?[2Jx?y'\n'podium help' lists the commands\n");
  const CliRun run = RunPodium({"lint", "--\x1b[2Jx\ny", "policy.yaml"});
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_THAT(run.err, HasSubstr("--?[2Jx?y"));
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos);
}

TEST(DescriptorsTest, WhatFitsIsTaken) {
  EXPECT_EQ(*PlanDescriptors(1'048'576, 4), (DescriptorPlan{1024, 128, ""}));
  EXPECT_EQ(*PlanDescriptors(32 + 3 * 4 + 1024 + 128, 4), (DescriptorPlan{1024, 128, ""}));
}

TEST(DescriptorsTest, WhatIsSetAsideIsNotShared) {
  EXPECT_EQ(*PlanDescriptors(32 + 3 * 4 + 1024 + 128 + 96, 4, 96), (DescriptorPlan{1024, 128, ""}));
  EXPECT_EQ(PlanDescriptors(32 + 3 * 4 + 1024 + 128 + 95, 4, 96)->webhook_connections, 1023U);
}

TEST(DescriptorsTest, WhatDoesNotFitIsLoweredAndTold) {
  EXPECT_EQ(*PlanDescriptors(1024, 2),
            (DescriptorPlan{858, 128,
                            "this process may open 1024 files and sockets (ulimit -n); wanted: 1190: at most 858 "
                            "webhook connections (usually 1024) and 128 for operations are served at once; raise the "
                            "limit"}));
  const Result<DescriptorPlan> least = PlanDescriptors(38 + 16, 2);
  ASSERT_TRUE(least) << least.error().message;
  EXPECT_EQ(least->webhook_connections, 12U);
  EXPECT_EQ(least->operations_connections, 4U);
  EXPECT_EQ(PlanDescriptors(38 + 15, 2).error().message,
            "this process may open 53 files and sockets (ulimit -n); wanted: 1190, at least 54");
}

struct AddressRow {
  const char* text;
  SocketAddress want;
};

TEST(EndpointTest, SocketAddresses) {
  const AddressRow rows[] = {
      {"127.0.0.1:9443", {"127.0.0.1", 9443}}, {":0", {"0.0.0.0", 0}}, {"[::1]:65535", {"::1", 65535}}};
  for (const AddressRow& row : rows) {
    const auto got = ParseSocketAddress(row.text);
    ASSERT_TRUE(got) << row.text;
    EXPECT_EQ(*got, row.want) << row.text;
  }
  for (const char* bad : {"", "9443", "127.0.0.1:", "127.0.0.1:65536", "a:-1", "::1:80", "[::1]", "a:80x", "[]:80"})
    EXPECT_FALSE(ParseSocketAddress(bad)) << bad;
  EXPECT_EQ(FormatSocketAddress({"::1", 80}), "[::1]:80");
}

TEST(EndpointTest, Durations) {
  EXPECT_EQ(*ParseDuration("500ms"), milliseconds(500));
  EXPECT_EQ(*ParseDuration("5s"), milliseconds(5'000));
  EXPECT_EQ(*ParseDuration("60m"), milliseconds(3'600'000));
  EXPECT_EQ(*ParseDuration("0s"), milliseconds(0));
  for (const char* bad : {"", "5", "s", "-1s", "1h", "61m", "4294967296ms", "5 s"})
    EXPECT_FALSE(ParseDuration(bad)) << bad;
}

}  // namespace
}  // namespace podium
