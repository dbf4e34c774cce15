// The real binary as a child process: started on free ports, asked over HTTPS, ended by signals.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <openssl/pem.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/run.h"
#include "fakes/temp_dir.h"
#include "kube/certificates.h"
#include "serving/client.h"

namespace podium {
namespace {

using nlohmann::json;
using std::chrono::steady_clock;
using testing::HasSubstr;

std::string KeyPem(const testing_tls::Identity& identity) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
  EXPECT_EQ(PEM_write_bio_PrivateKey(memory.get(), identity.key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

// A certificate for 127.0.0.1 and its authority, as files.
class Certificates {
 public:
  explicit Certificates(const TempDir& dir)
      : authority_(testing_tls::MakeAuthority("podium-test-ca")),
        leaf_(testing_tls::MakeCertificate(authority_, {"podium", "IP:127.0.0.1"})),
        ca_file(dir.Write("ca.crt", testing_tls::ToPem(authority_))),
        cert_file(dir.Write("tls.crt", testing_tls::ToPem(leaf_))),
        key_file(dir.Write("tls.key", KeyPem(leaf_))) {}

 private:
  testing_tls::Identity authority_;
  testing_tls::Identity leaf_;

 public:
  const std::string ca_file;
  const std::string cert_file;
  const std::string key_file;
};

class ServeProcess {
 public:
  // What the child does to itself before it becomes the server; only what may be done after fork().
  using Preparation = void (*)();

  explicit ServeProcess(std::vector<std::string> options, Preparation prepare = nullptr) {
    options.insert(options.begin(), {PODIUM_BINARY, "serve"});
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) Exec(options, ends[1], prepare);
    ::close(ends[1]);
    log_fd_ = ends[0];
  }
  ~ServeProcess() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(log_fd_);
  }
  ServeProcess(const ServeProcess&) = delete;
  ServeProcess& operator=(const ServeProcess&) = delete;

  // Reads its log until `words` are in it, or it ends. The whole log so far.
  const std::string& ReadUntil(const std::string& words) {
    char block[4096];
    while (log_.find(words) == std::string::npos) {
      const ssize_t got = ::read(log_fd_, block, sizeof block);
      if (got <= 0) break;
      log_.append(block, static_cast<std::size_t>(got));
    }
    return log_;
  }

  // The same to the end of the line that has them.
  const std::string& ReadLineWith(const std::string& words) {
    const std::size_t line = ReadUntil(words).find(words);
    char byte = 0;
    while (log_.find('\n', line) == std::string::npos && ::read(log_fd_, &byte, 1) == 1) log_.push_back(byte);
    return log_;
  }

  // "https://127.0.0.1:43123" of the line that says it is ready.
  std::string WebhookUrl() {
    const std::string& log = ReadUntil("operations http://");
    const std::size_t begin = log.find("https://");
    EXPECT_NE(begin, std::string::npos) << log;
    if (begin == std::string::npos) return {};
    return log.substr(begin, log.find(',', begin) - begin);
  }

  void Signal(int signal) const { ::kill(pid_, signal); }

  // What the number stands for in the process: "/dev/null", "socket:[123]".
  [[nodiscard]] std::string DescriptorOf(int number) const {
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid_) + "/fd/" + std::to_string(number)).string();
  }

  // Its exit code; -1 when a signal ended it.
  int Wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  [[noreturn]] static void Exec(const std::vector<std::string>& options, int log, Preparation prepare) {
    ::dup2(log, STDERR_FILENO);
    if (prepare != nullptr) prepare();
    std::vector<char*> arguments;
    for (const std::string& option : options) arguments.push_back(const_cast<char*>(option.c_str()));
    arguments.push_back(nullptr);
    ::execv(PODIUM_BINARY, arguments.data());
    ::_exit(127);
  }

  pid_t pid_ = -1;
  int log_fd_ = -1;
  std::string log_;
};

class ServeTest : public testing::Test {
 protected:
  std::vector<std::string> Options(const std::string& drain) const {
    return {"--cert-file",
            certificates_.cert_file,
            "--key-file",
            certificates_.key_file,
            "--policy",
            kPolicy,
            "--listen",
            "127.0.0.1:0",
            "--operations-listen",
            "127.0.0.1:0",
            "--audit-log",
            audit_log_,
            "--threads",
            "1",
            "--drain",
            drain};
  }

  CliRun ReviewAt(const std::string& url) const {
    return RunPodium({"review", "--policy", kPolicy, "--server", url, "--ca-file", certificates_.ca_file, "-o", "json",
                      "manifests"});
  }

  const std::string kPolicy = std::string(PODIUM_TEST_DIR) + "/cli/data/policy.yaml";
  TempDir dir_;
  Certificates certificates_{dir_};
  const std::string audit_log_ = dir_.File("audit.jsonl");
};

std::vector<json> JsonLines(const std::string& text) {
  std::vector<json> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin))
    lines.push_back(json::parse(text.substr(begin, end - begin)));
  return lines;
}

std::uint16_t PortAfter(const std::string& log, const std::string& words) {
  const std::size_t at = log.find(words);
  EXPECT_NE(at, std::string::npos) << log;
  return at == std::string::npos ? 0 : static_cast<std::uint16_t>(std::stoi(log.substr(at + words.size())));
}

// The server decides what `podium review` decides here, and every call is one audit line.
TEST_F(ServeTest, ReviewsAreAnsweredAuditedAndEndedWithZero) {
  ServeProcess server(Options("0s"));
  const CliRun remote = ReviewAt(server.WebhookUrl());
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  ASSERT_EQ(remote.code, kExitRefused) << remote.err;
  const json there = json::parse(remote.out)["items"];
  const CliRun local = RunPodium({"review", "--policy", kPolicy, "-o", "json", "manifests"});
  const json here = json::parse(local.out)["items"];
  ASSERT_EQ(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    for (const char* field : {"verdict", "code", "patch", "name", "namespace", "warnings"})
      EXPECT_EQ(there[i][field], here[i][field]) << here[i]["name"] << " " << field;
    if (here[i]["verdict"] != "allow") continue;
    EXPECT_EQ(there[i]["templates"], here[i]["templates"]) << here[i]["name"];
  }
  EXPECT_EQ(there[3]["message"], here[3]["message"]);
  EXPECT_EQ(there[3]["templates"][0]["after"], (json{{"priorityClassName", "low"}}))
      << "of a refused one, the name only";

  const std::vector<json> lines = JsonLines(ReadFileText(audit_log_));
  ASSERT_EQ(lines.size(), 7U) << "three allowed objects are asked twice, a refused one once, one never arrives";
  EXPECT_EQ(lines[0]["endpoint"], "mutate");
  EXPECT_EQ(lines[1]["endpoint"], "validate");
  EXPECT_EQ(lines[0]["name"], "chat");
  EXPECT_EQ(lines[0]["templates"][0]["after"]["priorityClassName"], "high");
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i]["seq"], i + 1);
}

TEST_F(ServeTest, ASecondSignalCutsTheDrainShort) {
  ServeProcess server(Options("10m"));
  server.WebhookUrl();
  server.Signal(SIGTERM);
  server.ReadUntil("draining");
  const auto begin = steady_clock::now();
  server.Signal(SIGINT);
  EXPECT_EQ(server.Wait(), 0);
  EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(ServeTest, RequestsAreServedWhileItDrains) {
  ServeProcess server(Options("10m"));
  const std::string url = server.WebhookUrl();
  server.Signal(SIGTERM);
  server.ReadUntil("draining");
  EXPECT_EQ(ReviewAt(url).code, kExitRefused);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(ServeTest, ItDoesNotStartOnABadPolicyOrATakenPort) {
  std::vector<std::string> options = Options("0s");
  options[5] = dir_.Write("bad.yaml", "apiVersion: podium.gpu/v1\nkind: PriorityPolicy\nspce: {}\n");
  ServeProcess bad_policy(options);
  EXPECT_THAT(bad_policy.ReadUntil("never written: reads to the end"), HasSubstr("bad.yaml:3:1: error: "));
  EXPECT_EQ(bad_policy.Wait(), kExitUnusable);

  ServeProcess first(Options("0s"));
  const std::string url = first.WebhookUrl();
  options = Options("0s");
  options[7] = "127.0.0.1:" + url.substr(url.rfind(':') + 1);
  options[11] = dir_.File("second.jsonl");
  ServeProcess second(options);
  EXPECT_EQ(second.Wait(), kExitUnusable);
  EXPECT_THAT(second.ReadUntil("never written: reads to the end"), HasSubstr("podium serve: "));
}

TEST_F(ServeTest, QueriesWantALiveClusterAndAnAddress) {
  std::vector<std::string> options = Options("0s");
  options.insert(options.end(), {"--query-listen", "9444"});
  ServeProcess server(options);
  const std::string& log = server.ReadUntil("never written: reads to the end");
  EXPECT_THAT(log, HasSubstr("podium serve: --query-listen needs a live cluster: --in-cluster or --kubeconfig FILE\n"));
  EXPECT_THAT(log, HasSubstr("podium serve: --query-listen: '9444' is no address to listen on"));
  EXPECT_EQ(server.Wait(), kExitUnusable);
}

TEST_F(ServeTest, ClosedStandardStreamsAreTakenByNothingElse) {
  ServeProcess server(Options("0s"), [] {
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
  });
  server.WebhookUrl();
  EXPECT_EQ(server.DescriptorOf(STDIN_FILENO), "/dev/null");
  EXPECT_EQ(server.DescriptorOf(STDOUT_FILENO), "/dev/null");
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(ServeTest, AnAuditLogOnAClosedStandardOutputDoesNotVanish) {
  std::vector<std::string> options = Options("0s");
  options[11] = "-";
  ServeProcess server(options, [] { ::close(STDOUT_FILENO); });
  const CliRun run = ReviewAt(server.WebhookUrl());
  EXPECT_THAT(run.out, HasSubstr("the audit log cannot be written"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

// Few descriptors: the webhook is full long before they are gone, so that operations still answer.
TEST_F(ServeTest, FewDescriptorsAreSharedOutSoThatProbesAreAnswered) {
  ServeProcess server(Options("0s"), [] {
    const rlimit few{80, 80};
    ::setrlimit(RLIMIT_NOFILE, &few);
  });
  const std::string& log = server.ReadLineWith("operations http://127.0.0.1:");
  EXPECT_THAT(log, HasSubstr("this process may open 80 files and sockets (ulimit -n); wanted: 1187: at most 34 webhook "
                             "connections (usually 1024) and 11 for operations are served at once; raise the limit"));
  std::vector<Client> callers;
  for (int i = 0; i < 100; ++i) callers.emplace_back(PortAfter(log, "webhook https://127.0.0.1:"));
  Client probe(PortAfter(log, "operations http://127.0.0.1:"));
  EXPECT_EQ(probe.Exchange("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

TEST_F(ServeTest, AServerSaysWhatItSkippedAndWhatItCouldNotRead) {
  const std::string input =
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: kube-system}, spec: {containers: []}}\n---\n"
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: {containers: [{name: a, "
      "resources: {requests: {cpu: 'one and a half cores, or two on Mondays'}}}]}}}}\n";
  ServeProcess server(Options("0s"));
  const CliRun remote = RunPodium({"review", "--policy", kPolicy, "--server", server.WebhookUrl(), "--ca-file",
                                   certificates_.ca_file, "-o", "json", "-"},
                                  input);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
  const CliRun local = RunPodium({"review", "--policy", kPolicy, "-o", "json", "-"}, input);
  EXPECT_EQ(remote.code, kExitUnusable) << remote.err;
  EXPECT_EQ(local.code, kExitUnusable) << local.err;
  const json there = json::parse(remote.out)["items"];
  EXPECT_EQ(there, json::parse(local.out)["items"]);
  EXPECT_EQ(there[0]["skipped"], "protected_namespace");
  EXPECT_THAT(there[1]["internalError"].get<std::string>(), HasSubstr("is not a quantity"));
}

TEST_F(ServeTest, NoServerIsUnusableInput) {
  const CliRun run = ReviewAt("https://127.0.0.1:1");
  EXPECT_EQ(run.code, kExitUnusable);
  EXPECT_THAT(run.err, HasSubstr("POST /mutate"));
}

}  // namespace
}  // namespace podium
