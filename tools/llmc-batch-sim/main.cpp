//===- main.cpp - llmc-batch-sim: the batcher under a virtual clock -----------------------------------------------===//

#include "tools/llmc-batch-sim/Options.h"
#include "tools/llmc-batch-sim/Sweep.h"
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace llmc;
using namespace llmc::sim;

namespace {

nlohmann::ordered_json toJson(const Report &report) {
  nlohmann::ordered_json json = {{"requests", report.requests},
                                 {"done", report.done},
                                 {"within_slo", report.withinSlo},
                                 {"seconds", report.seconds},
                                 {"throughput", report.throughput()},
                                 {"goodput", report.goodput()},
                                 {"mean_ms", report.meanMs},
                                 {"p50_ms", report.p50Ms},
                                 {"p90_ms", report.p90Ms},
                                 {"p99_ms", report.p99Ms},
                                 {"p999_ms", report.p999Ms},
                                 {"max_ms", report.maxMs},
                                 {"runs", report.runs},
                                 {"rows_per_run", report.rowsPerRun()},
                                 {"padding_share", report.paddingShare()},
                                 {"busy", report.busy}};
  for (unsigned i = 0; i < batch::kNumReasons; ++i)
    if (report.reasons[i])
      json["drops"][batch::name(batch::Reason(i))] = report.reasons[i];
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", (unsigned long long)report.hash);
  json["hash"] = hash;
  return json;
}

void print(const Report &report) {
  std::printf("%llu requests, %llu answered, %.1f per second; %llu within the SLO, %.1f per second\n",
              (unsigned long long)report.requests, (unsigned long long)report.done, report.throughput(),
              (unsigned long long)report.withinSlo, report.goodput());
  std::printf("latency ms: mean %.3f, p50 %.3f, p90 %.3f, p99 %.3f, p99.9 %.3f, max %.3f\n", report.meanMs,
              report.p50Ms, report.p90Ms, report.p99Ms, report.p999Ms, report.maxMs);
  std::printf("%llu runs of %.2f rows, %.1f %% padding, busy %.1f %%\n", (unsigned long long)report.runs,
              report.rowsPerRun(), 100 * report.paddingShare(), 100 * report.busy);
  for (unsigned i = 0; i < batch::kNumReasons; ++i)
    if (report.reasons[i])
      std::printf("dropped, %s: %llu\n", batch::name(batch::Reason(i)), (unsigned long long)report.reasons[i]);
  std::printf("hash %016llx\n", (unsigned long long)report.hash);
}

nlohmann::ordered_json toJson(const Trial &trial) {
  nlohmann::ordered_json json = {{"max_rows", trial.settings.maxRows},
                                 {"delay_ms", double(trial.settings.delay) * 1e-6},
                                 {"queue_rows", trial.settings.maxQueuedRows}};
  json["report"] = toJson(trial.report);
  return json;
}

void print(const Recommendation &recommendation, bool asJson) {
  const Settings &best = recommendation.best.settings;
  if (asJson) {
    nlohmann::ordered_json json = {{"recommended", toJson(recommendation.best)},
                                   {"given", toJson(recommendation.base)}};
    json["reasons"] = recommendation.reasons;
    json["tried"] = recommendation.trials.size();
    std::cout << json.dump() << '\n';
    return;
  }
  std::printf("--max-rows %u --delay-ms %g --queue-rows %u\n", best.maxRows, double(best.delay) * 1e-6,
              best.maxQueuedRows);
  for (const std::string &reason : recommendation.reasons)
    std::printf("- %s\n", reason.c_str());
}

void write(const std::string &path, Plot plot, const std::string &title) {
  plot.title = title;
  std::ofstream file(path);
  if (!(file << toSvg(plot)).flush())
    tools::badData("can not write '" + path + "'");
}

void draw(const Options &options, const Scenario &scenario, const Recommendation *recommendation) {
  if (scenario.loads[0].arrivals.kind == ArrivalKind::Closed || scenario.loads[0].arrivals.kind == ArrivalKind::Trace)
    tools::badCommand("a chart needs arrivals that have a rate");
  std::vector<Variation> variations;
  if (recommendation)
    variations = recommendedVariations(scenario, *recommendation);
  else
    variations = options.sweep == "policy" ? policyVariations(scenario) : delayVariations(scenario);
  Measure measure = options.measure == "p50"   ? Measure::P50
                    : options.measure == "p99" ? Measure::P99
                                               : Measure::Goodput;
  double highest = capacityOf(scenario) * (measure == Measure::Goodput ? 1.5 : 1);
  write(options.plot, sweep(variations, measure, highest, 20), options.measure + " over the rate");
}

/// What is simulated, and what was seen.
void print(const Report &report, const Recording *recording, bool asJson) {
  nlohmann::ordered_json json = toJson(report);
  if (recording)
    json["recorded"] = {{"done", recording->latencies.size()},
                        {"p50_ms", percentileMs(recording->latencies, 0.5)},
                        {"p99_ms", percentileMs(recording->latencies, 0.99)}};
  if (asJson) {
    std::cout << json.dump() << '\n';
    return;
  }
  print(report);
  if (recording)
    std::printf("recorded: %zu answered by runs, latency ms: p50 %.3f, p99 %.3f\n", recording->latencies.size(),
                percentileMs(recording->latencies, 0.5), percentileMs(recording->latencies, 0.99));
}

int simulateAll(const Options &options) {
  std::optional<Recording> recording;
  if (!options.replay.empty())
    recording = Recording::read(options.replay);
  const Recording *recorded = recording ? &*recording : nullptr;
  Scenario scenario = options.scenario(recorded);
  if (!options.recommend) {
    if (!options.plot.empty()) {
      draw(options, scenario, nullptr);
      return tools::kGood;
    }
    print(simulate(scenario), recorded, options.json);
    return tools::kGood;
  }
  if (scenario.slo == 0 || scenario.policy != "ours" || scenario.config.models.size() > 1)
    tools::badCommand("--recommend needs --slo-ms, one model and the policy 'ours'");
  Recommendation recommendation = recommend(scenario);
  print(recommendation, options.json);
  if (!options.plot.empty())
    draw(options, scenario, &recommendation);
  return tools::kGood;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Simulates dynamic batching: the batcher of the runtime under a virtual clock", "llmc-batch-sim");
  Options options;
  options.addTo(app);
  tools::describe(app, "  llmc-batch-sim --rate 800 --slo-ms 50\n"
                       "  llmc-batch-sim --rate 800 --slo-ms 50 --deadlines --recommend --plot load.svg\n"
                       "  llmc-batch-sim --artifact minilm.llmc --bucket S=64 --rate 200 --slo-ms 100 --recommend\n"
                       "  llmc-batch-sim --costs table.txt --arrivals trace --trace requests.txt --json\n");
  return tools::runTool(app, argc, argv, [&] { return simulateAll(options); });
}
