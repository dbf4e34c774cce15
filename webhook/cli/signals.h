// Signals as values.
#pragma once

#include <pthread.h>

#include <chrono>
#include <csignal>
#include <ctime>

namespace podium {

// The signals that end or concern the server are blocked before the first thread exists, so that only Wait sees them.
class BlockedSignals {
 public:
  BlockedSignals() {
    ::sigemptyset(&signals_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals_, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  // A signal that came while the server was stopping has had its way; unblocked, it would kill the process at the end.
  ~BlockedSignals() {
    while (Wait(std::chrono::milliseconds(0)) != 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // The next signal, or 0 after `at_most`.
  [[nodiscard]] int Wait(std::chrono::milliseconds at_most) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
    const timespec limit{seconds.count(), std::chrono::nanoseconds(at_most - seconds).count()};
    const int signal = ::sigtimedwait(&signals_, nullptr, &limit);
    return signal < 0 ? 0 : signal;
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace podium
