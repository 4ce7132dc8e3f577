//===- Random.h - Seeded numbers that are the same on every machine -----------------------------------------------===//
//
// The distributions of the standard library differ between libraries, and its math functions in the last bit. Here all
// is splitmix64, additions and multiplications.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_RANDOM_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_RANDOM_H

#include <cstdint>

namespace llmc::sim {

/// To about 1e-15 of the result; x > 0.
double naturalLog(double x);
double exponential(double x);
/// Of a full turn: x = 1 is 360 degrees. To about 1e-12.
double sineOfTurn(double x);

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
  /// In (0, 1).
  double uniform() { return (double(next() >> 11) + 0.5) * 0x1p-53; }
  /// With mean 1.
  double exponentialTime() { return -naturalLog(uniform()); }
  double normal();
  /// With mean 1 and this shape, > 0 (Marsaglia and Tsang).
  double gamma(double shape);

private:
  uint64_t state;
};

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_RANDOM_H
