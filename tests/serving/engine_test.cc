// HTTP as the engine speaks it: what is served, what is refused and how. Deadlines, stopping: engine_slow_test.cc.
#include "serving/engine.h"

#include <gmock/gmock.h>

#include "serving/test_engine.h"

namespace podium {
namespace {

using testing::HasSubstr;

std::string Lines(std::initializer_list<std::string_view> lines, std::string_view body = "") {
  std::string text;
  for (const std::string_view line : lines) text.append(line).append("\r\n");
  return text.append("\r\n").append(body);
}

std::string ManyFields(int count) {
  std::string fields;
  for (int i = 0; i < count; ++i) fields += "X-" + std::to_string(i) + ": y\r\n";
  return fields;
}

// --- what is served -------------------------------------------------------------------------------------------------

TEST(Engine, AnswersAnApiServersRequestOverTlsAndKeepsTheConnection) {
  TestEngine engine;
  Client client = Client::Tls(engine.tls());
  for (const std::string_view body : {"one", "two"}) {
    const Reply reply = client.Exchange(Post("/echo?timeout=10s", body));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, body);
    EXPECT_TRUE(reply.Has("Content-Type: text/plain\r\n"));
    EXPECT_TRUE(reply.Has("\r\nDate: "));
    EXPECT_FALSE(reply.Has("Connection:"));
  }
  EXPECT_EQ(engine->counters().connections_accepted, 1U);
  EXPECT_EQ(engine->counters().requests, 2U);
}

TEST(Engine, RoutesOnThePathAndHandsTheQueryOver) {
  TestEngine engine;
  EXPECT_EQ(Client(engine.plain()).Exchange(Post("/query?timeout=10s&x=1", "{}")).body, "timeout=10s&x=1");
}

TEST(Engine, AcceptsAMediaTypeWithParametersInAnyCase) {
  TestEngine engine;
  const std::string request = Lines(
      {"POST /echo HTTP/1.1", "host: x", "content-length: 2", "content-type: Application/JSON; charset=utf-8"}, "{}");
  EXPECT_EQ(Client(engine.plain()).Exchange(request).status, 200);
}

TEST(Engine, CarriesBodiesUpToTheLimitThroughEveryBufferSize) {
  TestEngine engine({.body_bytes = 300'000});
  Client plain(engine.plain());
  Client tls = Client::Tls(engine.tls());
  for (const std::size_t size : {1UL, 16'000UL, 16'384UL, 16'385UL, 100'000UL, 300'000UL}) {
    std::string body(size, 'x');
    body.back() = 'y';
    EXPECT_EQ(plain.Exchange(Post("/echo", body)).body, body) << size;
    EXPECT_EQ(tls.Exchange(Post("/echo", body)).body, body) << size;
  }
}

TEST(Engine, TakesARequestInSinglePieces) {
  TestEngine engine;
  Client client(engine.plain());
  for (const char byte : Post("/echo", "piece by piece")) ASSERT_TRUE(client.Send({&byte, 1}));
  EXPECT_EQ(client.Read().body, "piece by piece");
}

TEST(Engine, AnswersPipelinedRequestsInOrder) {
  TestEngine engine;
  for (const bool tls : {false, true}) {
    Client client = tls ? Client::Tls(engine.tls()) : Client(engine.plain());
    std::string requests;
    for (int i = 0; i < 200; ++i) requests += Post("/echo", "body " + std::to_string(i));
    ASSERT_TRUE(client.Send(requests));
    for (int i = 0; i < 200; ++i) ASSERT_EQ(client.Read().body, "body " + std::to_string(i));
  }
}

TEST(Engine, ClosesAfterHttp10UnlessAskedToKeepTheConnection) {
  TestEngine engine;
  Client one(engine.plain());
  ASSERT_TRUE(one.Send(Lines({"GET /peer HTTP/1.0"})));
  EXPECT_THAT(one.ReadToEnd(), HasSubstr("\r\nConnection: close\r\n"));
  Client two(engine.plain());
  EXPECT_TRUE(two.Exchange(Lines({"GET /peer HTTP/1.0", "Connection: keep-alive"})).Has("Connection: keep-alive\r\n"));
  EXPECT_EQ(two.Exchange(Lines({"GET /peer HTTP/1.0"})).status, 200);
}

TEST(Engine, ClosesWhenTheRequestAsksForIt) {
  TestEngine engine;
  Client client(engine.plain());
  ASSERT_TRUE(client.Send(Post("/echo", "last", "Connection: close\r\n")));
  const std::string answer = client.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\nlast"));
}

TEST(Engine, AnswersHeadWithTheHeadOfGet) {
  TestEngine engine;
  Client client(engine.plain());
  ASSERT_TRUE(client.Send(Lines({"HEAD /peer HTTP/1.1", "Host: x", "Connection: close"})));
  const std::string answer = client.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n"));
}

TEST(Engine, TakesThePeerFromTheSocketNeverFromAHeader) {
  TestEngine engine;
  const std::string request = Lines({"GET /peer HTTP/1.1", "Host: x", "REMOTE_ADDR: 10.9.9.9",
                                     "X-Forwarded-For: 10.9.9.9", "Forwarded: for=10.9.9.9"});
  EXPECT_THAT(Client(engine.plain()).Exchange(request).body, testing::MatchesRegex("127\\.0\\.0\\.1:[0-9]+"));
}

// --- what is refused ------------------------------------------------------------------------------------------------

struct RefusalRow {
  std::string name;
  std::string request;
  int status;
  std::string error;  // of the JSON answer
};

void PrintTo(const RefusalRow& row, std::ostream* out) { *out << row.name; }

std::vector<RefusalRow> Refusals() {
  const std::string_view post = "POST /echo HTTP/1.1";
  const std::string_view host = "Host: x";
  const std::string_view json = "Content-Type: application/json";
  const std::string no_length = "a POST wants a Content-Length";
  const std::string malformed = "the head of the request is not well-formed HTTP";
  const std::string not_one_length = "the Content-Length is not one number of bytes";
  const std::string no_transfer_encoding = "Transfer-Encoding is not accepted; send the body with a Content-Length";
  return {
      {"NoLength", Lines({post, host, json}), 411, no_length},
      {"NegativeLength", Lines({post, host, json, "Content-Length: -1"}), 400, not_one_length},
      {"LengthIsAWord", Lines({post, host, json, "Content-Length: abc"}), 400, not_one_length},
      {"LengthWithSign", Lines({post, host, json, "Content-Length: +2"}, "{}"), 400, not_one_length},
      {"LengthOver64Bits", Lines({post, host, json, "Content-Length: 99999999999999999999"}), 400, not_one_length},
      {"TenGigabytes", Lines({post, host, json, "Content-Length: 10000000000"}), 413,
       "the body is larger than 7340032 bytes"},
      {"TwoLengths", Lines({post, host, json, "Content-Length: 2", "Content-Length: 5"}, "{}"), 400, not_one_length},
      {"TwoEqualLengths", Lines({post, host, json, "Content-Length: 2", "Content-Length: 2"}, "{}"), 400,
       "more than one Content-Length"},
      {"ListOfLengths", Lines({post, host, json, "Content-Length: 2, 2"}, "{}"), 400,
       "the Content-Length is not a number of bytes"},
      {"Chunked", Lines({post, host, json, "Transfer-Encoding: chunked"}, "2\r\n{}\r\n0\r\n\r\n"), 411,
       no_transfer_encoding},
      {"IdentityEncoding", Lines({post, host, json, "Transfer-Encoding: identity", "Content-Length: 2"}, "{}"), 411,
       no_transfer_encoding},
      {"ChunkedAndLength", Lines({post, host, json, "Content-Length: 2", "Transfer-Encoding: chunked"}, "{}"), 400,
       "the Transfer-Encoding is contradictory"},
      {"Gzip", Post("/echo", "xx", "Content-Encoding: gzip\r\n"), 415,
       "Content-Encoding is not accepted; send the body as it is"},
      {"Expect", Post("/echo", "xx", "Expect: 100-continue\r\n"), 417,
       "Expect is not supported; send the body at once"},
      {"Range", Post("/echo", "xx", "Range: bytes=0-1\r\n"), 400, "Range is not supported"},
      {"NoType", Lines({post, host, "Content-Length: 2"}, "{}"), 415,
       "the Content-Type of the body must be application/json"},
      {"WrongType", Lines({post, host, "Content-Type: text/plain", "Content-Length: 2"}, "{}"), 415,
       "the Content-Type of the body must be application/json"},
      {"TwoTypes", Post("/echo", "{}", "Content-Type: text/plain\r\n"), 415,
       "the Content-Type of the body must be application/json"},
      {"WrongPath", Post("/nothing", "{}"), 404, "there is nothing at this path"},
      {"EncodedPath", Post("/%65cho", "{}"), 404, "there is nothing at this path"},
      {"PathPrefix", Post("/echo/", "{}"), 404, "there is nothing at this path"},
      {"GetOnPost", Lines({"GET /echo HTTP/1.1", host}), 405, "the method is not allowed here; allowed: POST"},
      {"PutOnPost", Lines({"PUT /echo HTTP/1.1", host, "Content-Length: 0"}), 405,
       "the method is not allowed here; allowed: POST"},
      {"PostOnGet", Post("/peer", "{}"), 405, "the method is not allowed here; allowed: GET, HEAD"},
      {"GetWithBody", Lines({"GET /peer HTTP/1.1", host, "Content-Length: 2"}, "{}"), 400, "this method takes no body"},
      {"NoHost", Lines({"GET /peer HTTP/1.1"}), 400, "HTTP/1.1 wants exactly one Host field"},
      {"TwoHosts", Lines({"GET /peer HTTP/1.1", host, "Host: y"}), 400, "HTTP/1.1 wants exactly one Host field"},
      {"TooManyFields", Post("/echo", "{}", ManyFields(100)), 431, "the request has more than 100 header fields"},
      {"HeadTooLarge", Post("/echo", "{}", "X: " + std::string(40'000, 'x') + "\r\n"), 431,
       "the head of the request is larger than 32768 bytes"},
      {"EndlessLine", "POST /echo HTTP/1.1\r\nX: " + std::string(40'000, 'x'), 431,
       "the head of the request is larger than 32768 bytes"},
      {"LongTarget", Post("/" + std::string(9'000, 'x'), "{}"), 414, "the request target is longer than 8192 bytes"},
      {"Folded", Lines({"GET /peer HTTP/1.1", host, "X: a", " b"}), 400,
       "a header field is folded over several lines; write it in one"},
      {"BlankBeforeColon", Lines({"GET /peer HTTP/1.1", host, "X : a"}), 400, malformed},
      {"EmptyFieldName", Lines({"GET /peer HTTP/1.1", host, ": a"}), 400, malformed},
      {"NulInField", Lines({"GET /peer HTTP/1.1", host, std::string_view("X: a\0b", 6)}), 400, malformed},
      {"BareLineFeed", "GET /peer HTTP/1.1\r\nHost: x\nX: y\r\n\r\n", 400, malformed},
      {"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "HTTP/1.1 and HTTP/1.0 are spoken here"},
      {"LeadingLineBreak", "\r\n" + Lines({"GET /peer HTTP/1.1", host}), 400,
       "this does not begin like an HTTP request"},
      {"TlsOnPlainPort", "\x16\x03\x01\x02", 400, "this does not begin like an HTTP request"},
  };
}

class EngineRefusal : public testing::TestWithParam<RefusalRow> {};

// Behind every bad request goes a good one: it must never be taken for the next request of the connection.
TEST_P(EngineRefusal, SaysWhyAndCloses) {
  TestEngine engine;
  Client client(engine.plain());
  ASSERT_TRUE(client.Send(GetParam().request + Post("/echo", "smuggled")));
  const Reply reply = client.Read();
  EXPECT_EQ(reply.status, GetParam().status);
  EXPECT_EQ(reply.body, "{\"error\": \"" + GetParam().error + "\"}\n");
  EXPECT_TRUE(reply.Has("Connection: close\r\n"));
  EXPECT_EQ(client.ReadToEnd(), "");
  EXPECT_EQ(engine->counters().requests, 0U);
  EXPECT_EQ(engine->counters().requests_rejected, 1U);
  engine.ExpectHealthy();
}

INSTANTIATE_TEST_SUITE_P(Rows, EngineRefusal, testing::ValuesIn(Refusals()),
                         [](const auto& row) { return row.param.name; });

TEST(Engine, NamesTheAllowedMethodsInAField) {
  TestEngine engine;
  EXPECT_TRUE(Client(engine.plain()).Exchange(Post("/peer", "{}")).Has("\r\nAllow: GET, HEAD\r\n"));
}

TEST(Engine, OmitsTheBodyOfARefusedHead) {
  TestEngine engine;
  Client client(engine.plain());
  ASSERT_TRUE(client.Send(Lines({"HEAD /nothing HTTP/1.1", "Host: x"})));
  const std::string answer = client.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 404 Not Found\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n"));
}

TEST(Engine, SurvivesHandlersThatThrowAndTellsTheClientNothing) {
  TestEngine engine;
  for (const std::string_view what : {"exception", "int", "bad-alloc"}) {
    Client client(engine.plain());
    const Reply reply = client.Exchange(Post("/throw/" + std::string(what), "{}"));
    EXPECT_EQ(reply.status, 500) << what;
    EXPECT_EQ(reply.body, "{\"error\": \"internal error; the server's log says more\"}\n") << what;
    EXPECT_EQ(client.ReadToEnd(), "") << what;
  }
  engine.ExpectHealthy();
}

// --- limits ---------------------------------------------------------------------------------------------------------

TEST(Engine, ClosesTheNewestConnectionOverTheCap) {
  TestEngine engine({.connections = 2});
  Client one(engine.plain());
  Client two(engine.plain());
  EXPECT_EQ(one.Exchange(Post("/echo", "1")).body, "1");
  EXPECT_EQ(two.Exchange(Post("/echo", "2")).body, "2");
  Client three(engine.plain());
  EXPECT_EQ(three.ReadToEnd(), "");
  EXPECT_EQ(one.Exchange(Post("/echo", "again")).body, "again");
  EXPECT_EQ(engine->counters().connections_refused, 1U);
  EXPECT_EQ(engine->counters().connections_open, 2U);
}

TEST(Engine, SilentConnectionsMakeRoomForNewOnes) {
  TestEngine engine({.connections = 2});
  Client oldest(engine.plain());
  Client served(engine.plain());
  EXPECT_EQ(served.Exchange(Post("/echo", "1")).body, "1");
  Client newest(engine.plain());
  EXPECT_EQ(newest.Exchange(Post("/echo", "2")).body, "2");
  EXPECT_EQ(oldest.ReadToEnd(), "");
  EXPECT_EQ(served.Exchange(Post("/echo", "again")).body, "again");
  EXPECT_EQ(engine->counters().connections_open, 2U);
}

TEST(Engine, ShedsLoadWithRetryAfterWhenTooManyBytesAreInFlight) {
  TestEngine engine({.bytes_in_flight = 128 << 10});
  const std::string body(100'000, 'x');
  const std::string request = Post("/echo", body);
  Client slow(engine.plain());
  ASSERT_TRUE(slow.Send(std::string_view(request).substr(0, 80'000)));
  Client witness(engine.plain());
  Reply shed;
  do shed = witness.connected() ? Client(engine.plain()).Exchange(request) : Reply{};
  while (shed.status == 200);  // until the engine has read the slow one's bytes
  EXPECT_EQ(shed.status, 503);
  EXPECT_TRUE(shed.Has("\r\nRetry-After: 1\r\n"));
  EXPECT_EQ(shed.body, "{\"error\": \"too many requests at once; try again\"}\n");
  ASSERT_TRUE(slow.Send(std::string_view(request).substr(80'000)));
  EXPECT_EQ(slow.Read().body, body);
  EXPECT_EQ(Client(engine.plain()).Exchange(request).body, body) << "the room is free again";
}

TEST(Engine, TheAnnouncementOfALargeBodyTakesNoRoom) {
  TestEngine engine({.bytes_in_flight = 8 << 20});
  const std::string head =
      Lines({"POST /echo HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 7000000"});
  std::vector<Client> announcers;
  for (int i = 0; i < 20; ++i) {
    announcers.emplace_back(engine.plain());
    ASSERT_TRUE(announcers.back().Send(head));
  }
  EXPECT_EQ(Client(engine.plain()).Exchange(Post("/echo", "x")).body, "x");
}

// --- start ----------------------------------------------------------------------------------------------------------

TEST(Engine, RefusesAPortThatIsInUse) {
  TestEngine engine;
  Listener second{.name = "webhook", .port = engine.plain()};
  const auto started = Engine::Start({second}, 1);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(),
            (Error{ErrorKind::kConflict, "listener webhook: 127.0.0.1:" + std::to_string(engine.plain()) +
                                             " is in use by another process; stop it or choose another port"}));
}

TEST(Engine, RefusesAnAddressThatIsNone) {
  const auto started = Engine::Start({Listener{.name = "webhook", .address = "localhost"}}, 1);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error(),
            (Error{ErrorKind::kInvalidInput,
                   "listener webhook: 'localhost' is not an IP address; give one like 127.0.0.1, 0.0.0.0 or ::"}));
}

TEST(Engine, ServesIpv6) {
  const auto started = Engine::Start({Listener{.name = "webhook", .address = "::1", .routes = TestRoutes()}}, 1);
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_NE((*started)->PortOf("webhook"), 0);
  EXPECT_EQ((*started)->PortOf("other"), 0);
}

}  // namespace
}  // namespace podium
