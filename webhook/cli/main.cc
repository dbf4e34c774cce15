#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace {

// A process may be started with some of them closed. The next file or socket would then take the place: a client's
// connection as standard output, with the audit log in it. /dev/null, but opened the wrong way round, so that reading
// or writing it fails as it would have failed before: an audit log on a closed standard output must not vanish quietly.
bool HoldStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    const int opened = ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest free number
    if (opened != stream) return false;
  }
  return true;
}

// What must hold before the first thread and the first file. A core dump would hold the TLS key.
void HardenProcess() {
  ::umask(027);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is a failing write, not the end of the process
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

bool WantsColor() {
  // https://no-color.org: set and not empty. There is no other thread yet.
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* no_color = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

int TerminalWidth() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40) return 100;
  return size.ws_col;
}

}  // namespace

int main(int argc, char** argv) {
  if (!HoldStandardStreams()) return podium::kExitUnusable;  // there is nowhere to say it
  HardenProcess();
  podium::Io io{.in = std::cin,
                .out = std::cout,
                .err = std::cerr,
                .now = std::chrono::system_clock::now(),
                .color = WantsColor(),
                .width = TerminalWidth()};
  const int code = podium::RunCommandLine({argv + (argc > 0 ? 1 : 0), argv + argc}, io);
  std::cout.flush();
  if (std::cout) return code;
  std::cerr << "podium: cannot write the output\n";
  return podium::kExitUnusable;
}
