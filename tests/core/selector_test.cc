#include "core/selector.h"

#include <gtest/gtest.h>

#include <string>

namespace podium {
namespace {

TEST(Matches, FollowsTheApiServersRules) {
  struct Row {
    std::string name;
    LabelSelector selector;
    Labels labels;
    bool matches;
  };
  const LabelSelector one_label{.match_labels = {{"app", "chat"}}, .match_expressions = {}};
  const auto expression = [](std::string key, SelectorOp op, std::vector<std::string> values) {
    return LabelSelector{.match_labels = {}, .match_expressions = {{std::move(key), op, std::move(values)}}};
  };
  const LabelSelector in = expression("app", SelectorOp::kIn, {"asr", "chat"});
  const LabelSelector not_in = expression("app", SelectorOp::kNotIn, {"asr", "chat"});
  const LabelSelector exists = expression("app", SelectorOp::kExists, {});
  const LabelSelector does_not_exist = expression("app", SelectorOp::kDoesNotExist, {});
  const LabelSelector both{.match_labels = {{"app", "chat"}},
                           .match_expressions = {{"tier", SelectorOp::kNotIn, {"canary"}}}};
  const Row rows[] = {
      {"empty selector, no labels", {}, {}, true},
      {"empty selector, labels", {}, {{"app", "chat"}}, true},
      {"label, same", one_label, {{"app", "chat"}, {"tier", "web"}}, true},
      {"label, other value", one_label, {{"app", "asr"}}, false},
      {"label, absent", one_label, {{"tier", "web"}}, false},
      {"label with an empty value is not an absent one", {{{"app", ""}}, {}}, {}, false},
      {"label with an empty value", {{{"app", ""}}, {}}, {{"app", ""}}, true},
      {"In, listed", in, {{"app", "chat"}}, true},
      {"In, not listed", in, {{"app", "tts"}}, false},
      {"In, absent", in, {}, false},
      {"NotIn, listed", not_in, {{"app", "asr"}}, false},
      {"NotIn, not listed", not_in, {{"app", "tts"}}, true},
      {"NotIn, absent", not_in, {{"tier", "web"}}, true},
      {"Exists, present", exists, {{"app", ""}}, true},
      {"Exists, absent", exists, {{"application", "x"}}, false},
      {"DoesNotExist, present", does_not_exist, {{"app", ""}}, false},
      {"DoesNotExist, absent", does_not_exist, {}, true},
      {"labels and expressions, both hold", both, {{"app", "chat"}}, true},
      {"labels and expressions, expression fails", both, {{"app", "chat"}, {"tier", "canary"}}, false},
      {"labels and expressions, label fails", both, {{"tier", "web"}}, false},
  };
  for (const Row& row : rows) EXPECT_EQ(Matches(row.selector, row.labels), row.matches) << row.name;
}

TEST(FormatSelector, WritesWhatKubectlTakes) {
  const LabelSelector selector{.match_labels = {{"app", "chat"}, {"zone", ""}},
                               .match_expressions = {{"tier", SelectorOp::kIn, {"web", "api"}},
                                                     {"legacy", SelectorOp::kDoesNotExist, {}},
                                                     {"gpu", SelectorOp::kExists, {}},
                                                     {"app", SelectorOp::kNotIn, {"x"}}}};
  EXPECT_EQ(FormatSelector(selector), "app=chat,app notin (x),gpu,!legacy,tier in (api,web),zone=");
  EXPECT_EQ(FormatSelector({}), "");
}

}  // namespace
}  // namespace podium
