//===- Breaker.cpp - Stops sending work to what keeps failing -----------------------------------------------------===//

#include "runtime/batch/Breaker.h"
#include <algorithm>

namespace llmc::batch {

Breaker::State Breaker::state(TimeNs now) const {
  if (!opened)
    return State::Closed;
  return now < openUntil ? State::Open : State::HalfOpen;
}

bool Breaker::trip(TimeNs now) {
  if (config.minRequests == 0)
    return false;
  opened = true;
  openUntil = now + openFor;
  openFor = std::min(openFor * 2, config.maxOpenFor);
  goodProbes = 0;
  return true;
}

bool Breaker::record(TimeNs now, bool good) {
  if (config.minRequests == 0 || opened)
    return false;
  int64_t number = now / (config.window / kSlices);
  Slice &slice = slices[number % kSlices];
  if (slice.number != number)
    slice = {number, 0, 0};
  ++(good ? slice.good : slice.bad);
  uint64_t total = 0, bad = 0;
  for (const Slice &each : slices) {
    if (each.number <= number - int64_t(kSlices))
      continue;
    total += each.good + each.bad;
    bad += each.bad;
  }
  return total >= config.minRequests && bad * 100 >= total * config.failurePercent && trip(now);
}

bool Breaker::recordProbe(TimeNs now, bool good) {
  if (!opened)
    return false;
  if (!good)
    return trip(now);
  if (++goodProbes < config.goodProbes)
    return false;
  opened = false;
  openFor = config.openFor;
  slices = {};
  return false;
}

} // namespace llmc::batch
