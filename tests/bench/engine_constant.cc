// The serving engine with a handler that answers a constant: what the engine alone costs.
//   bench_engine_constant CERT KEY PORT ANSWER_FILE THREADS    serves POST /mutate over TLS until SIGTERM
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "serving/engine.h"

namespace podium {
namespace {

int Serve(char** arguments) {
  const Result<std::shared_ptr<const TlsMaterial>> pair = LoadTlsMaterial(arguments[1], arguments[2]);
  if (!pair) {
    std::cerr << pair.error().message << "\n";
    return 2;
  }
  const Cell<TlsMaterial> tls(*pair);
  std::ifstream file(arguments[4]);
  HttpResponse answer;
  answer.body = std::string(std::istreambuf_iterator<char>(file), {});

  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  Listener listener;
  listener.name = "webhook";
  listener.port = static_cast<std::uint16_t>(std::strtoul(arguments[3], nullptr, 10));
  listener.tls = &tls;
  listener.routes = {{"POST", "/mutate", [&answer](const HttpRequest&) { return answer; }}};
  const Result<std::unique_ptr<Engine>> engine = Engine::Start({listener}, std::atoi(arguments[5]));
  if (!engine) {
    std::cerr << engine.error().message << "\n";
    return 2;
  }
  int signal = 0;
  sigwait(&ends, &signal);
  (*engine)->Stop(std::chrono::seconds(1));
  return 0;
}

}  // namespace
}  // namespace podium

int main(int count, char** arguments) {
  if (count == 6) return podium::Serve(arguments);
  std::cerr << "usage: bench_engine_constant CERT KEY PORT ANSWER_FILE THREADS\n";
  return 2;
}
