#include "serving/metrics.h"

#include <gmock/gmock.h>

#include <thread>

#include "fakes/temp_dir.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(LabelledCounter, CountsInOrderOfFirstAppearance) {
  LabelledCounter counter;
  for (const std::string_view label : {"b", "a", "b"}) counter.Add(label);
  EXPECT_THAT(counter.Values(), ElementsAre(Pair("b", 2), Pair("a", 1)));
}

TEST(LabelledCounter, BoundsTheNumberOfValues) {
  LabelledCounter counter;
  for (std::size_t i = 0; i < LabelledCounter::kCapacity + 10; ++i) counter.Add(std::to_string(i));
  counter.Add("0");
  const auto values = counter.Values();
  ASSERT_EQ(values.size(), LabelledCounter::kCapacity + 1);
  EXPECT_THAT(values.front(), Pair("0", 2));
  EXPECT_THAT(values.back(), Pair("other", 10));
}

TEST(LabelledCounter, LosesNothingBetweenThreads) {
  LabelledCounter counter;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 1'000; ++i) counter.Add(std::to_string(i % 10));
    });
  for (std::thread& thread : threads) thread.join();
  const auto values = counter.Values();
  EXPECT_EQ(values.size(), 10U);
  for (const auto& [label, count] : values) EXPECT_EQ(count, 400U) << label;
}

TEST(DurationHistogram, PutsABoundIntoItsOwnBucket) {
  DurationHistogram histogram;
  histogram.Observe(std::chrono::microseconds(10));
  histogram.Observe(std::chrono::nanoseconds(10'001));
  histogram.Observe(std::chrono::seconds(2));
  const auto values = histogram.Read();
  EXPECT_EQ(values.buckets.front(), 1U);
  EXPECT_EQ(values.buckets[1], 1U);
  EXPECT_EQ(values.buckets.back(), 1U);
  EXPECT_NEAR(values.sum_seconds, 2.000020001, 1e-9);
}

TEST(Metrics, CountsFindingsByRuleAndMode) {
  Metrics metrics;
  Decision decision;
  decision.verdict = Verdict::kRefuse;
  decision.findings.resize(2);
  decision.findings[0].rule = decision.findings[1].rule = "multi-gpu-preemptible";
  decision.findings[1].exempted = true;
  metrics.ObserveReview(Endpoint::kValidate, Operation::kCreate, decision, std::chrono::microseconds(7));
  const std::string text = RenderMetrics(metrics, {});
  EXPECT_THAT(text, HasSubstr("podium_findings_total{rule=\"multi-gpu-preemptible\",mode=\"enforce\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("podium_findings_total{rule=\"multi-gpu-preemptible\",mode=\"exempted\"} 1\n"));
  EXPECT_THAT(
      text,
      HasSubstr("podium_admission_requests_total{endpoint=\"validate\",operation=\"CREATE\",verdict=\"refused\"} 1\n"));
}

TEST(Metrics, AreAllOnTheirPage) {
  std::string rows;
  for (const MetricDescription& row : MetricTable()) {
    const std::string labels = row.labels.empty() ? "" : std::string(row.labels);
    rows += "| `" + std::string(row.name) + "` | " + std::string(row.type) + " | " + labels + " | " +
            std::string(row.help) + " |\n";
  }
  EXPECT_THAT(ReadFileText(std::string(PODIUM_SOURCE_DIR) + "/docs/metrics.md"), HasSubstr(rows));
}

}  // namespace
}  // namespace podium
