//===- Scenario.h - What to simulate ------------------------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_SCENARIO_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_SCENARIO_H

#include "runtime/batch/BatchConfig.h"
#include "tools/llmc-batch-sim/Arrivals.h"
#include "tools/llmc-batch-sim/CostTable.h"

namespace llmc::sim {

/// How run times scatter around the table. All keep the mean.
enum class Jitter {
  None,
  LogNormal,
  Exponential,
  Recorded // the machine is as fast as it was at that time of the recording, which begins anew at its end
};

/// From `time` on, what takes a second by the table takes 1 / speed.
struct RecordedSpeed {
  batch::TimeNs time;
  double speed;
};

struct ModelLoad {
  ArrivalSpec arrivals;
  RequestList requests;         // what is asked for, one after the other; null: one row each, or as below
  std::vector<CostTable> costs; // per bucket, at least one
  Jitter jitter = Jitter::None;
  double sigma = 0.1;             // of the log-normal
  std::vector<RecordedSpeed> recorded; // from 0 on, ascending; the last is that of the end
  batch::TimeNs wake = 0;         // what a run takes more whose instance had nothing to do: threads sleep, caches are cold
  uint32_t maxRowsPerRequest = 1; // uniform from 1, without a list of requests
  uint32_t classes = 1;           // requests are spread evenly
  double poisonShare = 0;         // of requests, with which a run fails
  double failShare = 0;           // of runs that fail for no reason
  double cancelShare = 0;         // of requests that are cancelled, ...
  double cancelAfterMs = 10;      // ... on average so long after their arrival
};

/// A model as it was recorded: its requests at their times, what runs cost and how they scattered.
ModelLoad loadOf(const Recording::Model &model);
/// Its settings, without instances.
batch::ModelConfig configOf(const Recording::Model &model, const ModelLoad &load);

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
