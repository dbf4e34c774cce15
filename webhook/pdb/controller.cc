#include "pdb/controller.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace podium {
namespace {

constexpr std::size_t kMostComplaints = 1000;

// What a plan reads. A kind that is not watched at all is not waited for, except budgets themselves.
constexpr const char* kBudgetSource = "poddisruptionbudgets.policy";
constexpr const char* kNeededSources[] = {kBudgetSource,
                                          "deployments.apps",
                                          "statefulsets.apps",
                                          "replicasets.apps",
                                          "replicationcontrollers",
                                          "horizontalpodautoscalers.autoscaling",
                                          "namespaces",
                                          "priorityclasses.scheduling.k8s.io"};

constexpr const char* kPicture = "the cluster's picture for budgets";  // what complaints are about

Error NotSynced(std::string why) { return {ErrorKind::kUnavailable, "no budget is written: " + std::move(why)}; }

Error Stale(const std::string& source, TimePoint::duration silent, std::chrono::seconds oldest_event) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(silent);
  return {ErrorKind::kTimeout, "no budget is written: " + source + " had neither list, event nor bookmark for " +
                                   std::to_string(whole.count()) + " s (at most " +
                                   std::to_string(oldest_event.count()) + " s are trusted)"};
}

// An error of kUnavailable: not synced; of kTimeout: stale.
Status TrustOf(const ClusterSnapshot& snapshot, TimePoint now, std::chrono::seconds oldest_event) {
  if (snapshot.sources.empty()) return {};  // read from a file
  if (!snapshot.sources.contains(kBudgetSource)) return NotSynced(std::string(kBudgetSource) + " is not watched");
  for (const char* name : kNeededSources) {
    const auto source = snapshot.sources.find(name);
    if (source == snapshot.sources.end()) continue;
    if (!source->second.synced) return NotSynced(std::string(name) + " is not synced yet");
    const auto silent = now - source->second.last_event;
    if (silent > oldest_event) return Stale(name, silent, oldest_event);
  }
  return {};
}

// What to say of an apply. A conflict of a new budget needs no other answer than the next plan: as soon as the snapshot
// shows the other one, Podium steps aside for it or takes its second name.
Status Explained(const Error& error, Ownership ownership) {
  if (error.kind != ErrorKind::kConflict || ownership != Ownership::kNew) return error;
  return Error{error.kind, "somebody else has made a budget of that name: Podium leaves it and looks again (" +
                               error.message + ")"};
}

bool IsAway(const Status& status) {
  return !status && (status.error().kind == ErrorKind::kUnavailable || status.error().kind == ErrorKind::kTimeout);
}

}  // namespace

BudgetController::BudgetController(BudgetPorts ports, BudgetControllerOptions options)
    : ports_(std::move(ports)), options_(std::move(options)) {}

BudgetController::~BudgetController() { Stop(); }

void BudgetController::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void BudgetController::Stop() {
  {
    const std::lock_guard<std::mutex> lock(wait_mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BudgetController::Loop() {
  std::unique_lock<std::mutex> lock(wait_mutex_);
  while (!stopping_) {
    lock.unlock();
    Turn();
    lock.lock();
    wake_.wait_for(lock, options_.look_every, [this] { return stopping_.load(); });
  }
}

BudgetCounters BudgetController::counters() const {
  const MutexLock lock(mutex_);
  return counters_;
}

std::shared_ptr<const BudgetPlan> BudgetController::last_plan() const { return plan_.Load(); }

// --- one look -------------------------------------------------------------------------------------------------------

BudgetTurn BudgetController::Turn() {
  std::string problem = "an unknown exception";
  try {
    const BudgetTurn turn = TurnOrThrow();
    Complain("the budget loop", {});
    return turn;
  } catch (const std::exception& failure) {
    problem = failure.what();
  } catch (...) {
  }
  {
    const MutexLock lock(mutex_);
    ++counters_.internal_errors;
  }
  last_round_ = ports_.clock.Now();
  more_ = false;
  Complain("the budget loop", Error{ErrorKind::kInternal, problem});
  return BudgetTurn::kNothingNew;
}

BudgetTurn BudgetController::TurnOrThrow() {
  if (!ports_.leadership.IsLeader()) {
    last_round_ = {};  // a new leader looks at once
    complaints_.erase(kPicture);
    return BudgetTurn::kNotLeader;
  }
  const std::shared_ptr<const ClusterSnapshot> snapshot = ports_.snapshots.Current();
  const std::shared_ptr<const Policy> policy = ports_.policy();
  const TimePoint now = ports_.clock.Now();
  const Status trust = snapshot == nullptr ? NotSynced("the cluster is not synced yet")
                       : policy == nullptr ? NotSynced("there is no policy yet")
                                           : TrustOf(*snapshot, now, options_.oldest_event);
  Complain(kPicture, trust);
  if (!trust) return trust.error().kind == ErrorKind::kTimeout ? BudgetTurn::kStale : BudgetTurn::kNotSynced;
  if (!IsDue(*snapshot, policy.get(), now)) return BudgetTurn::kNothingNew;
  last_policy_ = policy;
  basis_ = {snapshot->classes, snapshot->namespaces, snapshot->budgets, snapshot->workloads, snapshot->autoscalers};
  last_round_ = now;
  Round(*snapshot, *policy, now);
  return BudgetTurn::kRound;
}

// Most snapshots differ in pods only; those share the rows of all that counts here.
bool BudgetController::HasChanged(const ClusterSnapshot& snapshot) const {
  const auto same = [](const auto& a, const auto& b) { return &a.rows() == &b.rows(); };
  return !same(snapshot.classes, basis_.classes) || !same(snapshot.namespaces, basis_.namespaces) ||
         !same(snapshot.budgets, basis_.budgets) || !same(snapshot.workloads, basis_.workloads) ||
         !same(snapshot.autoscalers, basis_.autoscalers);
}

bool BudgetController::IsDue(const ClusterSnapshot& snapshot, const Policy* policy, TimePoint now) const {
  if (more_ || policy != last_policy_.get() || now < last_round_) return true;
  const auto since = now - last_round_;
  return since >= options_.at_least_every || (since >= options_.at_most_every && HasChanged(snapshot)) ||
         (since >= options_.try_again_every && IsWaitOver(state_, last_round_, now));
}

void BudgetController::Round(const ClusterSnapshot& snapshot, const Policy& policy, TimePoint now) {
  auto plan = std::make_shared<const BudgetPlan>(PlanBudgets(snapshot, policy, now, options_.decide));
  NotePlan(*plan, now);
  plan_.Store(plan);
  state_ = Forget(std::move(state_), now);
  const ActRound round = Act(*plan, state_, now, options_.limits);
  more_ = round.more;
  for (const BudgetAction& action : round.actions) {
    const Outcome outcome = CarryOut(*plan, action);
    if (outcome == Outcome::kDone) continue;
    more_ = false;
    return;
  }
  TellOfRows(*plan);
}

BudgetController::Outcome BudgetController::CarryOut(const BudgetPlan& plan, const BudgetAction& action) {
  if (stopping_) return Outcome::kNotLeader;
  if (!ports_.leadership.IsLeader()) {
    const MutexLock lock(mutex_);
    ++counters_.lost_leadership;
    return Outcome::kNotLeader;
  }
  Status status;
  if (action.verb == BudgetVerb::kDelete) {
    status = ports_.writer.Delete(action.object, action.uid);
  } else {
    const Result<std::string> stored = ports_.writer.Apply(action.object, action.json, action.ownership);
    if (!stored) status = Explained(stored.error(), action.ownership);
  }
  state_ = Settle(std::move(state_), action, status, ports_.clock.Now());
  const BudgetRow& row = plan.rows[action.row];
  NoteWrite(row, action, status);
  Complain("budget " + action.object.namespace_name + "/" + action.object.name, status);
  if (IsAway(status)) return Outcome::kAway;  // the next write would only wait as long again
  if (const std::optional<BudgetEvent> event = EventOfWrite(row, action, status)) TellIfAllowed(*event);
  return Outcome::kDone;
}

// --- telling --------------------------------------------------------------------------------------------------------

void BudgetController::TellOfRows(const BudgetPlan& plan) {
  for (const BudgetRow& row : plan.rows) {
    const std::optional<BudgetEvent> event = EventOfRow(row);
    if (event && !TellIfAllowed(*event)) return;
  }
}

// False: no more events in this round.
bool BudgetController::TellIfAllowed(const BudgetEvent& event) {
  const TimePoint now = ports_.clock.Now();
  if (!MayTell(state_.events, event, now, options_.limits)) return true;
  if (stopping_ || !ports_.leadership.IsLeader()) return false;
  const Status status = ports_.writer.Create(EventRef(event), RenderEvent(event, options_.instance, now));
  const bool told = status || status.error().kind == ErrorKind::kConflict;  // another replica said it already
  state_.events = told ? Tell(std::move(state_.events), event, now) : Attempt(std::move(state_.events), event, now);
  {
    const MutexLock lock(mutex_);
    ++(told ? counters_.events : counters_.events_failed);
  }
  Complain("events", told ? Status{} : status);
  return !IsAway(status);
}

void BudgetController::NotePlan(const BudgetPlan& plan, TimePoint now) {
  const auto count = [&plan](const auto& is) {
    return static_cast<std::uint64_t>(std::count_if(plan.rows.begin(), plan.rows.end(), is));
  };
  const MutexLock lock(mutex_);
  ++counters_.rounds;
  counters_.last_round = now;
  counters_.managed = count([](const BudgetRow& row) { return row.Applies() || row.step == BudgetStep::kKeep; });
  counters_.stepped_aside = count([](const BudgetRow& row) { return row.step == BudgetStep::kStepAside; });
  counters_.problems = count([](const BudgetRow& row) { return row.problem; });
}

void BudgetController::NoteWrite(const BudgetRow& row, const BudgetAction& action, const Status& status) {
  const MutexLock lock(mutex_);
  if (!status)
    ++counters_.failed;
  else if (action.verb == BudgetVerb::kDelete)
    ++counters_.removed;
  else
    ++(row.step == BudgetStep::kCreate ? counters_.created : counters_.updated);
}

// Says a failure when it is new, and once that it is over.
void BudgetController::Complain(const std::string& about, const Status& status) {
  const auto known = complaints_.find(about);
  if (status) {
    if (known == complaints_.end()) return;
    complaints_.erase(known);
    if (options_.say) options_.say(about + ": well again");
    return;
  }
  if (known != complaints_.end() && known->second == status.error().kind) return;
  if (complaints_.size() >= kMostComplaints) complaints_.clear();
  complaints_[about] = status.error().kind;
  if (options_.say) options_.say(about + ": " + status.error().message);
}

}  // namespace podium
