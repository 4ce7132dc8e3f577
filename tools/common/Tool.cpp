//===- Tool.cpp - Exit codes and the frame of a tool's main -------------------------------------------------------===//

#include "tools/common/Tool.h"
#include "llmc/llmc.hpp"
#include <iostream>

namespace llmc::tools {

void describe(CLI::App &app, const std::string &examples) {
  app.set_version_flag("--version", app.get_name() + " " + LLMC_VERSION);
  app.footer("Examples:\n" + examples +
             "\nExit codes: 0 good; 1 the artifact or data is wrong; 2 the command line is wrong; 3 a fault of llmc");
}

/// The runtime's errors, as a tool tells them.
static ExitCode exitCodeOf(llmc_status status) { return status == LLMC_INTERNAL ? kOurFault : kBadData; }

int runTool(CLI::App &app, int argc, char **argv, int (*body)(void *), void *context) {
  auto fail = [&](ExitCode code, const std::string &message) {
    std::cout.flush();
    std::cerr << app.get_name() << ": error: " << message << '\n';
    return code;
  };
  try {
    app.parse(argc, argv);
    int code = body(context);
    std::cout.flush();
    return std::cout ? code : fail(kBadData, "can not write the results");
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kGood : kBadCommand;
  } catch (const ToolError &error) {
    return fail(error.code, error.what());
  } catch (const Error &error) {
    return fail(exitCodeOf(error.status()), error.what());
  } catch (const std::bad_alloc &) {
    return fail(kBadData, "out of memory");
  } catch (const std::exception &error) {
    return fail(kOurFault, error.what());
  }
}

} // namespace llmc::tools
