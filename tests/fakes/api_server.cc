#include "fakes/api_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <sstream>

#include "kube/tls_servers.h"

namespace podium::testing_tls {
namespace {

std::map<std::string, std::string> ParseQuery(const std::string& text) {
  std::map<std::string, std::string> query;
  std::istringstream pairs(text);
  for (std::string pair; std::getline(pairs, pair, '&');) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    query[pair.substr(0, equals)] = equals < pair.size() ? pair.substr(equals + 1) : "";
  }
  return query;
}

// Method empty: the client is gone.
FakeRequest ReadRequest(SSL* ssl) {
  FakeRequest request;
  std::istringstream head(ReadHead(ssl));
  std::string target;
  head >> request.method >> target;
  const std::size_t question = std::min(target.find('?'), target.size());
  request.path = target.substr(0, question);
  request.query = ParseQuery(question < target.size() ? target.substr(question + 1) : "");
  std::string line;
  std::getline(head, line);
  while (std::getline(head, line) && line.size() > 1) {
    const std::size_t colon = line.find(':');
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    request.headers[name] = line.substr(colon + 2, line.size() - colon - 3);
  }
  std::size_t left = request.headers.contains("content-length") ? std::stoul(request.headers["content-length"]) : 0;
  char buffer[4096];
  for (int got = 1; left > 0 && got > 0; left -= static_cast<std::size_t>(std::max(got, 0))) {
    got = SSL_read(ssl, buffer, static_cast<int>(std::min(left, sizeof buffer)));
    if (got > 0) request.body.append(buffer, static_cast<std::size_t>(got));
  }
  return request;
}

std::string Get(const FakeRequest& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? "" : found->second;
}

FakeApiServer::On KindOf(const FakeRequest& request) {
  const bool is_resource = request.path == "/api/v1/pods" || request.path.ends_with("/priorityclasses");
  if (request.method != "GET" || !is_resource) return FakeApiServer::On::kOther;
  if (Get(request, "watch") == "true") return FakeApiServer::On::kWatch;
  return Get(request, "continue").empty() ? FakeApiServer::On::kList : FakeApiServer::On::kPage;
}

std::string Show(const FakeRequest& request) {
  if (KindOf(request) == FakeApiServer::On::kOther) return request.method + " " + request.path;
  if (KindOf(request) == FakeApiServer::On::kWatch) return "WATCH rv=" + Get(request, "resourceVersion");
  std::string text = "LIST rv=" + Get(request, "resourceVersion");
  for (const std::string name : {"limit", "continue"})
    if (request.query.contains(name)) text += " " + name + "=" + Get(request, name);
  return text;
}

std::string StatusText(int code, const std::string& reason, const std::string& message) {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" + message +
         R"(","reason":")" + reason + R"(","code":)" + std::to_string(code) + "}";
}

}  // namespace

// --- answers --------------------------------------------------------------------------------------------------------

FakeApiServer::Answer RawReply(const std::string& bytes) {
  return [bytes](SSL* ssl, const FakeRequest&) {
    Send(ssl, bytes);
    SSL_shutdown(ssl);
  };
}

FakeApiServer::Answer Reply(int status, const std::string& body, const std::string& headers) {
  return RawReply("HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(body.size()) +
                  "\r\nConnection: close\r\n" + headers + "\r\n" + body);
}

FakeApiServer::Answer StatusReply(int code, const std::string& reason, const std::string& message,
                                  const std::string& headers) {
  return Reply(code, StatusText(code, reason, message), headers);
}

FakeApiServer::Answer SilenceAfter(const std::string& bytes) {
  return [bytes](SSL* ssl, const FakeRequest&) {
    if (!bytes.empty()) Send(ssl, bytes);
    WaitForClose(ssl);
  };
}

FakeApiServer::Answer Silence() { return SilenceAfter(""); }

std::string ChunkedHead() { return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"; }

std::string Chunk(const std::string& text) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + text + "\r\n";
}

// --- the listener ---------------------------------------------------------------------------------------------------

FakeApiServer::FakeApiServer(const Identity& identity, const Identity* client_ca)
    : context_(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free) {
  SSL_CTX_use_certificate(context_.get(), identity.certificate.get());
  SSL_CTX_use_PrivateKey(context_.get(), identity.key.get());
  if (client_ca != nullptr) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), client_ca->certificate.get());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  Listen();
}

FakeApiServer::~FakeApiServer() {
  Close();
  for (std::thread& talker : talkers_) talker.join();
}

void FakeApiServer::Listen() {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  listen(listener_, 16);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  open_ = true;
  acceptor_ = std::thread([this, listener = listener_] { Accept(listener); });
}

void FakeApiServer::Accept(int listener) {
  for (;;) {
    const int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    talkers_.emplace_back([this, socket] { Talk(socket); });
  }
}

void FakeApiServer::Close() {
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
    shutdown(listener_, SHUT_RDWR);
    for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  }
  changed_.notify_all();
  if (!acceptor_.joinable()) return;
  acceptor_.join();
  close(listener_);
  const std::lock_guard lock(mutex_);
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);  // accepted while we closed
}

void FakeApiServer::Reopen() {
  const std::lock_guard lock(mutex_);
  Listen();
}

void FakeApiServer::Talk(int socket) {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  SSL* ssl = SSL_new(context_.get());
  SSL_set_fd(ssl, socket);
  if (SSL_accept(ssl) == 1) {
    for (FakeRequest request = ReadRequest(ssl); !request.method.empty(); request = ReadRequest(ssl))
      if (!Handle(ssl, request)) break;
  }
  SSL_free(ssl);
  const std::lock_guard lock(mutex_);
  std::erase(sockets_, socket);
  close(socket);
}

// --- requests -------------------------------------------------------------------------------------------------------

// False when the connection is to be closed.
bool FakeApiServer::Handle(SSL* ssl, const FakeRequest& request) {
  const On on = KindOf(request);
  Answer answer;
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    std::deque<Answer>& answers = answers_[on];
    if (!answers.empty()) {
      answer = std::move(answers.front());
      answers.pop_front();
    }
  }
  changed_.notify_all();
  if (answer) {
    answer(ssl, request);
    return false;
  }
  if (on == On::kWatch) {
    Watch(ssl, request);
    return false;
  }
  if (on != On::kOther)
    List(ssl, request);
  else
    Send(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  return true;
}

// A continue token is the number of the first item of the page.
void FakeApiServer::List(SSL* ssl, const FakeRequest& request) {
  const std::string limit = Get(request, "limit");
  const std::string token = Get(request, "continue");
  const std::size_t first = token.empty() ? 0 : std::stoul(token);
  std::string body;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t end = limit.empty() ? objects_.size() : std::min(objects_.size(), first + std::stoul(limit));
    body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" + std::to_string(version_) + '"';
    if (end < objects_.size()) body += R"(,"continue":")" + std::to_string(end) + '"';
    body += R"(},"items":[)";
    std::size_t index = 0;
    for (const auto& [name, text] : objects_) {
      if (index >= first && index < end) body += (index == first ? "" : ",") + text;
      ++index;
    }
    body += "]}";
  }
  Send(ssl, "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

void FakeApiServer::Watch(SSL* ssl, const FakeRequest& request) {
  long seen = std::stol(Get(request, "resourceVersion"));
  if (!Send(ssl, ChunkedHead())) return;
  std::unique_lock lock(mutex_);
  const int generation = generation_;
  const std::size_t parts = event_parts_;
  while (open_ && seen >= oldest_) {
    const auto next = std::find_if(events_.begin(), events_.end(), [seen](const Event& e) { return e.version > seen; });
    if (next == events_.end()) {
      if (generation != generation_) break;
      changed_.wait(lock);
      continue;
    }
    seen = next->version;
    const std::string line = next->line;
    lock.unlock();
    const std::size_t step = parts == 0 ? line.size() : parts;
    for (std::size_t at = 0; at < line.size(); at += step)
      if (!Send(ssl, Chunk(line.substr(at, step)))) return;
    lock.lock();
  }
  const bool expired = seen < oldest_;
  if (!open_) return;
  lock.unlock();
  if (expired)
    Send(ssl, Chunk(R"({"type":"ERROR","object":)" + StatusText(410, "Expired", "too old resource version") + "}\n"));
  Send(ssl, Chunk(""));
}

// --- the cluster ----------------------------------------------------------------------------------------------------

std::string FakeApiServer::ObjectText(const std::string& name, const std::string& filling) const {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name + R"(","resourceVersion":")" +
         std::to_string(version_) + R"("},"filling":")" + filling + R"("})";
}

void FakeApiServer::AddEvent(const std::string& type, const std::string& object) {
  events_.push_back({version_, R"({"type":")" + type + R"(","object":)" + object + "}\n"});
  changed_.notify_all();
}

void FakeApiServer::Put(const std::string& name, const std::string& filling) {
  const std::lock_guard lock(mutex_);
  ++version_;
  const std::string type = objects_.contains(name) ? "MODIFIED" : "ADDED";
  objects_[name] = ObjectText(name, filling);
  AddEvent(type, objects_[name]);
}

void FakeApiServer::Remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  ++version_;
  objects_.erase(name);
  AddEvent("DELETED", ObjectText(name, ""));
}

void FakeApiServer::Bookmark() {
  const std::lock_guard lock(mutex_);
  ++version_;
  AddEvent("BOOKMARK",
           R"({"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":")" + std::to_string(version_) + R"("}})");
}

void FakeApiServer::EmitLine(const std::string& line) {
  const std::lock_guard lock(mutex_);
  events_.push_back({++version_, line + "\n"});
  changed_.notify_all();
}

void FakeApiServer::EndWatches() {
  const std::lock_guard lock(mutex_);
  ++generation_;
  changed_.notify_all();
}

void FakeApiServer::ForgetEvents() {
  const std::lock_guard lock(mutex_);
  oldest_ = ++version_;
  events_.clear();
  changed_.notify_all();
}

std::map<std::string, std::string> FakeApiServer::Objects() const {
  const std::lock_guard lock(mutex_);
  return objects_;
}

void FakeApiServer::Next(On on, Answer answer) {
  const std::lock_guard lock(mutex_);
  answers_[on].push_back(std::move(answer));
}

void FakeApiServer::SetEventParts(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  event_parts_ = bytes;
}

std::vector<std::string> FakeApiServer::Log() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> log;
  for (const FakeRequest& request : requests_) log.push_back(Show(request));
  return log;
}

std::vector<FakeRequest> FakeApiServer::Requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool FakeApiServer::WaitForRequests(std::size_t count) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return requests_.size() >= count; });
}

}  // namespace podium::testing_tls
