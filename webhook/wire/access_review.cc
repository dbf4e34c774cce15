#include "wire/access_review.h"

#include <algorithm>
#include <utility>

#include "wire/field_reader.h"
#include "wire/json.h"
#include "wire/object_writer.h"

namespace podium {
namespace {

constexpr std::string_view kTokenVersion = "authentication.k8s.io/v1";
constexpr std::string_view kTokenKind = "TokenReview";
constexpr std::string_view kAccessVersion = "authorization.k8s.io/v1";
constexpr std::string_view kAccessKind = "SubjectAccessReview";

void BeginReview(JsonWriter& json, std::string_view version, std::string_view kind) {
  json.BeginObject();
  WriteText(json, "apiVersion", version);
  WriteText(json, "kind", kind);
  json.Key("spec");
  json.BeginObject();
}

void EndReview(JsonWriter& json) {
  json.EndObject();
  json.EndObject();
}

Error NoAnswer(std::string_view kind, const std::string& why) {
  return {ErrorKind::kCorrupt, "the API server's answer is no finished " + std::string(kind) + ": " + why};
}

// The status of a review that says what it is.
Result<JsonElement> StatusOf(simdjson::dom::parser& parser, std::string_view text, std::string_view version,
                             std::string_view kind) {
  if (text.size() > kMaxJsonBytes) return NoAnswer(kind, "it is too long");
  JsonElement json;
  std::string_view found;
  if (parser.parse(text.data(), text.size()).get(json) != simdjson::SUCCESS) return NoAnswer(kind, "it is no JSON");
  if (json["apiVersion"].get(found) != simdjson::SUCCESS || found != version)
    return NoAnswer(kind, "its apiVersion is not " + std::string(version));
  if (json["kind"].get(found) != simdjson::SUCCESS || found != kind) return NoAnswer(kind, "its kind is another");
  JsonElement status;
  if (json["status"].get(status) != simdjson::SUCCESS || !status.is_object()) return NoAnswer(kind, "it has no status");
  return status;
}

struct TokenStatus {
  bool authenticated = false;
  Caller caller;
  std::vector<std::string> audiences;
};

void ReadUser(FieldReader& in, JsonElement json, const At& at, Caller& caller) {
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "username") caller.user = in.Text(value, here);
    if (key == "uid") caller.uid = in.Text(value, here);
    if (key == "groups") caller.groups = in.Texts(value, here);
    if (key != "extra") return;
    in.EachMember(value, here, [&](std::string_view name, JsonElement values, const At& there) {
      caller.extra[std::string(name)] = in.Texts(values, there);
    });
  });
}

TokenStatus ReadTokenStatus(FieldReader& in, JsonElement json, const At& at) {
  TokenStatus status;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "authenticated") status.authenticated = in.Boolean(value, here);
    if (key == "user") ReadUser(in, value, here, status.caller);
    if (key == "audiences") status.audiences = in.Texts(value, here);
  });
  return status;
}

struct AccessStatus {
  std::optional<bool> allowed;
  bool denied = false;
};

AccessStatus ReadAccessStatus(FieldReader& in, JsonElement json, const At& at) {
  AccessStatus status;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "allowed") status.allowed = in.Boolean(value, here);
    if (key == "denied") status.denied = in.Boolean(value, here);
  });
  return status;
}

bool HaveOneInCommon(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const std::string& each) { return std::find(b.begin(), b.end(), each) != b.end(); });
}

}  // namespace

std::string EncodeTokenReview(std::string_view token, const std::vector<std::string>& audiences) {
  std::string text;
  JsonWriter json(text);
  BeginReview(json, kTokenVersion, kTokenKind);
  WriteText(json, "token", token);
  if (!audiences.empty()) WriteTexts(json, "audiences", audiences);
  EndReview(json);
  return text;
}

Result<std::optional<Caller>> DecodeTokenReview(std::string_view text, const std::vector<std::string>& audiences) {
  simdjson::dom::parser parser;
  const Result<JsonElement> json = StatusOf(parser, text, kTokenVersion, kTokenKind);
  if (!json) return json.error();
  FieldReader in;
  TokenStatus status = ReadTokenStatus(in, *json, At{nullptr, "/status"});
  if (in.problem()) return NoAnswer(kTokenKind, in.problem()->message);
  if (!status.authenticated) return std::optional<Caller>();
  if (status.caller.user.empty()) return NoAnswer(kTokenKind, "it is authenticated and names no user");
  if (!audiences.empty() && !HaveOneInCommon(audiences, status.audiences))
    return NoAnswer(kTokenKind, "it does not say that the token is for one of the audiences that were asked for");
  return std::optional<Caller>(std::move(status.caller));
}

std::string EncodeAccessReview(const Caller& caller, const AccessQuestion& question) {
  std::string text;
  JsonWriter json(text);
  BeginReview(json, kAccessVersion, kAccessKind);
  json.Key("resourceAttributes");
  json.BeginObject();
  if (!question.namespace_name.empty()) WriteText(json, "namespace", question.namespace_name);
  WriteText(json, "verb", question.verb);
  WriteText(json, "version", "v1");
  WriteText(json, "resource", question.resource);
  json.EndObject();
  WriteText(json, "user", caller.user);
  if (!caller.uid.empty()) WriteText(json, "uid", caller.uid);
  WriteTexts(json, "groups", caller.groups);
  json.Key("extra");
  json.BeginObject();
  for (const auto& [name, values] : caller.extra) WriteTexts(json, name, values);
  json.EndObject();
  EndReview(json);
  return text;
}

Result<bool> DecodeAccessReview(std::string_view text) {
  simdjson::dom::parser parser;
  const Result<JsonElement> json = StatusOf(parser, text, kAccessVersion, kAccessKind);
  if (!json) return json.error();
  FieldReader in;
  const AccessStatus status = ReadAccessStatus(in, *json, At{nullptr, "/status"});
  if (in.problem()) return NoAnswer(kAccessKind, in.problem()->message);
  if (!status.allowed) return NoAnswer(kAccessKind, "it does not say whether it is allowed");
  return *status.allowed && !status.denied;
}

}  // namespace podium
