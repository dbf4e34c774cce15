// Bytes over one non-blocking socket, plain or TLS. No buffering of its own, no waiting: the session asks, and is told
// for what to wait. Why not asio::ssl::stream: docs/adr/0002-serving-engine.md.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "serving/tls.h"

struct ssl_st;  // OpenSSL's SSL

namespace podium {

enum class IoState {
  kDone,       // progress was made
  kWantRead,   // wait until the socket is readable, then ask again
  kWantWrite,  // the same with writable
  kClosed,     // the peer has closed, or the connection is broken
};

struct IoResult {
  IoState state = IoState::kClosed;
  std::size_t bytes = 0;  // with kDone, never 0
};

// Borrows `socket` (a file descriptor in non-blocking mode), which must stay open for the stream's life. Not
// thread-safe. SIGPIPE must be ignored in the process: OpenSSL writes with write().
class Stream {
 public:
  // `tls` null: plain. A stream that OpenSSL could not make (out of memory) answers kClosed to everything.
  Stream(int socket, std::shared_ptr<const TlsMaterial> tls);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Done at once when plain. After kClosed a TLS alert may be on its way to the peer: linger before closing.
  IoState Handshake();
  IoResult Read(std::span<char> to);       // requires: `to` not empty
  IoResult Write(std::string_view bytes);  // requires: not empty; may write a part
  // True when bytes have come in that the socket does not announce any more: read before waiting.
  [[nodiscard]] bool HasBuffered() const;
  // Says goodbye: TLS close_notify, then a half-close. Reading goes on with Discard().
  void SendClose();
  // Reads raw bytes and throws them away, so that closing does not destroy an answer under way (a close with unread
  // bytes is a reset). Never kDone.
  IoState Discard();

 private:
  IoState Judge(int result);

  int socket_;
  std::shared_ptr<const TlsMaterial> tls_;
  ssl_st* ssl_ = nullptr;
  bool healthy_ = true;  // false: OpenSSL reported a failure, after which only destruction is allowed
};

}  // namespace podium
