//===- Random.h - Seeded numbers, and how many of them a test may use
//-----------------------------------------------===//
#ifndef LLMC_TEST_RUNTIME_BATCH_RANDOM_H
#define LLMC_TEST_RUNTIME_BATCH_RANDOM_H

#include <cstdint>

namespace llmc::test {

/// splitmix64
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t limit) { return next() % limit; }
  /// Once in `times`.
  bool once(uint64_t times) { return below(times) == 0; }

private:
  uint64_t state;
};

// The sanitizers and the batcher's own checks in debug builds cost ten to fifty times as much.
#ifdef NDEBUG
inline constexpr uint64_t kRandomEvents = 1'000'000, kRandomScenarios = 4000;
#else
inline constexpr uint64_t kRandomEvents = 100'000, kRandomScenarios = 200;
#endif

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_BATCH_RANDOM_H
