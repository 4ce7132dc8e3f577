//===- Simulation.h - Plays a scenario under a virtual clock ------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_SIMULATION_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_SIMULATION_H

#include "runtime/batch/BatchStats.h"
#include "tools/llmc-batch-sim/Scenario.h"

namespace llmc::sim {

struct Report {
  uint64_t requests = 0, done = 0, withinSlo = 0;
  std::array<uint64_t, batch::kNumReasons> reasons = {};                     // of those that are not done
  double seconds = 0;                                                        // until the last answer
  double meanMs = 0, p50Ms = 0, p90Ms = 0, p99Ms = 0, p999Ms = 0, maxMs = 0; // of those that are done
  uint64_t runs = 0, rows = 0, executedRows = 0;
  double busy = 0;   // share of the time of all instances
  uint64_t hash = 0; // of all that was done and when

  double goodput() const { return seconds > 0 ? double(withinSlo) / seconds : 0; } // per second
  double throughput() const { return seconds > 0 ? double(done) / seconds : 0; }
  double rowsPerRun() const { return runs ? double(rows) / double(runs) : 0; }
  double paddingShare() const { return executedRows ? 1 - double(rows) / double(executedRows) : 0; }
};

/// Milliseconds; 0 without any. The smallest that at least this part of them does not exceed.
double percentileMs(const std::vector<batch::TimeNs> &ascending, double part);

/// The same scenario gives the same report, to the bit.
Report simulate(const Scenario &scenario);

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_SIMULATION_H
