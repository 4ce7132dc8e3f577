//===- Trace.h - A file with what was asked of a batcher, and what runs took --------------------------------------===//
//
// Lines of words; llmc-batch-sim plays them again. Times and spans are in microseconds, times from the start of the
// batcher; the name of the model ends the line.
//
//   batcher PARALLEL_RUNS
//   model MAX_ROWS MAX_REQUESTS|- DELAY QUEUED_ROWS|- SLO_P99 INSTANCES some|any SIZE,SIZE... NAME
//   cost BUCKET ROWS SPAN NAME                 what a run was expected to take at the start
//   run TIME BUCKET ROWS EXECUTED SPAN NAME    that succeeded, from its start; EXECUTED: with padding
//   request TIME ROWS BUCKET PRIORITY DEADLINE|- LATENCY OUTCOME REASON NAME
//
// DEADLINE is a span; `-`: none. QUEUED_ROWS 0: by the SLO. `some`: the sizes are all that run; `any`: any number of
// rows runs.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_TRACE_H
#define LLMC_RUNTIME_BATCH_TRACE_H

#include "runtime/base/Status.h"
#include "runtime/batch/BatchConfig.h"
#include <cstdio>
#include <memory>
#include <mutex>

namespace llmc::batch {

struct RecordedRequest {
  TimeNs arrival, latency, deadline; // deadline: from the arrival, kNever without one
  int64_t rows;
  uint32_t bucket, priority;
  const char *outcome, *reason;
};

struct RecordedRun {
  TimeNs start, time;
  uint32_t bucket, rows, executed;
};

/// Written by any thread, in the order in which things end.
class Trace {
public:
  /// Times are written from `start` on.
  static rt::Result<std::unique_ptr<Trace>> open(const char *path, TimeNs start, uint32_t parallelRuns);
  /// `costs`: whether those of `model` are known.
  void add(const ModelConfig &model, uint32_t instances, bool costs);
  void add(const std::string &model, const RecordedRun &run);
  void add(const std::string &model, const RecordedRequest &request);

private:
  struct Close {
    void operator()(FILE *file) const { std::fclose(file); }
  };
  Trace(FILE *file, TimeNs start) : file(file), start(start) {}
  std::mutex mutex;
  std::unique_ptr<FILE, Close> file;
  const TimeNs start;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_TRACE_H
