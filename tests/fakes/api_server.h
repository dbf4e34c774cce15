// An API server with one resource (pods, or whatever a test has it answer for priorityclasses), on loopback and with
// real TLS: LIST with pages, WATCH with bookmarks, and whatever fault a test wants next. It keeps objects, so that a
// test can ask whether the other side has the same.
#pragma once

#include <openssl/ssl.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kube/certificates.h"

namespace podium::testing_tls {

struct FakeRequest {
  std::string method;
  std::string path;
  std::map<std::string, std::string> query;    // still encoded
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

class FakeApiServer {
 public:
  // Answers one request in the server's stead; the connection is closed afterwards.
  using Answer = std::function<void(SSL* ssl, const FakeRequest& request)>;
  enum class On { kList, kPage, kWatch, kOther };  // kPage: a list with a continue token

  // `client_ca`: not null: only clients with a certificate of it are let in.
  explicit FakeApiServer(const Identity& identity, const Identity* client_ca = nullptr);
  ~FakeApiServer();
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;
  [[nodiscard]] int port() const { return port_; }

  // --- the cluster --------------------------------------------------------------------------------------------------
  void Put(const std::string& name, const std::string& filling = "");  // ADDED or MODIFIED
  void Remove(const std::string& name);                                // DELETED, also of what is not there
  void Bookmark();
  void EmitLine(const std::string& line);  // a watch event as it is, to all watches
  void EndWatches();                       // in order, as after timeoutSeconds
  void ForgetEvents();                     // watches from before now get 410, those under way too
  [[nodiscard]] std::map<std::string, std::string> Objects() const;

  // --- faults -------------------------------------------------------------------------------------------------------
  void Next(On on, Answer answer);        // for the next such request; several queue; {}: a good answer
  void Close();                           // connections are cut and new ones refused
  void Reopen();                          // on the same port
  void SetEventParts(std::size_t bytes);  // watch events travel in parts of this size

  // "LIST rv=0", "LIST rv= limit=500 continue=2", "WATCH rv=7", else method and path.
  [[nodiscard]] std::vector<std::string> Log() const;
  // Bounded wait until that many requests have come.
  [[nodiscard]] bool WaitForRequests(std::size_t count) const;
  [[nodiscard]] std::vector<FakeRequest> Requests() const;

 private:
  struct Event {
    long version;
    std::string line;
  };

  void Listen();
  void Accept(int listener);
  void Talk(int socket);
  bool Handle(SSL* ssl, const FakeRequest& request);
  void List(SSL* ssl, const FakeRequest& request);
  void Watch(SSL* ssl, const FakeRequest& request);
  void AddEvent(const std::string& type, const std::string& object);
  std::string ObjectText(const std::string& name, const std::string& filling) const;

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  int port_ = 0;
  int listener_ = -1;
  std::thread acceptor_;
  std::vector<std::thread> talkers_;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool open_ = false;
  std::vector<int> sockets_;
  long version_ = 0;
  long oldest_ = 0;
  int generation_ = 0;  // of the watches: those of an older one end
  std::size_t event_parts_ = 0;
  std::map<std::string, std::string> objects_;
  std::vector<Event> events_;
  std::map<On, std::deque<Answer>> answers_;
  std::vector<FakeRequest> requests_;
};

// Answers.
FakeApiServer::Answer Reply(int status, const std::string& body, const std::string& headers = "");
FakeApiServer::Answer StatusReply(int code, const std::string& reason, const std::string& message = "no",
                                  const std::string& headers = "");
FakeApiServer::Answer RawReply(const std::string& bytes);  // then the connection ends
FakeApiServer::Answer Silence();                           // not a byte, until the client goes
FakeApiServer::Answer SilenceAfter(const std::string& bytes);
// "HTTP/1.1 200 OK" and the beginning of a chunked body that goes on.
std::string ChunkedHead();
std::string Chunk(const std::string& text);

}  // namespace podium::testing_tls
