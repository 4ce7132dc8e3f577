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
  Trace    // a list
};

struct TimedRequest {
  batch::TimeNs time = 0;
  uint32_t rows = 1, bucket = 0, priority = 0;
  batch::TimeNs deadline = batch::kNever, cancelAfter = batch::kNever; // spans
};

/// In the order of their times.
using RequestList = std::shared_ptr<const std::vector<TimedRequest>>;

struct ArrivalSpec {
  ArrivalKind kind = ArrivalKind::Poisson;
  double rate = 100; // per second, on average
  double cv = 2;
  double peak = 8;
  double period = 60;
  uint32_t clients = 16;
  double thinkMs = 0; // on average, exponential
  RequestList trace;
};

/// Of a file with lines of `MICROSECONDS [ROWS]`, in any order.
RequestList readTrace(const std::string &path);

/// Gaps between arrivals that do not depend on what becomes of them.
class ArrivalSource {
public:
  virtual ~ArrivalSource() = default;
  /// kNever: no more.
  virtual batch::TimeNs next() = 0;
};

/// Not for Closed, of which each client has its own times.
std::unique_ptr<ArrivalSource> makeSource(const ArrivalSpec &spec, uint64_t seed);

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_ARRIVALS_H
