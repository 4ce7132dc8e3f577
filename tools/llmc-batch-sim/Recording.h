//===- Recording.h - What a batcher wrote to its `record` ---------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_RECORDING_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_RECORDING_H

#include "runtime/batch/BatchConfig.h"
#include "tools/llmc-batch-sim/Arrivals.h"

namespace llmc::sim {

/// The file is described in runtime/batch/Trace.h.
struct Recording {
  struct Run {
    batch::TimeNs start;
    uint32_t bucket, rows; // as executed
    batch::TimeNs time;
  };
  struct Model {
    std::string name;
    uint32_t maxRows = 0, queuedRows = 0, instances = 1;
    int64_t maxRequests = batch::kUnlimitedBytes; // of a batch
    batch::TimeNs delay = 0, sloP99 = 0;
    bool anySize = false;
    std::vector<uint32_t> sizes;                      // ascending
    std::vector<std::vector<batch::TimeNs>> expected; // of a run, per bucket and size; 0: not known
    std::vector<Run> runs;                            // in the order of their starts
    std::vector<TimedRequest> requests;               // that needed a run, in the order of their arrivals
  };

  uint32_t parallelRuns = 1;
  std::vector<Model> models;
  std::vector<batch::TimeNs> latencies; // of the requests that were answered by runs, ascending

  /// What is wrong with the file is an error that names the line.
  static Recording read(const std::string &path);
};

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_RECORDING_H
