//===- Random.h - Seeded numbers, and how many of them a test may use ---------------------------------------------===//
#ifndef LLMC_TEST_RUNTIME_BATCH_RANDOM_H
#define LLMC_TEST_RUNTIME_BATCH_RANDOM_H

#include "tools/llmc-batch-sim/Random.h"

namespace llmc::test {

using sim::Random;

// The sanitizers and the batcher's own checks in debug builds cost ten to fifty times as much.
#ifdef NDEBUG
inline constexpr uint64_t kRandomEvents = 1'000'000, kRandomScenarios = 4000;
#else
inline constexpr uint64_t kRandomEvents = 100'000, kRandomScenarios = 200;
#endif

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_BATCH_RANDOM_H
