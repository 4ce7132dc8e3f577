//===- Options.h - The command line as a scenario -----------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_OPTIONS_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_OPTIONS_H

#include "tools/common/Tool.h"
#include "tools/llmc-batch-sim/Scenario.h"

namespace llmc::sim {

struct Options {
  std::string policy = "ours", arrivals = "poisson", jitter = "none", pad = "min-cost", mix = "fill-padding", costs, artifact;
  ArrivalSpec spec;
  std::vector<uint32_t> sizes = {1, 2, 4, 8, 16}, preferred;
  double fixedMs = 4, rowMs = 0.5, sigma = 0.1, delayMs = 0, sloMs = 0, agingMs = 1000, wakeMs = 0;
  double poison = 0, fail = 0, cancel = 0, cancelAfterMs = 10; // in percent, but for the last
  uint32_t maxRows = 0, queueRows = 0, instances = 1, rowsPerRequest = 1, classes = 1;
  uint64_t requests = 100000, seed = 1;
  bool deadlines = false, json = false, recommend = false;
  std::vector<std::string> bucket; // NAME=EDGE
  std::vector<std::string> others; // RATE:FIXED_MS:ROW_MS[:WEIGHT]
  std::string plot, sweep, measure = "p99";

  void addTo(CLI::App &app);
  /// Checked.
  Scenario scenario() const;
};

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_OPTIONS_H
