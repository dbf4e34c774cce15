#include "kube/api_writer.h"

#include "kube/address.h"
#include "kube/api_status.h"
#include "wire/json.h"

namespace podium {
namespace {

constexpr const char* kFieldManager = "podium";

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
  std::string path = group.empty() ? "/api" : "/apis/" + PercentEncoded(group);
  path += "/" + PercentEncoded(version);
  if (!object.namespace_name.empty()) path += "/namespaces/" + PercentEncoded(object.namespace_name);
  return path + "/" + PercentEncoded(object.resource);
}

std::string ObjectPath(const ObjectRef& object) { return CollectionPath(object) + "/" + PercentEncoded(object.name); }

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
