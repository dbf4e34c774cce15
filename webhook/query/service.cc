#include "query/service.h"

#include <algorithm>
#include <utility>

#include "core/digest.h"
#include "core/text.h"
#include "query/parameters.h"
#include "wire/json.h"
#include "wire/manifest.h"

namespace podium {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kDefaultNamespace = "default";

QueryAnswer Failure(QueryOutcome outcome, int status, std::string_view message) {
  QueryAnswer answer;
  answer.outcome = outcome;
  answer.status = status;
  answer.body = R"({"error": )";
  AppendJsonString(answer.body, message);
  answer.body += "}\n";
  return answer;
}

QueryAnswer BadRequest(std::string_view message) { return Failure(QueryOutcome::kBadRequest, 400, message); }

QueryAnswer Unavailable(std::string_view message) { return Failure(QueryOutcome::kUnavailable, 503, message); }

QueryAnswer TakesTooLong() {
  return Failure(QueryOutcome::kTooMany, 503,
                 "the answer would come too late: too much is asked at once; try again in a moment");
}

// RFC 6750: "Bearer" in any case, one space or more, then token68.
std::optional<std::string_view> BearerToken(std::string_view field) {
  constexpr std::string_view kScheme = "bearer";
  constexpr std::size_t kLongest = 16 << 10;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto same = [&](char a, char b) { return lower(a) == b; };
  if (field.size() <= kScheme.size() ||
      !std::equal(kScheme.begin(), kScheme.end(), field.begin(), [&](char b, char a) { return same(a, b); }))
    return std::nullopt;
  field.remove_prefix(kScheme.size());
  const std::size_t begin = field.find_first_not_of(' ');
  if (begin == 0 || begin == std::string_view::npos) return std::nullopt;
  const std::string_view token = field.substr(begin);
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";
  if (token.size() > kLongest || token.find_first_not_of(kAllowed) != std::string_view::npos) return std::nullopt;
  return token;
}

bool IsNamespaceName(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 63 && is_letter(name.front()) && is_letter(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || c == '-'; });
}

// Where the object would be created. Read by the parser that AskAbout reads it with: two readings of one text could be
// two namespaces.
Result<std::string> NamespaceOf(std::string_view object_json) {
  const Result<std::string> json = JsonAt(object_json, "/metadata/namespace");
  if (!json && json.error().kind != ErrorKind::kNotFound) return json.error();
  if (!json || *json == "null" || *json == "\"\"") return std::string(kDefaultNamespace);
  std::string name = json->size() > 2 ? json->substr(1, json->size() - 2) : "";
  if (json->front() == '"' && IsNamespaceName(name)) return name;
  return Error{ErrorKind::kInvalidInput,
               "metadata.namespace is " + Quoted(*json) + "; allowed: the name of a namespace, such as \"ml\""};
}

// The first part of the picture that was not heard of for longer than the policy trusts it.
std::vector<std::string> StaleWarnings(const ClusterSnapshot& snapshot, const Policy& policy, TimePoint now) {
  for (const std::string_view resource : kEvaluatedResources) {
    const auto source = snapshot.sources.find(std::string(resource));
    if (source == snapshot.sources.end()) continue;
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - source->second.last_event);
    if (age <= policy.stale_after) continue;
    return {"the cluster's " + std::string(resource) + " were last heard of " + std::to_string(age.count()) +
            " s ago (staleAfterSeconds: " + std::to_string(policy.stale_after.count()) +
            "): this may not be true any more"};
  }
  return {};
}

}  // namespace

std::string_view ToString(QueryOutcome outcome) {
  switch (outcome) {
    case QueryOutcome::kAnswered: return "answered";
    case QueryOutcome::kBadRequest: return "bad_request";
    case QueryOutcome::kUnauthenticated: return "unauthenticated";
    case QueryOutcome::kForbidden: return "forbidden";
    case QueryOutcome::kRefused: return "refused";
    case QueryOutcome::kTooMany: return "too_many";
    case QueryOutcome::kUnavailable: return "unavailable";
  }
  return "unavailable";
}

FeasibilityService::FeasibilityService(QueryDeps deps, const QueryLimits& limits)
    : deps_(std::move(deps)), limits_(limits), evaluations_(limits.remembered) {}

FeasibilityService::~FeasibilityService() = default;

// --- one question, step by step -------------------------------------------------------------------------------------
// Nothing is said about the cluster or the policy before the caller's right to ask is known.

class FeasibilityService::Conversation {
 public:
  Conversation(FeasibilityService& service, const QueryRequest& request) : service_(service), request_(request) {}
  ~Conversation() { Leave(); }
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  QueryAnswer Run() {
    QueryAnswer answer = Steps();
    answer.user = caller_.user;
    answer.object = object_;
    answer.problem = problem_;
    return answer;
  }

 private:
  using Stop = std::optional<QueryAnswer>;  // an answer ends the conversation

  QueryAnswer Steps() {
    if (IsOver(service_.limits_.waiting)) return TakesTooLong();
    for (Stop (Conversation::*step)() : {&Conversation::Authenticate, &Conversation::Enter, &Conversation::Read,
                                         &Conversation::Authorize, &Conversation::Decide, &Conversation::Evaluate}) {
      if (Stop stop = (this->*step)()) return *std::move(stop);
      if (IsOver(service_.limits_.time)) return TakesTooLong();
    }
    return Show();
  }

  [[nodiscard]] bool IsOver(milliseconds limit) const { return service_.deps_.steady_now() - request_.arrived > limit; }

  Stop Authenticate() {
    const std::optional<std::string_view> token = BearerToken(request_.authorization);
    if (!token)
      return Failure(QueryOutcome::kUnauthenticated, 401,
                     "who are you? Send 'Authorization: Bearer TOKEN' with a token of this cluster, for example of "
                     "'kubectl create token NAME'");
    const Result<std::optional<Caller>> caller = service_.deps_.access->WhoIs(*token);
    if (!caller) return NotKnown(caller.error());
    if (!*caller)
      return Failure(QueryOutcome::kUnauthenticated, 401,
                     "the API server does not accept the bearer token; it may have expired: get a new one");
    caller_ = **caller;
    return std::nullopt;
  }

  // So many at once for each caller.
  Stop Enter() {
    const MutexLock lock(service_.mutex_);
    std::size_t& asking = service_.asking_[caller_.user];
    if (asking >= service_.limits_.per_caller)
      return Failure(QueryOutcome::kTooMany, 429,
                     std::to_string(asking) + " questions of yours are being answered; at most " +
                         std::to_string(service_.limits_.per_caller) + " at once: wait for one");
    ++asking;
    entered_ = true;
    return std::nullopt;
  }

  void Leave() {
    if (!entered_) return;
    const MutexLock lock(service_.mutex_);
    const auto found = service_.asking_.find(caller_.user);
    if (--found->second == 0) service_.asking_.erase(found);
  }

  Stop Read() {
    const Result<QueryParameters> parameters = ParseQueryParameters(request_.parameters, service_.limits_.replicas);
    if (!parameters) return BadRequest(parameters.error().message);
    parameters_ = *parameters;
    Result<std::string> where = NamespaceOf(request_.body);
    if (!where) return BadRequest(where.error().message);
    namespace_name_ = *std::move(where);
    object_ = namespace_name_ + "/";
    return std::nullopt;
  }

  Stop Authorize() {
    const Result<bool> may = service_.deps_.access->May(caller_, {"create", "pods", namespace_name_});
    if (!may) return NotKnown(may.error());
    if (*may) return std::nullopt;
    return Failure(QueryOutcome::kForbidden, 403,
                   Quoted(caller_.user, 200) + " may not create pods in the namespace " + Quoted(namespace_name_) +
                       "; only who may is answered: ask for that right, or about an object in another namespace");
  }

  Stop Decide() {
    policy_ = service_.deps_.policy->Load();
    snapshot_ = service_.deps_.snapshots->Current();
    if (!policy_ || !snapshot_) return Unavailable("the cluster has not been read yet; try again in a moment");
    now_ = service_.deps_.clock->Now();
    Result<ManifestQuestions> asked = AskAbout(request_.body, {.policy = *policy_,
                                                               .snapshot = snapshot_.get(),
                                                               .default_namespace = namespace_name_,
                                                               .decide = service_.deps_.decide,
                                                               .most_templates = service_.limits_.templates,
                                                               .now = now_});
    if (!asked) return BadRequest("the object cannot be asked about: " + asked.error().message);
    object_ += asked->name;
    if (asked->decision.verdict == Verdict::kRefuse)
      return Failure(QueryOutcome::kRefused, 422, "the object would be refused: " + asked->decision.message);
    if (asked->questions.empty())
      return BadRequest("the object makes no pods; allowed: a Pod, or a workload with a pod template");
    if (asked->namespace_name != namespace_name_) return BadRequest("the object is of no namespace that can be read");
    questions_ = std::move(asked->questions);
    return std::nullopt;
  }

  Stop Evaluate() {
    for (PodQuestion& question : questions_) {
      question.replicas = parameters_.replicas.value_or(question.replicas);
      question.placing = parameters_.placing.value_or(question.placing);
      if (question.replicas > service_.limits_.replicas)
        return BadRequest("the object wants " + std::to_string(question.replicas) + " replicas; at most " +
                          std::to_string(service_.limits_.replicas) +
                          " are placed here: ask with ?replicas=N, or use 'podium feasibility'");
    }
    const SchedulerVersion version = service_.deps_.version ? service_.deps_.version() : SchedulerVersion{};
    const std::string key = KeyOf(version);
    evaluation_ = service_.Remembered(snapshot_->generation, key);
    if (evaluation_ != nullptr) return std::nullopt;
    EvaluationOptions options;
    options.outlook.evaluate.version = version;
    options.outlook.now = now_;
    options.outlook.gpus = policy_->gpus;
    options.bounds.node_checks = service_.limits_.node_checks;
    evaluation_ = std::make_shared<const Evaluation>(
        EvaluateAll(service_.PreparedOf(snapshot_, version), std::move(questions_), options));
    service_.Remember(key, evaluation_);
    return std::nullopt;
  }

  QueryAnswer Show() {
    Result<Sight> sight = LookUpSight(*service_.deps_.access, caller_, evaluation_->namespaces,
                                      {service_.limits_.namespaces, [this] { return IsOver(service_.limits_.time); }});
    if (!sight) return NotKnown(sight.error());
    QueryAnswer answer;
    answer.body = WriteEvaluation(*evaluation_, *sight, StaleWarnings(*snapshot_, *policy_, now_)) + '\n';
    answer.verdict = ToString(evaluation_->pods.front().outlook.report.verdict);
    return answer;
  }

  // The operator gets the reason; to a caller an API server's words are no business of theirs.
  QueryAnswer NotKnown(const Error& error) {
    problem_ = error.message;
    return Unavailable("the API server does not say now who you are and what you may do; try again in a moment");
  }

  [[nodiscard]] std::string KeyOf(const SchedulerVersion& version) const {
    std::string key = policy_->revision + '/' + std::to_string(version.major) + '.' + std::to_string(version.minor);
    key += '/' + std::to_string(parameters_.replicas.value_or(0)) + '/';
    key += parameters_.placing ? ToString(*parameters_.placing) : "";
    return key + '/' + Sha256Hex(request_.body);
  }

  FeasibilityService& service_;
  const QueryRequest& request_;
  Caller caller_;
  bool entered_ = false;
  QueryParameters parameters_;
  std::string namespace_name_;
  std::string object_;
  std::string problem_;
  std::shared_ptr<const Policy> policy_;
  std::shared_ptr<const ClusterSnapshot> snapshot_;
  TimePoint now_{};
  std::vector<PodQuestion> questions_;
  EvaluationPtr evaluation_;
};

QueryAnswer FeasibilityService::Answer(const QueryRequest& request) { return Conversation(*this, request).Run(); }

// --- what is kept ---------------------------------------------------------------------------------------------------

std::shared_ptr<const PreparedSnapshot> FeasibilityService::PreparedOf(
    const std::shared_ptr<const ClusterSnapshot>& snapshot, const SchedulerVersion& version) {
  const MutexLock lock(prepare_mutex_);
  const bool fits = prepared_ != nullptr && prepared_->snapshot == snapshot && prepared_->version == version;
  if (!fits) prepared_ = std::make_shared<const PreparedSnapshot>(snapshot, version);
  return prepared_;
}

FeasibilityService::EvaluationPtr FeasibilityService::Remembered(std::uint64_t generation, const std::string& key) {
  const MutexLock lock(mutex_);
  if (generation != generation_) return nullptr;
  return evaluations_.Find(key, deps_.steady_now()).value_or(nullptr);
}

void FeasibilityService::Remember(const std::string& key, EvaluationPtr evaluation) {
  const std::uint64_t generation = evaluation->on->snapshot->generation;
  const MutexLock lock(mutex_);
  if (generation < generation_) return;
  if (generation > generation_) evaluations_ = ExpiringMap<EvaluationPtr>(limits_.remembered);
  generation_ = generation;
  evaluations_.Put(key, std::move(evaluation), deps_.steady_now() + limits_.remembered_for);
}

}  // namespace podium
