#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "core/text.h"
#include "kube/address.h"
#include "kube/cluster_access.h"
#include "wire/json.h"
#include "wire/manifest.h"
#include "wire/patch.h"
#include "wire/yaml.h"

namespace podium {
namespace {

constexpr std::size_t kMaxKubeconfigBytes = 1 << 20;

// Reads one kubeconfig. The first problem is kept and reading goes on with empty texts: no function passes failure on.
// Source: client-go tools/clientcmd/api/v1/types.go and client_config.go. Unknown keys are ignored, as there.
class Kubeconfig {
 public:
  explicit Kubeconfig(const std::string& path) : path_(path), folder_(std::filesystem::path(path).parent_path()) {}

  Result<ClusterAccess> Read(const YamlNode& root, std::string_view wanted_context) {
    ClusterAccess access;
    std::string name(wanted_context);
    if (name.empty()) name = Text(root, "current-context");
    if (name.empty())
      Fail(root.span, "there is no current-context; set one, or name one of: " + Names(root, "contexts"));
    const YamlNode& context = Named(root, "contexts", "context", name, root.span);
    if (!Text(context, "namespace").empty()) access.namespace_name = Text(context, "namespace");
    access.origin = "context '" + name + "' of " + path_;
    ReadCluster(Named(root, "clusters", "cluster", Text(context, "cluster"), context.span), access);
    if (!Text(context, "user").empty())
      ReadUser(Named(root, "users", "user", Text(context, "user"), context.span), access);
    if (problem_) return *problem_;
    return access;
  }

 private:
  void Fail(const SourceSpan& span, const std::string& message) {
    if (!problem_) problem_ = Error{ErrorKind::kInvalidInput, FormatProblem({span, message})};
  }

  // --- nodes --------------------------------------------------------------------------------------------------------

  static const YamlNode& Nothing() {
    static const YamlNode nothing;
    return nothing;
  }

  static const YamlNode& Child(const YamlNode& parent, std::string_view key) {
    const YamlNode* child = parent.kind == YamlKind::kMapping ? parent.Find(key) : nullptr;
    return child == nullptr ? Nothing() : *child;
  }

  std::string Text(const YamlNode& parent, std::string_view key) {
    const YamlNode& node = Child(parent, key);
    if (node.kind == YamlKind::kNull) return "";
    if (node.kind == YamlKind::kScalar) return node.scalar;
    Fail(node.span, std::string(key) + " must be a text");
    return "";
  }

  const std::vector<YamlNode>& Items(const YamlNode& parent, std::string_view key) {
    const YamlNode& node = Child(parent, key);
    if (node.kind != YamlKind::kNull && node.kind != YamlKind::kSequence)
      Fail(node.span, std::string(key) + " must be a list");
    return node.items;
  }

  std::string Names(const YamlNode& root, std::string_view list) {
    std::string names;
    for (const YamlNode& item : Items(root, list)) names += (names.empty() ? "" : ", ") + Quoted(Text(item, "name"));
    return names.empty() ? "(the file has none)" : names;
  }

  // The `member` of the entry called `name`. `at`: where it was asked for.
  const YamlNode& Named(const YamlNode& root, std::string_view list, std::string_view member, const std::string& name,
                        const SourceSpan& at) {
    for (const YamlNode& item : Items(root, list))
      if (Text(item, "name") == name) return Child(item, member);
    Fail(at, "there is no " + std::string(member) + " " + Quoted(name) + " in " + std::string(list) +
                 "; there are: " + Names(root, list));
    return Nothing();
  }

  // A path is meant from the file's own folder.
  std::string FilePath(const std::string& path) {
    return path.empty() || path.front() == '/' ? path : (folder_ / path).lexically_normal().string();
  }

  PemSource Pem(const YamlNode& parent, const std::string& key) {
    PemSource source;
    const YamlNode& data = Child(parent, key + "-data");
    const Result<std::string> text = DecodeBase64(Text(parent, key + "-data"));
    if (!text) Fail(data.span, key + "-data: " + text.error().message);
    if (text) source.text = *text;
    if (source.text.empty()) source.file = FilePath(Text(parent, key));
    return source;
  }

  // --- cluster ------------------------------------------------------------------------------------------------------

  void ReadCluster(const YamlNode& cluster, ClusterAccess& access) {
    if (problem_) return;
    const YamlNode& insecure = Child(cluster, "insecure-skip-tls-verify");
    if (!insecure.scalar.empty() && insecure.scalar != "false")  // YAML has several words for true
      Fail(insecure.span,
           "insecure-skip-tls-verify is refused: whoever answers would get the credentials; remove it and give the "
           "certificate-authority of the cluster");
    if (const YamlNode& proxy = Child(cluster, "proxy-url"); !proxy.scalar.empty())
      Fail(proxy.span, "proxy-url is not supported; remove it and reach the API server directly");
    access.server = Text(cluster, "server");
    CheckServer(cluster, access.server);
    access.tls_server_name = Text(cluster, "tls-server-name");
    access.ca = Pem(cluster, "certificate-authority");
    if (access.ca.empty())
      Fail(cluster.span,
           "the cluster has no certificate-authority or certificate-authority-data; without a CA the server cannot be "
           "told from an impostor");
  }

  void CheckServer(const YamlNode& cluster, const std::string& server) {
    const YamlNode& node = Child(cluster, "server");
    const SourceSpan& span = node.span.line == 0 ? cluster.span : node.span;
    if (server.empty()) return Fail(span, "the cluster has no server; wanted is a URL such as https://10.0.0.1:6443");
    if (server.starts_with("http://"))
      return Fail(span,
                  "server begins with http://, which is refused: the credentials would travel in the open; "
                  "wanted is https://");
    if (!ParseAddress(SplitServerUrl(server).origin))
      Fail(span, "server " + Quoted(server) + " is no address; wanted is a URL such as https://10.0.0.1:6443");
  }

  // --- user ---------------------------------------------------------------------------------------------------------

  void ReadUser(const YamlNode& user, ClusterAccess& access) {
    RefuseOtherMethods(user);
    access.client_certificate = Pem(user, "client-certificate");
    access.client_key = Pem(user, "client-key");
    if (access.client_certificate.empty() != access.client_key.empty())
      Fail(user.span, "client-certificate and client-key belong together; one of the two is missing");
    const std::string file = FilePath(Text(user, "tokenFile"));
    const std::string token = Text(user, "token");
    const YamlNode& exec = Child(user, "exec");
    if (!file.empty())
      access.token = {TokenSource::Kind::kFile, file, {}};
    else if (!token.empty())
      access.token = {TokenSource::Kind::kLiteral, token, {}};
    else if (exec.kind != YamlKind::kNull)
      access.token = {TokenSource::Kind::kExec, "", ReadExec(exec, access)};
  }

  void RefuseOtherMethods(const YamlNode& user) {
    constexpr std::array<std::string_view, 4> kRefused = {"auth-provider", "username", "password", "as"};
    for (const std::string_view key : kRefused) {
      const YamlNode& node = Child(user, key);
      if (node.kind == YamlKind::kNull) continue;
      Fail(node.span, std::string(key) + " is not supported; use a token, tokenFile, client-certificate or exec");
    }
  }

  ExecPlugin ReadExec(const YamlNode& exec, const ClusterAccess& access) {
    ExecPlugin plugin;
    plugin.api_version = Text(exec, "apiVersion");
    if (plugin.api_version != "client.authentication.k8s.io/v1" &&
        plugin.api_version != "client.authentication.k8s.io/v1beta1")
      Fail(exec.span, "the plugin's apiVersion is " + Quoted(plugin.api_version) +
                          "; supported are client.authentication.k8s.io/v1 and client.authentication.k8s.io/v1beta1");
    if (const YamlNode& mode = Child(exec, "interactiveMode"); mode.scalar == "Always")
      Fail(mode.span, "interactiveMode Always is refused: there is no terminal to ask at; set Never or IfAvailable");
    plugin.command = Text(exec, "command");
    if (plugin.command.empty()) Fail(exec.span, "the plugin has no command");
    if (plugin.command.find('/') != std::string::npos) plugin.command = FilePath(plugin.command);
    for (const YamlNode& arg : Items(exec, "args")) plugin.args.push_back(arg.scalar);
    for (const YamlNode& pair : Items(exec, "env")) plugin.env.emplace_back(Text(pair, "name"), Text(pair, "value"));
    plugin.info = ExecInfo(plugin.api_version, Text(exec, "provideClusterInfo") == "true" ? &access : nullptr);
    return plugin;
  }

  // `cluster`: null when the plugin is not to know it.
  std::string ExecInfo(const std::string& api_version, const ClusterAccess* cluster) {
    std::string text;
    JsonWriter out(text);
    out.BeginObject();
    out.Key("apiVersion");
    out.String(api_version);
    out.Key("kind");
    out.String("ExecCredential");
    out.Key("spec");
    out.BeginObject();
    out.Key("interactive");
    out.Bool(false);
    if (cluster != nullptr) WriteCluster(out, *cluster);
    out.EndObject();
    out.EndObject();
    return text;
  }

  void WriteCluster(JsonWriter& out, const ClusterAccess& cluster) {
    const Result<std::string> ca = ReadPem(cluster.ca, "CA");
    if (!ca && !problem_) problem_ = ca.error();
    out.Key("cluster");
    out.BeginObject();
    out.Key("server");
    out.String(cluster.server);
    if (!cluster.tls_server_name.empty()) {
      out.Key("tls-server-name");
      out.String(cluster.tls_server_name);
    }
    out.Key("certificate-authority-data");
    out.String(Base64(ca ? *ca : ""));
    out.EndObject();
  }

  const std::string path_;
  const std::filesystem::path folder_;
  std::optional<Error> problem_;
};

}  // namespace

Result<ClusterAccess> LoadKubeconfig(const std::string& path, std::string_view context) {
  const Result<std::string> found = path.empty() ? FindKubeconfig() : Result<std::string>(path);
  if (!found) return found.error();
  const Result<std::string> text = ReadSmallFile(*found, kMaxKubeconfigBytes);
  if (!text) return text.error().WithContext("reading the kubeconfig");
  const YamlParse parse = ParseYaml(*found, *text, {});
  if (!parse.problems.empty()) return Error{ErrorKind::kInvalidInput, FormatProblem(parse.problems.front())};
  if (parse.documents.size() != 1 || parse.documents.front().kind != YamlKind::kMapping)
    return Error{ErrorKind::kInvalidInput, *found +
                                               ":1:1: this is no kubeconfig; wanted is a mapping with clusters, "
                                               "users and contexts"};
  return Kubeconfig(*found).Read(parse.documents.front(), context);
}

}  // namespace podium
