#include "serving/engine_session.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "serving/engine_parser.h"

namespace podium {
namespace {

constexpr std::size_t kFirstInputBytes = 16 << 10;  // one TLS record; a usual review with its head fits
constexpr std::size_t kLargestGrowth = 1 << 20;     // more would be memory that nobody has filled
constexpr int kStepsPerTurn = 64;                   // about 16 requests, then the neighbours have their turn

std::string PeerOf(const Socket& socket) {
  boost::system::error_code error;
  const asio::ip::tcp::endpoint endpoint = socket.remote_endpoint(error);
  if (error) return "unknown";  // gone already
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

}  // namespace

// --- Session: life --------------------------------------------------------------------------------------------------

Session::Session(Socket socket, std::shared_ptr<const TlsMaterial> tls, Reactor& reactor, ListenerState& listener)
    : socket_(std::move(socket)),
      peer_(PeerOf(socket_)),
      reactor_(reactor),
      listener_(listener),
      stream_(socket_.native_handle(), std::move(tls)) {
  reactor_.Add(*this);
}

Session::~Session() { Close(); }

void Session::Start() {
  now_ = SteadyClock::now();
  Enter(Phase::kHandshake);
  if (reactor_.stopping) OnStop();
  Run();
}

void Session::Close() {
  if (std::exchange(closed_, true)) return;
  reactor_.Remove(*this);
  listener_.open.fetch_sub(1, std::memory_order_relaxed);
  listener_.bytes_in_flight.fetch_sub(std::exchange(charged_, 0), std::memory_order_relaxed);
  boost::system::error_code ignored;
  socket_.close(ignored);                                  // waits under way end with operation_aborted
  const auto last_holder = std::exchange(self_, nullptr);  // goes at the end of this scope
}

void Session::OnSweep(SteadyClock::time_point now) {
  if (now < deadline_ || phase_ == Phase::kTurn) return;  // that phase ends with the turn
  const auto self = shared_from_this();
  now_ = now;
  try {
    OnDeadline();
  } catch (const std::exception&) {  // no memory to say why
    Close();
  }
}

void Session::OnDeadline() {
  if (phase_ == Phase::kBody && KeepsPace()) return;
  const bool too_slow = phase_ != Phase::kIdle && phase_ != Phase::kLinger;
  if (too_slow) Count(reactor_.counters.deadlines);
  if (phase_ == Phase::kHead || phase_ == Phase::kBody) {
    Reject(ErrorResponse(408, "the request did not arrive in time"));
    return Run();
  }
  if (phase_ == Phase::kLater) {
    self_.reset();
    Reject(OverloadedResponse("the answer was not ready in time; try again"));
    return Run();
  }
  if (phase_ == Phase::kIdle) stream_.SendClose();
  Close();
}

bool Session::IsSilentOn(const ListenerState& listener) const {
  const bool waits = phase_ == Phase::kHandshake || phase_ == Phase::kIdle || phase_ == Phase::kHead;
  return &listener_ == &listener && served_ == 0 && waits;
}

// A connection that has been served and is idle goes at once, unless its next request is here already; one that never
// was served may just have been opened by a client that knows of no drain, and gets a moment to ask.
void Session::OnStop() {
  const auto self = shared_from_this();
  if (phase_ == Phase::kLater) return;
  if (served_ == 0) {
    const auto end = SteadyClock::now() + listener_.config.limits.shutdown;
    deadline_ = std::min(deadline_, end);
    body_end_ = std::min(body_end_, end);
  }
  if (phase_ != Phase::kIdle) return;
  readable_ = true;
  Run();
}

// --- Session: turns -------------------------------------------------------------------------------------------------

void Session::Run() {
  if (closed_) return;
  now_ = SteadyClock::now();
  try {
    TakeSteps();
  } catch (const std::exception&) {  // no memory: this connection goes, the others stay
    Close();
  }
}

void Session::TakeSteps() {
  for (int step = 0; step < kStepsPerTurn; ++step) {
    switch (Step()) {
      case Next::kAgain: continue;
      case Next::kWaitRead: return Wait(Socket::wait_read, waiting_read_);
      case Next::kWaitWrite: return Wait(Socket::wait_write, waiting_write_);
      case Next::kWaitTurn: return;  // OnAnswered() or OnLater() goes on
      case Next::kClose: return Close();
    }
  }
  asio::post(reactor_.io, [self = shared_from_this()] { self->Run(); });
}

Session::Next Session::Step() {
  switch (phase_) {
    case Phase::kHandshake: return StepHandshake();
    case Phase::kIdle: return StepIdle();
    case Phase::kHead: return StepHead();
    case Phase::kBody: return StepBody();
    case Phase::kTurn:
    case Phase::kLater: return Next::kWaitTurn;
    case Phase::kWrite: return StepWrite();
    case Phase::kLinger: return StepLinger();
  }
  return Next::kClose;
}

// `waiting` is the member that remembers a wait under way: a deadline may change what a session waits for.
void Session::Wait(Socket::wait_type type, bool& waiting) {
  if (std::exchange(waiting, true)) return;
  socket_.async_wait(type, [self = shared_from_this(), &waiting](boost::system::error_code error) {
    waiting = false;
    if (self->closed_) return;
    if (error) return self->Close();
    self->readable_ = true;
    self->Run();
  });
}

void Session::Enter(Phase phase) {
  phase_ = phase;
  deadline_ = now_ + LimitOf(phase);
}

// The first window is for the network: a lost packet comes again within it.
void Session::EnterBody() {
  Enter(Phase::kBody);
  body_end_ = deadline_;
  window_began_.reset();
  deadline_ = std::min(body_end_, now_ + listener_.config.limits.body_window);
}

// At the end of a window. True: the next one has begun.
bool Session::KeepsPace() {
  const EngineLimits& limits = listener_.config.limits;
  const bool enough = !window_began_ || in_.size() - *window_began_ >= limits.body_window_bytes;
  if (!enough || now_ >= body_end_) return false;
  window_began_ = in_.size();
  deadline_ = std::min(body_end_, now_ + limits.body_window);
  return true;
}

std::chrono::milliseconds Session::LimitOf(Phase phase) const {
  const EngineLimits& limits = listener_.config.limits;
  switch (phase) {
    case Phase::kHandshake: return limits.handshake;
    case Phase::kIdle: return served_ == 0 ? limits.first_request : limits.idle;
    case Phase::kHead: return limits.head;
    case Phase::kBody: return limits.body;
    case Phase::kTurn: break;  // has none
    case Phase::kLater: return limits.answer;
    case Phase::kWrite: return limits.write;
    case Phase::kLinger: return limits.shutdown;
  }
  return limits.shutdown;
}

Session::Next Session::After(IoState state) {
  switch (state) {
    case IoState::kDone: return Next::kAgain;
    case IoState::kWantRead: return Next::kWaitRead;
    case IoState::kWantWrite: return Next::kWaitWrite;
    case IoState::kClosed: return Next::kClose;
  }
  return Next::kClose;
}

// --- Session: the phases --------------------------------------------------------------------------------------------

Session::Next Session::StepHandshake() {
  const IoState state = stream_.Handshake();
  if (state == IoState::kClosed) {
    Count(reactor_.counters.handshakes_failed);
    stream_.SendClose();
    Enter(Phase::kLinger);  // an alert may be under way that tells the client why
    return Next::kAgain;
  }
  if (state != IoState::kDone) return After(state);
  const SteadyClock::time_point fresh_deadline = deadline_;
  Enter(Phase::kIdle);
  if (reactor_.stopping) deadline_ = std::min(deadline_, fresh_deadline);
  return Next::kAgain;
}

// Waits for the first byte of a request without holding a buffer for it.
Session::Next Session::StepIdle() {
  if (in_.size() == 0 && !readable_ && !stream_.HasBuffered()) return Next::kWaitRead;
  const Next next = in_.size() > 0 ? Next::kAgain : Fill(kFirstInputBytes);
  if (phase_ != Phase::kIdle) return next;  // no room for it: answered 503
  // A part of a TLS record is a first byte too: who sends records in drips gets no idle time for it.
  if (in_.size() > 0 || stream_.HasBuffered()) {
    searched_ = 0;
    request_ = {};
    Enter(Phase::kHead);
    return next;
  }
  ReleaseInput();
  readable_ = false;
  if (next != Next::kWaitRead || !reactor_.stopping || served_ == 0) return next;
  stream_.SendClose();
  return Next::kClose;
}

Session::Next Session::StepHead() {
  const EngineLimits& limits = listener_.config.limits;
  const std::string_view data = in_.data();
  const std::size_t end = data.find("\r\n\r\n", searched_ < 3 ? 0 : searched_ - 3);
  searched_ = data.size();
  const std::size_t head_bytes = end == std::string_view::npos ? data.size() : end + 4;
  if (head_bytes > limits.head_bytes)
    return Reject(
        ErrorResponse(431, "the head of the request is larger than " + std::to_string(limits.head_bytes) + " bytes"));
  if (!data.empty() && !MayBeginRequest(data.front()))
    return Reject(ErrorResponse(400, "this does not begin like an HTTP request"));
  if (end == std::string_view::npos) return Fill(limits.head_bytes + 1);
  std::variant<RequestHead, HttpResponse> parsed = ParseHead(data.substr(0, head_bytes));
  if (const auto* failure = std::get_if<HttpResponse>(&parsed)) return Reject(*failure);
  const auto& head = std::get<RequestHead>(parsed);
  http11_ = head.http11;
  keep_ = head.keep_alive;
  request_.head_only = head.method == "HEAD";
  HeadVerdict verdict = JudgeHead(head, listener_.config.routes, limits);
  if (const auto* rejection = std::get_if<HttpResponse>(&verdict)) return Reject(*rejection);
  in_.Consume(head_bytes);
  return Accept(std::get<AcceptedHead>(std::move(verdict)));
}

Session::Next Session::Accept(AcceptedHead head) {
  request_ = std::move(head);
  const std::size_t in_flight = listener_.bytes_in_flight.load(std::memory_order_relaxed);
  const std::size_t missing = request_.body_bytes - std::min(request_.body_bytes, in_.capacity());
  if (in_flight + missing > listener_.config.limits.bytes_in_flight)
    return Reject(OverloadedResponse("too many requests at once; try again"));
  EnterBody();
  return Next::kAgain;
}

Session::Next Session::StepBody() {
  if (in_.size() < request_.body_bytes) return Fill(request_.body_bytes);
  phase_ = Phase::kTurn;
  reactor_.AnswerAtEndOfTurn(shared_from_this());
  return Next::kWaitTurn;
}

// Reads once, into a buffer that grows towards `wanted` bytes as they really arrive, and is charged as it grows. By at
// most 1 MiB at once: doubled, a body that stops behind its half would hold twice what was ever sent.
Session::Next Session::Fill(std::size_t wanted) {
  if (in_.room().empty()) {
    const std::size_t grown = std::min(wanted, in_.capacity() + std::min(in_.capacity(), kLargestGrowth));
    const std::size_t capacity = in_.size() < in_.capacity() ? in_.capacity() : std::max(kFirstInputBytes, grown);
    if (!Reserve(capacity)) return Reject(OverloadedResponse("too many requests at once; try again"));
  }
  const IoResult result = stream_.Read(in_.room());
  if (result.state == IoState::kDone) in_.Commit(result.bytes);
  return After(result.state);
}

bool Session::Reserve(std::size_t capacity) {
  const std::size_t more = capacity - charged_;
  const std::size_t before = listener_.bytes_in_flight.fetch_add(more, std::memory_order_relaxed);
  if (before + more > listener_.config.limits.bytes_in_flight) {
    listener_.bytes_in_flight.fetch_sub(more, std::memory_order_relaxed);
    return false;
  }
  charged_ += more;
  in_.Grow(capacity);
  return true;
}

void Session::ReleaseInput() {
  in_.Release();
  listener_.bytes_in_flight.fetch_sub(std::exchange(charged_, 0), std::memory_order_relaxed);
}

Session::Next Session::Reject(const HttpResponse& response) {
  Count(reactor_.counters.rejected);
  keep_ = false;
  return Reply(response);
}

Session::Next Session::Reply(const HttpResponse& response) {
  if (!keep_) in_.Consume(in_.size());  // nothing more is read of it
  if (in_.size() == 0) ReleaseInput();  // before the answer: a peer that is slow to take it must not hold memory
  using Connection = ReplyOptions::Connection;
  if (reactor_.draining.load(std::memory_order_relaxed)) keep_ = false;
  const Connection kept = http11_ ? Connection::kKeep : Connection::kKeepExplicit;
  const auto body = request_.head_only ? ReplyOptions::Body::kOmit : ReplyOptions::Body::kSend;
  out_ = SerializeReply(response, {.connection = keep_ ? kept : Connection::kClose, .body = body});
  written_ = 0;
  Enter(Phase::kWrite);
  return Next::kAgain;
}

Session::Next Session::StepWrite() {
  const IoResult result = stream_.Write(std::string_view(out_).substr(written_));
  if (result.state != IoState::kDone) return After(result.state);
  written_ += result.bytes;
  if (written_ < out_.size()) return Next::kAgain;
  out_ = {};
  ++served_;
  if (!keep_) {
    stream_.SendClose();
    Enter(Phase::kLinger);
    return Next::kAgain;
  }
  readable_ = false;
  Enter(Phase::kIdle);
  return Next::kAgain;
}

Session::Next Session::StepLinger() { return After(stream_.Discard()); }

}  // namespace podium
