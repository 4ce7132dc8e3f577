//===- BatchStats.h - What a model has done so far ----------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_BATCHSTATS_H
#define LLMC_RUNTIME_BATCH_BATCHSTATS_H

#include "runtime/batch/LatencyHistogram.h"

namespace llmc::batch {

/// Counters only grow. A request counts once, with the model that it was sent to; runs count where they ran.
struct BatchStats {
  uint64_t admitted = 0;
  std::array<uint64_t, kNumOutcomes> outcomes = {};
  std::array<uint64_t, kNumReasons> reasons = {};
  uint64_t late = 0; // done after their deadline
  uint64_t executions = 0, failedExecutions = 0;
  uint64_t rows = 0;          // that were asked for, in executions
  uint64_t executedRows = 0;  // with padding
  LatencyHistogram queueTime; // from arrival to the start of the (last) run
  LatencyHistogram runTime;   // of executions
  LatencyHistogram totalTime; // from arrival to the answer, of those that are done
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_BATCHSTATS_H
