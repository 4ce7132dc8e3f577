//===- Arrivals.h - When requests come ----------------------------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_ARRIVALS_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_ARRIVALS_H

#include "runtime/batch/BatchTypes.h"
#include "tools/llmc-batch-sim/Random.h"
#include <memory>
#include <string>
#include <vector>

namespace llmc::sim {

enum class ArrivalKind {
  Poisson,
  Gamma,   // gaps with coefficient of variation `cv`
  Mmpp,    // Poisson, switching between two rates: `peak` times the other, a second each on average
  Bursts,  // the first tenth of each second at `peak` times the rate of the rest
  Diurnal, // a sine of `period` seconds, down to nothing and up to twice the rate
  Closed,  // `clients` that ask again after thinking
  Trace    // from a file
};

struct ArrivalSpec {
  ArrivalKind kind = ArrivalKind::Poisson;
  double rate = 100; // per second, on average
  double cv = 2;
  double peak = 8;
  double period = 60;
  uint32_t clients = 16;
  double thinkMs = 0; // on average, exponential
  std::string trace;  // lines of `MICROSECONDS [ROWS]`, in any order
};

/// Gaps between arrivals that do not depend on what becomes of them.
class ArrivalSource {
public:
  struct Arrival {
    batch::TimeNs time; // kNever: no more
    uint32_t rows;
  };
  virtual ~ArrivalSource() = default;
  virtual Arrival next() = 0;
};

/// Not for Closed.
std::unique_ptr<ArrivalSource> makeSource(const ArrivalSpec &spec, uint64_t seed);

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_ARRIVALS_H
