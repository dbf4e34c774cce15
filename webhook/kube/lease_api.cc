#include "kube/lease_api.h"

#include <utility>

#include "kube/api_status.h"
#include "kube/api_writer.h"
#include "kube/json_scan.h"
#include "wire/json.h"

namespace podium {
namespace {

constexpr const char* kJson = "application/json";

std::int64_t MemberNumber(std::string_view object, std::string_view name) {
  return IntegerOf(MemberOf(object, name).value_or("")).value_or(0);
}

// The API takes null for an empty time, and nothing else.
void WriteTime(JsonWriter& json, std::string_view key, const std::string& time) {
  json.Key(key);
  if (time.empty())
    json.Null();
  else
    json.String(time);
}

}  // namespace

Result<StoredLease> ReadLease(std::string_view json) {
  const std::string_view metadata = MemberOf(json, "metadata").value_or("");
  const std::string_view spec = MemberOf(json, "spec").value_or("");
  StoredLease lease;
  lease.resource_version = MemberText(metadata, "resourceVersion");
  if (MemberText(json, "kind") != "Lease" || lease.resource_version.empty())
    return Error{ErrorKind::kCorrupt, "the API server's answer is no Lease"};
  lease.record = {.holder = MemberText(spec, "holderIdentity"),
                  .duration_seconds = MemberNumber(spec, "leaseDurationSeconds"),
                  .acquire_time = MemberText(spec, "acquireTime"),
                  .renew_time = MemberText(spec, "renewTime"),
                  .transitions = MemberNumber(spec, "leaseTransitions")};
  return lease;
}

KubeLeaseApi::KubeLeaseApi(ApiClient& api, std::string namespace_name, std::string name)
    : api_(api), lease_{"coordination.k8s.io/v1", "leases", std::move(namespace_name), std::move(name)} {}

Result<StoredLease> KubeLeaseApi::Ask(const ApiRequest& request, std::string_view doing) {
  const std::string what = std::string(doing) + " lease " + lease_.namespace_name + "/" + lease_.name;
  Result<ApiReply> reply = api_.Call(request);
  if (!reply) return reply.error().WithContext(what);
  if (reply->status < 200 || reply->status >= 300)
    return ToError(ReadApiError(reply->status, reply->body, reply->retry_after), what);
  return ReadLease(reply->body);
}

std::string KubeLeaseApi::Render(const LeaseRecord& record, const std::string& resource_version) const {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  json.Key("apiVersion");
  json.String(lease_.api_version);
  json.Key("kind");
  json.String("Lease");
  json.Key("metadata");
  json.BeginObject();
  json.Key("name");
  json.String(lease_.name);
  json.Key("namespace");
  json.String(lease_.namespace_name);
  if (!resource_version.empty()) {
    json.Key("resourceVersion");
    json.String(resource_version);
  }
  json.EndObject();
  json.Key("spec");
  json.BeginObject();
  json.Key("holderIdentity");
  json.String(record.holder);
  json.Key("leaseDurationSeconds");
  json.Int(record.duration_seconds);
  WriteTime(json, "acquireTime", record.acquire_time);
  WriteTime(json, "renewTime", record.renew_time);
  json.Key("leaseTransitions");
  json.Int(record.transitions);
  json.EndObject();
  json.EndObject();
  return text;
}

Result<StoredLease> KubeLeaseApi::Get() { return Ask({.path = ObjectPath(lease_)}, "reading"); }

Result<StoredLease> KubeLeaseApi::Create(const LeaseRecord& record) {
  return Ask({.method = "POST", .path = CollectionPath(lease_), .content_type = kJson, .body = Render(record, "")},
             "creating");
}

Result<StoredLease> KubeLeaseApi::Update(const LeaseRecord& record, const std::string& resource_version) {
  return Ask(
      {.method = "PUT", .path = ObjectPath(lease_), .content_type = kJson, .body = Render(record, resource_version)},
      "updating");
}

}  // namespace podium
