#include "admission/fold.h"

#include <algorithm>

#include "core/text.h"
#include "rules/catalog.h"

namespace podium {
namespace {

// A RayJob may have hundreds of worker groups with the same fault; ten of them are enough to act on.
constexpr std::size_t kReasons = 10;
constexpr std::size_t kProblemBytes = 500;

bool Refuses(const Finding& finding) { return finding.mode == Mode::kEnforce && !finding.exempted; }
bool Warns(const Finding& finding) { return finding.mode == Mode::kWarn && !finding.exempted; }

// "[rule] path: message; [rule] path: message"
std::string Message(const std::vector<const Finding*>& reasons) {
  std::string out;
  for (std::size_t i = 0; i < std::min(reasons.size(), kReasons); ++i) {
    if (i > 0) out += "; ";
    out += "[" + reasons[i]->rule + "] " + reasons[i]->path + ": " + reasons[i]->message;
  }
  if (reasons.size() > kReasons) out += "; and " + std::to_string(reasons.size() - kReasons) + " more";
  return out;
}

// What Kubernetes itself would refuse later is 422; as soon as one reason is the policy's own it is 403.
int Code(const std::vector<const Finding*>& reasons) {
  constexpr int kPolicy = 403;
  for (const Finding* reason : reasons) {
    const RuleRow* rule = FindRule(reason->rule);
    if (rule == nullptr || rule->refusal_code == kPolicy) return kPolicy;
  }
  return FindRule(reasons.front()->rule)->refusal_code;
}

// The rule's name comes last and only where there is room for it: the message is what helps.
std::string Warning(const Finding& finding) {
  const std::string suffix = " [" + finding.rule + "]";
  if (finding.message.size() + suffix.size() <= kWarningBytes) return finding.message + suffix;
  return OneLine(finding.message, kWarningBytes);
}

bool IsAboutInjection(const Finding& finding) {
  const RuleRow* rule = FindRule(finding.rule);
  return rule != nullptr && rule->phase == RulePhase::kInject;
}

// Of a refused object nothing is injected, so what an injection has to say is kept for the next try.
std::vector<std::string> Warnings(const std::vector<Finding>& findings, Verdict verdict) {
  std::vector<std::string> all;
  for (const Finding& finding : findings) {
    if (!Warns(finding) || (verdict == Verdict::kRefuse && IsAboutInjection(finding))) continue;
    std::string text = Warning(finding);
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }
  if (all.size() <= kMostWarnings) return all;
  const std::size_t untold = all.size() - (kMostWarnings - 1);
  all.resize(kMostWarnings - 1);
  all.push_back("and " + std::to_string(untold) + " more warnings; the audit log has them all");
  return all;
}

}  // namespace

std::string OneLine(std::string_view text, std::size_t max_bytes) {
  constexpr std::string_view kDots = "...";
  std::string line = Printable(text);
  if (line.size() <= max_bytes) return line;
  line.resize(CutUtf8(line, max_bytes - kDots.size()).size());
  return line.append(kDots);
}

void Fold(Decision& decision) {
  if (decision.findings.empty()) return;
  std::vector<const Finding*> reasons;
  for (const Finding& finding : decision.findings)
    if (Refuses(finding)) reasons.push_back(&finding);
  decision.verdict = reasons.empty() ? Verdict::kAllow : Verdict::kRefuse;
  decision.warnings = Warnings(decision.findings, decision.verdict);
  if (reasons.empty()) return;
  decision.code = Code(reasons);
  decision.message = Message(reasons);
  decision.edits.clear();
}

void FoldInternalError(Decision& decision, const std::string& problem, Posture posture) {
  decision.internal_error = OneLine(problem, kProblemBytes);
  decision.edits.clear();
  if (posture == Posture::kAllow) {
    decision.warnings = {OneLine(std::string(kNotApplied) + problem, kWarningBytes)};
    return;
  }
  decision.verdict = Verdict::kRefuse;
  decision.code = 500;
  decision.message = "podium cannot decide: " + *decision.internal_error;
}

}  // namespace podium
