//===- Sweep.cpp - One scenario at many rates, for a chart --------------------------------------------------------===//

#include "tools/llmc-batch-sim/Sweep.h"
#include "tools/llmc-batch-sim/Policy.h"

namespace llmc::sim {

using namespace llmc::batch;

static double valueOf(const Report &report, Measure measure) {
  switch (measure) {
  case Measure::P50:
    return report.p50Ms;
  case Measure::P99:
    return report.p99Ms;
  case Measure::Goodput:
    break;
  }
  return report.goodput();
}

double capacityOf(const Scenario &scenario) {
  const CostTable &cost = mostUsedCosts(scenario.loads[0]);
  double best = 0;
  for (uint32_t rows : cost.rows)
    best = std::max(best, rows / (double(cost.at(rows)) * 1e-9));
  return best * double(scenario.config.instances.size());
}

Plot sweep(const std::vector<Variation> &variations, Measure measure, double highest, unsigned steps) {
  Plot plot;
  plot.xLabel = "requests per second";
  plot.yLabel = measure == Measure::Goodput ? "answers within the SLO per second"
                : measure == Measure::P50   ? "p50, ms"
                                            : "p99, ms";
  const Scenario &first = variations[0].scenario;
  double slo = double(first.slo) * 1e-6, longest = double(mostUsedCosts(first.loads[0]).cost.back()) * 1e-6;
  plot.yMax = measure == Measure::Goodput ? highest : 1.5 * std::max(slo, 3 * longest);
  if (measure != Measure::Goodput && slo > 0) {
    plot.mark = slo;
    plot.markName = "SLO";
  }
  for (const Variation &variation : variations) {
    Line line = {variation.name, {}};
    for (unsigned i = 1; i <= steps; ++i) {
      Scenario scenario = variation.scenario;
      scenario.loads[0].arrivals.rate = highest * i / steps;
      double value = valueOf(simulate(scenario), measure);
      line.points.push_back({scenario.loads[0].arrivals.rate, value});
      if (value > plot.yMax)
        break; // it only gets worse
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

std::vector<Variation> delayVariations(const Scenario &scenario) {
  std::vector<Variation> result;
  for (int delay : {0, 2, 5, 20}) {
    result.push_back({"delay " + std::to_string(delay) + " ms", scenario});
    result.back().scenario.config.models[0].delay = delay * kMillisecond;
  }
  return result;
}

std::vector<Variation> policyVariations(const Scenario &scenario) {
  std::vector<Variation> result;
  for (const char *name : kPolicyNames) {
    result.push_back({name, scenario});
    result.back().scenario.policy = name;
  }
  return result;
}

std::vector<Variation> recommendedVariations(const Scenario &scenario, const Recommendation &recommendation) {
  std::vector<Variation> result = {{"recommended", with(scenario, recommendation.best.settings)},
                                   {"as given", scenario}};
  result.push_back({"no batching", scenario});
  result.back().scenario.policy = "none";
  return result;
}

} // namespace llmc::sim
