#include <sys/prctl.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "audit/file_sink.h"
#include "cli/advice_publisher.h"
#include "cli/certificate_files.h"
#include "cli/clock.h"
#include "cli/cluster_options.h"
#include "cli/commands.h"
#include "cli/descriptors.h"
#include "cli/endpoint.h"
#include "cli/identity.h"
#include "cli/inputs.h"
#include "cli/live_cluster.h"
#include "cli/log.h"
#include "cli/query_listener.h"
#include "cli/signals.h"
#include "cli/table.h"
#include "serving/engine.h"
#include "serving/metrics.h"
#include "serving/operations.h"
#include "serving/tls.h"
#include "serving/webhook.h"

namespace podium {
namespace {

struct Options {
  std::string policy;
  ClusterOptions cluster;
  std::string budgets = "off";
  std::string scheduler_version;
  std::string cert_file;
  std::string key_file;
  std::string listen = "0.0.0.0:9443";
  std::string operations_listen = "0.0.0.0:8080";
  std::string query_listen;
  std::vector<std::string> query_audiences;
  std::string audit_log = "-";
  std::string audit_mode = "strict";
  std::string own_namespace = "podium-system";
  int threads = 0;
  std::string drain = "5s";
  std::string log_level = "info";
  std::string log_form = "plain";
};

constexpr const char* kFooter =
    "SIGTERM and SIGINT end it: /readyz says no at once, requests are still served for --drain, then running ones are\n"
    "finished. A second signal cuts the drain short.\n\n"
    "Exit codes: 0 ended by a signal; 2 it cannot start (every reason is printed).";
constexpr std::chrono::milliseconds kStopDeadline{5'000};
constexpr int kMostThreads = 64;
constexpr std::chrono::milliseconds kTendEvery{1'000};
constexpr std::chrono::milliseconds kOperationsIdle{30'000};  // probes and scrapes come more often, or anew

// A cluster file: read once, never changes.
class FixedSnapshot final : public SnapshotSource {
 public:
  explicit FixedSnapshot(std::shared_ptr<const ClusterSnapshot> snapshot) : snapshot_(std::move(snapshot)) {}
  [[nodiscard]] std::shared_ptr<const ClusterSnapshot> Current() const override { return snapshot_; }

 private:
  const std::shared_ptr<const ClusterSnapshot> snapshot_;
};

int ThreadsOf(const Options& options) {
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return std::min(options.threads > 0 ? options.threads : cores, kMostThreads);
}

LogLevel LevelOf(const std::string& name) {
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warning") return LogLevel::kWarning;
  return name == "error" ? LogLevel::kError : LogLevel::kInfo;
}

// Everything a server needs, read and checked. `problems` tells all that keeps it from starting.
struct Prepared {
  PolicyInput policy;
  std::shared_ptr<const ClusterSnapshot> snapshot;  // of a file
  std::optional<ClusterAccess> live;                // or where the cluster is
  LiveOptions live_options;
  std::shared_ptr<const TlsMaterial> tls;
  SocketAddress listen;
  SocketAddress operations;
  std::optional<SocketAddress> query;
  std::chrono::milliseconds drain{};
  std::string own_namespace;
  DescriptorPlan descriptors;
  std::unique_ptr<FileAuditSink> audit;
  std::vector<std::string> problems;
};

template <typename Value>
void Take(Result<Value> result, Value& target, const std::string& context, std::vector<std::string>& problems) {
  if (result)
    target = *std::move(result);
  else
    problems.push_back(context + result.error().message);
}

void PrepareCluster(const Options& options, TimePoint now, Prepared& prepared) {
  const bool writes = options.budgets == "write";
  prepared.live_options.budgets = writes ? BudgetMode::kWrite : BudgetMode::kOff;
  Take(WatchesWith(AllWatches(), options.cluster.custom_workloads), prepared.live_options.watches, "",
       prepared.problems);
  if (!options.scheduler_version.empty())
    Take(ParseSchedulerVersion(options.scheduler_version), prepared.live_options.scheduler_version.emplace(),
         "--scheduler-version: ", prepared.problems);
  if (!options.cluster.IsLive()) {
    if (!options.query_listen.empty())
      prepared.problems.emplace_back("--query-listen needs a live cluster: --in-cluster or --kubeconfig FILE");
    if (writes)
      prepared.problems.emplace_back("--budgets write needs a live cluster: --in-cluster or --kubeconfig FILE");
    return Take(ReadCluster(options.cluster.file, now), prepared.snapshot, "", prepared.problems);
  }
  Result<ClusterAccess> access = AccessOf(options.cluster);
  if (access)
    prepared.live = *std::move(access);
  else
    prepared.problems.push_back(access.error().message);
}

Prepared Prepare(const Options& options, TimePoint now) {
  Prepared prepared;
  prepared.policy = ReadPolicy(options.policy, now);
  if (!prepared.policy.policy) prepared.problems = prepared.policy.problems;
  PrepareCluster(options, now, prepared);
  Take(LoadTlsMaterial(options.cert_file, options.key_file), prepared.tls, "", prepared.problems);
  Take(ParseSocketAddress(options.listen), prepared.listen, "--listen: ", prepared.problems);
  Take(ParseSocketAddress(options.operations_listen), prepared.operations, "--operations-listen: ", prepared.problems);
  if (!options.query_listen.empty())
    Take(ParseSocketAddress(options.query_listen), prepared.query.emplace(), "--query-listen: ", prepared.problems);
  Take(ParseDuration(options.drain), prepared.drain, "--drain: ", prepared.problems);
  const std::size_t set_aside = prepared.query ? QueryListener::kDescriptors : 0;
  Take(PlanDescriptors(RaiseDescriptorLimit(), ThreadsOf(options), set_aside), prepared.descriptors, "",
       prepared.problems);
  Take(ParseNamespace(options.own_namespace), prepared.own_namespace, "--own-namespace: ", prepared.problems);
  const AuditMode mode = options.audit_mode == "strict" ? AuditMode::kStrict : AuditMode::kRelaxed;
  Take(FileAuditSink::Open(options.audit_log, mode), prepared.audit, "", prepared.problems);
  return prepared;
}

// Members are in the order in which they may be destroyed (backwards): the engine's threads use all the others.
class Server {
 public:
  Server(const Options& options, Prepared prepared, Log& log)
      : options_(options),
        prepared_(std::move(prepared)),
        log_(log),
        fixed_snapshot_(prepared_.snapshot),
        policy_(std::make_shared<const Policy>(*std::move(prepared_.policy.policy))),
        fixed_advisor_(AdvisorOn(prepared_.snapshot, *policy_.Load(), prepared_.live_options.scheduler_version)),
        tls_(prepared_.tls),
        certificate_(options.cert_file, options.key_file) {}

  Status Start() {
    if (Status connected = ConnectCluster(); !connected) return connected;
    if (Status listening = ListenForQueries(); !listening) return listening;
    std::vector<Listener> listeners;
    listeners.push_back(Webhook());
    listeners.push_back(Operations());
    auto engine = Engine::Start(std::move(listeners), ThreadsOf(options_), AuditJournal(*prepared_.audit, metrics_));
    if (!engine) return engine.error();
    engine_ = *std::move(engine);
    state_.engine = engine_.get();
    log_.Announce("ready: webhook https://" + Where("webhook", prepared_.listen) + ", operations http://" +
                  Where("operations", prepared_.operations) +
                  (query_ ? ", queries https://" + FormatSocketAddress(query_->address()) : ""));
    return {};
  }

  // The order matters: first nobody is sent here any more, then connections end, then the process.
  void Drain(const BlockedSignals& signals) {
    state_.draining = true;
    engine_->BeginDrain();
    if (query_) query_->engine().BeginDrain();
    if (live_) live_->StopWriting();  // the other replica takes over while this one still serves
    log_.Write(LogLevel::kInfo, "draining: not ready, serving for " + options_.drain + " more");
    if (WaitForEnd(signals, prepared_.drain)) log_.Write(LogLevel::kInfo, "second signal: the drain is cut short");
    engine_->Stop(kStopDeadline);
    state_.engine = nullptr;
    state_.query_engine = nullptr;
    prepared_.audit.reset();  // writes what is queued; before what may wait for an API server
    if (query_) query_->Stop();
    if (live_) live_->Stop();
    log_.Write(LogLevel::kInfo, "stopped");
  }

  // About once a second, while it serves.
  void Tend() {
    if (live_) live_->Tend();
    Result<std::shared_ptr<const TlsMaterial>> renewed = certificate_.ReadIfChanged();
    if (!renewed)
      return log_.Write(LogLevel::kError, renewed.error().message + "; the one that was read before is kept");
    if (*renewed == nullptr) return;
    if (const auto warning = ValidityWarning(**renewed, clock_.Now())) log_.Write(LogLevel::kWarning, *warning);
    tls_.Store(*std::move(renewed));
    log_.Write(LogLevel::kInfo, "the certificate has changed: new connections get the new one");
  }

  // True when a signal asked for the end before `at_most` was over.
  bool WaitForEnd(const BlockedSignals& signals, std::chrono::milliseconds at_most) {
    const auto until = std::chrono::steady_clock::now() + at_most;
    while (true) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= until) return false;
      const int signal = signals.Wait(std::chrono::ceil<std::chrono::milliseconds>(until - now));
      if (signal == SIGTERM || signal == SIGINT) return true;
      if (signal == SIGHUP) log_.Write(LogLevel::kWarning, "SIGHUP is ignored: start again to load another policy");
    }
  }

 private:
  Status ConnectCluster() {
    if (!prepared_.live) return {};
    LiveOptions options = prepared_.live_options;
    options.own_namespace = prepared_.own_namespace;
    options.identity = HostName() + "-" + instance_;
    Result<std::unique_ptr<LiveCluster>> live = LiveCluster::Connect(*prepared_.live, options, policy_, log_);
    if (!live) return live.error();
    live_ = *std::move(live);
    log_.Write(LogLevel::kInfo, "cluster: " + prepared_.live->origin);
    return {};
  }

  Status ListenForQueries() {
    if (!prepared_.query) return {};
    QueryDeps deps;
    deps.policy = &policy_;
    deps.snapshots = &live_->snapshots();
    deps.clock = &clock_;
    deps.decide.own_namespace = prepared_.own_namespace;
    if (const auto& version = prepared_.live_options.scheduler_version)
      deps.version = [version = *version] { return version; };
    auto query = QueryListener::Start(*prepared_.live, {*prepared_.query, options_.query_audiences}, std::move(deps),
                                      tls_, metrics_);
    if (!query) return query.error();
    query_ = *std::move(query);
    state_.query_engine = &query_->engine();
    return {};
  }

  [[nodiscard]] const SnapshotSource* Snapshots() const {
    if (live_) return &live_->snapshots();
    return prepared_.snapshot == nullptr ? nullptr : &fixed_snapshot_;
  }

  Listener Webhook() {
    WebhookDeps deps;
    deps.policy = &policy_;
    deps.snapshots = Snapshots();
    deps.advisors = live_ ? &live_->advisors() : &fixed_advisor_;
    if (live_)
      deps.decided = [this](const AdmissionRequest& request, const Decision& decision, TimePoint now) {
        live_->Remember(request, decision, now);
      };
    deps.audit_mode = options_.audit_mode == "strict" ? AuditMode::kStrict : AuditMode::kRelaxed;
    deps.clock = &clock_;
    deps.metrics = &metrics_;
    deps.instance = instance_;
    deps.decide.own_namespace = prepared_.own_namespace;
    Listener listener;
    listener.name = "webhook";
    listener.limits.connections = prepared_.descriptors.webhook_connections;
    listener.address = prepared_.listen.address;
    listener.port = prepared_.listen.port;
    listener.tls = &tls_;
    listener.routes = WebhookRoutes(std::move(deps));
    return listener;
  }

  Listener Operations() {
    OperationsDeps deps;
    deps.sources.state = &state_;
    deps.sources.policy = &policy_;
    deps.sources.snapshots = Snapshots();
    if (live_) {
      deps.snapshot = SnapshotNeed::kRequired;
      deps.unsynced = [this] { return live_->Unsynced(); };
      deps.sources.cluster = [this] { return live_->Figures(); };
    }
    if (query_) deps.sources.access = &query_->access();
    deps.sources.tls = &tls_;
    deps.sources.clock = &clock_;
    deps.sources.audit = prepared_.audit.get();
    deps.sources.version = PODIUM_VERSION;
    deps.metrics = &metrics_;
    Listener listener;
    listener.name = "operations";
    listener.limits.idle = kOperationsIdle;
    listener.limits.connections = prepared_.descriptors.operations_connections;
    listener.address = prepared_.operations.address;
    listener.port = prepared_.operations.port;
    listener.routes = OperationsRoutes(std::move(deps));
    return listener;
  }

  std::string Where(const std::string& listener, SocketAddress address) const {
    address.port = engine_->PortOf(listener);
    return FormatSocketAddress(address);
  }

  const Options& options_;
  Prepared prepared_;
  Log& log_;
  const std::string instance_ = RandomInstance();
  const SystemClock clock_;
  const FixedSnapshot fixed_snapshot_;
  const Cell<Policy> policy_;
  const Cell<Advisor> fixed_advisor_;  // of a file: prepared once, while nobody waits yet
  Cell<TlsMaterial> tls_;
  CertificateFiles certificate_;
  Metrics metrics_;
  ServingState state_;
  std::unique_ptr<LiveCluster> live_;
  std::unique_ptr<QueryListener> query_;
  std::unique_ptr<Engine> engine_;
};

int CannotStart(const std::vector<std::string>& problems, Io& io) {
  for (const std::string& problem : problems) io.err << "podium serve: " << PrintableLines(problem) << "\n";
  return kExitUnusable;
}

int Run(const Options& options, Io& io) {
  ::prctl(PR_SET_DUMPABLE, 0);  // the TLS key is in this process: no core dump, no ptrace by others of the same user
  const BlockedSignals signals;
  Prepared prepared = Prepare(options, io.now);
  if (!prepared.problems.empty()) return CannotStart(prepared.problems, io);
  Log log(options.log_form == "json" ? LogForm::kJson : LogForm::kPlain, LevelOf(options.log_level));
  for (const std::string& warning : prepared.policy.problems) log.Write(LogLevel::kWarning, warning);
  if (prepared.snapshot == nullptr && !prepared.live)
    log.Write(LogLevel::kWarning,
              "no cluster was given: the policy's ladder stands in for the cluster's classes, and namespaceLabels "
              "match nothing");
  if (prepared.snapshot != nullptr) log.Write(LogLevel::kInfo, "cluster: " + Describe(*prepared.snapshot));
  if (!prepared.descriptors.warning.empty()) log.Write(LogLevel::kWarning, prepared.descriptors.warning);
  if (const auto warning = ValidityWarning(*prepared.tls, io.now)) log.Write(LogLevel::kWarning, *warning);
  Server server(options, std::move(prepared), log);
  if (const Status started = server.Start(); !started) return CannotStart({started.error().message}, io);
  while (!server.WaitForEnd(signals, kTendEvery)) server.Tend();
  server.Drain(signals);
  return kExitOk;
}

}  // namespace

Action SetUpServe(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("--cert-file", options->cert_file, "TLS certificate chain (PEM)")->required();
  app.add_option("--key-file", options->key_file, "Its private key (PEM)")->required();
  app.add_option("--policy", options->policy, "Policy file or folder (default: the shipped policy)");
  AddClusterOptions(app, options->cluster);
  app.add_option("--budgets", options->budgets, "Disruption budgets of workloads: off or write (needs a live cluster)")
      ->capture_default_str()
      ->check(CLI::IsMember({"off", "write"}));
  app.add_option("--scheduler-version", options->scheduler_version,
                 "Whose rules advice goes by: 1.36 (default: the API server's version, or the newest known)");
  app.add_option("--listen", options->listen, "Address of the webhook; port 0: any free one")->capture_default_str();
  app.add_option("--operations-listen", options->operations_listen, "Address of health and metrics, plain HTTP")
      ->capture_default_str();
  app.add_option("--query-listen", options->query_listen,
                 "Address of feasibility queries, for example 0.0.0.0:9444 (default: off; needs a live cluster)");
  app.add_option("--query-audience", options->query_audiences,
                 "Whom tokens of queries must be for; again for more (default: the API server)");
  app.add_option("--audit-log", options->audit_log, "Audit file, or - for standard output")->capture_default_str();
  app.add_option("--audit-mode", options->audit_mode, "strict: no answer without its audit line; relaxed: queued")
      ->capture_default_str()
      ->check(CLI::IsMember({"strict", "relaxed"}));
  app.add_option("--own-namespace", options->own_namespace, "Podium's own namespace: never touched")
      ->capture_default_str();
  app.add_option("--threads", options->threads, "Reactor threads (default: one for each core)")
      ->check(CLI::Range(1, kMostThreads));
  app.add_option("--drain", options->drain, "How long to serve on after the first signal")->capture_default_str();
  app.add_option("--log-level", options->log_level, "debug, info, warning or error")
      ->capture_default_str()
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  app.add_option("--log-form", options->log_form, "plain or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"plain", "json"}));
  app.footer(kFooter);
  return [options](Io& io) { return Run(*options, io); };
}

}  // namespace podium
