// The command line: one table of commands, and what every command is given.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "podium/snapshot.h"

namespace CLI {
class App;
}

namespace podium {

// Exit codes of every command (docs/cli.md).
inline constexpr int kExitOk = 0;        // done; nothing refused, no errors
inline constexpr int kExitRefused = 1;   // an object was refused, a policy has errors, an expectation is not met
inline constexpr int kExitUnusable = 2;  // wrong usage, or input that cannot be read
inline constexpr int kExitNoRoom = 4;    // a pod finds no place, or nobody can tell; 3 is not used

// The world of one run: streams, clock and terminal. Tests give their own.
struct Io {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  TimePoint now{};
  bool color = false;
  int width = 100;  // columns of the terminal, or what to wrap at when there is none
};

// Prints each problem to io.err; returns kExitUnusable.
int Unusable(const std::vector<std::string>& problems, Io& io);

using Action = std::function<int(Io&)>;  // returns the exit code

struct Command {
  std::string_view name;
  std::string_view summary;
  Action (*setup)(CLI::App&);  // declares the options; the action runs after they are parsed
};

// Runs `podium <arguments>`. Never throws; prints what is wrong to io.err.
int RunCommandLine(const std::vector<std::string>& arguments, Io& io);

// One per command; each in the file of its name.
Action SetUpServe(CLI::App& app);
Action SetUpReview(CLI::App& app);
Action SetUpLint(CLI::App& app);
Action SetUpStatus(CLI::App& app);
Action SetUpClasses(CLI::App& app);
Action SetUpPdb(CLI::App& app);
Action SetUpAccuracy(CLI::App& app);
Action SetUpSnapshot(CLI::App& app);
Action SetUpFeasibility(CLI::App& app);
Action SetUpWhy(CLI::App& app);
Action SetUpGpus(CLI::App& app);

}  // namespace podium
