// How to reach a Kubernetes API server: from a kubeconfig file or from inside the cluster.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podium/result.h"

namespace podium {

// PEM, as text or in a file; the text wins. Files are read again when they change.
struct PemSource {
  std::string text;
  std::string file;
  [[nodiscard]] bool empty() const { return text.empty() && file.empty(); }
  bool operator==(const PemSource&) const = default;
};

// A program that prints an ExecCredential. Source: client-go pkg/apis/clientauthentication (v1, v1beta1).
struct ExecPlugin {
  std::string command;  // a path, or a name to be found in PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  // on top of our own environment
  std::string api_version;
  std::string info;  // the text of KUBERNETES_EXEC_INFO
  bool operator==(const ExecPlugin&) const = default;
};

struct TokenSource {
  enum class Kind { kNone, kLiteral, kFile, kExec };
  Kind kind = Kind::kNone;
  std::string text;  // the token, or the file's path
  ExecPlugin exec;
  bool operator==(const TokenSource&) const = default;
};

// A value. Holds secrets: never print it.
struct ClusterAccess {
  std::string server;  // "https://10.0.0.1:6443", perhaps with a path
  PemSource ca;
  std::string tls_server_name;  // what the certificate must be for; empty: the host of `server`
  PemSource client_certificate;
  PemSource client_key;
  TokenSource token;
  std::string namespace_name = "default";
  std::string origin;  // for messages: "context 'dev' of /home/a/.kube/config"
  bool operator==(const ClusterAccess&) const = default;
};

// The file kubectl would read: the first existing one of $KUBECONFIG (several files are not merged), else
// ~/.kube/config. kNotFound names where it was looked for.
Result<std::string> FindKubeconfig();

// `path` empty: FindKubeconfig. `context` empty: the current-context. Errors name file:line:column. Refused, because
// the client would be less safe or not work as written: http://, insecure-skip-tls-verify, a missing CA, a proxy, basic
// authentication, impersonation, the removed auth-provider, and plugins that want a terminal.
Result<ClusterAccess> LoadKubeconfig(const std::string& path, std::string_view context);

// Of a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT and the service account in `folder`. kNotFound outside
// of a cluster.
Result<ClusterAccess> InClusterAccess(const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

// The PEM text of `source`, at most 1 MiB; empty for an empty source. `what` for messages: "CA".
Result<std::string> ReadPem(const PemSource& source, std::string_view what);

// A file's whole text. kNotFound when it cannot be read, kInvalidInput when it is longer than `max_bytes`.
Result<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes);

// Standard alphabet with padding; blanks and line ends are skipped. kInvalidInput for anything else.
Result<std::string> DecodeBase64(std::string_view text);

}  // namespace podium
