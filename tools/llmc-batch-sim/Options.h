//===- Options.h - The command line as a scenario -----------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_OPTIONS_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_OPTIONS_H

#include "tools/common/Tool.h"
#include "tools/llmc-batch-sim/Scenario.h"
#include <optional>

namespace llmc::sim {

struct Options {
  std::optional<std::string> arrivals, jitter;
  std::string policy = "ours", pad = "min-cost", mix = "fill-padding", costs, artifact, trace, replay;
  ArrivalSpec spec;
  std::vector<uint32_t> sizes = {1, 2, 4, 8, 16}, preferred;
  double fixedMs = 4, rowMs = 0.5, sigma = 0.1, sloMs = 0, agingMs = 1000, wakeMs = 0;
  double poison = 0, fail = 0, cancel = 0, cancelAfterMs = 10; // in percent, but for the last
  std::optional<double> rate, delayMs;
  std::optional<uint32_t> maxRows, queueRows, instances;
  uint32_t rowsPerRequest = 1, classes = 1;
  uint64_t requests = 100000, seed = 1;
  bool deadlines = false, json = false, recommend = false;
  std::vector<std::string> bucket; // NAME=EDGE
  std::vector<std::string> others; // RATE:FIXED_MS:ROW_MS[:WEIGHT]
  std::string plot, sweep, measure = "p99";

  void addTo(CLI::App &app);
  /// Checked. `recording`: of --replay, or null.
  Scenario scenario(const Recording *recording) const;

private:
  ArrivalSpec arrivalSpec() const;
  ModelLoad loadAsTold() const;
  void addRecorded(Scenario &scenario, const Recording &recording) const;
  void addOther(Scenario &scenario, const std::string &text) const;
  void addInstances(Scenario &scenario, uint32_t count) const;
  void set(ModelLoad &load, batch::ModelConfig &model) const;
};

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_OPTIONS_H
