//===- main.cpp - llmc-bench: times an artifact -------------------------------------------------------------------===//

#include "tools/common/Tool.h"
#include "tools/llmc-bench/Bench.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

using namespace llmc;
using namespace llmc::tools;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// The greatest size of this process in memory.
double peakRssMb() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:"))
      return double(std::strtoll(line.c_str() + 6, nullptr, 10)) / 1024;
  return 0;
}

} // namespace

std::vector<double> tools::measure(Session &session, const BenchOptions &options) {
  for (int i = 0; i < options.warmup; ++i)
    session.run();
  std::vector<double> times;
  for (Clock::time_point begin = Clock::now();
       times.size() < 5 || milliseconds(Clock::now() - begin) < options.minTime * 1000;) {
    if (options.pauseMs > 0)
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(options.pauseMs));
    Clock::time_point start = Clock::now();
    session.run();
    times.push_back(milliseconds(Clock::now() - start));
  }
  std::sort(times.begin(), times.end());
  return times;
}

namespace {

int bench(const BenchOptions &options) {
  Clock::time_point begin = Clock::now();
  Plan plan(options.artifact, options.load);
  int entry = findEntry(plan, options.entry);
  Session session(plan, entry);
  double loadMs = milliseconds(Clock::now() - begin);
  std::vector<Tensor> inputs = makeInputs(plan, entry, options);
  setInputs(session, inputs);
  begin = Clock::now();
  session.run();
  double firstMs = milliseconds(Clock::now() - begin);
  std::vector<double> times = measure(session, options);
  auto percentile = [&](double part) { return times[size_t(part * double(times.size() - 1) + 0.5)]; };
  nlohmann::json result = {{"median_ms", percentile(0.5)},
                           {"p95_ms", percentile(0.95)},
                           {"min_ms", times[0]},
                           {"runs", times.size()},
                           {"load_ms", loadMs},
                           {"first_run_ms", firstMs},
                           {"rss_mb", peakRssMb()},
                           {"arena_mb", double(session.arenaSize()) / (1 << 20)},
                           {"threads", plan.threads()},
                           {"cpu", plan.cpuLevel()}};
  if (options.json)
    std::cout << result.dump() << '\n';
  else
    std::printf("median %.3f ms, p95 %.3f, min %.3f (%zu runs, %d threads, %s); load %.2f ms, first run %.3f ms; peak "
                "memory %.1f MB\n",
                percentile(0.5), percentile(0.95), times[0], times.size(), plan.threads(), plan.cpuLevel(), loadMs,
                firstMs, peakRssMb());
  return kGood;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Times the runs of a compiled model", "llmc-bench");
  BenchOptions options;
  bool savesCosts = false;
  options.addTo(app);
  app.add_option("--warmup", options.warmup, "Runs before the measured ones")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--min-time", options.minTime, "Seconds to measure for, at least")
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  app.add_option("--pause-ms", options.pauseMs, "Sleep before each measured run, as under a low rate of requests")
      ->check(CLI::Range(0.0, 60000.0))
      ->capture_default_str();
  app.add_flag("--json", options.json, "Print one JSON object: median_ms p95_ms min_ms runs load_ms rss_mb ...");
  app.add_flag("--save-costs", savesCosts, "Time each size of each bucket that the artifact lists, --min-time for each, and keep the table in it");
  describe(app, "  llmc-bench model.llmc --random 1 --threads 2\n"
                "  llmc-bench bert.llmc --random 1 --dim batch=4 --dim length=128 --min-time 5 --json\n"
                "  llmc-bench bert.llmc --save-costs --threads 2         what the batcher and llmc-batch-sim go by\n");
  return runTool(app, argc, argv, [&] { return savesCosts ? saveCosts(options) : bench(options); });
}
