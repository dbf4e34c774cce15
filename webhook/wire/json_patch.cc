// RFC 6902 on text. Not nlohmann's patch(): an "add" below a string ends the process there (an assertion), and "copy"
// lets twenty operations build a tree of a million nodes.
#include <charconv>
#include <optional>
#include <vector>

#include "wire/decode.h"
#include "wire/json.h"
#include "wire/json_dom.h"

namespace podium {
namespace {

using Json = nlohmann::json;

Error Invalid(std::string message) { return {ErrorKind::kInvalidInput, std::move(message)}; }

std::string Unescape(std::string_view segment) {
  std::string text;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const bool escaped = segment[i] == '~' && i + 1 < segment.size();
    text += !escaped ? segment[i] : segment[++i] == '1' ? '/' : '~';
  }
  return text;
}

// "/a/x~1y" -> {"a", "x/y"}; "" -> {}.
std::optional<std::vector<std::string>> SplitPointer(std::string_view pointer) {
  if (!pointer.empty() && pointer.front() != '/') return std::nullopt;
  std::vector<std::string> segments;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    segments.push_back(Unescape(pointer.substr(0, end)));
    pointer.remove_prefix(end);
  }
  return segments;
}

// The index that `segment` names; `size` for "-" (behind the last item). Nothing when it is no index.
std::optional<std::size_t> ArrayIndex(const std::string& segment, std::size_t size) {
  if (segment == "-") return size;
  if (segment.size() > 1 && segment.front() == '0') return std::nullopt;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(segment.data(), segment.data() + segment.size(), index);
  if (error != std::errc() || end != segment.data() + segment.size()) return std::nullopt;
  return index;
}

// The value below `parent`, or null.
Json* Child(Json& parent, const std::string& segment) {
  if (parent.is_object()) {
    const auto found = parent.find(segment);
    return found == parent.end() ? nullptr : &*found;
  }
  if (!parent.is_array()) return nullptr;
  const auto index = ArrayIndex(segment, parent.size());
  return index && *index < parent.size() ? &parent[*index] : nullptr;
}

struct Operation {
  std::string op;
  std::string path;
  std::vector<std::string> segments;
  Json value;
};

Result<Operation> ReadOperation(const Json& json) {
  if (!json.is_object()) return Invalid("an operation must be an object");
  const auto op = json.find("op");
  if (op == json.end() || !op->is_string()) return Invalid("'op' is missing or not a string");
  const auto path = json.find("path");
  if (path == json.end() || !path->is_string()) return Invalid("'path' is missing or not a string");
  Operation operation{op->get<std::string>(), path->get<std::string>(), {}, {}};
  if (operation.op != "add" && operation.op != "remove" && operation.op != "replace" && operation.op != "test")
    return Invalid("operation '" + operation.op + "' is not supported; allowed are add, remove, replace, test");
  auto segments = SplitPointer(operation.path);
  if (!segments) return Invalid("'" + operation.path + "' is no JSON pointer: it must be empty or begin with '/'");
  operation.segments = std::move(*segments);
  const auto value = json.find("value");
  if (value == json.end() && operation.op != "remove") return Invalid("'value' is missing");
  if (value != json.end()) operation.value = *value;
  return operation;
}

Status Add(Json& parent, const std::string& segment, Json value) {
  if (parent.is_object()) {
    parent[segment] = std::move(value);
    return {};
  }
  if (!parent.is_array()) return Invalid("its parent is neither an object nor an array");
  const auto index = ArrayIndex(segment, parent.size());
  if (!index || *index > parent.size())
    return Invalid("'" + segment + "' is no index into an array of " + std::to_string(parent.size()) + " items");
  parent.insert(parent.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return {};
}

void Remove(Json& parent, const std::string& segment) {
  if (parent.is_object())
    parent.erase(segment);
  else
    parent.erase(*ArrayIndex(segment, parent.size()));
}

Status ApplyToRoot(Json& document, Operation operation) {
  if (operation.op == "remove") return Invalid("the whole document cannot be removed");
  if (operation.op != "test")
    document = std::move(operation.value);
  else if (document != operation.value)
    return Invalid("the value there is another one");
  return {};
}

Status Apply(Json& document, Operation operation) {
  if (operation.segments.empty()) return ApplyToRoot(document, std::move(operation));
  const std::string last = std::move(operation.segments.back());
  operation.segments.pop_back();
  Json* parent = &document;
  for (const std::string& segment : operation.segments) {
    parent = Child(*parent, segment);
    if (parent == nullptr) return Invalid("its parent does not exist ('" + segment + "' is missing)");
  }
  if (operation.op == "add") return Add(*parent, last, std::move(operation.value));
  Json* target = Child(*parent, last);
  if (target == nullptr) return Invalid("nothing is there");
  if (operation.op == "remove")
    Remove(*parent, last);
  else if (operation.op == "replace")
    *target = std::move(operation.value);
  else if (*target != operation.value)
    return Invalid("the value there is another one");
  return {};
}

bool IsDeeperThan(const Json& json, std::size_t levels) {
  if (!json.is_structured()) return false;
  if (levels == 0) return true;
  for (const Json& item : json)
    if (IsDeeperThan(item, levels - 1)) return true;
  return false;
}

Result<std::string> ApplyAll(Json document, const Json& operations) {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::string which = "operation " + std::to_string(i);
    Result<Operation> operation = ReadOperation(operations[i]);
    if (!operation) return operation.error().WithContext(which);
    const std::string what = which + " (" + operation->op + " '" + operation->path + "') does not apply";
    if (const Status status = Apply(document, std::move(*operation)); !status) return status.error().WithContext(what);
  }
  if (IsDeeperThan(document, kMaxJsonDepth))
    return Invalid("the patched document is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Result<std::string> ApplyJsonPatch(std::string_view document, std::string_view patch) {
  Result<Json> tree = ParseJsonDom(document);
  if (!tree) return tree.error().WithContext("the document to patch");
  const Result<Json> operations = ParseJsonDom(patch);
  if (!operations) return operations.error().WithContext("the patch");
  if (!operations->is_array())
    return Invalid("the patch: found " + std::string(operations->type_name()) + ", a JSON patch is an array");
  try {
    return ApplyAll(std::move(*tree), *operations);
  } catch (const std::exception&) {
    return Error{ErrorKind::kInternal, "the patch could not be applied"};
  }
}

}  // namespace podium
