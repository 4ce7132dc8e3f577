//===- BatchLoad.cpp - What a model serves under load, in one process ---------------------------------------------===//
//
//   batch-load MODEL.llmc [SIZE [SECONDS]]
//
// Requests of one row of zeros; SIZE is what open dims get that are not the rows. Prints, each against what sessions alone
// reach in the same process: throughput at saturation, latency at 70 % load, and answers within an SLO at 1.5 and 3 times the
// capacity, with queues bounded by it. Arrivals are Poisson, from a seed.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "llmc/llmc.hpp"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

namespace llmc::test {
namespace {

using Time = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kMaxRows = 32;

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

double secondsOfRun(const Plan &plan, int64_t rows, int64_t size) {
  Rows input(plan, rows, size);
  Session session(plan);
  for (size_t i = 0; i < input.inputs.size(); ++i)
    session.setInput(int(i), input.inputs[i].type, input.inputs[i].dims, input.inputs[i].data);
  session.run();
  std::vector<double> times;
  for (Seconds total(0); total.count() < 0.5 || times.size() < 3; total += Seconds(times.back())) {
    auto start = Time::now();
    session.run();
    times.push_back(Seconds(Time::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + long(times.size() / 2), times.end());
  return times[times.size() / 2];
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
double saturate(const Plan &plan, int maxRows, int64_t size, double seconds) {
  Batcher batcher = makeBatcher(plan, maxRows, 0);
  Rows row(plan, 1, size);
  std::atomic<bool> stop = false;
  std::atomic<int64_t> answers = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 2 * maxRows; ++i)
    callers.emplace_back([&] {
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
  for (std::thread &caller : callers)
    caller.join();
  return result;
}

struct Outcomes {
  std::vector<double> latencies; // of those that are done
  int64_t sent = 0;
  double seconds = 0;

  int64_t within(double limit) const {
    return std::count_if(latencies.begin(), latencies.end(), [=](double latency) { return latency <= limit; });
  }
  double percentile(double share) {
    if (latencies.empty())
      return NAN;
    auto at = latencies.begin() + long(share * double(latencies.size() - 1));
    std::nth_element(latencies.begin(), at, latencies.end());
    return *at;
  }
};

/// A request that knows when it was due to come.
struct Sent {
  Time::time_point due;
  Outcomes *outcomes;
  std::mutex *mutex;

  static void take(void *user, llmc_request *request) {
    auto *self = static_cast<Sent *>(user);
    double latency = Seconds(Time::now() - self->due).count();
    std::lock_guard lock(*self->mutex);
    if (llmc_request_wait(request, 0) == LLMC_OK)
      self->outcomes->latencies.push_back(latency);
    delete self;
  }
};

/// Sends at `rate`, whatever becomes of the answers. A late sender counts against the batcher.
Outcomes load(const Plan &plan, int maxRows, int64_t size, double rate, double slo, double seconds) {
  Batcher batcher = makeBatcher(plan, maxRows, slo);
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
  std::mt19937_64 random(1);
  auto start = Time::now();
  for (double at = 0; at < seconds; ++outcomes.sent) {
    at -= std::log(1 - double(random() >> 11) / double(1ull << 53)) / rate;
    auto due = start + std::chrono::duration_cast<Time::duration>(Seconds(at));
    std::this_thread::sleep_until(due);
    auto sent = std::make_unique<Sent>(Sent{due, &outcomes, &mutex});
    what.user = sent.get();
    if (llmc_batcher_submit(batcher.get(), &what, nullptr) == LLMC_OK)
      sent.release();
  }
  outcomes.seconds = Seconds(Time::now() - start).count();
  batcher.drain();
  return outcomes;
}

/// What sessions reach shortly before and after something else is measured: a shared machine is not the same twice.
class Paired {
public:
  Paired(const Plan &plan, int rows, int64_t size) : plan(plan), rows(rows), size(size), before(secondsOfRun(plan, rows, size)) {}
  /// Seconds of a run now and when this was made, on average.
  double runSeconds() const { return (before + secondsOfRun(plan, rows, size)) / 2; }

private:
  const Plan &plan;
  int rows;
  int64_t size;
  double before;
};

int run(const char *path, int64_t size, double seconds) {
  Plan plan(path);
  double single = secondsOfRun(plan, 1, size), best = 0, full = 0;
  int bestRows = 1;
  for (int rows = 1; rows <= kMaxRows; rows *= 2) {
    double time = secondsOfRun(plan, rows, size);
    if (rows / time > best) {
      best = rows / time;
      full = time;
      bestRows = rows;
    }
  }
  std::printf("sessions: %.2f ms for 1 row, best %.0f rows/s at %d rows of %.2f ms\n", single * 1e3, best, bestRows,
              full * 1e3);
  {
    Paired paired(plan, bestRows, size);
    double saturated = saturate(plan, bestRows, size, seconds), capacity = bestRows / paired.runSeconds();
    std::printf("saturation: %.0f rows/s, %.1f %% of what sessions reach\n", saturated, 100 * saturated / capacity);
  }
  {
    Paired paired(plan, bestRows, size);
    Outcomes calm = load(plan, bestRows, size, 0.7 * best, 0, seconds);
    double limit = 2.5 * single + paired.runSeconds();
    std::printf("70 %% load: p50 %.2f ms, p99 %.2f ms, which is %.2f of 2.5 single runs and a full one\n",
                calm.percentile(0.5) * 1e3, calm.percentile(0.99) * 1e3, calm.percentile(0.99) / limit);
  }
  double slo = 4 * full;
  for (double factor : {1.5, 3.0}) {
    Paired paired(plan, bestRows, size);
    Outcomes busy = load(plan, bestRows, size, factor * best, slo, seconds);
    double good = double(busy.within(slo)) / busy.seconds, capacity = bestRows / paired.runSeconds();
    std::printf("%.1f times the capacity: %.0f answers/s within %.1f ms, %.1f %% of what sessions reach\n", factor, good,
                slo * 1e3, 100 * good / capacity);
  }
  return 0;
}

} // namespace
} // namespace llmc::test

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s MODEL.llmc [SIZE [SECONDS]]\n", argv[0]);
    return 2;
  }
  try {
    return llmc::test::run(argv[1], argc > 2 ? std::atoll(argv[2]) : 16, argc > 3 ? std::atof(argv[3]) : 5);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
