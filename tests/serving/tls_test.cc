#include "serving/tls.h"

#include <gmock/gmock.h>

#include "serving/test_engine.h"

namespace podium {
namespace {

using testing::HasSubstr;

constexpr int kNotAfterSlackSeconds = 5;

// --- loading --------------------------------------------------------------------------------------------------------

Error LoadingFails(const std::string& cert, const std::string& key) {
  const auto material = LoadTlsMaterial(cert, key);
  EXPECT_FALSE(material);
  return material ? Error{} : material.error();
}

TEST(TlsMaterial, KnowsItsValidity) {
  const TempDir dir;
  const auto now = std::chrono::system_clock::now();
  const auto material = LoadPair(MakePair(dir, "a", -60, 3600));
  EXPECT_LT(std::chrono::abs(material->not_before() - (now - std::chrono::seconds(60))),
            std::chrono::seconds(kNotAfterSlackSeconds));
  EXPECT_LT(std::chrono::abs(material->not_after() - (now + std::chrono::hours(1))),
            std::chrono::seconds(kNotAfterSlackSeconds));
  EXPECT_EQ(ValidityWarning(*material, now), std::nullopt);
  EXPECT_THAT(ValidityWarning(*material, now + std::chrono::hours(2)).value_or(""),
              testing::MatchesRegex(
                  "the certificate expired at 20.*Z; clients that check dates refuse it: install a new pair"));
  EXPECT_THAT(ValidityWarning(*material, now - std::chrono::hours(2)).value_or(""),
              HasSubstr("the certificate is not valid before 20"));
}

TEST(TlsMaterial, LoadsAnExpiredPair) {
  const TempDir dir;
  const auto material = LoadPair(MakePair(dir, "old", -7200, -3600));
  EXPECT_TRUE(ValidityWarning(*material, std::chrono::system_clock::now()));
}

TEST(TlsMaterial, NamesTheFileThatIsMissing) {
  const TempDir dir;
  const PairFiles pair = MakePair(dir, "a");
  EXPECT_EQ(LoadingFails(dir.File("none.crt"), pair.key),
            (Error{ErrorKind::kNotFound, dir.File("none.crt") + ": cannot be read: No such file or directory"}));
  EXPECT_EQ(LoadingFails(pair.cert, dir.File("none.key")),
            (Error{ErrorKind::kNotFound, dir.File("none.key") + ": cannot be read: No such file or directory"}));
  EXPECT_EQ(LoadingFails(dir.path(), pair.key),
            (Error{ErrorKind::kInvalidInput, dir.path() + ": cannot be read: it is a folder; wanted: a regular file"}));
}

TEST(TlsMaterial, SaysWhatIsWrongWithTheCertificateFile) {
  const TempDir dir;
  const PairFiles pair = MakePair(dir, "a");
  const std::string good = ReadFileText(pair.cert);
  EXPECT_EQ(LoadingFails(dir.Write("empty", ""), pair.key).message,
            dir.File("empty") + ": the file is empty; a PEM file is expected");
  EXPECT_THAT(LoadingFails(dir.Write("words", "no pem"), pair.key).message,
              HasSubstr(dir.File("words") + ": no certificate in PEM form (BEGIN CERTIFICATE) found; OpenSSL says: "));
  EXPECT_THAT(LoadingFails(dir.Write("half", good.substr(0, good.size() / 2)), pair.key).message,
              HasSubstr(dir.File("half") + ": no certificate in PEM form (BEGIN CERTIFICATE) found; OpenSSL says: "));
  EXPECT_THAT(LoadingFails(dir.Write("chain", good + good.substr(0, good.size() / 2)), pair.key).message,
              HasSubstr(dir.File("chain") + ": a certificate of the chain is damaged; OpenSSL says: "));
  EXPECT_EQ(LoadingFails(dir.Write("huge", std::string((1 << 20) + 1, 'x')), pair.key).message,
            dir.File("huge") + ": larger than 1 MiB; no PEM pair is");
}

TEST(TlsMaterial, SaysWhatIsWrongWithTheKeyFile) {
  const TempDir dir;
  const PairFiles pair = MakePair(dir, "a");
  const PairFiles other = MakePair(dir, "b");
  EXPECT_EQ(
      LoadingFails(pair.cert, other.key),
      (Error{ErrorKind::kInvalidInput, other.key + ": the private key does not belong to the first certificate of " +
                                           pair.cert + "; give the pair that was issued together"}));
  EXPECT_THAT(LoadingFails(pair.cert, pair.cert).message,
              HasSubstr(pair.cert + ": no private key in PEM form (BEGIN PRIVATE KEY) found; OpenSSL says: "));
}

TEST(TlsMaterial, RefusesAnEncryptedKeyInsteadOfAskingForItsPassphrase) {
  const TempDir dir;
  const PairFiles pair = MakePair(dir, "a");
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::string path = dir.File("encrypted.key");
  std::FILE* out = std::fopen(path.c_str(), "w");
  const auto* passphrase = reinterpret_cast<const unsigned char*>("secret");
  ASSERT_EQ(PEM_write_PrivateKey(out, key.get(), EVP_aes_128_cbc(), passphrase, 6, nullptr, nullptr), 1);
  std::fclose(out);
  EXPECT_EQ(LoadingFails(pair.cert, path).message,
            path + ": the private key is encrypted; an unencrypted one is expected");
}

// --- the handshake --------------------------------------------------------------------------------------------------

TEST(TlsListener, SpeaksTls12And13WithoutSessionTickets) {
  TestEngine engine;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Client client = Client::Tls(engine.tls(), {.max_version = version});
    ASSERT_TRUE(client.connected());
    EXPECT_EQ(SSL_version(client.ssl()), version);
    EXPECT_EQ(client.Exchange(Post("/echo", "x")).body, "x");
    EXPECT_FALSE(SSL_SESSION_has_ticket(SSL_get0_session(client.ssl())));
  }
}

TEST(TlsListener, RefusesTls11EvenFromAClientWithoutASecurityLevel) {
  TestEngine engine;
  EXPECT_FALSE(Client::Tls(engine.tls(), {.max_version = TLS1_1_VERSION, .security_level = 0}).connected());
  EXPECT_TRUE(Client::Tls(engine.tls()).connected());
  EXPECT_EQ(engine->counters().handshakes_failed, 1U);
}

TEST(TlsListener, NegotiatesAeadCiphersOnly) {
  TestEngine engine;
  const Client client = Client::Tls(engine.tls(), {.max_version = TLS1_2_VERSION});
  EXPECT_EQ(SSL_CIPHER_is_aead(SSL_get_current_cipher(client.ssl())), 1);
  Client cbc(engine.tls());
  ASSERT_TRUE(cbc.connected());
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
  ASSERT_EQ(SSL_CTX_set_cipher_list(context, "ECDHE-ECDSA-AES256-SHA384:ECDHE-ECDSA-AES128-SHA"), 1);
  SSL* ssl = SSL_new(context);
  BIO* bio = BIO_new_connect(("127.0.0.1:" + std::to_string(engine.tls())).c_str());
  SSL_set_bio(ssl, bio, bio);
  EXPECT_NE(SSL_connect(ssl), 1);
  SSL_free(ssl);
  SSL_CTX_free(context);
}

struct AlpnRow {
  std::string_view name;
  std::string offer;
  std::string chosen;
};

TEST(TlsListener, ChoosesHttp11OrStaysSilent) {
  TestEngine engine;
  for (const AlpnRow& row :
       {AlpnRow{"http/1.1 only", "\x08http/1.1", "http/1.1"}, AlpnRow{"h2 first", "\x02h2\x08http/1.1", "http/1.1"},
        AlpnRow{"h2 only", "\x02h2", ""}, AlpnRow{"nothing offered", "", ""}}) {
    Client client = Client::Tls(engine.tls(), {.alpn = row.offer});
    ASSERT_TRUE(client.connected()) << row.name;
    const unsigned char* chosen = nullptr;
    unsigned length = 0;
    SSL_get0_alpn_selected(client.ssl(), &chosen, &length);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(chosen), length), row.chosen) << row.name;
    EXPECT_EQ(client.Exchange(Post("/echo", "x")).body, "x") << row.name;
  }
}

TEST(TlsListener, SurvivesPlainHttpAndGarbage) {
  TestEngine engine;
  Client plain(engine.tls());
  ASSERT_TRUE(plain.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(plain.ReadToEnd(), "");
  Client garbage(engine.tls());
  ASSERT_TRUE(garbage.Send(std::string(1'000, '\0')));
  garbage.ReadToEnd();
  EXPECT_EQ(engine->counters().handshakes_failed, 2U);
  EXPECT_TRUE(Client::Tls(engine.tls()).connected());
}

TEST(TlsListener, AnEmptyCellTurnsConnectionsAway) {
  const Cell<TlsMaterial> empty;
  const auto engine = Engine::Start({Listener{.name = "webhook", .tls = &empty, .routes = TestRoutes()}}, 1);
  ASSERT_TRUE(engine);
  Client client((*engine)->PortOf("webhook"));
  ASSERT_TRUE(client.Send(Post("/echo", "in the clear")));
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST(TlsListener, ServesANewPairToNewConnectionsAndKeepsTheOldOnes) {
  TestEngine engine;
  Client before = Client::Tls(engine.tls());
  engine.material().Store(LoadPair(MakePair(engine.dir(), "second")));
  Client after = Client::Tls(engine.tls());
  EXPECT_EQ(before.PeerCommonName(), "first");
  EXPECT_EQ(after.PeerCommonName(), "second");
  EXPECT_EQ(before.Exchange(Post("/echo", "old")).body, "old");
  EXPECT_EQ(after.Exchange(Post("/echo", "new")).body, "new");
}

}  // namespace
}  // namespace podium
