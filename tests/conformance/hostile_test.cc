// Reviews that no API server sends (faults D11, D12, D14, D40): each is an error of the caller or gets a proper answer,
// and nothing ends the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "audit/record.h"
#include "conformance/ask.h"
#include "conformance/protocol.h"
#include "core/text.h"

namespace podium::conformance {
namespace {

using ::testing::IsEmpty;

std::string Fixture(const std::string& name) {
  return ReadText(PODIUM_TEST_DIR "/conformance/admissionreview-1.36/" + name);
}

const std::vector<std::string>& Bodies() {
  static const std::vector<std::string> bodies = {
      Fixture("020-mutate-create-pod-chat-frontend-inference-5bf4965fdc.json"),
      Fixture("024-mutate-create-cronjob-reindex.json"),
      Fixture("043-mutate-update-deployment-chat-frontend-inference.json"),
      Fixture("068-mutate-update-resourcequota-gpu-interactive.json"),
  };
  return bodies;
}

// A policy that refuses what it cannot decide: then no fault can hide behind "allowed".
Scene StrictScene() {
  Scene scene{.cluster = Cluster()};
  scene.policy.on_internal_error = Posture::kRefuse;
  return scene;
}

enum class Fate { kBadRequest, kAnswered, kCannotDecide };

// What becomes of a body; every answer must be one the API server takes, with the request's uid.
Fate FateOf(const Scene& scene, const std::string& body) {
  const Result<AdmissionRequest> request = ReviewDecoder().Decode(body);
  if (!request) {
    EXPECT_EQ(request.error().kind, ErrorKind::kInvalidInput) << request.error().message;
    EXPECT_TRUE(IsUtf8(request.error().message) && IsLine(request.error().message)) << request.error().message;
    return Fate::kBadRequest;
  }
  for (const Endpoint endpoint : {Endpoint::kMutate, Endpoint::kValidate}) {
    const Answer answer = Ask(scene, body, endpoint);
    EXPECT_THAT(ProtocolFaults(answer), IsEmpty());
    if (request->decode_error) {
      EXPECT_FALSE(answer.allowed());
      EXPECT_EQ(answer.response().value("/status/code"_json_pointer, 0), 500);
    }
  }
  return request->decode_error ? Fate::kCannotDecide : Fate::kAnswered;
}

// --- D12 ------------------------------------------------------------------------------------------------------------

TEST(HostileReviews, NoTruncatedOneIsTakenForAWhole) {
  for (const std::string& body : Bodies()) {
    const std::size_t whole = body.find_last_not_of("\n") + 1;
    ReviewDecoder decoder;
    for (std::size_t size = 0; size < whole; ++size)
      ASSERT_FALSE(decoder.Decode(std::string_view(body).substr(0, size))) << "cut after byte " << size;
    ASSERT_TRUE(decoder.Decode(std::string_view(body).substr(0, whole)));
  }
}

TEST(HostileReviews, AnyByteMayBeAnyOther) {
  constexpr int kFlips = 5000;
  std::mt19937 dice(12);
  const Scene scene = StrictScene();
  int fates[3] = {};
  for (int i = 0; i < kFlips; ++i) {
    std::string body = Bodies()[dice() % Bodies().size()];
    const std::size_t at = dice() % body.size();
    body[at] = static_cast<char>(dice() % 256);
    SCOPED_TRACE("flip " + std::to_string(i) + " at " + std::to_string(at));
    ++fates[static_cast<int>(FateOf(scene, body))];
    if (HasFailure()) return;
  }
  EXPECT_GT(fates[static_cast<int>(Fate::kBadRequest)], kFlips / 10);
  EXPECT_GT(fates[static_cast<int>(Fate::kAnswered)], kFlips / 10);
}

// Pointers of everything in a document, containers too.
void Collect(const Json& json, const std::string& pointer, std::vector<std::string>& pointers) {
  if (!pointer.empty()) pointers.push_back(pointer);
  for (const auto& [key, value] : json.items())
    if (json.is_structured()) Collect(value, (Json::json_pointer(pointer) / key).to_string(), pointers);
}

class HostileField : public ::testing::TestWithParam<std::size_t> {};  // a body

TEST_P(HostileField, MayBeOfAnyType) {
  const Scene scene = StrictScene();
  const Json values[] = {nullptr,
                         true,
                         -1,
                         1.5,
                         9223372036854775808ULL,
                         1e300,
                         "",
                         std::string("a\0b\n\x1b\xF0\x9F\x92\xA5", 9),
                         Json::array(),
                         Json::array({nullptr, 1, "x"}),
                         Json{{"", nullptr}, {"a/b~c", Json::array()}}};
  const Json review = Json::parse(Bodies().at(GetParam()));
  std::vector<std::string> pointers;
  Collect(review, "", pointers);
  int fates[3] = {};
  for (const std::string& pointer : pointers) {
    if (pointer.find("managedFields") != std::string::npos) continue;  // hundreds of them, and nobody reads them
    for (const Json& value : values) {
      SCOPED_TRACE(pointer + " = " + value.dump());
      Json changed = review;
      changed[Json::json_pointer(pointer)] = value;
      ++fates[static_cast<int>(FateOf(scene, changed.dump()))];
      if (HasFailure()) return;
    }
  }
  for (const int count : fates) EXPECT_GT(count, 20);
}

INSTANTIATE_TEST_SUITE_P(Bodies, HostileField, ::testing::Range(std::size_t{0}, std::size_t{4}));

// --- D11 ------------------------------------------------------------------------------------------------------------

TEST(HostileReviews, DeepNestingIsRefusedWhereverItIs) {
  const Scene scene = StrictScene();
  for (const char* place : {"/request/object/metadata/annotations/a", "/request/object/spec/containers",
                            "/request/object", "/request/uid", "/request/options"}) {
    Json review = Json::parse(Bodies()[0]);
    review[Json::json_pointer(place)] = "HERE";
    const std::string text = review.dump();
    for (const std::size_t depth : {100U, 129U, 10'000U, 1'000'000U}) {
      std::string body = text;
      body.replace(body.find("\"HERE\""), 6, std::string(depth, '[') + std::string(depth, ']'));
      SCOPED_TRACE(std::string(place) + ", depth " + std::to_string(depth));
      if (depth > 128) {
        EXPECT_FALSE(ReviewDecoder().Decode(body));
        continue;
      }
      static_cast<void>(FateOf(scene, body));
    }
  }
}

// --- D14 ------------------------------------------------------------------------------------------------------------

// A webhook has 10 s. Half of that is far more than is needed, also under a sanitizer. Processor time: a busy machine
// is no fault.
Answer AskInTime(const Json& review) {
  const std::clock_t begin = std::clock();
  Answer answer = Ask(StrictScene(), review.dump(), Endpoint::kMutate);
  EXPECT_LT(std::clock() - begin, 5 * CLOCKS_PER_SEC);
  EXPECT_THAT(ProtocolFaults(answer), IsEmpty());
  return answer;
}

TEST(HostileReviews, TenThousandContainersAreAddedUp) {
  Json review = Json::parse(Bodies()[0]);
  Json& containers = review["request"]["object"]["spec"]["containers"];
  Json container = containers[0];
  containers = Json::array();
  for (int i = 0; i < 10'000; ++i) {
    container["name"] = "container-" + std::to_string(i);
    containers.push_back(container);
  }
  const Answer answer = AskInTime(review);
  EXPECT_FALSE(answer.allowed());
  EXPECT_THAT(answer.message(), ::testing::HasSubstr("10000 nvidia.com/gpu"));
  EXPECT_LT(answer.message().size(), 4096U);
}

TEST(HostileReviews, FiftyThousandAnnotationsAreCarried) {
  Json review = Json::parse(Bodies()[0]);
  Json& metadata = review["request"]["object"]["metadata"];
  metadata["labels"]["podium.gpu/workload-type"] = "batch";
  for (int i = 0; i < 50'000; ++i) metadata["annotations"]["example.com/a-" + std::to_string(i)] = "x";
  const Answer answer = AskInTime(review);
  EXPECT_TRUE(answer.allowed());
  EXPECT_EQ(Patched(answer)["metadata"]["annotations"].size(), 50'001U);
}

// --- D40 ------------------------------------------------------------------------------------------------------------

struct Line {
  std::string name;
  std::string text;
};

class HostileText : public ::testing::TestWithParam<Line> {};

TEST_P(HostileText, StaysInsideOneAuditLine) {
  Json review = Json::parse(Bodies()[0]);
  const std::string& text = GetParam().text;
  for (const char* place :
       {"/request/userInfo/username", "/request/name", "/request/namespace", "/request/object/metadata/name",
        "/request/object/metadata/labels/podium.gpu~1workload-type", "/request/object/metadata/annotations/a",
        "/request/object/spec/containers/0/name", "/request/object/spec/priorityClassName"})
    review[Json::json_pointer(place)] = text;
  review["request"]["userInfo"]["groups"] = {text, text};
  review["request"]["object"]["spec"].erase("priority");
  const Answer answer = Ask(StrictScene(), review.dump(), Endpoint::kMutate);
  EXPECT_THAT(ProtocolFaults(answer), IsEmpty());
  EXPECT_FALSE(answer.allowed());

  const std::string line = MakeRecord(answer.request, answer.decision,
                                      {.at = RecordedAt(), .instance = text, .endpoint = text, .peer = text});
  EXPECT_LE(line.size(), kMaxRecordBytes);
  EXPECT_TRUE(IsUtf8(line) && IsLine(line)) << line;
  const Json record = Json::parse(line);
  EXPECT_EQ(record["verdict"], "refuse");
  EXPECT_EQ(record.contains("forged"), false);
}

INSTANTIATE_TEST_SUITE_P(Rows, HostileText,
                         ::testing::Values(Line{"Newline", "a\n{\"forged\":true}\nb"}, Line{"CarriageReturn", "a\r\nb"},
                                           Line{"Escape", "\x1b[31mred\x1b[0m\x07"},
                                           Line{"Nul", std::string("a\0b", 3)},
                                           Line{"FourByteUtf8", "\xF0\x9F\x92\xA5"},
                                           Line{"Quotes", "\",\"forged\":true,\"x\":\""},
                                           Line{"LineSeparator",
                                                "a\xE2\x80\xA8"
                                                "b"},
                                           Line{"Long", std::string(65536, 'x')},
                                           Line{"LongUtf8",
                                                [] {
                                                  std::string text;
                                                  for (int i = 0; i < 20'000; ++i) text += "\xF0\x9F\x92\xA5";
                                                  return text;
                                                }()}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace podium::conformance
