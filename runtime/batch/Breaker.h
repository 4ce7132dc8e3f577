//===- Breaker.h - Stops sending work to what keeps failing -------------------------------------------------------===//
//
// Closed: requests are counted over a sliding window. Open: nothing runs. Half open: one batch at a time is let through
// as a probe; enough good ones close it, a bad one opens it for twice as long.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_BREAKER_H
#define LLMC_RUNTIME_BATCH_BREAKER_H

#include "runtime/batch/BatchConfig.h"
#include <array>

namespace llmc::batch {

class Breaker {
public:
  enum class State : uint8_t { Closed, Open, HalfOpen };

  explicit Breaker(const BreakerConfig &config) : config(config), openFor(config.openFor) {}

  State state(TimeNs now) const;
  /// When it will be half open; kNever unless open.
  TimeNs opensUntil(TimeNs now) const { return state(now) == State::Open ? openUntil : kNever; }
  /// A request that ran while closed has ended. True if this opens the breaker.
  bool record(TimeNs now, bool good);
  /// A batch that started while half open has ended. True if this opens the breaker.
  bool recordProbe(TimeNs now, bool good);
  /// Opens it whatever was counted. False if there is no breaker.
  bool trip(TimeNs now);

private:
  static constexpr unsigned kSlices = 10;
  struct Slice {
    int64_t number = -1; // time / span of a slice
    uint32_t good = 0, bad = 0;
  };

  BreakerConfig config;
  bool opened = false;
  TimeNs openUntil = 0, openFor;
  uint32_t goodProbes = 0;
  std::array<Slice, kSlices> slices = {};
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_BREAKER_H
