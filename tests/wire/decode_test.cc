#include "wire/decode.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "wire/json.h"

namespace podium {
namespace {

std::string ReadData(const std::string& name) {
  std::ifstream file(std::string(PODIUM_TEST_DIR) + "/wire/data/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Keeps parser and text alive beside the element.
class Document {
 public:
  explicit Document(const std::string& text) : text_(text) {
    EXPECT_EQ(parser_.parse(text_).get(root_), simdjson::SUCCESS) << text;
  }
  [[nodiscard]] JsonElement root() const { return root_; }
  [[nodiscard]] JsonElement At(std::string_view pointer) const { return root_.at_pointer(pointer).value(); }

 private:
  simdjson::padded_string text_;
  simdjson::dom::parser parser_;
  JsonElement root_;
};

Quantity Units(std::int64_t units) { return Quantity::FromUnits(units); }
Quantity Milli(std::int64_t milli) { return Quantity::FromNano(static_cast<Int128>(milli) * 1'000'000); }

template <typename T>
std::string Message(const Result<T>& result) {
  return result ? "ok" : result.error().message;
}

TEST(DecodePodTemplate, ReadsAPodAsTheApiServerSendsIt) {
  const Document review(ReadData("020-mutate-create-pod-chat-frontend-inference-5bf4965fdc.json"));
  const auto pod = DecodePodTemplate(review.At("/request/object"), "");
  PodTemplate want;
  want.has_metadata = true;
  want.metadata.generate_name = "chat-frontend-inference-5bf4965fdc-";
  want.metadata.namespace_name = "ai-lab";
  want.metadata.labels = {{"app", "chat"}, {"pod-template-hash", "5bf4965fdc"}, {"workload", "interactive-inference"}};
  want.metadata.owners = {
      {"apps/v1", "ReplicaSet", "chat-frontend-inference-5bf4965fdc", true, "b5acf313-9281-43c6-b0b1-e3bf9052358f"}};
  want.metadata.has_labels = true;
  want.spec.trio = {"cluster-default", 100, PreemptionPolicy::kPreemptLowerPriority};
  want.spec.containers = {{"server", {{"nvidia.com/gpu", Units(1)}}, {{"nvidia.com/gpu", Units(1)}}, false}};
  ASSERT_EQ(Message(pod), "ok");
  EXPECT_EQ(*pod, want);
}

TEST(DecodePod, IsItsTemplateWithTheMetadataThatWasRead) {
  const Document review(ReadData("020-mutate-create-pod-chat-frontend-inference-5bf4965fdc.json"));
  const std::string texts[] = {
      simdjson::minify(review.At("/request/object")),
      R"({"spec": {"priority": 3}})",
      R"({"metadata": null, "spec": {"containers": [{"name": "a"}]}})",
      R"({"metadata": {}, "spec": {"priority": "3"}})",
  };
  for (const std::string& text : texts) {
    const Document pod(text);
    JsonElement metadata;
    const bool given = pod.root()["metadata"].get(metadata) == simdjson::SUCCESS && !metadata.is_null();
    const auto known = given ? DecodeObjectMeta(metadata, "/metadata") : Result<ObjectMeta>(ObjectMeta{});
    const auto want = DecodePodTemplate(pod.root(), "");
    const auto found = DecodePod(pod.root(), *known);
    ASSERT_EQ(Message(found), Message(want)) << text;
    if (!want) continue;
    EXPECT_EQ(*found, *want) << text;
  }
}

TEST(DecodePodTemplate, TakesNullForAbsent) {  // a dry-run Job carries "containers": null
  const Document review(ReadData("049-mutate-create-job-dryrun-x.json"));
  const auto job = DecodePodTemplate(review.At("/request/object/spec/template"), "/spec/template");
  ASSERT_EQ(Message(job), "ok");
  EXPECT_EQ(job->path, "/spec/template");
  EXPECT_EQ(job->spec.containers, std::vector<Container>{});

  const Document nulls(R"({"metadata":null,"spec":{"containers":null,"priority":null,"priorityClassName":null,
    "preemptionPolicy":null,"initContainers":[{"name":null,"resources":null}],"overhead":{"cpu":null}}})");
  const auto pod = DecodePodTemplate(nulls.root(), "");
  PodTemplate want;
  want.spec.init_containers = {Container{}};
  ASSERT_EQ(Message(pod), "ok");
  EXPECT_EQ(*pod, want);
}

Result<PodSpec> DecodeSpec(const std::string& json) {
  const Document document(R"({"spec":)" + json + "}");
  const Result<PodTemplate> pod = DecodePodTemplate(document.root(), "");
  if (!pod) return pod.error();
  return pod->spec;
}

TEST(DecodePodTemplateSpec, ReadsEveryFieldAndIgnoresUnknownOnes) {
  const auto spec =
      DecodeSpec(R"({"serviceAccountName":"robot","serviceAccount":"old","priorityClassName":"","future":[1,{}],
    "priority":-5,"preemptionPolicy":"Never","overhead":{"cpu":"250m"},
    "resources":{"requests":{"cpu":2},"limits":{"cpu":4},"claims":[]},
    "initContainers":[{"name":"side","restartPolicy":"Always","resources":{"limits":{"amd.com/gpu":"1"}}},
                      {"name":"init","restartPolicy":"OnFailure"}]})");
  PodSpec want;
  want.trio = {std::nullopt, -5, PreemptionPolicy::kNever};
  want.service_account = "robot";
  want.overhead = {{"cpu", Milli(250)}};
  want.pod_requests = {{"cpu", Units(2)}};
  want.init_containers = {{"side", {}, {{"amd.com/gpu", Units(1)}}, true}, {"init", {}, {}, false}};
  ASSERT_EQ(Message(spec), "ok");
  EXPECT_EQ(*spec, want);
}

TEST(DecodePodTemplateSpec, TakesTheDeprecatedNameOfTheServiceAccount) {
  EXPECT_EQ(DecodeSpec(R"({"serviceAccount":"old"})")->service_account, "old");
}

TEST(DecodePodTemplateSpec, KeepsTheLastOfDuplicateMembers) {
  const auto spec =
      DecodeSpec(R"({"priorityClassName":"a","priorityClassName":"b","containers":[{"name":"x"}],"containers":[]})");
  ASSERT_EQ(Message(spec), "ok");
  EXPECT_EQ(spec->trio.class_name, "b");
  EXPECT_EQ(spec->containers, std::vector<Container>{});
}

TEST(DecodePodTemplateSpec, TakesNumbersAndStringsAsQuantities) {
  const std::pair<std::string, Quantity> rows[] = {
      {"2", Units(2)},
      {"2.5", Milli(2500)},
      {"2e0", Units(2)},
      {"0.1", Milli(100)},
      {"\"2\"", Units(2)},
      {"\"02\"", Units(2)},
      {"\"2e0\"", Units(2)},
      {"\" 2 \"", Units(2)},
      {"\"1500m\"", Milli(1500)},
      {"-1", Units(-1)},
      {"\"1Ki\"", Units(1024)},
      {"0.000000001", Quantity::FromNano(1)},
      {"9223372036854775807", Units(INT64_MAX)},
  };
  for (const auto& [json, want] : rows) {
    const auto spec = DecodeSpec(R"({"overhead":{"x":)" + json + "}}");
    ASSERT_EQ(Message(spec), "ok") << json;
    EXPECT_EQ(spec->overhead.at("x"), want) << json;
  }
}

struct BadRow {
  std::string name;
  std::string json;
  std::string want;
};

TEST(DecodePodTemplate, NamesPlaceFindingAndRemedy) {
  const BadRow rows[] = {
      {"priority as text", R"({"spec":{"priority":"high"}})",
       R"(/t/spec/priority: found the string "high"; expected a whole number of 64 bits)"},
      {"priority as fraction", R"({"spec":{"priority":100.5}})",
       "/t/spec/priority: found the number 100.5; expected a whole number of 64 bits"},
      {"priority beyond int64", R"({"spec":{"priority":9223372036854775808}})",
       "/t/spec/priority: found the number 9223372036854775808; expected a whole number of 64 bits"},
      {"class as number", R"({"spec":{"priorityClassName":5}})",
       "/t/spec/priorityClassName: found the number 5; expected a string"},
      {"unknown policy", R"({"spec":{"preemptionPolicy":"Sometimes"}})",
       R"(/t/spec/preemptionPolicy: found the string "Sometimes"; expected "PreemptLowerPriority" or "Never")"},
      {"containers as object", R"({"spec":{"containers":{}}})",
       "/t/spec/containers: found an object; expected an array"},
      {"container as text", R"({"spec":{"containers":[{},"x"]}})",
       R"(/t/spec/containers/1: found the string "x"; expected an object)"},
      {"amount as boolean", R"({"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":true}}}]}})",
       "/t/spec/containers/0/resources/limits/nvidia.com~1gpu: found true; expected a quantity: a string or a number"},
      {"label as number", R"({"metadata":{"labels":{"a~b":1}}})",
       "/t/metadata/labels/a~0b: found the number 1; expected a string"},
      {"annotations as array", R"({"metadata":{"annotations":[]}})",
       "/t/metadata/annotations: found an array; expected an object"},
      {"controller as text", R"({"metadata":{"ownerReferences":[{"controller":"true"}]}})",
       R"(/t/metadata/ownerReferences/0/controller: found the string "true"; expected true or false)"},
      {"not an object", "[]", "/t: found an array; expected an object"},
      {"long text is cut", R"({"spec":)" + ('"' + std::string(100, 'x') + '"') + "}",
       "/t/spec: found the string \"" + std::string(40, 'x') + "\"...; expected an object"},
      {"the first problem is told", R"({"spec":{"priority":"a","priorityClassName":1}})",
       R"(/t/spec/priority: found the string "a"; expected a whole number of 64 bits)"},
  };
  for (const BadRow& row : rows) {
    const auto result = DecodePodTemplate(Document(row.json).root(), "/t");
    EXPECT_EQ(Message(result), row.want) << row.name;
    EXPECT_EQ(result.ok() ? ErrorKind::kInternal : result.error().kind, ErrorKind::kInvalidInput) << row.name;
  }
}

TEST(DecodePodTemplate, NamesTheQuantityThatIsNone) {
  const Document json(R"({"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"two"}}}]}})");
  const auto pod = DecodePodTemplate(json.root(), "");
  EXPECT_EQ(Message(pod),
            "/spec/containers/0/resources/requests/nvidia.com~1gpu: " + ParseQuantity("two").error().message);
}

TEST(DecodeObjectMeta, ReadsWhatDecidesAboutSkipping) {
  const Document json(R"({"name":"p","namespace":"n","annotations":{"kubernetes.io/config.mirror":"hash"},
    "deletionTimestamp":"2026-11-29T12:18:16Z","ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"a"}]})");
  const auto meta = DecodeObjectMeta(json.root(), "/metadata");
  ObjectMeta want;
  want.name = "p";
  want.namespace_name = "n";
  want.owners = {{"v1", "Node", "a", false}};
  want.has_annotations = true;
  want.deleting = true;
  want.mirror = true;
  ASSERT_EQ(Message(meta), "ok");
  EXPECT_EQ(*meta, want);
}

TEST(DecodeQuota, ReadsHardAndScopes) {
  const Document review(ReadData("031-mutate-create-resourcequota-gpu-interactive.json"));
  const auto quota = DecodeQuota(review.At("/request/object"), "/object");
  Quota want;
  want.hard = {{"pods", Units(20)}, {"requests.nvidia.com/gpu", Units(8)}};
  want.scope_selector = {{"PriorityClass", "In", {"inference-interactive"}}};
  ASSERT_EQ(Message(quota), "ok");
  EXPECT_EQ(*quota, want);

  const Document scopes(R"({"spec":{"scopes":["BestEffort","PriorityClass"]}})");
  EXPECT_EQ(DecodeQuota(scopes.root(), "")->scopes, (std::vector<std::string>{"BestEffort", "PriorityClass"}));
  const Document bad(R"({"spec":{"scopeSelector":{"matchExpressions":[{"values":"x"}]}}})");
  EXPECT_EQ(Message(DecodeQuota(bad.root(), "")),
            R"(/spec/scopeSelector/matchExpressions/0/values: found the string "x"; expected an array)");
}

TEST(DecodePriorityClass, ReadsTheClass) {
  const Document json(
      R"({"metadata":{"name":"training"},"value":500000,"preemptionPolicy":"Never","globalDefault":true})");
  const auto training = DecodePriorityClass(json.root(), "");
  ASSERT_EQ(Message(training), "ok");
  EXPECT_EQ(*training, (PriorityClass{"training", 500000, PreemptionPolicy::kNever, true}));
  EXPECT_EQ(Message(DecodePriorityClass(Document(R"({"value":5000000000})").root(), "")),
            "/value: found the number 5000000000; expected a whole number from -2147483648 to 2147483647");
}

struct SameRow {
  std::string name;
  std::string a;
  std::string b;
  bool want;
};

TEST(SameJson, ComparesValues) {
  const SameRow rows[] = {
      {"equal", R"({"a":[1,"x",null,true]})", R"({"a":[1,"x",null,true]})", true},
      {"members in another order", R"({"a":1,"b":{"c":2,"d":3}})", R"({"b":{"d":3,"c":2},"a":1})", true},
      {"number spelt differently", "[1, 100, -0.0]", "[1.0, 1e2, 0]", true},
      {"neighbours beyond 2^53", "9007199254740993", "9007199254740992", false},
      {"uint64 is not its double", "18446744073709551615", "18446744073709551616.0", false},
      {"another value", R"({"a":1})", R"({"a":2})", false},
      {"another value, other order", R"({"a":1,"b":2})", R"({"b":2,"a":3})", false},
      {"another key", R"({"a":1})", R"({"b":1})", false},
      {"one member more", R"({"a":1})", R"({"a":1,"b":1})", false},
      {"one member less", R"({"a":1,"b":1})", R"({"a":1})", false},
      {"items in another order", "[1,2]", "[2,1]", false},
      {"one item more", "[1]", "[1,2]", false},
      {"null is not absent", R"({"a":null})", "{}", false},
      {"text is no number", R"("1")", "1", false},
      {"empty containers differ", "{}", "[]", false},
      {"true is not false", "true", "false", false},
      {"the last duplicate counts", R"({"a":1,"b":2,"a":3})", R"({"b":2,"a":3})", true},
  };
  for (const SameRow& row : rows) {
    const Document a(row.a);
    const Document b(row.b);
    EXPECT_EQ(SameJson(a.root(), b.root()), row.want) << row.name;
    EXPECT_EQ(SameJson(b.root(), a.root()), row.want) << row.name;
  }
}

}  // namespace
}  // namespace podium
