//===- Scenario.h - What to simulate ------------------------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_SCENARIO_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_SCENARIO_H

#include "runtime/batch/BatchConfig.h"
#include "tools/llmc-batch-sim/Arrivals.h"
#include "tools/llmc-batch-sim/CostTable.h"

namespace llmc::sim {

/// How run times scatter around the table. All keep the mean.
enum class Jitter { None, LogNormal, Exponential };

struct ModelLoad {
  ArrivalSpec arrivals;
  CostTable cost;
  Jitter jitter = Jitter::None;
  double sigma = 0.1;             // of the log-normal
  batch::TimeNs wake = 0;         // what a run takes more whose instance had nothing to do: threads sleep, caches are cold
  uint32_t maxRowsPerRequest = 1; // uniform from 1, where no trace says
  uint32_t classes = 1;           // requests are spread evenly
  double poisonShare = 0;         // of requests, with which a run fails
  double failShare = 0;           // of runs that fail for no reason
  double cancelShare = 0;         // of requests that are cancelled, ...
  double cancelAfterMs = 10;      // ... on average so long after their arrival
};

struct Scenario {
  batch::BatcherConfig config;  // of all models and instances
  std::vector<ModelLoad> loads; // one per model
  std::string policy = "ours";
  batch::TimeNs slo = 0;      // of answers; 0: none
  bool deadlines = false;     // requests bring the SLO as their deadline
  uint64_t requests = 100000; // of each model
  uint64_t seed = 1;
};

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_SCENARIO_H
