//===- Clock.h - Where the batcher's threads read the time --------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_CLOCK_H
#define LLMC_RUNTIME_BATCH_CLOCK_H

#include "runtime/batch/BatchTypes.h"
#include <chrono>

namespace llmc::batch {

/// Read by any thread. One that goes back stands still for the batcher until it has caught up.
class Clock {
public:
  virtual ~Clock() = default;
  virtual TimeNs now() = 0;
};

class SteadyClock final : public Clock {
public:
  TimeNs now() override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_CLOCK_H
