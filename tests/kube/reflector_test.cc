#include "kube/reflector.h"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>

#include "fakes/api_server.h"
#include "fakes/object_store.h"
#include "fakes/temp_dir.h"

namespace podium {
namespace {

using namespace testing_tls;
using On = FakeApiServer::On;
using Log = std::vector<std::string>;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Waits take no time; they are only noted.
class ImpatientClock final : public ReflectorClock {
 public:
  [[nodiscard]] std::chrono::steady_clock::time_point Now() const override { return std::chrono::steady_clock::now(); }
  void Wait(milliseconds duration, const std::stop_token& stop) override {
    std::function<void(std::size_t)> hook;
    std::size_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      waits_.push_back(duration);
      count = waits_.size();
      hook = hook_;
    }
    if (hook) hook(count);
    if (count > 1'000) SystemReflectorClock().Wait(seconds(60), stop);  // a test that fails must not fill the memory
  }
  // Called with each wait and its number, from 1.
  void OnWait(std::function<void(std::size_t)> hook) { hook_ = std::move(hook); }
  [[nodiscard]] std::vector<milliseconds> waits() const {
    const std::lock_guard lock(mutex_);
    return waits_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<milliseconds> waits_;
  std::function<void(std::size_t)> hook_;
};

class ReflectorTest : public testing::Test {
 protected:
  ReflectorTest() {
    ClusterAccess access;
    access.server = "https://127.0.0.1:" + std::to_string(server_.port());
    access.ca.text = ToPem(authority_);
    access.token = {TokenSource::Kind::kLiteral, "secret", {}};
    api_ = std::move(*ConnectApi(access));
    options_.path = "/api/v1/pods";
    options_.object_kind = "Pod";
    options_.seed = 1;
  }

  void Start() { reflector_ = std::make_unique<Reflector>(*api_, store_, options_, clock_); }
  [[nodiscard]] ReflectorCounters counters() const { return reflector_->counters(); }

  // Ends the reflector, so that the store and the log hold still.
  void Finish() {
    reflector_->Stop();
    EXPECT_EQ(store_.view(), server_.Objects());
    EXPECT_EQ(store_.misuses(), 0);
  }

  // One object more, and the store has all: the watch works again.
  void ExpectToCatchUp() {
    server_.Put("last");
    EXPECT_TRUE(store_.WaitFor(server_.Objects())) << counters().last_error;
  }

  Identity authority_ = MakeAuthority("cluster CA");
  FakeApiServer server_{MakeCertificate(authority_, {"kube-apiserver", "IP:127.0.0.1"})};
  std::unique_ptr<ApiClient> api_;
  ObjectStore store_;
  ImpatientClock clock_;
  ReflectorOptions options_;
  std::unique_ptr<Reflector> reflector_;
};

// --- the good days --------------------------------------------------------------------------------------------------

TEST_F(ReflectorTest, ListsOnceAndThenFollows) {
  server_.Put("a");
  server_.Put("b");
  Start();
  ASSERT_TRUE(store_.WaitFor(server_.Objects()));
  server_.Put("c", "new");
  server_.Put("a", "changed");
  server_.Remove("b");
  ASSERT_TRUE(store_.WaitFor(server_.Objects()));
  Finish();
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "WATCH rv=2"}));
  const FakeRequest watch = server_.Requests()[1];
  EXPECT_EQ(watch.query.at("allowWatchBookmarks"), "true");
  EXPECT_GE(std::stoi(watch.query.at("timeoutSeconds")), 300);
  EXPECT_EQ(watch.headers.at("authorization"), "Bearer secret");
  EXPECT_EQ(watch.headers.at("accept"), "application/json");
  const ReflectorCounters end = counters();
  EXPECT_EQ(end.lists, 1U);
  EXPECT_EQ(end.watches, 1U);
  EXPECT_EQ(end.items, 2U);
  EXPECT_EQ(end.events, 3U);
  EXPECT_TRUE(end.synced);
  EXPECT_EQ(end.skipped + end.refused + end.unreachable, 0U);
}

TEST_F(ReflectorTest, EndedWatchGoesOnFromItsBookmark) {
  server_.Put("a");
  Start();
  ASSERT_TRUE(server_.WaitForRequests(2));
  server_.Bookmark();
  ASSERT_TRUE(store_.WaitForAlive(2));
  server_.EndWatches();
  ASSERT_TRUE(server_.WaitForRequests(3));
  ExpectToCatchUp();
  Finish();
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "WATCH rv=1", "WATCH rv=2"}));
  EXPECT_EQ(counters().bookmarks, 1U);
  EXPECT_TRUE(clock_.waits().empty());
}

TEST_F(ReflectorTest, SelectorsGoWithEveryRequest) {
  options_.query = {{"fieldSelector", "status.phase!=Failed"}};
  Start();
  ASSERT_TRUE(server_.WaitForRequests(2));
  Finish();
  for (const FakeRequest& request : server_.Requests())
    EXPECT_EQ(request.query.at("fieldSelector"), "status.phase%21%3DFailed");
}

// --- odd events -----------------------------------------------------------------------------------------------------

TEST_F(ReflectorTest, EventsMaySplitAtEveryByte) {
  server_.SetEventParts(1);
  Start();
  ASSERT_TRUE(server_.WaitForRequests(2));
  for (int i = 0; i < 5; ++i) server_.Put("pod-" + std::to_string(i), "\\\"{[\\\\");
  server_.Remove("pod-3");
  EXPECT_TRUE(store_.WaitFor(server_.Objects()));
  Finish();
}

TEST_F(ReflectorTest, EventOfTwoMebibytesArrives) {
  Start();
  ASSERT_TRUE(server_.WaitForRequests(2));
  server_.Put("big", std::string(2 << 20, 'x'));
  EXPECT_TRUE(store_.WaitFor(server_.Objects()));
  Finish();
}

TEST_F(ReflectorTest, DeletedTwiceAndModifiedBeforeAddedAreNoTrouble) {
  server_.Put("a");
  Start();
  ASSERT_TRUE(server_.WaitForRequests(2));
  server_.Remove("a");
  server_.Remove("a");
  server_.EmitLine(R"({"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"b","resourceVersion":"4"}}})");
  server_.EmitLine(R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"b","resourceVersion":"5"},"x":1}})");
  EXPECT_TRUE(store_.WaitFor({{"b", R"({"kind":"Pod","metadata":{"name":"b","resourceVersion":"5"},"x":1})"}}));
  EXPECT_EQ(counters().skipped, 0U);
}

TEST_F(ReflectorTest, StrangeEventsAreSkippedAndCounted) {
  Start();
  ASSERT_TRUE(server_.WaitForRequests(2));
  server_.EmitLine(R"({"type":"COMPACTED","object":{"kind":"Pod","metadata":{"name":"x"}}})");
  server_.EmitLine(R"({"type":"ADDED","object":{"kind":"Node","metadata":{"name":"x"}}})");
  server_.EmitLine(R"({"type":"ADDED","object":{"kind":"Pod","metadata":{}}})");
  server_.EmitLine(R"({"type":"ADDED"})");
  server_.EmitLine("not JSON at all");
  ExpectToCatchUp();
  Finish();
  EXPECT_EQ(counters().skipped, 5U);
  EXPECT_EQ(counters().watches, 1U);
  EXPECT_EQ(counters().last_error, "an object was skipped: an event of unknown type or kind");
}

// --- D29: what the server may refuse --------------------------------------------------------------------------------

TEST_F(ReflectorTest, ExpiredWatchListsOnceAtItsVersionAndKeepsItsViewMeanwhile) {
  server_.Put("a");
  Start();
  ASSERT_TRUE(server_.WaitForRequests(2));
  // The list that follows stays open while we look at the store.
  server_.Next(On::kList, SilenceAfter(ChunkedHead() + Chunk(R"({"kind":"PodList","items":[)")));
  server_.ForgetEvents();
  server_.Put("b");
  ASSERT_TRUE(server_.WaitForRequests(3));
  EXPECT_EQ(store_.view().size(), 1U);
  reflector_->Stop();
  EXPECT_EQ(store_.view().size(), 1U);
  EXPECT_EQ(store_.abandoned(), 1);
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "WATCH rv=1", "LIST rv=1"}));
  EXPECT_EQ(counters().expired, 1U);
  EXPECT_EQ(counters().last_error, "watching /api/v1/pods: HTTP 410 Expired: too old resource version");
}

TEST_F(ReflectorTest, ExpiredListFallsBackToPages) {
  for (int i = 0; i < 1'001; ++i) server_.Put("pod-" + std::to_string(i));
  server_.Next(On::kList, StatusReply(410, "Expired"));
  Start();
  ASSERT_TRUE(store_.WaitFor(server_.Objects()));
  ASSERT_TRUE(server_.WaitForRequests(5));
  Finish();
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "LIST rv= limit=500", "LIST rv= limit=500 continue=500",
                                "LIST rv= limit=500 continue=1000", "WATCH rv=1001"}));
  EXPECT_TRUE(clock_.waits().empty());
  EXPECT_EQ(counters().lists, 2U);
}

TEST_F(ReflectorTest, TooLargeVersionFallsBackToPages) {
  server_.Put("a");
  server_.Next(On::kList, StatusReply(504, "Timeout", "Too large resource version: 9, current: 1"));
  Start();
  ASSERT_TRUE(store_.WaitFor(server_.Objects()));
  Finish();
  EXPECT_EQ((Log{server_.Log()[0], server_.Log()[1]}), (Log{"LIST rv=0", "LIST rv= limit=500"}));
}

TEST_F(ReflectorTest, ExpiredThirdPageListsInOnePiece) {
  for (int i = 0; i < 1'001; ++i) server_.Put("pod-" + std::to_string(i));
  server_.Next(On::kList, StatusReply(410, "Expired"));
  server_.Next(On::kPage, {});  // the second page is a good one
  server_.Next(On::kPage, StatusReply(410, "Expired"));
  Start();
  ASSERT_TRUE(store_.WaitFor(server_.Objects()));
  ASSERT_TRUE(server_.WaitForRequests(6));
  Finish();
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "LIST rv= limit=500", "LIST rv= limit=500 continue=500",
                                "LIST rv= limit=500 continue=1000", "LIST rv=", "WATCH rv=1001"}));
  EXPECT_EQ(store_.abandoned(), 2);
  EXPECT_TRUE(clock_.waits().empty());
}

TEST_F(ReflectorTest, BusyServerIsAskedAgainWhenItSaysSo) {
  server_.Put("a");
  server_.Next(On::kWatch, StatusReply(429, "TooManyRequests", "slow", "Retry-After: 7\r\n"));
  server_.Next(On::kWatch, StatusReply(500, "InternalError"));
  Start();
  ASSERT_TRUE(server_.WaitForRequests(4));
  ExpectToCatchUp();
  Finish();
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "WATCH rv=1", "WATCH rv=1", "WATCH rv=1"}));
  ASSERT_EQ(clock_.waits().size(), 2U);
  EXPECT_EQ(clock_.waits()[0], seconds(7));
  EXPECT_GE(clock_.waits()[1], milliseconds(1600));
}

TEST_F(ReflectorTest, PagesForPeopleAreRefusals) {
  const FakeApiServer::Answer html = Reply(502, "<html>\r\nBad \x1b[31mGateway</html>", "Content-Type: text/html\r\n");
  server_.Put("a");
  server_.Next(On::kList, html);
  server_.Next(On::kList, Reply(200, "<html>login</html>"));
  server_.Next(On::kWatch, html);
  Start();
  ASSERT_TRUE(server_.WaitForRequests(5));
  ExpectToCatchUp();
  Finish();
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "LIST rv=0", "LIST rv=0", "WATCH rv=1", "WATCH rv=1"}));
  EXPECT_EQ(counters().refused, 2U);
  EXPECT_EQ(counters().last_error, "watching /api/v1/pods: HTTP 502: the reply has no Status object");
}

TEST_F(ReflectorTest, ErrorEventsGoByTheirCode) {
  const auto error = [](const std::string& object) {
    return RawReply(ChunkedHead() + Chunk(R"({"type":"ERROR","object":)" + object + "}\n") + Chunk(""));
  };
  server_.Put("a");
  server_.Next(On::kWatch, error(R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":3}})"));
  server_.Next(On::kWatch, error(R"({"kind":"Status","code":500})"));
  server_.Next(On::kWatch, error(R"({"kind":"Status","message":"no code"})"));
  server_.Next(On::kWatch, error("{}"));
  Start();
  ASSERT_TRUE(server_.WaitForRequests(8));
  ExpectToCatchUp();
  Finish();
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "WATCH rv=1", "WATCH rv=1", "WATCH rv=1", "LIST rv=1", "WATCH rv=1",
                                "LIST rv=1", "WATCH rv=1"}));
  EXPECT_EQ(clock_.waits()[0], seconds(3));
}

// --- D31, D32: bodies that are not whole ----------------------------------------------------------------------------

TEST_F(ReflectorTest, WatchCutInAnEventLosesNothing) {
  server_.Put("a");
  server_.Next(On::kWatch, RawReply(ChunkedHead() + Chunk("{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"meta")));
  server_.Next(On::kWatch, RawReply("HTTP/1.1 200 OK\r\n\r\n{\"type\":\"ADDED\",\"ob"));
  Start();
  ASSERT_TRUE(server_.WaitForRequests(4));
  ExpectToCatchUp();
  Finish();
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "WATCH rv=1", "WATCH rv=1", "WATCH rv=1"}));
  EXPECT_EQ(counters().lists, 1U);
}

TEST_F(ReflectorTest, ListThatIsNotWholeChangesNothing) {
  server_.Put("a");
  const std::string half =
      R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"x"}},)";
  const FakeApiServer::Answer answers[] = {
      RawReply("HTTP/1.1 200 OK\r\n\r\n" + half),                          // no length: HTTP takes it for whole
      RawReply("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + half),  // shorter than promised
      RawReply(ChunkedHead() + Chunk(half)),                               // no last chunk
      Reply(200, half + "{}]"),                                            // whole for HTTP, not for JSON
      Reply(200, R"({"kind":"NodeList","metadata":{"resourceVersion":"1"},"items":[]})"),
  };
  for (const FakeApiServer::Answer& answer : answers) server_.Next(On::kList, answer);
  Start();
  ASSERT_TRUE(store_.WaitFor(server_.Objects()));
  ASSERT_TRUE(server_.WaitForRequests(7));
  Finish();
  EXPECT_EQ(server_.Log(),
            (Log{"LIST rv=0", "LIST rv=0", "LIST rv=0", "LIST rv=0", "LIST rv=0", "LIST rv=0", "WATCH rv=1"}));
  EXPECT_EQ(store_.abandoned(), 5);
  EXPECT_EQ(counters().broken, 5U);
  EXPECT_EQ(counters().last_error, "/api/v1/pods answered with a NodeList; wanted is PodList");
}

TEST_F(ReflectorTest, SeventhOfTwentyPagesCutInAnItemStartsTheListOver) {
  for (int i = 0; i < 10'000; ++i) server_.Put("pod-" + std::to_string(i));
  server_.Next(On::kList, StatusReply(410, "Expired"));
  for (int good = 2; good < 7; ++good) server_.Next(On::kPage, {});
  server_.Next(On::kPage, RawReply(ChunkedHead() + Chunk(R"({"kind":"PodList","items":[{"metadata":{"name":"x"}},{)")));
  Start();
  ASSERT_TRUE(store_.WaitFor(server_.Objects()));
  ASSERT_TRUE(server_.WaitForRequests(29));
  Finish();
  const Log log = server_.Log();
  ASSERT_EQ(log.size(), 29U);
  EXPECT_EQ((Log{log.begin() + 6, log.begin() + 10}),
            (Log{"LIST rv= limit=500 continue=2500", "LIST rv= limit=500 continue=3000", "LIST rv= limit=500",
                 "LIST rv= limit=500 continue=500"}));
  EXPECT_EQ(log.back(), "WATCH rv=10000");
  EXPECT_EQ(store_.abandoned(), 2);
  EXPECT_EQ(counters().lists, 3U);
}

// --- D20, D30: servers that are away --------------------------------------------------------------------------------

TEST_F(ReflectorTest, RefusedConnectionsResumeTheWatchWithoutAList) {
  server_.Put("a");
  clock_.OnWait([this](std::size_t count) {
    if (count == 3) server_.Reopen();
  });
  Start();
  ASSERT_TRUE(server_.WaitForRequests(2));
  server_.Close();
  ASSERT_TRUE(server_.WaitForRequests(3));
  ExpectToCatchUp();
  Finish();
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "WATCH rv=1", "WATCH rv=1"}));
  EXPECT_GE(counters().unreachable, 2U);
}

TEST_F(ReflectorTest, SilentWatchIsResumed) {
  options_.silence = milliseconds(300);
  server_.Put("a");
  server_.Next(On::kWatch, SilenceAfter(ChunkedHead()));
  server_.Next(On::kWatch, Silence());
  Start();
  ASSERT_TRUE(server_.WaitForRequests(4));
  ExpectToCatchUp();
  reflector_->Stop();
  const Log log = server_.Log();
  EXPECT_EQ((Log{log.begin(), log.begin() + 4}), (Log{"LIST rv=0", "WATCH rv=1", "WATCH rv=1", "WATCH rv=1"}));
  EXPECT_EQ(counters().lists, 1U);
}

// As of a resource that nobody has ever made: no event, no bookmark.
TEST_F(ReflectorTest, WatchThatIsAcceptedIsASignOfLife) {
  options_.silence = milliseconds(50);
  for (int i = 0; i < 3; ++i) server_.Next(On::kWatch, SilenceAfter(ChunkedHead()));
  Start();
  EXPECT_TRUE(store_.WaitForAlive(3));
  reflector_->Stop();
  EXPECT_EQ(counters().events + counters().bookmarks, 0U);
}

TEST_F(ReflectorTest, StopEndsSilentWatchesListsAndWaits) {
  const auto stops_at_once = [this](std::size_t requests) {
    EXPECT_TRUE(server_.WaitForRequests(requests));
    const auto begin = std::chrono::steady_clock::now();
    reflector_->Stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(900));
  };
  Start();
  stops_at_once(2);  // in the watch
  server_.Next(On::kList, SilenceAfter(ChunkedHead() + Chunk("{")));
  Start();
  stops_at_once(3);  // in the list
  server_.Next(On::kList, StatusReply(429, "TooManyRequests", "slow", "Retry-After: 60\r\n"));
  reflector_ = std::make_unique<Reflector>(*api_, store_, options_);
  stops_at_once(4);  // in the wait, or just before it
  EXPECT_EQ(store_.misuses(), 0);
}

// --- recorded ---------------------------------------------------------------------------------------------------

TEST_F(ReflectorTest, ReplaysARecordedClusterUpToItsLastEvent) {
  const std::string folder = PODIUM_TEST_DIR "/kube/data/";
  const std::string events = ReadFileText(folder + "watch-pods.jsonl");
  server_.Next(On::kList, Reply(200, ReadFileText(folder + "list-pods.json")));
  server_.Next(On::kWatch, SilenceAfter(ChunkedHead() + Chunk(events.substr(0, 7'777)) + Chunk(events.substr(7'777))));
  Start();
  ASSERT_TRUE(server_.WaitForRequests(2));
  ASSERT_TRUE(store_.WaitForAlive(82));
  reflector_->Stop();
  EXPECT_EQ(server_.Log(), (Log{"LIST rv=0", "WATCH rv=1262"}));
  EXPECT_EQ(counters().items, 21U);
  EXPECT_EQ(counters().events + counters().bookmarks, 81U);
  EXPECT_EQ(counters().skipped, 0U);
}

}  // namespace
}  // namespace podium
