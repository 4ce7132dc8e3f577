//===- Trace.h - A file with a line for each request --------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_TRACE_H
#define LLMC_RUNTIME_BATCH_TRACE_H

#include "runtime/base/Status.h"
#include "runtime/batch/BatchTypes.h"
#include <cstdio>
#include <memory>
#include <mutex>

namespace llmc::batch {

struct TraceLine {
  TimeNs arrival, latency, deadline; // deadline: from the arrival, kNever without one
  int64_t rows;
  const char *model;
  uint32_t bucket, priority;
  const char *outcome, *reason;
};

/// Written by any thread, in the order in which requests end. llmc-batch-sim reads the numbers of each line.
class Trace {
public:
  /// Times are written from `start` on.
  static rt::Result<std::unique_ptr<Trace>> open(const char *path, TimeNs start);
  void write(const TraceLine &line);

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
