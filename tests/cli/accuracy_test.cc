#include "cli/accuracy_report.h"

#include <gtest/gtest.h>

#include <string>

#include "cli/run.h"

namespace podium {
namespace {

// A page as a replica's operations listener shows it.
std::string Page(const std::string& rows) {
  return "# HELP podium_build_info The build; always 1.\npodium_build_info{version=\"0.1.0\"} 1\n" + rows;
}

std::string Line(const std::string& predicted, const std::string& actual, const std::string& outcome, int count) {
  return "podium_feasibility_accuracy_total{predicted=\"" + predicted + "\",actual=\"" + actual + "\",outcome=\"" +
         outcome + "\"} " + std::to_string(count) + "\n";
}

AccuracyReport TwoReplicas() {
  const std::string first =
      Page(Line("FitsNow", "Bound", "agreed", 1200) + Line("FitsNow", "Unschedulable", "overtaken", 3) +
           Line("ShapeNeverFits", "Unschedulable", "agreed", 2) + "podium_feasibility_accuracy_waiting 4\n");
  const std::string second = Page(Line("FitsNow", "Bound", "agreed", 7) + Line("FitsNow", "Bound", "disagreed", 1) +
                                  Line("FitsNow", "Nothing", "unknown", 5));
  Result<AccuracyReport> report = WithMetrics({}, "http://a:1", first);
  if (report) report = WithMetrics(*std::move(report), "http://b:2", second);
  EXPECT_TRUE(report);
  return report ? *report : AccuracyReport();
}

TEST(AccuracyReport, AddsUpReplicas) {
  EXPECT_EQ(AccuracyTable(TwoReplicas()),
            "PREDICTED       ACTUAL         AGREED  DISAGREED  OVERTAKEN  UNKNOWN\n"
            "FitsNow         Bound          1207    1          0          0\n"
            "FitsNow         Nothing        0       0          0          5\n"
            "FitsNow         Unschedulable  0       0          3          0\n"
            "ShapeNeverFits  Unschedulable  2       0          0          0\n"
            "\n"
            "99.92 % of 1210 verdicts agreed; left out: 3 overtaken, 5 unknown\n"
            "4 pods wait for the scheduler's turn\n");
}

TEST(AccuracyReport, JsonHasTheSameNumbers) {
  EXPECT_EQ(
      AccuracyJson(TwoReplicas()),
      R"({"apiVersion":"podium.gpu/v1","kind":"AccuracyReport","sources":["http://a:1","http://b:2"],)"
      R"("share":0.999174,"agreed":1209,"disagreed":1,"overtaken":3,"unknown":5,"waiting":4,"items":[)"
      R"({"predicted":"FitsNow","actual":"Bound","agreed":1207,"disagreed":1,"overtaken":0,"unknown":0},)"
      R"({"predicted":"FitsNow","actual":"Nothing","agreed":0,"disagreed":0,"overtaken":0,"unknown":5},)"
      R"({"predicted":"FitsNow","actual":"Unschedulable","agreed":0,"disagreed":0,"overtaken":3,"unknown":0},)"
      R"({"predicted":"ShapeNeverFits","actual":"Unschedulable","agreed":2,"disagreed":0,"overtaken":0,"unknown":0}]})");
}

TEST(AccuracyReport, NothingYetIsNoShare) {
  const Result<AccuracyReport> none = WithMetrics({}, "http://a:1", Page(""));
  ASSERT_TRUE(none);
  EXPECT_EQ(AccuracyTable(*none), "nothing has been compared yet\n");
  EXPECT_EQ(AccuracyJson(*none),
            R"({"apiVersion":"podium.gpu/v1","kind":"AccuracyReport","sources":["http://a:1"],"share":null,)"
            R"("agreed":0,"disagreed":0,"overtaken":0,"unknown":0,"waiting":0,"items":[]})");
  const Result<AccuracyReport> unseen = WithMetrics({}, "http://a:1", Page(Line("FitsNow", "Nothing", "unknown", 1)));
  ASSERT_TRUE(unseen);
  EXPECT_EQ(AccuracyTable(*unseen),
            "PREDICTED  ACTUAL   AGREED  DISAGREED  OVERTAKEN  UNKNOWN\n"
            "FitsNow    Nothing  0       0          0          1\n"
            "\n"
            "no verdict could be compared\n");
}

TEST(AccuracyReport, OnlyPodiumsOwnMetrics) {
  const Result<AccuracyReport> other = WithMetrics({}, "http://a:1", "go_goroutines 12\n");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().message, "these are not the metrics of podium serve: podium_build_info is not there");
}

TEST(Accuracy, SaysWhichReplicaCannotBeRead) {
  const CliRun run = RunPodium({"accuracy", "--url", "http://127.0.0.1:1", "--url", "127.0.0.1:8080"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err,
            "podium accuracy: --url http://127.0.0.1:1: Connection refused\n"
            "podium accuracy: --url 127.0.0.1:8080: found '127.0.0.1:8080'; wanted http://HOST:PORT of an operations "
            "listener\n");
}

}  // namespace
}  // namespace podium
