#include "policy/compile.h"

#include <algorithm>

#include "core/digest.h"
#include "policy/draft.h"
#include "policy/language.h"
#include "wire/yaml.h"

namespace podium {
namespace {

constexpr std::string_view kApiVersion = "podium.gpu/v1";
constexpr std::string_view kKind = "PriorityPolicy";
constexpr std::string_view kHowToBegin = "a policy begins with apiVersion: podium.gpu/v1 and kind: PriorityPolicy";

// Bookmarks come about once a minute: less than two of them would be stale most of the time.
constexpr IntRange kStaleSeconds{120, 86'400};

constexpr Word<StaleCluster> kStaleClusterWords[] = {
    {"use", StaleCluster::kUse}, {"ladder", StaleCluster::kLadder}, {"refuse", StaleCluster::kRefuse}};
constexpr Word<Posture> kPostureWords[] = {{"allow", Posture::kAllow}, {"refuse", Posture::kRefuse}};

bool IsWord(const Field& value, std::string_view word) {
  if (value.node().kind == YamlKind::kScalar && value.node().scalar == word) return true;
  value.Unfit(word);
  return false;
}

constexpr KeyRow<PolicyDraft> kMetadataRows[] = {
    {"name", Presence::kRequired,
     [](PolicyDraft& draft, const Field& value) { return GiveOnce(draft.name, value, value.Text(kDnsSubdomain)); }},
};
constexpr KeyTable<PolicyDraft> kMetadataKeys{"metadata", "metadata", kMetadataRows};

constexpr KeyRow<PolicyDraft> kSpecRows[] = {
    {"gpus", Presence::kOptional, ReadGpus},
    {"classes", Presence::kOptional, ReadClasses},
    {"workloadTypes", Presence::kOptional, ReadWorkloadTypes},
    {"rules", Presence::kOptional, ReadRules},
    {"exemptions", Presence::kOptional, ReadExemptions},
    {"onInternalError", Presence::kOptional,
     [](PolicyDraft& draft, const Field& value) {
       return GiveOnce(draft.on_internal_error, value, value.OneOf(kPostureWords));
     },
     TextsOf<kPostureWords>},
    {"onStaleCluster", Presence::kOptional,
     [](PolicyDraft& draft, const Field& value) {
       return GiveOnce(draft.on_stale_cluster, value, value.OneOf(kStaleClusterWords));
     },
     TextsOf<kStaleClusterWords>},
    {"staleAfterSeconds", Presence::kOptional,
     [](PolicyDraft& draft, const Field& value) {
       return GiveOnce(draft.stale_after_seconds, value, value.Integer(kStaleSeconds));
     }},
    {"advice", Presence::kOptional,
     [](PolicyDraft& draft, const Field& value) { return GiveOnce(draft.advice, value, value.OneOf(kModeWords)); },
     TextsOf<kModeWords>},
};
constexpr KeyTable<PolicyDraft> kSpecKeys{"spec", "spec", kSpecRows};

// Reads a mapping whose values belong to the draft itself.
bool ReadPart(PolicyDraft& draft, const Field& value, const KeyTable<PolicyDraft>& table) {
  if (value.node().kind != YamlKind::kMapping) {
    (void)FindKeys(value, ShapeOf(table));  // reports
    return false;
  }
  draft = std::move(ReadMapping(value, table, std::move(draft))->value);
  return true;
}

constexpr KeyRow<PolicyDraft> kPolicyRows[] = {
    {"apiVersion", Presence::kRequired, [](PolicyDraft&, const Field& value) { return IsWord(value, kApiVersion); },
     [] { return std::vector<std::string_view>{kApiVersion}; }},
    {"kind", Presence::kRequired, [](PolicyDraft&, const Field& value) { return IsWord(value, kKind); },
     [] { return std::vector<std::string_view>{kKind}; }},
    {"metadata", Presence::kOptional,
     [](PolicyDraft& draft, const Field& value) { return ReadPart(draft, value, kMetadataKeys); }},
    {"spec", Presence::kRequired,
     [](PolicyDraft& draft, const Field& value) { return ReadPart(draft, value, kSpecKeys); }},
};
constexpr KeyTable<PolicyDraft> kPolicyKeys{"policy", "a policy", kPolicyRows};

// Keeps the trees alive as long as the draft: fields are views.
std::vector<YamlParse> ParseFiles(const std::vector<PolicyFile>& files, Problems& problems) {
  std::vector<YamlParse> parses;
  for (const PolicyFile& file : files) {
    YamlParse parse = ParseYaml(file.name, file.text, YamlLimits{});
    for (const YamlProblem& problem : parse.problems) problems.Unreadable(problem.span, problem.message);
    if (parse.documents.empty() && parse.problems.empty())
      problems.Error({file.name, 1, 1}, "the file is empty; " + std::string(kHowToBegin));
    parses.push_back(std::move(parse));
  }
  return parses;
}

PolicyDraft ReadDraft(const std::vector<YamlParse>& parses, Problems& problems) {
  PolicyDraft draft;
  for (const YamlParse& parse : parses)
    if (!parse.documents.empty()) ReadPart(draft, Field(parse.documents.front(), "", problems), kPolicyKeys);
  return draft;
}

void CheckDraft(const PolicyDraft& draft, TimePoint now, Problems& problems) {
  if (!SizesFit(draft, problems)) return;
  CheckGpus(draft, problems);
  CheckLadder(draft, problems);
  CheckWorkloadTypes(draft, problems);
  CheckReachable(draft, problems);
  CheckExemptions(draft, now, problems);
}

std::vector<LadderClass> MakeLadder(const PolicyDraft& draft) {
  std::vector<LadderClass> ladder;
  for (const Draft<LadderClass>& row : draft.classes) {
    ladder.push_back(row.value);
    ladder.back().span = row.span;
  }
  std::stable_sort(ladder.begin(), ladder.end(), [](const LadderClass& a, const LadderClass& b) {
    return a.priority_class.value > b.priority_class.value;
  });
  return ladder;
}

WorkloadType MakeType(const Draft<WorkloadTypeDraft>& draft, Mode advice) {
  WorkloadType type = draft.value.type;
  type.advice = draft.value.advice.value_or(advice);
  for (const Draft<MatchClause>& clause : draft.value.clauses) type.any.push_back(clause.value);
  type.span = draft.span;
  return type;
}

// Requires: a draft without errors.
Policy MakePolicy(const PolicyDraft& draft, const std::vector<PolicyFile>& files) {
  Policy policy;
  policy.name = draft.name->value;
  std::string source;
  for (const PolicyFile& file : files) source += file.text;
  policy.revision = Sha256Hex(source);
  for (const Draft<GpuResource>& gpu : draft.gpus) policy.gpus.push_back(gpu.value);
  if (!draft.gpus_given) policy.gpus = DefaultGpus();
  policy.ladder = MakeLadder(draft);
  if (draft.advice) policy.advice = draft.advice->value;
  for (const Draft<WorkloadTypeDraft>& type : draft.types)
    policy.workload_types.push_back(MakeType(type, policy.advice));
  policy.rules = DefaultBindings();
  for (const auto& [id, binding] : draft.rules) policy.rules[id] = binding.value;
  for (const Draft<Exemption>& exemption : draft.exemptions) {
    policy.exemptions.push_back(exemption.value);
    policy.exemptions.back().span = exemption.span;
  }
  if (draft.on_internal_error) policy.on_internal_error = draft.on_internal_error->value;
  if (draft.on_stale_cluster) policy.on_stale_cluster = draft.on_stale_cluster->value;
  if (draft.stale_after_seconds) policy.stale_after = std::chrono::seconds(draft.stale_after_seconds->value);
  return policy;
}

// One file of a directory may leave the key to another.
bool NobodySays(const std::vector<YamlParse>& parses, std::string_view key) {
  return std::all_of(parses.begin(), parses.end(), [key](const YamlParse& parse) {
    const YamlNode& root = parse.documents.front();
    return root.kind == YamlKind::kMapping && root.Find(key) == nullptr;
  });
}

}  // namespace

std::string FormatDiagnostic(const Diagnostic& diagnostic) {
  const std::string kind = diagnostic.severity == DiagnosticSeverity::kError ? "error: " : "warning: ";
  if (diagnostic.span.line == 0)
    return (diagnostic.span.file.empty() ? "policy" : diagnostic.span.file) + ": " + kind + diagnostic.message;
  return ShowSpan(diagnostic.span) + ": " + kind + diagnostic.message;
}

CompiledPolicy CompilePolicy(const std::vector<PolicyFile>& files, TimePoint now) {
  Problems problems;
  if (files.empty()) problems.Error({}, "there is no policy file; " + std::string(kHowToBegin));
  const std::vector<YamlParse> parses = ParseFiles(files, problems);
  // A file that cannot be read as YAML may hold anything; what the others lack because of it is no second problem.
  const bool readable =
      std::none_of(parses.begin(), parses.end(), [](const YamlParse& parse) { return parse.documents.empty(); });
  const PolicyDraft draft = ReadDraft(parses, problems);
  if (readable && !files.empty()) {
    CheckDraft(draft, now, problems);
    if (NobodySays(parses, "metadata"))
      problems.Error({files.front().name, 1, 1}, "the policy has no name; add metadata: {name: ...}");
  }
  CompiledPolicy compiled;
  if (!problems.HasErrors()) compiled.policy = MakePolicy(draft, files);
  compiled.diagnostics = problems.InOrderOf(files);
  return compiled;
}

std::vector<MappingInfo> PolicyLanguage() {
  std::vector<MappingInfo> language = {Describe(kPolicyKeys), Describe(kMetadataKeys), Describe(kSpecKeys)};
  for (const auto& part : {LadderLanguage(), WorkloadTypeLanguage(), BindingLanguage()})
    language.insert(language.end(), part.begin(), part.end());
  return language;
}

}  // namespace podium
