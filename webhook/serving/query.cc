#include "serving/query.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "core/text.h"
#include "serving/head.h"
#include "serving/log_limit.h"

namespace podium {
namespace {

using std::chrono::milliseconds;

constexpr const char* kPath = "/v1/feasibility";

void LogAnswer(const QueryAnswer& answer, std::string_view peer, milliseconds took) {
  static LogLimit of_strangers;
  static LogLimit of_problems;
  if (!answer.problem.empty() && of_problems.Due())
    spdlog::warn("query: no answer for lack of the API server's: {} (said at most once in 10 s)",
                 Printable(answer.problem));
  if (answer.user.empty() && !of_strangers.Due()) return;
  spdlog::info("query: peer {} user {} object {} outcome {} status {} verdict {} in {} ms", peer,
               Quoted(answer.user, 200), Quoted(answer.object, 320), ToString(answer.outcome), answer.status,
               answer.verdict.empty() ? "none" : answer.verdict, took.count());
}

HttpResponse ToHttp(QueryAnswer answer) {
  HttpResponse response;
  response.status = answer.status;
  response.body = std::move(answer.body);
  response.headers.emplace_back("Cache-Control", "no-store");
  if (answer.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"podium\"");
  if (answer.status == 429 || answer.status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

// One question on its way through the pool.
struct Errand {
  QueryRequest request;
  std::string peer;
};

class QueryRoute {
 public:
  explicit QueryRoute(QueryRouteDeps deps) : deps_(std::move(deps)) {}

  // `self` keeps the route alive for the thread that answers.
  static LaterAnswer Handle(const std::shared_ptr<const QueryRoute>& self, const HttpRequest& http) {
    const auto errand = std::make_shared<Errand>(Errand{
        {std::string(http.authorization), std::string(http.query), std::string(http.body), self->deps_.steady_now()},
        std::string(http.peer)});
    return {[self, errand](const LaterAnswer::Done& done) {
      const bool taken = self->deps_.pool->Submit([self, errand, done] { done(self->Answer(*errand)); });
      if (!taken) done(self->Shed());
    }};
  }

 private:
  // Whatever happens: somebody waits for it.
  HttpResponse Answer(const Errand& errand) const {
    try {
      QueryAnswer answer = deps_.service->Answer(errand.request);
      const auto took = deps_.steady_now() - errand.request.arrived;
      deps_.metrics->ObserveQuery(answer.outcome, took);
      LogAnswer(answer, errand.peer, std::chrono::duration_cast<milliseconds>(took));
      return ToHttp(std::move(answer));
    } catch (const std::exception& failure) {
      static LogLimit limit;
      if (limit.Due()) spdlog::error("{} failed: {} (said at most once in 10 s)", kPath, failure.what());
    } catch (...) {
      static LogLimit limit;
      if (limit.Due()) spdlog::error("{} failed: an unknown exception (said at most once in 10 s)", kPath);
    }
    deps_.metrics->ObserveQuery(QueryOutcome::kUnavailable, deps_.steady_now() - errand.request.arrived);
    return ErrorResponse(500, "internal error; the server's log says more");
  }

  HttpResponse Shed() const {
    deps_.metrics->ObserveQuery(QueryOutcome::kTooMany, {});
    return OverloadedResponse("too many questions at once; try again in a moment");
  }

  const QueryRouteDeps deps_;
};

}  // namespace

std::vector<Route> QueryRoutes(QueryRouteDeps deps) {
  const auto route = std::make_shared<const QueryRoute>(std::move(deps));
  return {{.method = "POST",
           .path = kPath,
           .handler = [route](const HttpRequest& http) { return QueryRoute::Handle(route, http); },
           .credentials = Credentials::kPassed}};
}

}  // namespace podium
