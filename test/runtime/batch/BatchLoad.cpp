//===- BatchLoad.cpp - What a model serves under load, in one process ---------------------------------------------===//
//
//   batch-load MODEL.llmc [SIZE [SECONDS [THREADS]]]
//
// Requests of one row of zeros; SIZE is what open dims get that are not the rows. Prints, each against what sessions
// alone reach in the same process: throughput at saturation, latency at 70 % load, and answers within an SLO at 1.5 and
// 3 times the capacity, with queues bounded by it. Arrivals are Poisson, from a seed. SECONDS for each, in nine rounds
// whose median counts. The load of 70 % is recorded, and played again by the simulator.
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

double secondsOfRun(const Plan &plan, int64_t rows, int64_t size, double atLeast) {
  Rows input(plan, rows, size);
  Session session(plan);
  for (size_t i = 0; i < input.inputs.size(); ++i)
    session.setInput(int(i), input.inputs[i].type, input.inputs[i].dims, input.inputs[i].data);
  session.run();
  std::vector<double> times;
  for (Seconds total(0); total.count() < atLeast || times.size() < 3; total += Seconds(times.back())) {
    auto start = Time::now();
    session.run();
    times.push_back(Seconds(Time::now() - start).count());
  }
  return median(times);
}

Batcher makeBatcher(const Plan &plan, int maxRows, double slo, const std::string &record = "") {
  llmc_batch_model model = {};
  model.struct_size = sizeof model;
  model.plan = plan.get();
  model.max_rows = maxRows;
  model.slo_p99_us = int64_t(slo * 1e6);
  llmc_batcher_options options = {};
  options.struct_size = sizeof options;
  options.record = record.empty() ? nullptr : record.c_str();
  return Batcher(std::span(&model, 1), &options);
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
  double capacity() const { return rows / full; }
};

/// What batchers recorded, round after round.
class Recordings {
public:
  Recordings() {
    char path[] = "/tmp/llmc-record-XXXXXX";
    int file = ::mkstemp(path);
    if (file < 0)
      throw std::runtime_error("can not write to /tmp");
    ::close(file);
    this->path = path;
  }
  ~Recordings() { ::unlink(path.c_str()); }
  Recordings(const Recordings &) = delete;
  const std::string &file() const { return path; }
  /// The batcher that wrote it is closed.
  void take() { rounds.push_back(sim::Recording::read(path)); }

  /// What the simulator says of the arrivals of each round, in parts of what was seen: with the costs and the speed of
  /// the machine in the same round, and with those of the one before it.
  void compare() const {
    std::vector<double> same50, same99, before50, before99;
    for (size_t i = 0; i < rounds.size(); ++i) {
      const sim::Recording &seen = rounds[i];
      auto add = [&](const sim::Report &report, std::vector<double> &p50, std::vector<double> &p99) {
        p50.push_back(report.p50Ms / sim::percentileMs(seen.latencies, 0.5));
        p99.push_back(report.p99Ms / sim::percentileMs(seen.latencies, 0.99));
      };
      add(replay(seen.models.at(0), seen.models[0]), same50, same99);
      if (i > 0)
        add(replay(seen.models[0], rounds[i - 1].models[0]), before50, before99);
    }
    auto print = [](const char *title, const std::vector<double> &values) {
      auto [least, most] = std::minmax_element(values.begin(), values.end());
      std::printf("%s %.2f (%.2f to %.2f)", title, median(values), *least, *most);
    };
    print("  replayed: p50", same50);
    print(", p99", same99);
    print(" of it; with what runs took in the round before: p50", before50);
    print(", p99", before99);
    std::puts("");
  }

private:
  static sim::Report replay(const sim::Recording::Model &requests, const sim::Recording::Model &runs) {
    sim::ModelLoad load = sim::loadOf(runs);
    load.requests = std::make_shared<std::vector<sim::TimedRequest>>(requests.requests);
    load.arrivals.trace = load.requests;
    sim::Scenario scenario;
    scenario.config.models = {sim::configOf(requests, load)};
    scenario.config.instances.push_back({0, 1, 0});
    scenario.config.maxRequests = 1 << 16;
    scenario.requests = requests.requests.size();
    scenario.loads = {std::move(load)};
    return sim::simulate(scenario);
  }

  std::string path;
  std::vector<sim::Recording> rounds;
};

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
    std::vector<double> p50, p99, shares;
    Recordings recordings;
    each(
        [&](Sizes now, double time) {
          Batcher batcher = makeBatcher(plan, sizes.rows, 0, recordings.file());
          Outcomes outcomes = load(batcher, plan, size, factor * now.capacity(), 0, time, random);
          p50.push_back(outcomes.percentile(0.5));
          p99.push_back(outcomes.percentile(0.99));
        },
        [&](const Sizes &around) {
          shares.push_back(p99.back() / (2.5 * around.single + around.full));
          recordings.take();
        });
    std::printf("%.0f %% load: p50 %.2f ms, p99 %.2f ms, which is %.2f of 2.5 single runs and a full one\n",
                100 * factor, median(p50) * 1e3, median(p99) * 1e3, median(shares));
    recordings.compare();
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
    result.single = secondsOfRun(plan, 1, size, 0.05);
    result.full = secondsOfRun(plan, sizes.rows, size, 0.05);
    return result;
  }

  template <typename Load, typename Compare> void each(Load load, Compare compare) {
    Sizes before = look();
    for (int i = 0; i < kRounds; ++i) {
      load(before, seconds / kRounds);
      Sizes after = look();
      Sizes around = after;
      around.single = (before.single + after.single) / 2;
      around.full = (before.full + after.full) / 2;
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
  return *std::find_if(sizes.rbegin(), sizes.rend(), [=](const Sizes &s) { return s.capacity() >= 0.9 * most; });
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
