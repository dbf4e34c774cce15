#include "wire/object_writer.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace podium {
namespace {

std::string Written(const std::function<void(JsonWriter&)>& write) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  write(json);
  json.EndObject();
  return out;
}

TEST(WriteSelector, LabelsAndExpressions) {
  const LabelSelector selector{{{"app", "web"}},
                               {{"track", SelectorOp::kIn, {"a", "b"}},
                                {"tier", SelectorOp::kNotIn, {"c"}},
                                {"gpu", SelectorOp::kExists, {}},
                                {"old", SelectorOp::kDoesNotExist, {}}}};
  EXPECT_EQ(Written([&](JsonWriter& json) { WriteSelector(json, "selector", selector); }),
            R"({"selector":{"matchLabels":{"app":"web"},"matchExpressions":[)"
            R"({"key":"track","operator":"In","values":["a","b"]},{"key":"tier","operator":"NotIn","values":["c"]},)"
            R"({"key":"gpu","operator":"Exists"},{"key":"old","operator":"DoesNotExist"}]}})");
  EXPECT_EQ(Written([](JsonWriter& json) { WriteSelector(json, "selector", {}); }), R"({"selector":{}})");
}

TEST(WriteOwners, LeavesOutWhatIsNotThere) {
  const OwnerReference whole{"apps/v1", "Deployment", "web", true, "u-1"};
  const OwnerReference part{"apps/v1", "Deployment", "web", false, ""};
  EXPECT_EQ(Written([&](JsonWriter& json) {
              WriteOwners(json, {whole, part});
            }),
            R"({"ownerReferences":[)"
            R"({"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"u-1","controller":true},)"
            R"({"apiVersion":"apps/v1","kind":"Deployment","name":"web"}]})");
  EXPECT_EQ(Written([](JsonWriter& json) { WriteOwners(json, {}); }), R"({"ownerReferences":[]})");
}

TEST(WriteIntOrString, NumbersAreNumbersAndAllElseIsText) {
  const auto written = [](const std::optional<std::string>& value) {
    return Written([&](JsonWriter& json) { WriteIntOrString(json, "n", value); });
  };
  EXPECT_EQ(written("2"), R"({"n":2})");
  EXPECT_EQ(written("25%"), R"({"n":"25%"})");
  EXPECT_EQ(written("2 pods"), R"({"n":"2 pods"})") << "never broken JSON, whatever a file said";
  EXPECT_EQ(written(""), R"({"n":""})");
  EXPECT_EQ(written({}), "{}");
}

}  // namespace
}  // namespace podium
