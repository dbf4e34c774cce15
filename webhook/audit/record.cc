#include "audit/record.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "wire/json.h"

namespace podium {
namespace {

// How the 4 KiB are shared out. Every number counts escaped bytes without quotes, so the sum of the fixed fields (at
// most about 2,600 bytes with their keys) always leaves room for the first finding: nobody can push the reason of a
// refusal out of the line with a long name. tests/audit/record_test.cc proves it.
constexpr std::size_t kMaxLine = kMaxRecordBytes - 96;  // the rest is for the counts and brackets that close the line
constexpr std::size_t kFindingsReserve = 760;
constexpr std::size_t kMaxUid = 64;
constexpr std::size_t kMaxUser = 192;
constexpr std::size_t kMaxGroup = 96;
constexpr std::size_t kMaxGroups = 16;
constexpr std::size_t kGroupsBytes = 400;
constexpr std::size_t kMaxApiGroup = 96;
constexpr std::size_t kMaxVersion = 32;
constexpr std::size_t kMaxKind = 64;
constexpr std::size_t kMaxNamespace = 63;
constexpr std::size_t kMaxName = 253;  // the longest name Kubernetes stores
constexpr std::size_t kMaxShort = 64;  // policy name, workload type, rule, instance, peer
constexpr std::size_t kMaxClass = 128;
constexpr std::size_t kMaxPath = 96;
constexpr std::size_t kMaxMessage = 400;
constexpr std::size_t kMaxScope = 160;
constexpr std::size_t kMaxError = 200;
constexpr std::size_t kMaxWarning = 160;
constexpr std::size_t kMaxGpus = 4;
constexpr std::size_t kMaxEdits = 8;

// Upper bound of the escaped length: a control character becomes \u00XX, an invalid byte U+FFFD.
constexpr std::size_t kLongestEscape = 6;
std::size_t EscapedBound(std::string_view text) {
  std::size_t bound = text.size();
  for (const unsigned char byte : text)
    bound += (byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\') ? kLongestEscape - 1 : 0;
  return bound;
}

// The cheap reasons first: nearly every text is short or plain.
bool SurelyFits(std::string_view text, std::size_t limit) {
  if (text.size() <= limit / kLongestEscape) return true;
  return text.size() <= limit && (IsPlainJsonText(text) || EscapedBound(text) <= limit);
}

class Record {
 public:
  explicit Record(std::string& line) : line_(line), json_(line) {}

  JsonWriter& json() { return json_; }
  [[nodiscard]] bool truncated() const { return truncated_; }

  void Text(std::string_view key, std::string_view text, std::size_t limit) {
    json_.Key(key);
    Value(text, limit);
  }

  void OptionalText(std::string_view key, std::string_view text, std::size_t limit) {
    if (!text.empty()) Text(key, text, limit);
  }

  void Number(std::string_view key, std::int64_t number) {
    json_.Key(key);
    json_.Int(number);
  }

  void Flag(std::string_view key, bool flag) {
    json_.Key(key);
    json_.Bool(flag);
  }

  void Value(std::string_view text, std::size_t limit) {
    if (SurelyFits(text, limit)) return json_.String(text);
    json_.Raw(CutValue(text, limit));
  }

  // Writes `count` items with `write(i)` as the array `key` until the line is `limit` long or `most` are written; what
  // does not fit is taken back whole and counted in `<key>Omitted`.
  template <typename Write>
  void Array(std::string_view key, std::size_t count, std::size_t most, std::size_t limit, const Write& write) {
    json_.Key(key);
    json_.BeginArray();
    std::size_t written = 0;
    for (; written < std::min(count, most); ++written) {
      const std::size_t mark = line_.size();
      write(written);
      if (line_.size() <= limit) continue;
      line_.resize(mark);
      break;
    }
    json_.EndArray();
    if (written == count) return;
    truncated_ = true;
    json_.Key(std::string(key) + "Omitted");
    json_.Int(static_cast<std::int64_t>(count - written));
  }

  [[nodiscard]] std::size_t size() const { return line_.size(); }

 private:
  // The bound is up to six times too high (text that is all non-ASCII): what may fit is escaped to know exactly.
  std::string CutValue(std::string_view text, std::size_t limit) {
    std::string escaped;
    if (text.size() <= limit) AppendJsonString(escaped, text);
    if (!escaped.empty() && escaped.size() <= limit + 2) return escaped;
    truncated_ = true;
    constexpr std::size_t kMarker = sizeof("...[+18446744073709551615]");
    std::size_t keep = std::min(text.size(), limit - kMarker);
    while (true) {
      const std::string_view head = CutUtf8(text, keep);
      escaped.clear();
      AppendJsonString(escaped, head);
      if (escaped.size() <= limit - kMarker + 2) {
        escaped.insert(escaped.size() - 1, "...[+" + std::to_string(text.size() - head.size()) + "]");
        return escaped;
      }
      keep = std::min(head.size() - 1, head.size() * (limit - kMarker) / escaped.size());
    }
  }

  std::string& line_;
  JsonWriter json_;
  bool truncated_ = false;
};

constexpr std::string_view VerdictText(Verdict verdict) { return verdict == Verdict::kAllow ? "allow" : "refuse"; }

constexpr std::string_view SourceText(ClassificationSource source) {
  switch (source) {
    case ClassificationSource::kNone: return "none";
    case ClassificationSource::kLabel: return "label";
    case ClassificationSource::kMatch: return "match";
  }
  return "none";
}

void WriteOrigin(Record& record, const AuditContext& context) {
  record.Number("v", kRecordVersion);
  record.Number("seq", static_cast<std::int64_t>(context.sequence));
  record.Text("instance", context.instance, kMaxShort);
  record.Text("at", FormatRfc3339(context.at), kMaxShort);
  record.Text("endpoint", context.endpoint, kMaxShort);
  record.Text("peer", context.peer, kMaxShort);
  record.Number("durationUs", std::chrono::duration_cast<std::chrono::microseconds>(context.duration).count());
}

void WriteKind(Record& record, std::string_view key, const GroupVersionKind& kind) {
  record.json().Key(key);
  record.json().BeginObject();
  record.Text("group", kind.group, kMaxApiGroup);
  record.Text("version", kind.version, kMaxVersion);
  record.Text("kind", kind.kind, kMaxKind);
  record.json().EndObject();
}

void WriteRequest(Record& record, const AdmissionRequest& request) {
  record.Text("uid", request.uid, kMaxUid);
  record.Text("user", request.user, kMaxUser);
  record.Array("groups", request.groups.size(), kMaxGroups, record.size() + kGroupsBytes,
               [&](std::size_t i) { record.Value(request.groups[i], kMaxGroup); });
  record.Text("operation", ToString(request.operation), kMaxShort);
  WriteKind(record, "kind", request.kind);
  if (request.called_kind) WriteKind(record, "requestKind", *request.called_kind);
  record.OptionalText("subResource", request.sub_resource, kMaxShort);
  record.Text("namespace", request.namespace_name, kMaxNamespace);
  record.Text("name", request.DisplayName(), kMaxName);
  const bool named = !request.name.empty() || (request.object && !request.object->metadata.name.empty());
  if (!named && !request.DisplayName().empty()) record.Flag("generated", true);
  record.Flag("dryRun", request.dry_run);
}

void WriteOutcome(Record& record, const Decision& decision) {
  record.Text("verdict", VerdictText(decision.verdict), kMaxShort);
  record.Number("code", decision.code);
  if (decision.skipped != SkipReason::kNone) record.Text("skipped", ToString(decision.skipped), kMaxShort);
  record.json().Key("policy");
  record.json().BeginObject();
  record.Text("name", decision.policy_name, kMaxShort);
  record.Text("revision", decision.policy_revision, kMaxShort);
  record.json().EndObject();
  record.Number("snapshotGeneration", static_cast<std::int64_t>(decision.snapshot_generation));
  if (decision.internal_error) record.Text("internalError", *decision.internal_error, kMaxError);
}

void WriteQuotaScope(Record& record, const QuotaScopeChange& change) {
  record.json().Key("quotaScope");
  record.json().BeginObject();
  if (change.before) record.Text("before", *change.before, kMaxScope);
  record.Text("after", change.after, kMaxScope);
  record.json().EndObject();
}

void WriteTrio(Record& record, std::string_view key, const Trio& trio) {
  record.json().Key(key);
  record.json().BeginObject();
  if (trio.class_name) record.Text("priorityClassName", *trio.class_name, kMaxClass);
  if (trio.priority) record.Number("priority", *trio.priority);
  if (trio.preemption_policy) record.Text("preemptionPolicy", ToString(*trio.preemption_policy), kMaxShort);
  record.json().EndObject();
}

void WriteGpu(Record& record, const GpuRequest& gpu) {
  record.json().BeginObject();
  record.Text("resource", gpu.resource, kMaxShort);
  record.Text("unit", ToString(gpu.unit), kMaxShort);
  record.Number("count", gpu.count);
  record.json().EndObject();
}

// `text` is what the author is told, or would be in the mode warn.
void WriteAdvice(Record& record, const TemplateAdvice& advice) {
  record.json().Key("advice");
  record.json().BeginObject();
  record.Text("mode", ToString(advice.mode), kMaxShort);
  if (advice.given == nullptr) {
    record.Text("missing", ToString(advice.missing), kMaxShort);
  } else {
    const Advice& given = *advice.given;
    record.Text("verdict", ToString(given.verdict), kMaxShort);
    record.OptionalText("node", given.node, kMaxName);
    if (given.verdict == Feasibility::kFitsAfterPreemption) {
      record.Number("victims", static_cast<std::int64_t>(given.victims));
      record.Number("waitAtMostSeconds", given.wait_at_most.count());
    }
    record.OptionalText("text", given.warning, kMaxWarning);
    record.Number("snapshotGeneration", static_cast<std::int64_t>(given.snapshot_generation));
  }
  record.json().EndObject();
}

void WriteTemplate(Record& record, const TemplateDecision& slot, std::size_t limit) {
  record.json().BeginObject();
  record.Text("path", slot.path, kMaxPath);
  record.Text("workloadType", slot.classification.workload_type, kMaxShort);
  record.Text("source", SourceText(slot.classification.source), kMaxShort);
  record.Array("gpus", slot.gpus.size(), kMaxGpus, limit, [&](std::size_t i) { WriteGpu(record, slot.gpus[i]); });
  WriteTrio(record, "before", slot.before);
  WriteTrio(record, "after", slot.after);
  if (slot.advice) WriteAdvice(record, *slot.advice);
  record.json().EndObject();
}

void WriteFinding(Record& record, const Finding& finding) {
  record.json().BeginObject();
  record.Text("rule", finding.rule, kMaxShort);
  record.Text("mode", ToString(finding.mode), kMaxShort);
  record.Flag("exempted", finding.exempted);
  record.Text("path", finding.path, kMaxPath);
  record.Text("message", finding.message, kMaxMessage);
  record.json().EndObject();
}

bool Refuses(const Finding& finding) { return finding.mode == Mode::kEnforce && !finding.exempted; }

// The findings that refuse come first: of ten thousand, those are the ones that must not be left out.
void WriteFindings(Record& record, const std::vector<Finding>& findings) {
  std::vector<const Finding*> order;
  order.reserve(findings.size());
  for (const Finding& finding : findings) order.push_back(&finding);
  std::stable_partition(order.begin(), order.end(), [](const Finding* finding) { return Refuses(*finding); });
  record.Array("findings", order.size(), order.size(), kMaxLine,
               [&](std::size_t i) { WriteFinding(record, *order[i]); });
}

// Which rule changed what; the values are those of `before` and `after`.
void WriteEdits(Record& record, const std::vector<Edit>& edits) {
  record.Array("edits", edits.size(), kMaxEdits, kMaxLine - kFindingsReserve, [&](std::size_t i) {
    record.json().BeginObject();
    record.Text("rule", edits[i].rule, kMaxShort);
    record.Text("path", edits[i].path, kMaxPath);
    record.json().EndObject();
  });
}

void WriteTemplates(Record& record, const Decision& decision) {
  const std::size_t limit = decision.findings.empty() ? kMaxLine : kMaxLine - kFindingsReserve;
  record.Array("templates", decision.templates.size(), decision.templates.size(), limit,
               [&](std::size_t i) { WriteTemplate(record, decision.templates[i], limit); });
}

}  // namespace

std::string MakeRecord(const AdmissionRequest& request, const Decision& decision, const AuditContext& context) {
  std::string line;
  line.reserve(1536);  // one pod's record is about 1,200 bytes
  Record record(line);
  record.json().BeginObject();
  WriteOrigin(record, context);
  WriteRequest(record, request);
  WriteOutcome(record, decision);
  if (decision.quota_scope) WriteQuotaScope(record, *decision.quota_scope);
  if (!decision.edits.empty()) WriteEdits(record, decision.edits);
  if (!decision.templates.empty()) WriteTemplates(record, decision);
  if (!decision.findings.empty()) WriteFindings(record, decision.findings);
  if (record.truncated()) record.Flag("truncated", true);
  record.json().EndObject();
  return line;
}

}  // namespace podium
