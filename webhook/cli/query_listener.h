// The third listener of `podium serve`: feasibility for whoever the API server knows. Everything it needs is its own
// (threads, connections to the API server), so that no question of it can hold an admission up.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/endpoint.h"
#include "core/cell.h"
#include "kube/cluster_access.h"
#include "podium/result.h"
#include "query/service.h"
#include "serving/engine.h"
#include "serving/metrics.h"

namespace podium {

struct QueryListenerOptions {
  SocketAddress listen;
  std::vector<std::string> audiences;  // whom tokens must be for; empty: the API server
};

class QueryListener {
 public:
  // Files and sockets it may have open at once: connections, two for each question to the API server, its own.
  static constexpr std::size_t kDescriptors = 96;

  // `deps` without `access`; without `version` it is the API server's. What it points to, `tls` and `metrics` must
  // outlive the listener.
  static Result<std::unique_ptr<QueryListener>> Start(const ClusterAccess& access, const QueryListenerOptions& options,
                                                      QueryDeps deps, const Cell<TlsMaterial>& tls, Metrics& metrics);
  ~QueryListener();  // Stop()
  QueryListener(const QueryListener&) = delete;
  QueryListener& operator=(const QueryListener&) = delete;

  [[nodiscard]] Engine& engine();
  [[nodiscard]] const AccessCache& access() const;
  [[nodiscard]] SocketAddress address() const;  // with the real port
  // Lets what is being answered finish for a moment, and ends all threads.
  void Stop();

 private:
  struct Impl;
  explicit QueryListener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace podium
