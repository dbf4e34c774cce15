#include "kube/cluster_access.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "fakes/temp_dir.h"
#include "kube/address.h"

namespace podium {

void PrintTo(const ClusterAccess& access, std::ostream* out) {
  *out << access.server << " ca " << access.ca.text << '|' << access.ca.file << " cert "
       << access.client_certificate.text << '|' << access.client_certificate.file << " key " << access.client_key.text
       << '|' << access.client_key.file << " token " << static_cast<int>(access.token.kind) << ' ' << access.token.text
       << " namespace " << access.namespace_name << " from " << access.origin;
}

namespace {

// Sets environment variables back when it goes out of scope.
class Environment {
 public:
  void Set(const std::string& name, const std::string& value) {
    Keep(name);
    setenv(name.c_str(), value.c_str(), 1);
  }
  void Unset(const std::string& name) {
    Keep(name);
    unsetenv(name.c_str());
  }
  ~Environment() {
    for (auto it = before_.rbegin(); it != before_.rend(); ++it)
      if (it->second)
        setenv(it->first.c_str(), it->second->c_str(), 1);
      else
        unsetenv(it->first.c_str());
  }
  Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void Keep(const std::string& name) {
    const char* value = getenv(name.c_str());
    before_.emplace_back(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
  }
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

// --- kubeconfig -----------------------------------------------------------------------------------------------------

class KubeconfigTest : public testing::Test {
 protected:
  static std::string Text(const std::string& cluster, const std::string& user) {
    return "apiVersion: v1\nkind: Config\ncurrent-context: dev\n"
           "contexts:\n- {name: dev, context: {cluster: c, user: u, namespace: team-a}}\n"
           "- {name: bare, context: {cluster: c}}\n"
           "clusters:\n- name: c\n  cluster:\n" +
           cluster + "users:\n- name: u\n  user:\n" + user;
  }
  Result<ClusterAccess> Load(const std::string& text, const std::string& context = "") {
    path_ = folder_.Write("config", text);
    return LoadKubeconfig(path_, context);
  }
  std::string ErrorOf(const std::string& text, const std::string& context = "") {
    const Result<ClusterAccess> access = Load(text, context);
    if (access) return "no error";
    const std::string& message = access.error().message;
    return message.starts_with(path_) ? message.substr(path_.size()) : message;
  }

  const std::string cluster_ = "    server: https://10.0.0.1:6443\n    certificate-authority: pki/ca.crt\n";
  TempDir folder_;
  std::string path_;
};

TEST_F(KubeconfigTest, FilesAreMeantFromItsFolder) {
  const Result<ClusterAccess> access = Load(
      Text(cluster_ + "    tls-server-name: kubernetes\n",
           "    client-certificate: a.crt\n    client-key: /abs/a.key\n    tokenFile: ../token\n    token: unused\n"));
  ASSERT_TRUE(access) << access.error().message;
  ClusterAccess wanted;
  wanted.server = "https://10.0.0.1:6443";
  wanted.ca.file = folder_.File("pki/ca.crt");
  wanted.tls_server_name = "kubernetes";
  wanted.client_certificate.file = folder_.File("a.crt");
  wanted.client_key.file = "/abs/a.key";
  wanted.token = {
      TokenSource::Kind::kFile, (std::filesystem::path(folder_.path()).parent_path() / "token").string(), {}};
  wanted.namespace_name = "team-a";
  wanted.origin = "context 'dev' of " + path_;
  EXPECT_EQ(*access, wanted);
}

TEST_F(KubeconfigTest, InlineDataComesBeforeFiles) {
  const Result<ClusterAccess> access = Load(Text(
      cluster_ + "    certificate-authority-data: Q0E=\n",
      "    client-certificate-data: Q0VSVA==\n    client-key-data: S0VZ\n    client-key: a.key\n    token: abc\n"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->ca, (PemSource{"CA", ""}));
  EXPECT_EQ(access->client_certificate, (PemSource{"CERT", ""}));
  EXPECT_EQ(access->client_key, (PemSource{"KEY", ""}));
  EXPECT_EQ(access->token, (TokenSource{TokenSource::Kind::kLiteral, "abc", {}}));
}

TEST_F(KubeconfigTest, NamedContextsAndUsersMayBeBare) {
  const Result<ClusterAccess> access = Load(Text(cluster_, "    token: abc\n"), "bare");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->token, TokenSource{});
  EXPECT_EQ(access->namespace_name, "default");
}

TEST_F(KubeconfigTest, ReadsAnExecPlugin) {
  folder_.Write("pki/ca.crt", "PEM");
  const Result<ClusterAccess> access = Load(
      Text(cluster_,
           "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: bin/login\n      args: [--a, "
           "'b c']\n"
           "      env: [{name: X, value: y}]\n      interactiveMode: IfAvailable\n      provideClusterInfo: true\n"));
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->token.kind, TokenSource::Kind::kExec);
  EXPECT_EQ(access->token.exec,
            (ExecPlugin{folder_.File("bin/login"),
                        {"--a", "b c"},
                        {{"X", "y"}},
                        "client.authentication.k8s.io/v1",
                        R"({"apiVersion":"client.authentication.k8s.io/v1",)"
                        R"("kind":"ExecCredential",)"
                        R"("spec":{"interactive":false,)"
                        R"("cluster":{"server":"https://10.0.0.1:6443","certificate-authority-data":"UEVN"}}})"}));
}

TEST_F(KubeconfigTest, JsonIsReadToo) {
  const Result<ClusterAccess> access =
      Load(R"({"current-context":"d","contexts":[{"name":"d","context":{"cluster":"c"}}],)"
           R"("clusters":[{"name":"c","cluster":{"server":"https://a/k8s/clusters/x",)"
           R"("certificate-authority-data":"Q0E="}}]})");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->server, "https://a/k8s/clusters/x");
}

TEST_F(KubeconfigTest, UnsafeClustersAreRefused) {
  const std::string ca = "    certificate-authority: ca.crt\n";
  const std::string server = "    server: https://a\n";
  const std::pair<std::string, std::string> rows[] = {
      {cluster_ + "    insecure-skip-tls-verify: true\n",
       ":12:31: insecure-skip-tls-verify is refused: whoever answers would get the credentials; remove it and give the "
       "certificate-authority of the cluster"},
      {server,
       ":10:5: the cluster has no certificate-authority or certificate-authority-data; without a CA the server cannot "
       "be "
       "told from an impostor"},
      {"    server: http://a\n" + ca,
       ":10:13: server begins with http://, which is refused: the credentials would travel in the open; wanted is "
       "https://"},
      {"    server: a:6443\n" + ca,
       ":10:13: server 'a:6443' is no address; wanted is a URL such as https://10.0.0.1:6443"},
      {ca, ":10:5: the cluster has no server; wanted is a URL such as https://10.0.0.1:6443"},
      {cluster_ + "    proxy-url: http://p\n",
       ":12:16: proxy-url is not supported; remove it and reach the API server directly"},
      {server + "    certificate-authority-data: Q0E\n",
       ":11:33: certificate-authority-data: this base64 text is cut off"},
  };
  for (const auto& [cluster, error] : rows) EXPECT_EQ(ErrorOf(Text(cluster, "    token: abc\n")), error);
}

TEST_F(KubeconfigTest, UnsupportedUsersAreRefused) {
  const std::string exec = "    exec:\n      command: x\n      apiVersion: client.authentication.k8s.io/";
  const std::pair<std::string, std::string> rows[] = {
      {"    username: a\n", ":15:15: username is not supported; use a token, tokenFile, client-certificate or exec"},
      {"    auth-provider: {name: gcp}\n",
       ":15:20: auth-provider is not supported; use a token, tokenFile, client-certificate or exec"},
      {"    client-key: a\n", ":15:5: client-certificate and client-key belong together; one of the two is missing"},
      {"    token: [secret]\n", ":15:12: token must be a text"},
      {exec + "v1alpha1\n",
       ":16:7: the plugin's apiVersion is 'client.authentication.k8s.io/v1alpha1'; supported are "
       "client.authentication.k8s.io/v1 and client.authentication.k8s.io/v1beta1"},
      {exec + "v1\n      interactiveMode: Always\n",
       ":18:24: interactiveMode Always is refused: there is no terminal to ask at; set Never or IfAvailable"},
      {"    exec: {apiVersion: client.authentication.k8s.io/v1}\n", ":15:11: the plugin has no command"},
  };
  for (const auto& [user, error] : rows) EXPECT_EQ(ErrorOf(Text(cluster_, user)), error);
}

TEST_F(KubeconfigTest, MissingNamesSayWhatThereIs) {
  const std::string text = Text(cluster_, "    token: abc\n");
  EXPECT_EQ(ErrorOf(text, "prod"), ":1:1: there is no context 'prod' in contexts; there are: 'dev', 'bare'");
  EXPECT_EQ(ErrorOf("contexts: [{name: x, context: {cluster: y}}]\ncurrent-context: x\n"),
            ":1:31: there is no cluster 'y' in clusters; there are: (the file has none)");
  EXPECT_EQ(ErrorOf("clusters: []\n"),
            ":1:1: there is no current-context; set one, or name one of: (the file has none)");
  EXPECT_EQ(ErrorOf("contexts: dev\ncurrent-context: dev\n"), ":1:11: contexts must be a list");
  EXPECT_EQ(ErrorOf("- a\n"), ":1:1: this is no kubeconfig; wanted is a mapping with clusters, users and contexts");
  EXPECT_EQ(ErrorOf("a: [\n").substr(0, 5), ":2:1:");
  EXPECT_EQ(LoadKubeconfig("/nowhere/config", "").error(),
            (Error{ErrorKind::kNotFound,
                   "reading the kubeconfig: cannot read '/nowhere/config': No such file or directory"}));
}

TEST_F(KubeconfigTest, IsFoundWhereKubectlLooks) {
  Environment environment;
  environment.Set("HOME", folder_.path());
  environment.Set("KUBECONFIG",
                  folder_.File("no") + "::" + folder_.Write("yes", "") + ":" + folder_.Write("later", ""));
  EXPECT_EQ(*FindKubeconfig(), folder_.File("yes"));
  environment.Set("KUBECONFIG", folder_.File("no"));
  EXPECT_EQ(FindKubeconfig().error().message,
            "none of the files of KUBECONFIG exists: '" + folder_.File("no") + "'; correct it or unset it");
  environment.Unset("KUBECONFIG");
  EXPECT_EQ(FindKubeconfig().error().message, "there is no kubeconfig: KUBECONFIG is not set and '" +
                                                  folder_.File(".kube/config") + "' does not exist; name a file");
  folder_.Write(".kube/config", "");
  EXPECT_EQ(*FindKubeconfig(), folder_.File(".kube/config"));
}

// --- in the cluster -------------------------------------------------------------------------------------------------

TEST(InClusterAccess, ReadsTheServiceAccount) {
  const TempDir folder;
  folder.Write("token", "t");
  folder.Write("ca.crt", "PEM");
  folder.Write("namespace", "podium-system\n");
  Environment environment;
  environment.Set("KUBERNETES_SERVICE_HOST", "fd00::1");
  environment.Set("KUBERNETES_SERVICE_PORT", "443");
  const Result<ClusterAccess> access = InClusterAccess(folder.path());
  ASSERT_TRUE(access) << access.error().message;
  ClusterAccess wanted;
  wanted.server = "https://[fd00::1]:443";
  wanted.ca.file = folder.File("ca.crt");
  wanted.token = {TokenSource::Kind::kFile, folder.File("token"), {}};
  wanted.namespace_name = "podium-system";
  wanted.origin = "the service account in " + folder.path();
  EXPECT_EQ(*access, wanted);
}

TEST(InClusterAccess, SaysWhatIsMissing) {
  const TempDir folder;
  folder.Write("token", "t");
  Environment environment;
  environment.Set("KUBERNETES_SERVICE_HOST", "10.0.0.1");
  environment.Set("KUBERNETES_SERVICE_PORT", "443");
  EXPECT_EQ(InClusterAccess(folder.path()).error(),
            (Error{ErrorKind::kNotFound, "the service account file '" + folder.File("ca.crt") +
                                             "' does not exist; the pod needs automountServiceAccountToken: true"}));
  environment.Unset("KUBERNETES_SERVICE_PORT");
  EXPECT_EQ(
      InClusterAccess(folder.path()).error().message,
      "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set, so this is no pod; name a kubeconfig "
      "instead");
}

// --- small parts ----------------------------------------------------------------------------------------------------

TEST(DecodeBase64, TakesTheStandardAlphabetWithPadding) {
  const std::pair<std::string, std::string> rows[] = {
      {"", ""}, {"QQ==", "A"}, {"QUI=", "AB"}, {"QUJD", "ABC"}, {"+/+/", "\xFB\xFF\xBF"}, {"QU\n JD\r\n", "ABC"}};
  for (const auto& [text, bytes] : rows) EXPECT_EQ(*DecodeBase64(text), bytes) << text;
  for (const std::string bad : {"Q", "QUJ", "QQ=", "Q===", "QQ==QUJD", "Q=Q=", "QUJ_", "\xC3\xA4==", "===="})
    EXPECT_FALSE(DecodeBase64(bad)) << bad;
}

TEST(SplitServerUrl, KeepsThePathOfAProxy) {
  EXPECT_EQ(SplitServerUrl("https://a:1/k8s/x/").origin, "https://a:1");
  EXPECT_EQ(SplitServerUrl("https://a:1/k8s/x/").path, "/k8s/x");
  EXPECT_EQ(SplitServerUrl("https://a").path, "");
  EXPECT_EQ(SplitServerUrl("https://a/").path, "");
}

TEST(ReadSmallFile, LimitIsExact) {
  const TempDir folder;
  const std::string file = folder.Write("f", "1234");
  EXPECT_EQ(*ReadSmallFile(file, 4), "1234");
  EXPECT_EQ(ReadSmallFile(file, 3).error(),
            (Error{ErrorKind::kInvalidInput, "'" + file + "' is over the limit of 3 bytes"}));
  EXPECT_EQ(*ReadSmallFile(folder.Write("empty", ""), 3), "");
  EXPECT_EQ(ReadSmallFile(folder.path(), 3).error().kind, ErrorKind::kInvalidInput);
}

}  // namespace
}  // namespace podium
