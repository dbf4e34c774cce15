#include "kube/api_status.h"

#include <gtest/gtest.h>

#include "fakes/temp_dir.h"
#include "kube/watch_event.h"

namespace podium {

void PrintTo(const ApiError& error, std::ostream* out) {
  *out << error.code << ' ' << error.reason << ": " << error.message << " retry after "
       << (error.retry_after ? error.retry_after->count() : -1)
       << (error.resource_version_too_large ? " too large" : "");
}

namespace {

using std::chrono::seconds;

std::string Data(const std::string& name) { return ReadFileText(PODIUM_TEST_DIR "/kube/data/" + name); }

TEST(ReadApiError, ReadsRecordedStatusObjects) {
  EXPECT_EQ(ReadApiError(404, Data("error-404.json"), std::nullopt),
            (ApiError{404, "NotFound", "poddisruptionbudgets.policy \"none\" not found", std::nullopt, false}));
  EXPECT_EQ(ReadApiError(400, Data("list-continue-bad.json"), seconds(2)),
            (ApiError{400, "BadRequest",
                      "invalid continue token: continue key is not valid: illegal base64 data at input byte 4",
                      seconds(2), false}));
}

TEST(ReadApiError, KnowsBothFormsOfATooLargeVersion) {
  const std::string with_cause =
      R"({"kind":"Status","code":504,"reason":"Timeout","message":"m",)"
      R"("details":{"causes":[{"reason":"ResourceVersionTooLarge"}],"retryAfterSeconds":1}})";
  EXPECT_EQ(ReadApiError(504, with_cause, std::nullopt), (ApiError{504, "Timeout", "m", seconds(1), true}));
  EXPECT_EQ(
      ReadApiError(504, R"({"kind":"Status","message":"Too large resource version: 3, current: 1"})", std::nullopt),
      (ApiError{504, "", "Too large resource version: 3, current: 1", std::nullopt, true}));
}

TEST(ReadApiError, OtherBodiesKeepTheStatusAndNoneOfTheirText) {
  for (const std::string body :
       {"", "<html>secret</html>", "{}", "[1]", "{\"kind\":\"Pod\",\"code\":1}", "{\"kind\":\"Status"})
    EXPECT_EQ(ReadApiError(503, body, std::nullopt),
              (ApiError{503, "", "the reply has no Status object", std::nullopt, false}))
        << body;
}

TEST(ReadApiError, OddValuesAreLeftOut) {
  EXPECT_EQ(ReadApiError(0, R"({"kind":"Status","code":"410","details":{"retryAfterSeconds":-1}})", std::nullopt),
            (ApiError{0, "", "", std::nullopt, false}));
  EXPECT_EQ(ReadApiError(0, R"({"kind":"Status","code":99999,"details":{"retryAfterSeconds":9999999}})", std::nullopt),
            (ApiError{0, "", "", seconds(86'400), false}));
  const ApiError loud =
      ReadApiError(500, R"({"kind":"Status","message":"a\n\u001b[31m)" + std::string(500, 'x') + "\"}", std::nullopt);
  EXPECT_EQ(loud.message, "a??[31m" + std::string(293, 'x') + "...");
}

TEST(ToError, SaysWhatWasTriedAndWhatTheServerSaid) {
  EXPECT_EQ(ToError({403, "Forbidden", "pods is forbidden", std::nullopt, false}, "listing /api/v1/pods"),
            (Error{ErrorKind::kPermission, "listing /api/v1/pods: HTTP 403 Forbidden: pods is forbidden"}));
  const std::pair<int, ErrorKind> kinds[] = {
      {400, ErrorKind::kInvalidInput}, {401, ErrorKind::kPermission},  {404, ErrorKind::kNotFound},
      {409, ErrorKind::kConflict},     {410, ErrorKind::kUnavailable}, {422, ErrorKind::kInvalidInput},
      {429, ErrorKind::kUnavailable},  {500, ErrorKind::kUnavailable}, {504, ErrorKind::kTimeout}};
  for (const auto& [code, kind] : kinds) EXPECT_EQ(ToError({code, "", "", {}, false}, "x").kind, kind) << code;
  EXPECT_EQ(ToError({}, "watching").message, "watching: an error without a code");
}

// --- watch events ---------------------------------------------------------------------------------------------------

TEST(ReadWatchEvent, ReadsEveryType) {
  const std::pair<std::string, WatchEventKind> types[] = {
      {"ADDED", WatchEventKind::kUpsert},   {"MODIFIED", WatchEventKind::kUpsert},
      {"DELETED", WatchEventKind::kDelete}, {"BOOKMARK", WatchEventKind::kBookmark},
      {"ERROR", WatchEventKind::kError},    {"added", WatchEventKind::kUnknown}};
  for (const auto& [type, kind] : types) {
    const std::string line = R"({"object":{"metadata":{"resourceVersion":"7"},"kind":"Pod"},"type":")" + type + "\"}";
    const WatchEvent event = ReadWatchEvent(line);
    EXPECT_EQ(event.kind, kind) << type;
    EXPECT_EQ(event.object, R"({"metadata":{"resourceVersion":"7"},"kind":"Pod"})");
    EXPECT_EQ(event.object_kind, "Pod");
    EXPECT_EQ(event.resource_version, "7");
  }
}

TEST(ReadWatchEvent, WhatCannotBeReadIsUnknown) {
  const std::string whole = R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"resourceVersion":"1"}}})";
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(ReadWatchEvent(whole.substr(0, size)).kind, WatchEventKind::kUnknown) << size;
  EXPECT_EQ(ReadWatchEvent(whole).kind, WatchEventKind::kUpsert);
  EXPECT_EQ(ReadWatchEvent(whole + whole).kind, WatchEventKind::kUnknown);
  EXPECT_EQ(ReadWatchEvent(R"({"type":"ADDED","object":[]})").kind, WatchEventKind::kUnknown);
}

TEST(ReadWatchEvent, ReadsARecordedExpiry) {
  std::string line = Data("watch-pods-410.jsonl");
  line.pop_back();
  const WatchEvent event = ReadWatchEvent(line);
  EXPECT_EQ(event.kind, WatchEventKind::kError);
  EXPECT_EQ(ReadApiError(0, event.object, std::nullopt),
            (ApiError{410, "Expired", "too old resource version: 1 (947)", std::nullopt, false}));
}

}  // namespace
}  // namespace podium
