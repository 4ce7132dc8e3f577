// The command line of llmc.
#ifndef LLMC_TOOLS_LLMC_OPTIONS_H
#define LLMC_TOOLS_LLMC_OPTIONS_H

#include "compiler/Compiler.h"

namespace llmc {

/// Exit codes.
constexpr int badData = 1, wrongCommandLine = 2, ourFault = 3;

struct CommandLine {
  CompileOptions compile;
  std::string reportPath;
};

/// Parses the arguments. The exit code to end with, if the process is done: after --help and --version, or when they are wrong.
std::optional<int> parseCommandLine(int argc, char **argv, CommandLine &line);

} // namespace llmc

#endif // LLMC_TOOLS_LLMC_OPTIONS_H
