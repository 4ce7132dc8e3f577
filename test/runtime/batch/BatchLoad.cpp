//===- BatchLoad.cpp - What a model serves under load, in one process ---------------------------------------------===//
//
//   batch-load MODEL.llmc [SIZE [SECONDS [THREADS]]]
//
// Requests of one row of zeros; SIZE is what open dims get that are not the rows. Prints, each against what sessions
// alone reach in the same process: throughput at saturation, latency at 70 % load, and answers within an SLO at 1.5 and
// 3 times the capacity, with queues bounded by it. Arrivals are Poisson, from a seed. SECONDS for each, in nine rounds
// whose median counts. The load of 70 % is played again by the simulator, with the costs of the sizes and of
// waking up as sessions show them around each round.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "llmc/llmc.hpp"
#include "tools/llmc-batch-sim/Simulation.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <unistd.h>

namespace llmc::test {
namespace {

using Time = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kMaxRows = 32;

double quantile(std::vector<double> values, double share) {
  auto at = values.begin() + long(share * double(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

/// Inputs of so many rows.
struct Rows {
  Rows(const Plan &plan, int64_t rows, int64_t size) {
    std::string batch = plan.batchDim();
    for (int i = 0; i < plan.numInputs(); ++i) {
      TensorInfo info = plan.input(i);
      std::vector<int64_t> dims;
      size_t bytes = llmc_type_size(info.type);
      for (const llmc_dim &dim : info.dims) {
        dims.push_back(dim.value >= 0 ? dim.value : dim.name == batch ? rows : std::clamp(size, dim.lo, dim.hi));
        bytes *= size_t(dims.back());
      }
      data.emplace_back(bytes);
      inputs.push_back({info.name, info.type, dims, data.back()});
    }
  }
  std::vector<std::vector<std::byte>> data;
  std::vector<Input> inputs;
};

double secondsOfRun(const Plan &plan, int64_t rows, int64_t size, double atLeast, Seconds pause = Seconds(0)) {
  Rows input(plan, rows, size);
  Session session(plan);
  for (size_t i = 0; i < input.inputs.size(); ++i)
    session.setInput(int(i), input.inputs[i].type, input.inputs[i].dims, input.inputs[i].data);
  session.run();
  std::vector<double> times;
  for (Seconds total(0); total.count() < atLeast || times.size() < 3; total += Seconds(times.back())) {
    std::this_thread::sleep_for(pause);
    auto start = Time::now();
    session.run();
    times.push_back(Seconds(Time::now() - start).count());
  }
  return median(times);
}

Batcher makeBatcher(const Plan &plan, int maxRows, double slo) {
  llmc_batch_model model = {};
  model.struct_size = sizeof model;
  model.plan = plan.get();
  model.max_rows = maxRows;
  model.slo_p99_us = int64_t(slo * 1e6);
  return Batcher(std::span(&model, 1));
}

/// Rows a second that callers who always wait for an answer get.
double saturate(Batcher &batcher, const Plan &plan, int callers, int64_t size, double seconds) {
  Rows row(plan, 1, size);
  std::atomic<bool> stop = false;
  std::atomic<int64_t> answers = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < callers; ++i)
    threads.emplace_back([&] {
      SubmitOptions lend;
      lend.lend = true;
      for (; !stop; ++answers)
        batcher.submit(row.inputs, lend).get();
    });
  std::this_thread::sleep_for(Seconds(seconds / 4));
  int64_t before = answers;
  auto start = Time::now();
  std::this_thread::sleep_for(Seconds(seconds));
  double result = double(answers - before) / Seconds(Time::now() - start).count();
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  return result;
}

struct Outcomes {
  std::vector<double> latencies; // of those that are done
  std::vector<Time::time_point> due;
  int64_t sent = 0;
  double seconds = 0;

  int64_t within(double limit) const {
    return std::count_if(latencies.begin(), latencies.end(), [=](double latency) { return latency <= limit; });
  }
  double percentile(double share) { return latencies.empty() ? NAN : quantile(latencies, share); }
};

/// A request that knows when it was due to come.
struct Sent {
  Time::time_point due;
  Outcomes *outcomes;
  std::mutex *mutex;
  std::atomic<int64_t> *open;

  static void take(void *user, llmc_request *request) {
    std::unique_ptr<Sent> self(static_cast<Sent *>(user));
    double latency = Seconds(Time::now() - self->due).count();
    {
      std::lock_guard lock(*self->mutex);
      if (llmc_request_wait(request, 0) == LLMC_OK)
        self->outcomes->latencies.push_back(latency);
    }
    if (--*self->open == 0)
      self->open->notify_one();
  }
};

/// Sends at `rate`, whatever becomes of the answers, and waits for those that are open. A late sender counts against
/// the batcher.
Outcomes load(Batcher &batcher, const Plan &plan, int64_t size, double rate, double slo, double seconds,
              std::mt19937_64 &random) {
  Rows row(plan, 1, size);
  std::vector<llmc_batch_input> raw;
  for (const Input &input : row.inputs)
    raw.push_back({input.name, input.type, int32_t(input.dims.size()), input.dims.data(), input.data.data(),
                   input.data.size()});
  llmc_submission what = {};
  what.struct_size = sizeof what;
  what.inputs = raw.data();
  what.num_inputs = int32_t(raw.size());
  what.lend = 1;
  what.callback = Sent::take;
  what.deadline_us = int64_t(slo * 1e6);
  Outcomes outcomes;
  std::mutex mutex;
  std::atomic<int64_t> open = 1; // the sender
  auto start = Time::now();
  for (double at = 0; at < seconds; ++outcomes.sent) {
    at -= std::log(1 - double(random() >> 11) / double(1ull << 53)) / rate;
    auto due = start + std::chrono::duration_cast<Time::duration>(Seconds(at));
    std::this_thread::sleep_until(due);
    outcomes.due.push_back(due);
    auto sent = std::make_unique<Sent>(Sent{due, &outcomes, &mutex, &open});
    what.user = sent.get();
    ++open;
    if (llmc_batcher_submit(batcher.get(), &what, nullptr) == LLMC_OK)
      sent.release();
    else
      --open;
  }
  outcomes.seconds = Seconds(Time::now() - start).count();
  --open;
  for (int64_t left; (left = open) > 0;)
    open.wait(left);
  return outcomes;
}

/// What runs take.
struct Sizes {
  double single, full;              // seconds of a run of one row, of a full one
  int rows;                         // of a full one
  std::vector<double> seconds = {}; // of 1, 2, 4 ... rows
  double wake = 0;                  // that a run takes more after a pause
  double capacity() const { return rows / full; }
};

/// What the simulator says of the same arrivals.
sim::Report simulate(const Outcomes &outcomes, const Sizes &sizes) {
  char path[] = "/tmp/llmc-arrivals-XXXXXX";
  int file = ::mkstemp(path);
  std::FILE *out = file < 0 ? nullptr : ::fdopen(file, "w");
  if (!out)
    throw std::runtime_error("can not write arrivals to /tmp");
  for (Time::time_point due : outcomes.due)
    std::fprintf(out, "%lld 1\n",
                 (long long)std::chrono::duration_cast<std::chrono::microseconds>(due - outcomes.due[0]).count());
  std::fclose(out);
  sim::Scenario scenario;
  sim::ModelLoad load;
  load.arrivals.kind = sim::ArrivalKind::Trace;
  load.arrivals.trace = path;
  for (size_t i = 0; i < sizes.seconds.size(); ++i) {
    load.cost.rows.push_back(1u << i);
    load.cost.cost.push_back(batch::TimeNs(sizes.seconds[i] * 1e9));
  }
  load.wake = batch::TimeNs(sizes.wake * 1e9);
  batch::ModelConfig model;
  model.name = "model";
  model.variants = load.cost.rows;
  model.buckets = {batch::BucketConfig{load.cost.cost, 0}};
  scenario.config.models = {model};
  scenario.config.instances.push_back({0, 1, 0});
  scenario.config.maxRequests = 1 << 16;
  scenario.loads = {load};
  scenario.requests = outcomes.due.size();
  sim::Report report = sim::simulate(scenario);
  ::unlink(path);
  return report;
}

/// Rounds of load, each between two looks at what sessions reach: a shared machine is not the same twice.
class Rounds {
public:
  Rounds(const Plan &plan, Sizes sizes, int64_t size, double seconds)
      : plan(plan), sizes(sizes), size(size), seconds(seconds) {}

  void saturation() {
    Batcher batcher = makeBatcher(plan, sizes.rows, 0);
    std::vector<double> served, shares;
    each([&](Sizes, double time) { served.push_back(saturate(batcher, plan, 2 * sizes.rows, size, time)); },
         [&](Sizes around) { shares.push_back(served.back() / around.capacity()); });
    std::printf("saturation: %.0f rows/s, %.1f %% of what sessions reach\n", median(served), 100 * median(shares));
  }

  void calm(double factor) {
    Batcher batcher = makeBatcher(plan, sizes.rows, 0);
    std::vector<double> p50, p99, shares, predicted50, predicted99;
    Outcomes outcomes;
    each(
        [&](Sizes now, double time) {
          outcomes = load(batcher, plan, size, factor * now.capacity(), 0, time, random);
          p50.push_back(outcomes.percentile(0.5));
          p99.push_back(outcomes.percentile(0.99));
        },
        [&](const Sizes &around) {
          shares.push_back(p99.back() / (2.5 * around.single + around.full));
          sim::Report report = simulate(outcomes, around);
          predicted50.push_back(report.p50Ms / 1e3 / p50.back());
          predicted99.push_back(report.p99Ms / 1e3 / p99.back());
        });
    std::printf("%.0f %% load: p50 %.2f ms, p99 %.2f ms, which is %.2f of 2.5 single runs and a full one\n",
                100 * factor, median(p50) * 1e3, median(p99) * 1e3, median(shares));
    std::printf("  the simulator says %.2f of that p50 and %.2f of that p99\n", median(predicted50),
                median(predicted99));
  }

  void overload(double factor) {
    double slo = 4 * sizes.full;
    Batcher batcher = makeBatcher(plan, sizes.rows, slo);
    std::vector<double> good, shares;
    each(
        [&](Sizes now, double time) {
          Outcomes outcomes = load(batcher, plan, size, factor * now.capacity(), slo, time, random);
          good.push_back(double(outcomes.within(slo)) / outcomes.seconds);
        },
        [&](Sizes around) { shares.push_back(good.back() / around.capacity()); });
    std::printf("%.1f times the capacity: %.0f answers/s within %.1f ms, %.1f %% of what sessions reach\n", factor,
                median(good), slo * 1e3, 100 * median(shares));
  }

private:
  static constexpr int kRounds = 9;

  Sizes look() const {
    Sizes result = sizes;
    for (size_t i = 0; i < result.seconds.size(); ++i)
      result.seconds[i] = secondsOfRun(plan, 1 << i, size, 0.05);
    result.single = result.seconds.front();
    result.wake = std::max(0.0, secondsOfRun(plan, 1, size, 0.05, Seconds(0.002)) - result.single);
    result.full = result.seconds.back();
    return result;
  }

  template <typename Load, typename Compare> void each(Load load, Compare compare) {
    Sizes before = look();
    for (int i = 0; i < kRounds; ++i) {
      load(before, seconds / kRounds);
      Sizes after = look();
      Sizes around = after;
      around.single = (before.single + after.single) / 2;
      around.wake = (before.wake + after.wake) / 2;
      around.full = (before.full + after.full) / 2;
      for (size_t k = 0; k < around.seconds.size(); ++k)
        around.seconds[k] = (before.seconds[k] + after.seconds[k]) / 2;
      compare(around);
      before = after;
    }
  }

  const Plan &plan;
  const Sizes sizes;
  const int64_t size;
  const double seconds;
  std::mt19937_64 random{1};
};

/// The most rows that serve within a tenth of what the best size does, so that a batch means something where all are
/// alike. All sizes are measured in turns.
Sizes findBest(const Plan &plan, int64_t size) {
  std::vector<std::vector<double>> times;
  for (int turn = 0; turn < 7; ++turn)
    for (int i = 0, rows = 1; rows <= kMaxRows; ++i, rows *= 2) {
      times.resize(std::max(times.size(), size_t(i) + 1));
      times[i].push_back(secondsOfRun(plan, rows, size, 0.05));
    }
  std::vector<Sizes> sizes;
  double most = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    sizes.push_back({median(times[0]), median(times[i]), 1 << i});
    most = std::max(most, sizes.back().capacity());
  }
  Sizes best = *std::find_if(sizes.rbegin(), sizes.rend(), [=](const Sizes &s) { return s.capacity() >= 0.9 * most; });
  for (size_t i = 0; 1 << i <= best.rows; ++i)
    best.seconds.push_back(sizes[i].full);
  return best;
}

int run(const char *path, int64_t size, double seconds, int threads) {
  Options options;
  options.threads = threads;
  Plan plan(path, options);
  Sizes best = findBest(plan, size);
  std::printf("sessions: %.2f ms for 1 row, %.0f rows/s at %d rows of %.2f ms\n", best.single * 1e3, best.capacity(),
              best.rows, best.full * 1e3);
  Rounds rounds(plan, best, size, seconds);
  rounds.saturation();
  rounds.calm(0.7);
  rounds.overload(1.5);
  rounds.overload(3);
  return 0;
}

} // namespace
} // namespace llmc::test

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s MODEL.llmc [SIZE [SECONDS [THREADS]]]\n", argv[0]);
    return 2;
  }
  try {
    return llmc::test::run(argv[1], argc > 2 ? std::atoll(argv[2]) : 16, argc > 3 ? std::atof(argv[3]) : 9,
                           argc > 4 ? std::atoi(argv[4]) : 0);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
