#include "serving/operations.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace podium {
namespace {

constexpr const char* kText = "text/plain; charset=utf-8";
constexpr const char* kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";

using Problem = std::optional<std::string>;

struct Check {
  std::string_view name;
  Problem (*run)(const OperationsDeps&);
};

Problem CheckServing(const OperationsDeps&) { return std::nullopt; }  // who answers this, serves

Problem CheckDraining(const OperationsDeps& deps) {
  const bool draining = deps.sources.state != nullptr && deps.sources.state->draining;
  return draining ? Problem("shutting down") : std::nullopt;
}

Problem CheckPolicy(const OperationsDeps& deps) {
  const bool loaded = deps.sources.policy != nullptr && deps.sources.policy->Load() != nullptr;
  return loaded ? std::nullopt : Problem("no policy is loaded");
}

Problem CheckSnapshot(const OperationsDeps& deps) {
  if (deps.snapshot == SnapshotNeed::kOptional) return std::nullopt;
  const bool synced = deps.sources.snapshots != nullptr && deps.sources.snapshots->Current() != nullptr;
  if (synced) return std::nullopt;
  std::string problem = "the cluster has not been read yet";
  const std::vector<std::string> unsynced = deps.unsynced ? deps.unsynced() : std::vector<std::string>();
  for (const std::string& resource : unsynced) problem += (&resource == &unsynced.front() ? ": " : ", ") + resource;
  return problem;
}

constexpr Check kLiveChecks[] = {{"serving", CheckServing}};
constexpr Check kReadyChecks[] = {
    {"serving", CheckServing}, {"not-draining", CheckDraining}, {"policy", CheckPolicy}, {"snapshot", CheckSnapshot}};

enum class Detail { kOnFailure, kAlways };

bool AsksForDetail(std::string_view query) {
  for (std::size_t start = 0; start <= query.size();) {
    const std::size_t end = std::min(query.find('&', start), query.size());
    const std::string_view item = query.substr(start, end - start);
    if (item.substr(0, item.find('=')) == "verbose") return true;
    start = end + 1;
  }
  return false;
}

// One line for each watched resource.
std::string Freshness(const OperationsDeps& deps) {
  const auto snapshot = deps.sources.snapshots == nullptr ? nullptr : deps.sources.snapshots->Current();
  if (snapshot == nullptr || deps.sources.clock == nullptr) return {};
  const TimePoint now = deps.sources.clock->Now();
  std::string lines;
  for (const auto& [resource, source] : snapshot->sources) {
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - source.last_event);
    lines += "   " + resource + ": ";
    lines += source.synced
                 ? std::to_string(source.objects) + " objects, heard of " + std::to_string(age.count()) + " s ago"
                 : std::string("not synced");
    if (source.skipped > 0) lines += ", " + std::to_string(source.skipped) + " cannot be read";
    lines += "\n";
  }
  return lines;
}

// The form of the API server's own health endpoints: "[+]policy ok", "[-]policy failed: ...".
HttpResponse RunChecks(std::string_view name, std::span<const Check> checks, const OperationsDeps& deps,
                       Detail detail) {
  HttpResponse response;
  response.content_type = kText;
  bool healthy = true;
  for (const Check& check : checks) {
    const Problem problem = check.run(deps);
    healthy = healthy && !problem;
    response.body.append(problem ? "[-]" : "[+]").append(check.name);
    response.body.append(problem ? " failed: " + *problem : " ok").append("\n");
  }
  response.status = healthy ? 200 : 503;
  if (healthy && detail == Detail::kOnFailure) {
    response.body = "ok\n";
    return response;
  }
  response.body.append(name).append(healthy ? " check passed\n" : " check failed\n");
  return response;
}

}  // namespace

std::vector<Route> OperationsRoutes(OperationsDeps deps) {
  const auto shared = std::make_shared<const OperationsDeps>(std::move(deps));
  const auto detail_of = [](const HttpRequest& http) {
    return AsksForDetail(http.query) ? Detail::kAlways : Detail::kOnFailure;
  };
  return {
      {"GET", "/livez",
       [=](const HttpRequest& http) { return RunChecks("livez", kLiveChecks, *shared, detail_of(http)); }},
      {"GET", "/healthz",
       [=](const HttpRequest&) { return RunChecks("healthz", kLiveChecks, *shared, Detail::kAlways); }},
      {"GET", "/readyz",
       [=](const HttpRequest& http) {
         HttpResponse response = RunChecks("readyz", kReadyChecks, *shared, detail_of(http));
         if (detail_of(http) == Detail::kAlways) response.body.append(Freshness(*shared));
         return response;
       }},
      {"GET", "/metrics",
       [=](const HttpRequest&) {
         HttpResponse response;
         response.content_type = kPrometheusText;
         response.body = RenderMetrics(*shared->metrics, shared->sources);
         return response;
       }},
  };
}

}  // namespace podium
