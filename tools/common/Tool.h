//===- Tool.h - Exit codes and the frame of a tool's main ---------------------------------------------------------===//
#ifndef LLMC_TOOLS_COMMON_TOOL_H
#define LLMC_TOOLS_COMMON_TOOL_H

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

namespace llmc::tools {

/// What a tool's exit code says. Results go to stdout, everything else to stderr.
enum ExitCode {
  kGood = 0,
  kBadData = 1,    // the model, artifact or data is wrong or disagrees, or the disk or memory is not enough
  kBadCommand = 2, // the command line is wrong, an unknown or missing input name included
  kOurFault = 3
};

class ToolError : public std::runtime_error {
public:
  ToolError(ExitCode code, const std::string &message) : std::runtime_error(message), code(code) {}
  const ExitCode code;
};

[[noreturn]] inline void badData(const std::string &message) { throw ToolError(kBadData, message); }
[[noreturn]] inline void badCommand(const std::string &message) { throw ToolError(kBadCommand, message); }

/// Adds --version, and the examples to --help.
void describe(CLI::App &app, const std::string &examples);
/// Parses the command line and calls `body`, which returns an exit code; reports whatever goes wrong as `NAME: error:
/// ...`.
int runTool(CLI::App &app, int argc, char **argv, int (*body)(void *), void *context);

template <typename Body> int runTool(CLI::App &app, int argc, char **argv, Body body) {
  return runTool(app, argc, argv, [](void *context) -> int { return (*static_cast<Body *>(context))(); }, &body);
}

} // namespace llmc::tools

#endif // LLMC_TOOLS_COMMON_TOOL_H
