#include "wire/decode.h"

#include <optional>
#include <tuple>
#include <utility>

#include "wire/field_reader.h"

namespace podium {
namespace {

OwnerReference ReadOwner(FieldReader& in, JsonElement json, const At& at) {
  OwnerReference owner;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "apiVersion")
      owner.api_version = in.Text(value, here);
    else if (key == "kind")
      owner.kind = in.Text(value, here);
    else if (key == "name")
      owner.name = in.Text(value, here);
    else if (key == "uid")
      owner.uid = in.Text(value, here);
    else if (key == "controller")
      owner.controller = in.Boolean(value, here);
  });
  return owner;
}

ObjectMeta ReadMetadata(FieldReader& in, JsonElement json, const At& at) {
  ObjectMeta meta;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "name") {
      meta.name = in.Text(value, here);
    } else if (key == "labels") {
      meta.labels = in.TextMap(value, here);
      meta.has_labels = value.is_object();
    } else if (key == "namespace") {
      meta.namespace_name = in.Text(value, here);
    } else if (key == "generateName") {
      meta.generate_name = in.Text(value, here);
    } else if (key == "annotations") {
      meta.mirror = in.HasMember(value, here, "kubernetes.io/config.mirror");
      meta.has_annotations = value.is_object();
    } else if (key == "ownerReferences") {
      meta.owners = in.List(value, here, [&](JsonElement item, const At& place) { return ReadOwner(in, item, place); });
    } else if (key == "deletionTimestamp") {
      meta.deleting = !in.Text(value, here).empty();
    }
  });
  return meta;
}

std::pair<ResourceList, ResourceList> ReadRequestsAndLimits(FieldReader& in, JsonElement json, const At& at) {
  std::pair<ResourceList, ResourceList> both;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "requests")
      both.first = in.Resources(value, here);
    else if (key == "limits")
      both.second = in.Resources(value, here);
  });
  return both;
}

Container ReadContainer(FieldReader& in, JsonElement json, const At& at) {
  Container container;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "name")
      container.name = in.Text(value, here);
    else if (key == "resources")
      std::tie(container.requests, container.limits) = ReadRequestsAndLimits(in, value, here);
    else if (key == "restartPolicy")
      container.restart_always = in.Text(value, here) == "Always";
  });
  return container;
}

std::vector<Container> ReadContainers(FieldReader& in, JsonElement json, const At& at) {
  return in.List(json, at, [&](JsonElement item, const At& here) { return ReadContainer(in, item, here); });
}

// An empty name is none: the API server treats it so.
std::optional<std::string> ReadClassName(FieldReader& in, JsonElement json, const At& at) {
  std::string name = in.Text(json, at);
  if (name.empty()) return std::nullopt;
  return name;
}

std::optional<PreemptionPolicy> ReadPolicy(FieldReader& in, JsonElement json, const At& at) {
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS) {
    if (text == "PreemptLowerPriority") return PreemptionPolicy::kPreemptLowerPriority;
    if (text == "Never") return PreemptionPolicy::kNever;
  }
  in.FailType(at, json, "\"PreemptLowerPriority\" or \"Never\"");
  return std::nullopt;
}

PodSpec ReadSpec(FieldReader& in, JsonElement json, const At& at) {
  PodSpec spec;
  std::string alias;  // "serviceAccount" is the deprecated name of "serviceAccountName" and counts where that is absent
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "containers") {
      spec.containers = ReadContainers(in, value, here);
    } else if (key == "initContainers") {
      spec.init_containers = ReadContainers(in, value, here);
    } else if (key == "priorityClassName") {
      spec.trio.class_name = ReadClassName(in, value, here);
    } else if (key == "priority") {
      spec.trio.priority = in.Integer(value, here);
    } else if (key == "preemptionPolicy") {
      spec.trio.preemption_policy = ReadPolicy(in, value, here);
    } else if (key == "serviceAccountName") {
      spec.service_account = in.Text(value, here);
    } else if (key == "serviceAccount") {
      alias = in.Text(value, here);
    } else if (key == "overhead") {
      spec.overhead = in.Resources(value, here);
    } else if (key == "resources") {
      spec.pod_requests = ReadRequestsAndLimits(in, value, here).first;
    }
  });
  if (spec.service_account.empty()) spec.service_account = std::move(alias);
  return spec;
}

// `known` is the metadata when it was read before, else null.
PodTemplate ReadTemplate(FieldReader& in, JsonElement json, const At& at, const ObjectMeta* known = nullptr) {
  PodTemplate result;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "metadata") {
      if (known == nullptr)
        result.metadata = ReadMetadata(in, value, here);
      else
        result.metadata = *known;
      result.has_metadata = value.is_object();
    } else if (key == "spec") {
      result.spec = ReadSpec(in, value, here);
    }
  });
  return result;
}

QuotaScopeExpression ReadScopeExpression(FieldReader& in, JsonElement json, const At& at) {
  QuotaScopeExpression expression;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "scopeName")
      expression.scope_name = in.Text(value, here);
    else if (key == "operator")
      expression.op = in.Text(value, here);
    else if (key == "values")
      expression.values = in.Texts(value, here);
  });
  return expression;
}

std::vector<QuotaScopeExpression> ReadScopeSelector(FieldReader& in, JsonElement json, const At& at) {
  std::vector<QuotaScopeExpression> expressions;
  const auto read = [&](JsonElement item, const At& here) { return ReadScopeExpression(in, item, here); };
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "matchExpressions") expressions = in.List(value, here, read);
  });
  return expressions;
}

Quota ReadQuotaSpec(FieldReader& in, JsonElement json, const At& at) {
  Quota quota;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "hard")
      quota.hard = in.Resources(value, here);
    else if (key == "scopes")
      quota.scopes = in.Texts(value, here);
    else if (key == "scopeSelector")
      quota.scope_selector = ReadScopeSelector(in, value, here);
  });
  return quota;
}

Quota ReadQuota(FieldReader& in, JsonElement json, const At& at) {
  Quota quota;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "spec") quota = ReadQuotaSpec(in, value, here);
  });
  return quota;
}

PriorityClass ReadPriorityClass(FieldReader& in, JsonElement json, const At& at) {
  PriorityClass result;
  in.EachMember(json, at, [&](std::string_view key, JsonElement value, const At& here) {
    if (key == "metadata")
      result.name = ReadMetadata(in, value, here).name;
    else if (key == "value")
      result.value = in.Integer32(value, here);
    else if (key == "preemptionPolicy")
      result.preemption_policy = ReadPolicy(in, value, here).value_or(PreemptionPolicy::kPreemptLowerPriority);
    else if (key == "globalDefault")
      result.global_default = in.Boolean(value, here);
  });
  return result;
}

// Values are large: this moves them once.
template <typename Read>
auto Decode(JsonElement json, std::string_view pointer, const Read& read) {
  FieldReader in;
  Result result = read(in, json, At{nullptr, pointer});
  if (in.problem()) result = *in.problem();
  return result;
}

}  // namespace

Result<ObjectMeta> DecodeObjectMeta(JsonElement json, std::string_view pointer) {
  return Decode(json, pointer, ReadMetadata);
}

Result<PodTemplate> DecodePodTemplate(JsonElement json, std::string_view pointer) {
  const auto read = [](FieldReader& in, JsonElement value, const At& at) { return ReadTemplate(in, value, at); };
  Result<PodTemplate> result = Decode(json, pointer, read);
  if (result) result->path = pointer;
  return result;
}

Result<PodTemplate> DecodePod(JsonElement json, const ObjectMeta& metadata) {
  return Decode(json, "", [&](FieldReader& in, JsonElement value, const At& at) {
    return ReadTemplate(in, value, at, &metadata);
  });
}

Result<Quota> DecodeQuota(JsonElement json, std::string_view pointer) { return Decode(json, pointer, ReadQuota); }

Result<PriorityClass> DecodePriorityClass(JsonElement json, std::string_view pointer) {
  return Decode(json, pointer, ReadPriorityClass);
}

}  // namespace podium
