#include "admission/codec.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "admission/codec_reader.h"
#include "admission/workloads.h"
#include "core/text.h"
#include "wire/decode.h"
#include "wire/patch.h"

namespace podium {
namespace {

using codec::Field;
using codec::Invalid;
using codec::Join;
using codec::Reader;
using codec::WrongType;

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";
constexpr std::string_view kReviewKind = "AdmissionReview";
constexpr std::size_t kMaxUidLength = 128;

// --- the envelope ---------------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 3> kReviewFields = {"apiVersion", "kind", "request"};
constexpr std::array<std::string_view, 12> kRequestFields = {"uid",         "kind",   "resource",  "subResource",
                                                             "requestKind", "name",   "namespace", "operation",
                                                             "userInfo",    "object", "oldObject", "dryRun"};
constexpr std::array<std::string_view, 3> kKindFields = {"group", "version", "kind"};
constexpr std::array<std::string_view, 1> kResourceFields = {"resource"};
constexpr std::array<std::string_view, 2> kUserFields = {"username", "groups"};

// A review asks in the version it is answered in; we know one.
std::optional<Error> CheckVersion(std::string_view api_version, std::string_view kind) {
  if (kind != kReviewKind)
    return Invalid("/kind: found " + Quoted(kind) +
                   "; expected 'AdmissionReview'. This endpoint answers a kube-apiserver only");
  if (api_version == kApiVersion) return std::nullopt;
  return Invalid("/apiVersion: found " + Quoted(api_version) +
                 "; supported: 'admission.k8s.io/v1'. Set admissionReviewVersions: [v1] in the webhook configuration");
}

// The API server refuses an answer without the request's uid, so a request without a usable one cannot be answered.
std::optional<Error> CheckUid(std::string_view uid) {
  const auto printable = [](char c) { return c > ' ' && c <= '~'; };
  if (!uid.empty() && uid.size() <= kMaxUidLength && std::all_of(uid.begin(), uid.end(), printable))
    return std::nullopt;
  return Invalid("/request/uid: found " + Quoted(uid) + "; expected 1 to 128 printable ASCII characters");
}

std::optional<Operation> FindOperation(std::string_view text) {
  for (const Operation each : {Operation::kCreate, Operation::kUpdate, Operation::kDelete, Operation::kConnect})
    if (ToString(each) == text) return each;
  return std::nullopt;
}

struct Envelope {
  AdmissionRequest request;  // without its objects
  Field object;
  Field old_object;
};

// Where a kind is told, spelled out: pointers are only read when something is wrong, and never built before.
struct KindPlace {
  std::string_view self, group, version, kind;
};
constexpr KindPlace kKindPlace = {"/request/kind", "/request/kind/group", "/request/kind/version",
                                  "/request/kind/kind"};
constexpr KindPlace kCalledPlace = {"/request/requestKind", "/request/requestKind/group",
                                    "/request/requestKind/version", "/request/requestKind/kind"};

GroupVersionKind ReadKind(Reader& reader, const Field& json, const KindPlace& place) {
  const auto [group, version, kind] = reader.Members(json, kKindFields, place.self);
  return {.group = std::string(reader.Text(group, place.group)),
          .version = std::string(reader.Text(version, place.version)),
          .kind = std::string(reader.Text(kind, place.kind))};
}

Envelope ReadRequest(Reader& reader, const Field& json) {
  const auto [uid, kind, resource, sub_resource, called, name, name_space, operation, user_info, object, old_object,
              dry_run] = reader.Members(json, kRequestFields, "/request");
  const auto [username, groups] = reader.Members(user_info, kUserFields, "/request/userInfo");
  const auto [resource_name] = reader.Members(resource, kResourceFields, "/request/resource");
  const std::string_view operation_name = reader.Text(operation, "/request/operation");
  const std::optional<Operation> known = FindOperation(operation_name);

  Envelope envelope{{}, object, old_object};
  AdmissionRequest& request = envelope.request;
  request.uid = reader.Text(uid, "/request/uid");
  if (std::optional<Error> wrong = CheckUid(request.uid)) reader.Fail(std::move(*wrong));
  if (!known)
    reader.Fail(
        Invalid("/request/operation: found " + Quoted(operation_name) + "; allowed: CREATE, UPDATE, DELETE, CONNECT"));
  request.operation = known.value_or(Operation::kConnect);
  request.kind = ReadKind(reader, kind, kKindPlace);
  if (request.kind.kind.empty()) reader.Fail(Invalid("/request/kind/kind is missing; expected the kind of the object"));
  // Under matchPolicy Equivalent the user may have called another version than the one our rule names.
  if (called) request.called_kind = ReadKind(reader, called, kCalledPlace);
  if (request.called_kind == request.kind) request.called_kind.reset();
  request.resource = reader.Text(resource_name, "/request/resource/resource");
  request.sub_resource = reader.Text(sub_resource, "/request/subResource");
  request.name = reader.Text(name, "/request/name");
  request.namespace_name = reader.Text(name_space, "/request/namespace");
  request.user = reader.Text(username, "/request/userInfo/username");
  request.groups = reader.Texts(groups, "/request/userInfo/groups");
  request.dry_run = reader.Flag(dry_run, "/request/dryRun");
  return envelope;
}

Envelope ReadReview(Reader& reader, JsonElement body) {
  const auto [api_version, kind, request] = reader.Members(body, kReviewFields, "");
  const std::string_view version_text = reader.Text(api_version, "/apiVersion");
  const std::string_view kind_text = reader.Text(kind, "/kind");
  if (std::optional<Error> wrong = CheckVersion(version_text, kind_text)) reader.Fail(std::move(*wrong));
  if (!request) reader.Fail(Invalid("/request is missing; expected the request to decide on"));
  return ReadRequest(reader, request);
}

// --- the objects ----------------------------------------------------------------------------------------------------

struct Place {
  std::string pointer;
  JsonElement json;
};

// Absent and null are no place; a wrong type on the way is an error, because a pod slot may hide behind it.
Result<std::vector<Place>> Children(const Place& place) {
  std::vector<Place> children;
  if (simdjson::dom::array array; place.json.get(array) == simdjson::SUCCESS) {
    for (const JsonElement item : array)
      children.push_back({Join(place.pointer, std::to_string(children.size())), item});
    return children;
  }
  simdjson::dom::object object;
  if (place.json.get(object) != simdjson::SUCCESS) return WrongType(place.pointer, place.json, "an array or an object");
  for (const auto [key, value] : object) children.push_back({Join(place.pointer, EscapePointerSegment(key)), value});
  return children;
}

Result<std::vector<Place>> Member(const Place& place, std::string_view name) {
  simdjson::dom::object object;
  JsonElement member;
  if (place.json.get(object) != simdjson::SUCCESS) return WrongType(place.pointer, place.json, "an object");
  if (object.at_key(name).get(member) != simdjson::SUCCESS) return std::vector<Place>{};
  return std::vector<Place>{{Join(place.pointer, name), member}};
}

// Everything that `path` of the workload table leads to, in document order.
Result<std::vector<Place>> FindPlaces(JsonElement object, std::string_view path) {
  std::vector<Place> places(1, Place{"", object});
  while (!path.empty()) {
    const std::string_view segment = path.substr(1, path.find('/', 1) - 1);
    path.remove_prefix(segment.size() + 1);
    std::vector<Place> further;
    for (const Place& place : places) {
      Result<std::vector<Place>> next = segment == "*" ? Children(place) : Member(place, segment);
      if (!next) return next.error();
      for (Place& found : *next)
        if (!found.json.is_null()) further.push_back(std::move(found));
    }
    places = std::move(further);
  }
  return places;
}

bool DiffersFrom(const Field& old_object, const Place& place) {
  JsonElement before;
  if (!old_object || old_object->at_pointer(place.pointer).get(before) != simdjson::SUCCESS) return true;
  return !SameJson(place.json, before);
}

Result<std::vector<PodTemplate>> DecodeTemplates(JsonElement object, const Field& old_object, const WorkloadKind& kind,
                                                 const ObjectMeta& metadata) {
  std::vector<PodTemplate> templates;
  for (const std::string_view path : kind.template_paths) {
    const Result<std::vector<Place>> places = FindPlaces(object, path);
    if (!places) return places.error();
    for (const Place& place : *places) {
      const bool changed = DiffersFrom(old_object, place);
      Result<PodTemplate> pod =
          path.empty() ? DecodePod(place.json, metadata) : DecodePodTemplate(place.json, place.pointer);
      if (!pod && changed) return pod.error();
      // Unreadable but as it was (a custom resource may store anything): nobody judges it, and it must stay editable.
      PodTemplate& slot = pod ? templates.emplace_back(std::move(*pod)) : templates.emplace_back();
      slot.path = place.pointer;
      slot.changed = changed;
    }
  }
  return templates;
}

Result<ObjectMeta> DecodeMetadata(JsonElement object) {
  Reader reader;
  constexpr std::array<std::string_view, 1> kFields = {"metadata"};
  const auto [metadata] = reader.Members(object, kFields, "");
  if (reader.error()) return *reader.error();
  if (!metadata) return ObjectMeta{};
  return DecodeObjectMeta(*metadata, "/metadata");
}

std::string UidOf(JsonElement object) {
  std::string_view uid;
  const bool present = object.at_pointer("/metadata/uid").get(uid) == simdjson::SUCCESS;
  return present && uid.size() <= kMaxUidLength ? std::string(uid) : std::string();
}

// Metadata and quota: all that is read of an old object, and the frame of a new one.
Result<AdmissionObject> DecodeFrame(JsonElement json, const GroupVersionKind& kind) {
  Result<ObjectMeta> metadata = DecodeMetadata(json);
  if (!metadata) return metadata.error();
  if (!IsQuota(kind)) return AdmissionObject{std::move(*metadata), {}, {}};
  Result<Quota> quota = DecodeQuota(json, "");
  if (!quota) return quota.error();
  return AdmissionObject{std::move(*metadata), {}, std::move(*quota)};
}

Result<AdmissionObject> DecodeObject(JsonElement json, const Field& old_object, const GroupVersionKind& kind) {
  const WorkloadKind* workload = FindWorkloadKind(kind);
  Result<AdmissionObject> object = DecodeFrame(json, kind);
  if (!object || workload == nullptr) return object;
  Result<std::vector<PodTemplate>> templates = DecodeTemplates(json, old_object, *workload, object->metadata);
  if (!templates) return templates.error();
  object->templates = std::move(*templates);
  if (workload->template_paths.front().empty()) object->uid = UidOf(json);
  return object;
}

// Podium decides on these; of anything else only the metadata is looked at, and no fault of it can hold a request up.
bool IsDecided(const AdmissionRequest& request) {
  const bool stored = request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
  return stored && request.sub_resource.empty() && (IsQuota(request.kind) || FindWorkloadKind(request.kind) != nullptr);
}

std::optional<AdmissionObject> MetadataIfReadable(const Field& json) {
  if (!json) return std::nullopt;
  AdmissionObject object;
  if (Result<ObjectMeta> metadata = DecodeMetadata(*json)) object.metadata = std::move(*metadata);
  return object;
}

// The old object is read even when the new one cannot be: it tells that the object is on its way out.
void ReadObjects(Envelope& envelope) {
  AdmissionRequest& request = envelope.request;
  if (!IsDecided(request)) {
    request.object = MetadataIfReadable(envelope.object);
    request.old_object = MetadataIfReadable(envelope.old_object);
    return;
  }
  if (envelope.old_object) {
    Result<AdmissionObject> old_object = DecodeFrame(*envelope.old_object, request.kind);
    if (!old_object) request.decode_error = old_object.error().WithContext("oldObject").message;
    if (old_object) request.old_object = std::move(*old_object);
  }
  if (!envelope.object) request.decode_error = "the request has no object";
  if (request.decode_error) return;
  Result<AdmissionObject> object = DecodeObject(*envelope.object, envelope.old_object, request.kind);
  if (!object) request.decode_error = object.error().message;
  if (object) request.object = std::move(*object);
}

}  // namespace

// --- ReviewDecoder --------------------------------------------------------------------------------------------------

// Everything simdjson knows of a document lives here until the next one, so a request is copied out before that.
struct ReviewDecoder::Impl {
  // Reviews are 2 to 20 KiB. What a rare large one needed (up to 100 MiB of working memory) is given back afterwards.
  static constexpr std::size_t kKeptBytes = 256 << 10;

  void Reset() {
    parser = simdjson::dom::parser(kMaxJsonBytes);
    allocated = parser.allocate(32 << 10, kMaxJsonDepth);
    padded = std::vector<char>();
  }

  Result<JsonElement> Parse(std::string_view body) {
    if (body.size() > kMaxJsonBytes)
      return Invalid("the body has " + std::to_string(body.size()) + " bytes; at most " +
                     std::to_string(kMaxJsonBytes) + " are read");
    if (allocated != simdjson::SUCCESS) Reset();
    if (allocated != simdjson::SUCCESS) return Error{ErrorKind::kUnavailable, "no memory left to read a review with"};
    if (padded.size() < body.size() + simdjson::SIMDJSON_PADDING)
      padded.resize(body.size() + simdjson::SIMDJSON_PADDING);
    if (!body.empty()) std::memcpy(padded.data(), body.data(), body.size());
    constexpr bool kCopyFirst = false;  // `padded` is that copy
    JsonElement json;
    const simdjson::error_code code = parser.parse(padded.data(), body.size(), kCopyFirst).get(json);
    if (code == simdjson::DEPTH_ERROR)
      return Invalid("the body is nested more than " + std::to_string(kMaxJsonDepth) + " levels deep");
    if (code != simdjson::SUCCESS)
      return Invalid(std::string("the body is not JSON: ") + simdjson::error_message(code));
    return json;
  }

  Result<AdmissionRequest> Read(std::string_view body) {
    const Result<JsonElement> json = Parse(body);
    if (!json) return json.error();
    Reader reader;
    Envelope envelope = ReadReview(reader, *json);
    if (reader.error()) return *reader.error();
    ReadObjects(envelope);
    return std::move(envelope.request);
  }

  simdjson::dom::parser parser;
  simdjson::error_code allocated = simdjson::UNINITIALIZED;  // the depth limit is part of the first allocation
  std::vector<char> padded;
};

ReviewDecoder::ReviewDecoder() : impl_(std::make_unique<Impl>()) {}
ReviewDecoder::~ReviewDecoder() = default;
ReviewDecoder::ReviewDecoder(ReviewDecoder&&) noexcept = default;
ReviewDecoder& ReviewDecoder::operator=(ReviewDecoder&&) noexcept = default;

Result<AdmissionRequest> ReviewDecoder::Decode(std::string_view body) {
  Result<AdmissionRequest> request = impl_->Read(body);
  if (body.size() > Impl::kKeptBytes) impl_->Reset();
  return request;
}

}  // namespace podium
