#include "kube/exec_plugin.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <future>
#include <latch>
#include <vector>

#include "fakes/temp_dir.h"
#include "kube/credentials.h"

namespace podium {

void PrintTo(const Credential& credential, std::ostream* out) {
  *out << credential.token << '|' << credential.client_certificate_pem << '|' << credential.client_key_pem << '|'
       << (credential.expires ? credential.expires->time_since_epoch().count() : -1);
}

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";

std::string ExecCredential(const std::string& status) {
  return R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{},"status":)" + status +
         "}\n";
}

// --- reading --------------------------------------------------------------------------------------------------------

TEST(ReadExecCredential, ReadsTokensAndCertificates) {
  EXPECT_EQ(
      *ReadExecCredential(ExecCredential(R"({"token":"t","expirationTimestamp":"1970-01-01T01:00:10+01:00"})"), kV1),
      (Credential{"t", "", "", TimePoint(seconds(10))}));
  EXPECT_EQ(*ReadExecCredential(ExecCredential(R"({"clientCertificateData":"C\nC","clientKeyData":"K"})"), kV1),
            (Credential{"", "C\nC", "K", std::nullopt}));
}

TEST(ReadExecCredential, ErrorsNeverRepeatIt) {
  const std::pair<std::string, std::string> rows[] = {
      {"secret", "its output is no ExecCredential object in JSON"},
      {"", "its output is no ExecCredential object in JSON"},
      {R"({"kind":"Secret","token":"secret"})", "its output is no ExecCredential object in JSON"},
      {R"({"kind":"ExecCredential","apiVersion":"v2"})",
       "its ExecCredential is of apiVersion 'v2'; wanted is client.authentication.k8s.io/v1"},
      {ExecCredential("{}"), "its status has neither a token nor a client certificate"},
      {ExecCredential(R"({"clientKeyData":"secret"})"),
       "its status has one of clientCertificateData and clientKeyData; they belong together"},
      {ExecCredential(R"({"token":"secret","expirationTimestamp":"tomorrow"})"),
       "its expirationTimestamp is 'tomorrow'; wanted is a time such as 2026-11-29T16:58:33Z"}};
  for (const auto& [json, error] : rows)
    EXPECT_EQ(ReadExecCredential(json, kV1).error(), (Error{ErrorKind::kInvalidInput, error})) << json;
}

TEST(ParseRfc3339, TakesWholeTimesOnly) {
  EXPECT_EQ(ParseRfc3339("1970-01-02T00:00:00Z"), TimePoint(std::chrono::hours(24)));
  EXPECT_EQ(ParseRfc3339("1970-01-01T00:00:00.123456789Z"), TimePoint());
  EXPECT_EQ(ParseRfc3339("1970-01-01T01:30:00+01:30"), TimePoint());
  EXPECT_EQ(ParseRfc3339("1970-01-01T22:30:00-01:30"), TimePoint(std::chrono::hours(24)));
  EXPECT_EQ(ParseRfc3339("9999-12-31T23:59:59Z"), ParseRfc3339("2261-12-31T23:59:59Z"));
  for (const std::string bad : {"", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01 00:00:00Z", "1970-01-01T24:00:00Z",
                                "1970-01-01T00:60:00Z", "1970-01-01T00:00:00+0100", "1970-13-01T00:00:00Z",
                                "1970-01-01T-1:00:00Z", "1970-01-01T00:00:00.5", "1970-01-01T00:00:00Zx"})
    EXPECT_EQ(ParseRfc3339(bad), std::nullopt) << bad;
}

// --- running --------------------------------------------------------------------------------------------------------

class ExecPluginTest : public testing::Test {
 protected:
  // A plugin that is a shell script; the plugin itself is run without one.
  ExecPlugin Script(const std::string& text) {
    ExecPlugin plugin;
    plugin.command = folder_.Write("plugin", "#!/bin/sh\n" + text);
    plugin.api_version = kV1;
    plugin.info = "{\"info\":1}";
    std::filesystem::permissions(plugin.command, std::filesystem::perms::owner_all);
    return plugin;
  }
  // A message behind the plugin's name.
  std::string BehindName(const std::string& message) {
    const std::size_t quote = message.find('\'', message.find('\'') + 1);
    return message.substr(quote + 1);
  }

  TempDir folder_;
};

TEST_F(ExecPluginTest, GetsItsArgumentsEnvironmentAndInfo) {
  ExecPlugin plugin = Script("cat >/dev/null; printf '" + ExecCredential(R"({"token":"%s"})") +
                             "' \"$1/$2/$X/$(printf '%s' \"$KUBERNETES_EXEC_INFO\" | tr -d '\\\"{}')/$HOME\"\n");
  plugin.args = {"a b", "$(id)"};
  plugin.env = {{"X", "y"}, {"HOME", "h"}};
  const Result<Credential> credential = RunExecPlugin(plugin, {});
  ASSERT_TRUE(credential) << credential.error().message;
  EXPECT_EQ(credential->token, "a b/$(id)/y/info:1/h");
}

TEST_F(ExecPluginTest, FailuresAreToldWithoutItsOutput) {
  const Result<Credential> failed = RunExecPlugin(Script("echo secret; exit 3\n"), {});
  EXPECT_EQ(failed.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(BehindName(failed.error().message), " ended with status 3");
  EXPECT_EQ(BehindName(RunExecPlugin(Script("kill -9 $$\n"), {}).error().message), " was ended by signal 9");
  EXPECT_EQ(BehindName(RunExecPlugin(Script("echo secret\n"), {}).error().message),
            ": its output is no ExecCredential object in JSON");
  EXPECT_EQ(RunExecPlugin({"podium-no-such-plugin", {}, {}, "", ""}, {}).error(),
            (Error{ErrorKind::kUnavailable,
                   "the credential plugin 'podium-no-such-plugin' cannot be started: No such file or directory; is it "
                   "installed?"}));
}

TEST_F(ExecPluginTest, TimeAndOutputAreLimited) {
  const Result<Credential> slow = RunExecPlugin(Script("sleep 60\n"), {.time = milliseconds(30)});
  EXPECT_EQ(slow.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(BehindName(slow.error().message), " did not end within 30 ms");
  const Result<Credential> loud =
      RunExecPlugin(Script("while :; do echo xxxxxxxxxxxxxxxx; done\n"), {.output_bytes = 5'000});
  EXPECT_EQ(loud.error().kind, ErrorKind::kInvalidInput);
  EXPECT_EQ(BehindName(loud.error().message), " printed more than 5000 bytes, which no credential has");
}

TEST_F(ExecPluginTest, ChildThatOutlivesItIsNotWaitedFor) {
  const Result<Credential> credential =
      RunExecPlugin(Script("sleep 60 &\necho '" + ExecCredential(R"({"token":"t"})") + "'\n"), {.time = seconds(20)});
  ASSERT_TRUE(credential) << credential.error().message;
  EXPECT_EQ(credential->token, "t");
}

// --- CredentialSource -----------------------------------------------------------------------------------------------

class CredentialSourceTest : public ExecPluginTest {
 protected:
  CredentialSource Source(const TokenSource& source) {
    return CredentialSource(source, {}, [this] { return now_; });
  }
  std::string Token(CredentialSource& source) {
    const Result<Credential> credential = source.Current();
    return credential ? credential->token : credential.error().message;
  }
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1'000)};
};

TEST_F(CredentialSourceTest, TokenFileIsReadAgainAfterAMinuteOrWhenRefused) {
  const std::string file = folder_.Write("token", "one\n");
  CredentialSource source = Source({TokenSource::Kind::kFile, file, {}});
  EXPECT_EQ(Token(source), "one");
  folder_.Write("token", "two");
  now_ += seconds(59);
  EXPECT_EQ(Token(source), "one");
  now_ += seconds(1);
  EXPECT_EQ(Token(source), "two");
  folder_.Write("token", "three");
  EXPECT_TRUE(source.Reject("one"));  // another thread has it already
  EXPECT_EQ(Token(source), "two");
  EXPECT_TRUE(source.Reject("two"));
  EXPECT_EQ(Token(source), "three");
}

TEST_F(CredentialSourceTest, TokenFileMustHaveAToken) {
  const std::string file = folder_.Write("token", " \n");
  CredentialSource source = Source({TokenSource::Kind::kFile, file, {}});
  EXPECT_EQ(Token(source), "the token file '" + file + "' is empty");
  folder_.Write("token", "t");
  EXPECT_EQ(Token(source), "t");
}

TEST_F(CredentialSourceTest, FixedTokensCannotBeReadAnew) {
  CredentialSource literal = Source({TokenSource::Kind::kLiteral, "t", {}});
  EXPECT_EQ(Token(literal), "t");
  EXPECT_FALSE(literal.Reject("t"));
  CredentialSource none = Source({});
  EXPECT_EQ(Token(none), "");
  EXPECT_FALSE(none.Reject(""));
}

// The plugin gives a new token each time it runs.
TEST_F(CredentialSourceTest, PluginRunsAgainBeforeItsTokenExpires) {
  const auto plugin = [this](const std::string& expiry) {
    const std::string count = folder_.Write("count", "");
    return Script("printf x >>" + count + "\nprintf '" + ExecCredential(R"({"token":"%s"%s})") + "' \"$(cat " + count +
                  ")\" '" + expiry + "'\n");
  };
  CredentialSource lasting = Source({TokenSource::Kind::kExec, "", plugin("")});
  EXPECT_EQ(Token(lasting), "x");
  now_ += std::chrono::hours(100);
  EXPECT_EQ(Token(lasting), "x");
  EXPECT_TRUE(lasting.Reject("x"));
  EXPECT_EQ(Token(lasting), "xx");
  CredentialSource gone =
      Source({TokenSource::Kind::kExec, "", plugin(R"(,"expirationTimestamp":"2001-01-01T00:00:00Z")")});
  EXPECT_EQ(Token(gone), "x");
  EXPECT_EQ(Token(gone), "xx");
  CredentialSource far =
      Source({TokenSource::Kind::kExec, "", plugin(R"(,"expirationTimestamp":"9999-01-01T00:00:00Z")")});
  EXPECT_EQ(Token(far), "x");
  EXPECT_EQ(Token(far), "x");
}

// The time goes on when all have asked, and only then the plugin fails.
TEST_F(CredentialSourceTest, ThoseWhoWaitForAPluginShareItsFailure) {
  constexpr int kCallers = 4;
  const std::string runs = folder_.Write("runs", "");
  const std::string gate = folder_.File("gate");
  ASSERT_EQ(mkfifo(gate.c_str(), 0600), 0);
  const ExecPlugin plugin = Script("printf x >>" + runs + "\nread -r line <" + gate + "\nexit 3\n");
  std::latch all_asked(kCallers);
  std::atomic<int> asked{0};
  const auto now = [&] {
    if (asked++ >= kCallers) return now_ + seconds(1);
    all_asked.count_down();
    return now_;
  };
  CredentialSource source({TokenSource::Kind::kExec, "", plugin}, {.time = seconds(5)}, now);
  std::vector<std::future<std::string>> callers;
  for (int i = 0; i < kCallers; ++i)
    callers.push_back(std::async(std::launch::async, [this, &source] { return Token(source); }));
  all_asked.wait();
  std::ofstream(gate) << "go\n";
  for (std::future<std::string>& caller : callers) EXPECT_EQ(BehindName(caller.get()), " ended with status 3");
  EXPECT_EQ(ReadFileText(runs), "x");
}

}  // namespace
}  // namespace podium
