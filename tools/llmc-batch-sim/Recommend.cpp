//===- Recommend.cpp - Settings for a load and an SLO, and why ----------------------------------------------------===//

#include "tools/llmc-batch-sim/Recommend.h"
#include <algorithm>
#include <cstdio>

namespace llmc::sim {

using namespace llmc::batch;

Scenario with(const Scenario &scenario, const Settings &settings) {
  Scenario result = scenario;
  ModelConfig &model = result.config.models[0];
  model.maxRows = settings.maxRows;
  model.delay = settings.delay;
  model.maxQueuedRows = settings.maxQueuedRows;
  return result;
}

const CostTable &mostUsedCosts(const ModelLoad &load) {
  std::vector<size_t> requests(load.costs.size());
  if (load.requests)
    for (const TimedRequest &request : *load.requests)
      ++requests[request.bucket];
  return load.costs[size_t(std::max_element(requests.begin(), requests.end()) - requests.begin())];
}

static bool isBetter(const Report &a, const Report &b) {
  double good = double(a.withinSlo), other = double(b.withinSlo), margin = double(b.requests) / 1000;
  if (good > other + margin || good < other - margin)
    return good > other;
  return good >= other && a.p99Ms < b.p99Ms * 0.99;
}

static std::vector<Settings> candidates(const Scenario &scenario) {
  std::vector<Settings> result;
  uint32_t instances = uint32_t(scenario.config.instances.size());
  for (uint32_t rows : scenario.config.models[0].variants)
    for (TimeNs part : {0, 32, 8, 4})
      for (uint32_t batches : {0u, 1u, 2u, 8u})
        result.push_back({rows, part ? scenario.slo / part : 0, batches * rows * instances});
  return result;
}

static std::string sentence(const char *format, auto... values) {
  char text[400];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

static void explain(const Scenario &scenario, Recommendation &result) {
  const Settings &best = result.best.settings, &base = result.base.settings;
  const Report &report = result.best.report, &before = result.base.report;
  const CostTable &cost = mostUsedCosts(scenario.loads[0]);
  if (scenario.loads[0].costs.size() > 1)
    result.reasons.push_back("what is said of runs is true of the bucket that has most requests");
  double offered = double(report.requests) / std::max(1e-9, result.base.report.seconds);
  result.reasons.push_back(
      sentence("full batches of %u rows serve %.0f rows a second; %.0f requests a second are %.0f %% of that",
               cost.rows.back(), result.capacity, offered, 100 * offered / result.capacity));
  double single = double(cost.at(1)) * 1e-6, largest = double(cost.at(best.maxRows)) * 1e-6;
  result.reasons.push_back(sentence("a batch of up to %u rows runs %.2f ms, a single row %.2f ms, the SLO is %.2f ms",
                                    best.maxRows, largest, single, double(scenario.slo) * 1e-6));
  if (best.delay == 0)
    result.reasons.push_back(
        "no delay: a batch grows by itself while the one before it runs, and waiting gained nothing");
  else
    result.reasons.push_back(
        sentence("a delay of %.2f ms: fewer and fuller batches, %.2f rows each instead of %.2f, keep the device free",
                 double(best.delay) * 1e-6, report.rowsPerRun(), before.rowsPerRun()));
  if (best.maxQueuedRows)
    result.reasons.push_back(sentence(
        "at most %u rows wait: what would be late anyway is refused at once and costs nothing", best.maxQueuedRows));
  if (best == base)
    result.reasons.push_back("the present settings are as good as any that were tried");
  else
    result.reasons.push_back(
        sentence("%.2f %% of the requests are answered within the SLO instead of %.2f %%, p99 %.2f ms instead of %.2f",
                 100.0 * double(report.withinSlo) / double(report.requests),
                 100.0 * double(before.withinSlo) / double(before.requests), report.p99Ms, before.p99Ms));
}

Recommendation recommend(const Scenario &scenario) {
  const ModelConfig &model = scenario.config.models[0];
  const CostTable &cost = mostUsedCosts(scenario.loads[0]);
  Recommendation result;
  result.base.settings = {batchCap(model), model.delay, model.maxQueuedRows};
  result.base.report = simulate(scenario);
  result.best = result.base;
  result.capacity = 0;
  for (uint32_t rows : cost.rows)
    result.capacity =
        std::max(result.capacity, 1e9 * rows * double(scenario.config.instances.size()) / double(cost.at(rows)));
  for (const Settings &settings : candidates(scenario)) {
    Trial trial = {settings, simulate(with(scenario, settings))};
    if (isBetter(trial.report, result.best.report))
      result.best = trial;
    result.trials.push_back(trial);
  }
  explain(scenario, result);
  return result;
}

} // namespace llmc::sim
