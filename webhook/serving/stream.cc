#include "serving/stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace podium {
namespace {

IoState FromErrno(IoState when_it_would_block) {
  const bool again = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  return again ? when_it_would_block : IoState::kClosed;
}

}  // namespace

Stream::Stream(int socket, std::shared_ptr<const TlsMaterial> tls) : socket_(socket), tls_(std::move(tls)) {
  if (!tls_) return;
  ssl_ = SSL_new(tls_->context());
  healthy_ = ssl_ != nullptr && SSL_set_fd(ssl_, socket_) == 1;
  if (healthy_) SSL_set_accept_state(ssl_);
}

Stream::~Stream() { SSL_free(ssl_); }

// Stale entries in the thread's error queue make SSL_get_error lie, so every call starts with ERR_clear_error().
IoState Stream::Judge(int result) {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ: return IoState::kWantRead;
    case SSL_ERROR_WANT_WRITE: return IoState::kWantWrite;
    case SSL_ERROR_ZERO_RETURN: return IoState::kClosed;
    default: healthy_ = false; return IoState::kClosed;
  }
}

IoState Stream::Handshake() {
  if (!tls_) return IoState::kDone;
  if (!healthy_) return IoState::kClosed;
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_);
  return result == 1 ? IoState::kDone : Judge(result);
}

IoResult Stream::Read(std::span<char> to) {
  if (!healthy_) return {};
  if (!tls_) {
    const ssize_t got = ::recv(socket_, to.data(), to.size(), 0);
    if (got > 0) return {IoState::kDone, static_cast<std::size_t>(got)};
    return {got == 0 ? IoState::kClosed : FromErrno(IoState::kWantRead)};
  }
  std::size_t got = 0;
  ERR_clear_error();
  const int result = SSL_read_ex(ssl_, to.data(), to.size(), &got);
  return result == 1 ? IoResult{IoState::kDone, got} : IoResult{Judge(result)};
}

IoResult Stream::Write(std::string_view bytes) {
  if (!healthy_) return {};
  if (!tls_) {
    const ssize_t put = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put > 0) return {IoState::kDone, static_cast<std::size_t>(put)};
    return {FromErrno(IoState::kWantWrite)};
  }
  std::size_t put = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &put);
  return result == 1 ? IoResult{IoState::kDone, put} : IoResult{Judge(result)};
}

bool Stream::HasBuffered() const { return tls_ && healthy_ && SSL_has_pending(ssl_) == 1; }

void Stream::SendClose() {
  if (tls_ && healthy_ && SSL_is_init_finished(ssl_) == 1) {
    ERR_clear_error();
    SSL_shutdown(ssl_);  // a full socket loses the close_notify, which only a peer that does not read can notice
  }
  ::shutdown(socket_, SHUT_WR);
}

IoState Stream::Discard() {
  std::array<char, 16 << 10> scratch;
  // A bounded number of rounds: a peer that never stops sending must not hold the reactor. The socket stays readable.
  for (int round = 0; round < 16; ++round) {
    const ssize_t got = ::recv(socket_, scratch.data(), scratch.size(), 0);
    if (got > 0) continue;
    return got == 0 ? IoState::kClosed : FromErrno(IoState::kWantRead);
  }
  return IoState::kWantRead;
}

}  // namespace podium
