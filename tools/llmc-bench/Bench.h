//===- Bench.h - How runs are timed -------------------------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BENCH_BENCH_H
#define LLMC_TOOLS_LLMC_BENCH_BENCH_H

#include "tools/common/Inputs.h"

namespace llmc::tools {

struct BenchOptions : InputOptions {
  int warmup = 3;
  double minTime = 1.0; // seconds, with pauses
  double pauseMs = 0;   // before each run
  bool json = false;
};

/// Milliseconds of each run, rising: at least `minTime` and five runs, so that a median means something.
std::vector<double> measure(Session &session, const BenchOptions &options);

/// Times each size of each bucket that the artifact lists, and puts the table into the file. The exit code.
int saveCosts(const BenchOptions &options);

} // namespace llmc::tools

#endif // LLMC_TOOLS_LLMC_BENCH_BENCH_H
