// Between a whole request and its reply: the handler is called, the journal has been asked, or another thread answers.
#include <exception>
#include <limits>
#include <utility>

#include "serving/engine_session.h"

namespace podium {

Answer Session::Invoke() {
  const Route& route = *request_.route;
  const HttpRequest request{.method = route.method,
                            .path = route.path,
                            .query = request_.query,
                            .body = in_.data().substr(0, request_.body_bytes),
                            .peer = peer_,
                            .authorization = request_.authorization};
  return Guard([&] { return route.handler(request); });
}

// What a handler gives, or 500 when it throws.
template <typename Callback>
std::invoke_result_t<Callback> Session::Guard(const Callback& callback) {
  try {
    return callback();
  } catch (const std::exception& failure) {
    LogFailure(request_.route->path, failure.what());
  } catch (...) {
    LogFailure(request_.route->path, "something that is no std::exception");
  }
  keep_ = false;
  return ErrorResponse(500, "internal error; the server's log says more");
}

void Session::CallHandler(std::string& entries) {
  if (closed_) return;
  Count(reactor_.counters.requests);
  entry_end_ = std::numeric_limits<std::size_t>::max();  // not kept, should there be no memory for it
  try {
    answer_ = Invoke();
    if (const auto* journaled = std::get_if<JournaledAnswer>(&answer_)) {
      entries.append(journaled->entry);
      entry_end_ = entries.size();
    }
  } catch (const std::exception&) {  // no memory
    Close();
  }
}

void Session::MakeReply(std::size_t kept_bytes) {
  if (closed_) return;
  try {
    in_.Consume(request_.body_bytes);
    now_ = SteadyClock::now();
    const Answer answer = std::exchange(answer_, HttpResponse{});
    if (const auto* journaled = std::get_if<JournaledAnswer>(&answer))
      Reply(Guard([&] { return journaled->answer(entry_end_ <= kept_bytes); }));
    else if (const auto* later = std::get_if<LaterAnswer>(&answer))
      BeginLater(*later);
    else
      Reply(std::get<HttpResponse>(answer));
  } catch (const std::exception&) {  // no memory
    Close();
  }
}

void Session::OnAnswered() { Run(); }

// Whoever makes the answer knows the mailbox and not the session, which must not end on another thread.
Session::Next Session::BeginLater(const LaterAnswer& answer) {
  if (in_.size() == 0) ReleaseInput();
  Enter(Phase::kLater);
  self_ = shared_from_this();
  const auto begin = [&] {
    answer.begin([mailbox = reactor_.mailbox, session = weak_from_this()](HttpResponse response) {
      mailbox->Post([session, response = std::move(response)] {
        if (const auto alive = session.lock()) alive->OnLater(response);
      });
    });
    return HttpResponse{};
  };
  const HttpResponse begun = Guard(begin);
  if (begun.status == 200) return Next::kWaitTurn;
  self_.reset();
  return Reply(begun);
}

void Session::OnLater(const HttpResponse& response) {
  if (closed_ || phase_ != Phase::kLater) return;
  self_.reset();
  try {
    now_ = SteadyClock::now();
    Reply(response);
    Run();
  } catch (const std::exception&) {  // no memory
    Close();
  }
}

}  // namespace podium
