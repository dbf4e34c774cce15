// Answers that wait for their entry in the journal: the entries of one turn share one call.
#include <gmock/gmock.h>

#include <future>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "serving/test_engine.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Keeps entries, and can be told to fail. Thread-safe.
class FakeJournal {
 public:
  std::size_t Take(std::string_view entries) {
    const std::lock_guard lock(mutex_);
    calls_.emplace_back(entries);
    if (throws_) throw std::runtime_error("no journal today");
    return std::min(room_, entries.size());
  }

  void SetRoom(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    room_ = bytes;
  }
  void SetThrows(bool throws) {
    const std::lock_guard lock(mutex_);
    throws_ = throws;
  }
  std::vector<std::string> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  std::string entries() {
    const auto all = calls();
    return std::accumulate(all.begin(), all.end(), std::string());
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> calls_;
  std::size_t room_ = std::string::npos;  // bytes of one call
  bool throws_ = false;
};

constexpr std::size_t kNoRoom = 0;
constexpr std::size_t kAllRoom = std::string::npos;

// One reactor that a request to /gate stops, until the test opens it: what arrives meanwhile is one turn.
class JournalTest : public testing::Test {
 protected:
  void Serve(Journal journal) {
    Listener listener{.name = "plain"};
    listener.routes = {
        {"POST", "/record", [this](const HttpRequest& http) { return Record(http); }},
        {"POST", "/record/throw",
         [](const HttpRequest& http) {
           return JournaledAnswer{std::string(http.body),
                                  [](bool) -> HttpResponse { throw std::runtime_error("secret"); }};
         }},
        {"POST", "/echo", [](const HttpRequest& http) { return Text(std::string(http.body)); }},
        {"POST", "/gate",
         [this](const HttpRequest&) {
           at_gate_.set_value();
           gate_.get_future().wait();
           return Text("open");
         }},
    };
    auto started = Engine::Start({listener}, 1, std::move(journal));
    ASSERT_TRUE(started) << started.error().message;
    engine_ = *std::move(started);
  }

  void ServeWithJournal() {
    Serve([this](std::string_view entries) { return journal_.Take(entries); });
  }

  JournaledAnswer Record(const HttpRequest& http) {
    ++decided_;
    return {std::string(http.body), [this, body = std::string(http.body)](bool kept) {
              ++answered_;
              return Text(body + (kept ? " kept" : " refused"));
            }};
  }

  [[nodiscard]] std::uint16_t port() const { return engine_->PortOf("plain"); }

  // Connections that the reactor waits on already, so that their requests are seen in the order in which they are sent.
  std::vector<Client> Connect(std::size_t count) {
    std::vector<Client> clients;
    for (std::size_t i = 0; i < count; ++i) {
      clients.emplace_back(port());
      EXPECT_EQ(clients.back().Exchange(Post("/echo", "x")).body, "x");
    }
    return clients;
  }

  void CloseGate() {
    at_gate_ = {};
    gate_ = {};
    keeper_.emplace(port());
    ASSERT_TRUE(keeper_->Send(Post("/gate", "x")));
    at_gate_.get_future().wait();
  }
  void OpenGate() { gate_.set_value(); }

  // One request "<i>\n" from each, all in one turn.
  std::vector<std::string> OneTurn(std::vector<Client>& clients, const std::string& path = "/record") {
    CloseGate();
    for (std::size_t i = 0; i < clients.size(); ++i) EXPECT_TRUE(clients[i].Send(Post(path, std::to_string(i) + "\n")));
    OpenGate();
    std::vector<std::string> answers;
    for (Client& client : clients) answers.push_back(client.Read().body);
    return answers;
  }

  FakeJournal journal_;
  std::atomic<int> decided_{0};
  std::atomic<int> answered_{0};
  std::promise<void> at_gate_;
  std::promise<void> gate_;
  std::unique_ptr<Engine> engine_;
  std::optional<Client> keeper_;
};

TEST_F(JournalTest, ASingleRequestIsATurnOfItsOwn) {
  ServeWithJournal();
  Client client(port());
  EXPECT_EQ(client.Exchange(Post("/record", "one\n")).body, "one\n kept");
  EXPECT_EQ(client.Exchange(Post("/record", "two\n")).body, "two\n kept");
  EXPECT_THAT(journal_.calls(), ElementsAre("one\n", "two\n"));
}

TEST_F(JournalTest, TheRequestsOfATurnShareOneCallInTheirOrder) {
  ServeWithJournal();
  auto clients = Connect(5);
  EXPECT_THAT(OneTurn(clients), ElementsAre("0\n kept", "1\n kept", "2\n kept", "3\n kept", "4\n kept"));
  EXPECT_THAT(journal_.calls(), ElementsAre("0\n1\n2\n3\n4\n"));
}

TEST_F(JournalTest, AFailureRefusesTheWholeTurnAndTheNextOneRecovers) {
  ServeWithJournal();
  auto clients = Connect(3);
  journal_.SetRoom(kNoRoom);
  EXPECT_THAT(OneTurn(clients), ElementsAre("0\n refused", "1\n refused", "2\n refused"));
  journal_.SetRoom(kAllRoom);
  EXPECT_THAT(OneTurn(clients), ElementsAre("0\n kept", "1\n kept", "2\n kept"));
  EXPECT_THAT(journal_.calls(), ElementsAre("0\n1\n2\n", "0\n1\n2\n"));
}

TEST_F(JournalTest, RefusesExactlyWhatWasNotKept) {
  ServeWithJournal();
  auto clients = Connect(4);
  journal_.SetRoom(4);
  EXPECT_THAT(OneTurn(clients), ElementsAre("0\n kept", "1\n kept", "2\n refused", "3\n refused"));
  journal_.SetRoom(5);
  EXPECT_THAT(OneTurn(clients), ElementsAre("0\n kept", "1\n kept", "2\n refused", "3\n refused"))
      << "half is not kept";
}

TEST_F(JournalTest, AJournalThatThrowsKeepsNothing) {
  ServeWithJournal();
  auto clients = Connect(2);
  journal_.SetThrows(true);
  EXPECT_THAT(OneTurn(clients), ElementsAre("0\n refused", "1\n refused"));
  journal_.SetThrows(false);
  EXPECT_THAT(OneTurn(clients), ElementsAre("0\n kept", "1\n kept"));
}

TEST_F(JournalTest, WithoutAJournalNothingIsKept) {
  Serve({});
  EXPECT_EQ(Client(port()).Exchange(Post("/record", "one\n")).body, "one\n refused");
}

TEST_F(JournalTest, AnAnswerThatThrowsIs500AndTheOthersGoOut) {
  ServeWithJournal();
  auto clients = Connect(2);
  auto broken = Connect(1);
  CloseGate();
  ASSERT_TRUE(clients[0].Send(Post("/record", "a\n")));
  ASSERT_TRUE(broken[0].Send(Post("/record/throw", "b\n")));
  ASSERT_TRUE(clients[1].Send(Post("/record", "c\n")));
  OpenGate();
  EXPECT_EQ(clients[0].Read().body, "a\n kept");
  EXPECT_EQ(clients[1].Read().body, "c\n kept");
  const Reply reply = broken[0].Read();
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body, "{\"error\": \"internal error; the server's log says more\"}\n");
  EXPECT_THAT(journal_.calls(), ElementsAre("a\nb\nc\n"));
}

TEST_F(JournalTest, AnswersWithoutAnEntryDoNotWait) {
  ServeWithJournal();
  auto clients = Connect(2);
  EXPECT_THAT(OneTurn(clients, "/echo"), ElementsAre("0\n", "1\n"));
  EXPECT_THAT(journal_.calls(), IsEmpty());
}

// Requests that follow each other in one packet are answered one by one, each in a turn of its own.
TEST_F(JournalTest, PipelinedRequestsKeepTheirOrder) {
  ServeWithJournal();
  Client client(port());
  std::string all;
  for (int i = 0; i < 100; ++i) all += Post("/record", std::to_string(i) + "\n");
  ASSERT_TRUE(client.Send(all));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.Read().body, std::to_string(i) + "\n kept");
  EXPECT_EQ(journal_.calls().size(), 100U);
}

TEST_F(JournalTest, AClientThatHasGoneHarmsNobody) {
  ServeWithJournal();
  auto clients = Connect(2);
  CloseGate();
  ASSERT_TRUE(clients[0].Send(Post("/record", "gone\n")));
  ASSERT_TRUE(clients[1].Send(Post("/record", "here\n")));
  { const Client gone = std::move(clients[0]); }
  OpenGate();
  EXPECT_EQ(clients[1].Read().body, "here\n kept");
  EXPECT_THAT(journal_.calls(), ElementsAre("gone\nhere\n"));
  EXPECT_EQ(answered_, 2);
}

// --- the end --------------------------------------------------------------------------------------------------------

TEST_F(JournalTest, StopAnswersTheTurnThatIsUnderWay) {
  ServeWithJournal();
  auto clients = Connect(3);
  CloseGate();
  for (Client& client : clients) ASSERT_TRUE(client.Send(Post("/record", "x\n")));
  std::thread stopper([this] { engine_->Stop(std::chrono::seconds(10)); });
  OpenGate();
  for (Client& client : clients) EXPECT_EQ(client.Read().body, "x\n kept");
  stopper.join();
  EXPECT_EQ(journal_.entries(), "x\nx\nx\n");
}

// At the deadline connections are cut, but no decision goes without its entry and its answer.
TEST_F(JournalTest, StopWithoutPatienceRecordsWhateverWasDecided) {
  for (int round = 0; round < 20; ++round) {
    ServeWithJournal();
    auto clients = Connect(8);
    CloseGate();
    for (Client& client : clients) ASSERT_TRUE(client.Send(Post("/record", "x\n") + Post("/record", "x\n")));
    OpenGate();
    engine_->Stop(std::chrono::milliseconds(0));
    std::size_t answers = 0;
    for (Client& client : clients)
      while (client.Read().status == 200) ++answers;
    const std::size_t entries = journal_.entries().size() / 2;
    EXPECT_EQ(entries, static_cast<std::size_t>(decided_));
    EXPECT_EQ(decided_, answered_);
    EXPECT_LE(answers, entries) << "an answer without an entry";
  }
}

TEST_F(JournalTest, TwoReactorsUnderLoadLoseNothing) {
  Listener listener{.name = "plain"};
  listener.routes = {{"POST", "/record", [this](const HttpRequest& http) { return Record(http); }}};
  auto started = Engine::Start({listener}, 2, [this](std::string_view entries) { return journal_.Take(entries); });
  ASSERT_TRUE(started) << started.error().message;
  engine_ = *std::move(started);
  std::vector<std::thread> crowd;
  for (int thread = 0; thread < 4; ++thread)
    crowd.emplace_back([this] {
      Client client(port());
      for (int i = 0; i < 50; ++i) EXPECT_EQ(client.Exchange(Post("/record", "x\n")).body, "x\n kept");
    });
  for (std::thread& thread : crowd) thread.join();
  EXPECT_EQ(journal_.entries().size(), 400U);
  EXPECT_LE(journal_.calls().size(), 200U);
}

}  // namespace
}  // namespace podium
