#include "kube/api_writer.h"

#include "kube/api_status.h"
#include "wire/json.h"

namespace podium {
namespace {

constexpr const char* kFieldManager = "podium";

// RFC 3986: what may stand in a segment of a path as it is. Names of the API are narrower, but ours may come from a
// file.
std::string EncodeSegment(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || c == ':';
    const auto byte = static_cast<unsigned char>(c);
    if (plain)
      out += c;
    else
      out.append({'%', kHex[byte >> 4U], kHex[byte & 15U]});
  }
  return out;
}

std::string NameOf(const ObjectRef& object) {
  const std::string place = object.namespace_name.empty() ? "" : object.namespace_name + "/";
  return object.resource + " " + place + object.name;
}

bool IsDone(const ApiReply& reply) { return reply.status >= 200 && reply.status < 300; }

Error Refusal(const ApiReply& reply, const std::string& doing) {
  return ToError(ReadApiError(reply.status, reply.body, reply.retry_after), doing);
}

}  // namespace

std::string CollectionPath(const ObjectRef& object) {
  const std::size_t slash = object.api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : object.api_version.substr(0, slash);
  const std::string version = slash == std::string::npos ? object.api_version : object.api_version.substr(slash + 1);
  std::string path = group.empty() ? "/api" : "/apis/" + EncodeSegment(group);
  path += "/" + EncodeSegment(version);
  if (!object.namespace_name.empty()) path += "/namespaces/" + EncodeSegment(object.namespace_name);
  return path + "/" + EncodeSegment(object.resource);
}

std::string ObjectPath(const ObjectRef& object) { return CollectionPath(object) + "/" + EncodeSegment(object.name); }

Result<std::string> ApiWriter::Apply(const ObjectRef& object, std::string_view json, Ownership ownership) {
  const char* force = ownership == Ownership::kOurs ? "true" : "false";
  Result<ApiReply> reply = api_.Call({.method = "PATCH",
                                      .path = ObjectPath(object),
                                      .query = {{"fieldManager", kFieldManager}, {"force", force}},
                                      .content_type = "application/apply-patch+yaml",
                                      .body = std::string(json)});
  if (!reply) return reply.error();
  if (!IsDone(*reply)) return Refusal(*reply, "applying " + NameOf(object));
  return std::move(reply->body);
}

Status ApiWriter::Delete(const ObjectRef& object, std::string_view uid) {
  std::string options;
  JsonWriter json(options);
  json.BeginObject();
  json.Key("apiVersion");
  json.String("v1");
  json.Key("kind");
  json.String("DeleteOptions");
  json.Key("preconditions");
  json.BeginObject();
  json.Key("uid");
  json.String(uid);
  json.EndObject();
  json.EndObject();
  Result<ApiReply> reply = api_.Call(
      {.method = "DELETE", .path = ObjectPath(object), .content_type = "application/json", .body = std::move(options)});
  if (!reply) return reply.error();
  if (IsDone(*reply) || reply->status == 404) return {};
  return Refusal(*reply, "deleting " + NameOf(object));
}

Status ApiWriter::Create(const ObjectRef& object, std::string_view json) {
  Result<ApiReply> reply = api_.Call({.method = "POST",
                                      .path = CollectionPath(object),
                                      .query = {{"fieldManager", kFieldManager}},
                                      .content_type = "application/json",
                                      .body = std::string(json)});
  if (!reply) return reply.error();
  if (IsDone(*reply)) return {};
  return Refusal(*reply, "creating " + NameOf(object));
}

}  // namespace podium
