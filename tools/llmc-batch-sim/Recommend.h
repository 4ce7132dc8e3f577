//===- Recommend.h - Settings for a load and an SLO, and why ------------------------------------------------------===//
#ifndef LLMC_TOOLS_LLMC_BATCH_SIM_RECOMMEND_H
#define LLMC_TOOLS_LLMC_BATCH_SIM_RECOMMEND_H

#include "tools/llmc-batch-sim/Simulation.h"

namespace llmc::sim {

struct Settings {
  uint32_t maxRows;
  batch::TimeNs delay;
  uint32_t maxQueuedRows; // 0: the default
  bool operator==(const Settings &) const = default;
};

struct Trial {
  Settings settings;
  Report report;
};

struct Recommendation {
  Trial base; // the settings of the scenario
  Trial best;
  std::vector<Trial> trials;
  double capacity;                  // rows per second at full batches
  std::vector<std::string> reasons; // sentences
};

/// Tries settings of the first model around those of the scenario, which has an SLO. The best has most answers within
/// the SLO; among equals (to a thousandth) the one with the smaller p99. The scenario's own settings are tried too and
/// win unless beaten.
Recommendation recommend(const Scenario &scenario);

/// Of the bucket that has most requests.
const CostTable &mostUsedCosts(const ModelLoad &load);

/// The scenario with these settings.
Scenario with(const Scenario &scenario, const Settings &settings);

} // namespace llmc::sim

#endif // LLMC_TOOLS_LLMC_BATCH_SIM_RECOMMEND_H
