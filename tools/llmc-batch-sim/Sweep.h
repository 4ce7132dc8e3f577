//===- Sweep.h - One scenario at many rates, for a chart ----------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_SWEEP_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_SWEEP_H

#include "tools/llmc-batch-sim/Plot.h"
#include "tools/llmc-batch-sim/Recommend.h"

namespace llmc::sim {

/// What to draw over the offered rate.
enum class Measure { P50, P99, Goodput };

struct Variation {
  std::string name;
  Scenario scenario; // its rate is replaced
};

/// A line per variation, at `steps` rates up to `highest` requests a second. Arrivals must have a rate.
Plot sweep(const std::vector<Variation> &variations, Measure measure, double highest, unsigned steps);

/// Rows per second at full batches on all instances of the first model.
double capacityOf(const Scenario &scenario);

/// The scenario with other delays, or by all policies.
std::vector<Variation> delayVariations(const Scenario &scenario);
std::vector<Variation> policyVariations(const Scenario &scenario);
/// No batching, the scenario and what is recommended for it.
std::vector<Variation> recommendedVariations(const Scenario &scenario, const Recommendation &recommendation);

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_SWEEP_H
