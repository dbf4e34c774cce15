// The serving engine: sockets, TLS, HTTP/1.1, budgets and deadlines (Boost.Asio and Boost.Beast inside).
// Why: docs/adr/0002-serving-engine.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/cell.h"
#include "podium/result.h"
#include "serving/http.h"

namespace podium {

// A certificate chain and its key, parsed and matched, ready to serve. Immutable.
class TlsMaterial;
// Reads PEM files. The error names the file and what is wrong: unreadable, not PEM, encrypted, key does not match. An
// expired pair is loaded all the same (ValidityWarning in serving/tls.h says so).
Result<std::shared_ptr<const TlsMaterial>> LoadTlsMaterial(const std::string& cert_file, const std::string& key_file);

struct EngineLimits {
  std::size_t head_bytes = 32 << 10;
  std::size_t head_fields = 100;
  std::size_t body_bytes = 7 << 20;
  // Over it the oldest connection that never sent a request makes room, so that silent ones cannot lock callers out;
  // where all have been served, the newest is closed at once.
  std::size_t connections = 1024;
  std::size_t bytes_in_flight = 64 << 20;  // bodies being read or handled; over it: 503 with Retry-After: 1
  std::chrono::milliseconds handshake{5'000};
  std::chrono::milliseconds first_request{10'000};  // its first byte: who connects means to ask
  std::chrono::milliseconds idle{150'000};          // first byte of the next request: longer than any client's own 90 s
  std::chrono::milliseconds head{5'000};            // rest of the head, from its first byte
  std::chrono::milliseconds body{10'000};           // all of it
  // A body that has begun holds memory, so it has to come: in each window but the first so many bytes, or the rest.
  std::chrono::milliseconds body_window{2'000};
  std::size_t body_window_bytes = 64 << 10;
  std::chrono::milliseconds answer{10'000};  // of a LaterAnswer; over it: 503 with Retry-After: 1
  std::chrono::milliseconds write{10'000};
  std::chrono::milliseconds shutdown{1'000};
};

struct Listener {
  std::string name;  // for logs and metrics: "webhook", "operations"
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;                  // 0: any free one
  const Cell<TlsMaterial>* tls = nullptr;  // null: plain HTTP. Read at every handshake, so a new pair drops nothing.
  EngineLimits limits{};
  std::vector<Route> routes{};
};

struct EngineCounters {
  std::uint64_t connections_open = 0;
  std::uint64_t connections_accepted = 0;
  std::uint64_t connections_refused = 0;  // over the cap
  std::uint64_t handshakes_failed = 0;
  std::uint64_t requests = 0;
  std::uint64_t requests_rejected = 0;  // 4xx and 503 by the engine itself
  std::uint64_t deadlines = 0;          // cut for being slow
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Binds everything, then serves on `threads` reactor threads of its own. kConflict: the port is in use. `journal`
  // gets the entries of JournaledAnswers, all of a reactor's turn at once; without one no entry is kept.
  static Result<std::unique_ptr<Engine>> Start(std::vector<Listener> listeners, int threads, Journal journal = {});
  [[nodiscard]] virtual std::uint16_t PortOf(std::string_view listener) const = 0;
  [[nodiscard]] virtual EngineCounters counters() const = 0;
  // Every answer from now on carries Connection: close (call when readiness has gone away).
  virtual void BeginDrain() = 0;
  // Stops accepting, closes idle connections, lets running requests finish until the deadline, joins the threads.
  virtual void Stop(std::chrono::milliseconds deadline) = 0;
};

}  // namespace podium
