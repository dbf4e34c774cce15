#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "serving/engine_session.h"
#include "serving/log_limit.h"

namespace podium {

void LogFailure(std::string_view where, const char* what) {
  static LogLimit limit;
  if (!limit.Due()) return;
  spdlog::error("{} failed: {} (answered with an error; said at most once in 10 s)", where, what);
}

void Reactor::Add(Session& session) {
  session.position = sessions.insert(sessions.end(), &session);
  if (sessions.size() == 1) Sweep();
}

void Reactor::Remove(Session& session) {
  sessions.erase(session.position);
  if (sessions.empty()) sweep.cancel();
}

void Reactor::Sweep() {
  sweep.expires_after(sweep_period);
  sweep.async_wait([this](boost::system::error_code error) {
    if (error || sessions.empty()) return;
    const SteadyClock::time_point now = SteadyClock::now();
    for (auto next = sessions.begin(); next != sessions.end();) (*next++)->OnSweep(now);  // may remove itself
    if (!sessions.empty()) Sweep();
  });
}

void Reactor::BeginStop() {
  stopping = true;
  for (auto next = sessions.begin(); next != sessions.end();) (*next++)->OnStop();
  work.reset();
}

void Reactor::CloseAll() {
  while (!sessions.empty()) sessions.front()->Close();
}

// A turn is what one look at the sockets found: Asio runs those handlers first and a posted one after them all.
void Reactor::AnswerAtEndOfTurn(std::shared_ptr<Session> session) {
  if (asking_.empty()) asio::post(io, [this] { EndTurn(); });
  asking_.push_back(std::move(session));
}

// Pass by pass, not session by session: the journal is written once for all, and the code of one pass stays in the
// processor's caches for all of its sessions, which a system call in between would have thrown out.
void Reactor::EndTurn() {
  const auto sessions_of_turn = std::exchange(asking_, {});  // a session's next request is the next turn's
  for (const auto& session : sessions_of_turn) session->CallHandler(entries_);
  const std::size_t kept = AskJournal();
  entries_.clear();
  for (const auto& session : sessions_of_turn) session->MakeReply(kept);
  for (const auto& session : sessions_of_turn) session->OnAnswered();
}

std::size_t Reactor::AskJournal() const {
  if (!journal || entries_.empty()) return 0;
  try {
    return journal(entries_);
  } catch (const std::exception& failure) {
    LogFailure("the journal", failure.what());
  } catch (...) {
    LogFailure("the journal", "something that is no std::exception");
  }
  return 0;
}

// Sessions are in the order in which they came, so the first that fits is the oldest.
bool Reactor::MakeRoom(const ListenerState& listener) {
  const auto silent = std::find_if(sessions.begin(), sessions.end(),
                                   [&](const Session* session) { return session->IsSilentOn(listener); });
  if (silent == sessions.end()) return false;
  (*silent)->Close();
  return true;
}

}  // namespace podium
