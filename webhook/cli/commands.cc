#include "cli/commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <ostream>
#include <span>

#include "cli/layout.h"
#include "core/text.h"

namespace podium {
namespace {

// Order here is the order of the help.
constexpr Command kCommands[] = {
    {"serve", "Run the admission webhook", SetUpServe},
    {"review", "Decide about manifests without a cluster, or ask a running Podium", SetUpReview},
    {"feasibility", "Say what the scheduler would do with pods, and why", SetUpFeasibility},
    {"why", "Say why a pod is pending, and what it waits for", SetUpWhy},
    {"gpus", "Count a cluster's GPUs: free, held and by whom, fragmented", SetUpGpus},
    {"lint", "Check policy files", SetUpLint},
    {"status", "Compare the policy with a cluster: classes and budgets", SetUpStatus},
    {"classes", "Compare the policy's PriorityClasses with a cluster's, or create them", SetUpClasses},
    {"pdb", "Show which disruption budgets workloads would get, and why", SetUpPdb},
    {"accuracy", "How often the advice of running replicas was right", SetUpAccuracy},
    {"snapshot", "Print what Podium sees of a cluster, to be read back from a file", SetUpSnapshot},
};

const Command* FindCommand(std::string_view name) {
  const auto* found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                   [name](const Command& command) { return command.name == name; });
  return found == std::end(kCommands) ? nullptr : found;
}

std::string Overview() {
  std::string text =
      "Podium gives every workload on a GPU cluster its place in the queue, and says why.\n\n"
      "Usage: podium COMMAND [OPTIONS]\n\nCommands:\n";
  for (const Command& command : kCommands)
    text.append("  ").append(command.name).append(13 - command.name.size(), ' ').append(command.summary).append("\n");
  return text +
         "  help         Show this, or the options of a command: podium help COMMAND\n\n"
         "Exit codes: 0 done and nothing refused; 1 refused, or errors in a policy; 2 wrong usage or unusable "
         "input;\n4 a pod finds no place (feasibility).\n";
}

std::unique_ptr<CLI::App> MakeApp(const Command& command) {
  auto app = std::make_unique<CLI::App>(std::string(command.summary), "podium " + std::string(command.name));
  app->get_formatter()->column_width(34);
  return app;
}

int PrintHelp(const Command& command, Io& io) {
  const auto app = MakeApp(command);
  command.setup(*app);
  io.out << app->help();
  return kExitOk;
}

int RunCommand(const Command& command, std::vector<std::string> options, Io& io) {
  const auto app = MakeApp(command);
  const Action action = command.setup(*app);
  std::reverse(options.begin(), options.end());  // CLI11 takes them from the back
  try {
    app->parse(std::move(options));
  } catch (const CLI::CallForHelp&) {
    io.out << app->help();
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    io.err << "podium " << command.name << ": " << Printable(error.what()) << "\n'podium help " << command.name
           << "' shows the options\n";
    return kExitUnusable;
  }
  return action(io);
}

int UnknownCommand(std::string_view name, Io& io) {
  std::vector<std::string_view> names = {"help"};
  for (const Command& command : kCommands) names.push_back(command.name);
  io.err << "podium: there is no command '" << Printable(name) << "'";
  if (const auto nearest = NearestName(name, names)) io.err << "; did you mean '" << *nearest << "'?";
  io.err << "\n'podium help' lists the commands\n";
  return kExitUnusable;
}

int Help(std::span<const std::string> names, Io& io) {
  if (names.empty()) {
    io.out << Overview();
    return kExitOk;
  }
  const Command* command = FindCommand(names[0]);
  return command == nullptr ? UnknownCommand(names[0], io) : PrintHelp(*command, io);
}

int Dispatch(const std::vector<std::string>& arguments, Io& io) {
  if (arguments.empty()) {
    io.err << Overview();
    return kExitUnusable;
  }
  const std::string& first = arguments[0];
  const std::span<const std::string> rest(arguments.begin() + 1, arguments.end());
  if (first == "help" || first == "--help" || first == "-h") return Help(rest, io);
  if (first == "--version" || first == "version") {
    io.out << "podium " << PODIUM_VERSION << "\n";
    return kExitOk;
  }
  const Command* command = FindCommand(first);
  return command == nullptr ? UnknownCommand(first, io) : RunCommand(*command, {rest.begin(), rest.end()}, io);
}

}  // namespace

int Unusable(const std::vector<std::string>& problems, Io& io) {
  for (const std::string& problem : problems) io.err << PrintableLines(problem) << "\n";
  return kExitUnusable;
}

int RunCommandLine(const std::vector<std::string>& arguments, Io& io) {
  try {
    return Dispatch(arguments, io);
  } catch (const std::exception& failure) {
    io.err << "podium: internal error: " << Printable(failure.what()) << "\n";
    return kExitUnusable;
  }
}

}  // namespace podium
