//===- BatcherBench.cpp - What a request costs beside its run -----------------------------------------------------===//
//
// From the submission to the answer of a model of one small step, against two threads that wake each other by a futex, in
// turns within one process. Medians.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/device/Futex.h"
#include "test/runtime/batch/BatchPlans.h"
#include <algorithm>
#include <cstdio>
#include <thread>

namespace llmc::test {
namespace {

using Time = std::chrono::steady_clock;
using std::chrono::nanoseconds;
constexpr int kTurns = 2000, kRounds = 9;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// The median turn: a mean is that of the moments in which the machine does something else.
template <typename Body> double microsecondsOf(Body body) {
  std::vector<double> turns;
  for (int i = 0; i < kTurns; ++i) {
    auto start = Time::now();
    body();
    turns.push_back(std::chrono::duration<double, std::micro>(Time::now() - start).count());
  }
  return median(std::move(turns));
}

/// A thread that answers as soon as it is woken.
struct Echo {
  explicit Echo(nanoseconds spin) : spin(spin), thread([this] {
      for (uint32_t seen = 0; !stop;) {
        seen = question.waitWhile(seen, this->spin);
        answer.raise();
      }
    }) {}
  ~Echo() {
    stop = true;
    question.raise();
    thread.join();
  }
  void ask() {
    uint32_t seen = answer.load();
    question.raise();
    answer.waitWhile(seen, spin);
  }
  nanoseconds spin;
  std::atomic<bool> stop = false;
  rt::WaitWord question, answer;
  std::thread thread;
};

void measure(const char *how, int64_t spinUs) {
  HeldPlan held(addReluPlan());
  llmc_batch_model model = modelOf(held, "batch");
  llmc_batcher_options options = {};
  options.struct_size = sizeof options;
  options.spin_us = spinUs;
  Batcher batcher(std::span(&model, 1), &options);
  Session session(held.plan);
  std::vector<float> values(4, 1);
  std::vector<Input> inputs = {input("a", {1, 4}, std::span<const float>(values)),
                               input("b", {1, 4}, std::span<const float>(values))};
  for (int i = 0; i < 2; ++i)
    session.setInput<float>(i, std::vector<int64_t>{1, 4}, values);
  std::vector<double> pingPong, request, run;
  for (int round = 0; round < kRounds; ++round) {
    {
      Echo echo(std::chrono::microseconds{spinUs});
      pingPong.push_back(microsecondsOf([&] { echo.ask(); }));
    }
    request.push_back(microsecondsOf([&] { batcher.submit(inputs).get(); }));
    run.push_back(microsecondsOf([&] { session.run(); }));
  }
  double futex = median(pingPong), whole = median(request);
  std::printf("%-9s ping-pong %6.2f us, request %6.2f us (%.2f of it), its run %5.2f us\n", how, futex, whole,
              whole / futex, median(run));
}

} // namespace
} // namespace llmc::test

/// `parked` or `spinning` alone, or both.
int main(int argc, char **argv) {
  std::string_view only = argc > 1 ? argv[1] : "";
  if (only != "spinning")
    llmc::test::measure("parked", 0);
  if (only != "parked")
    llmc::test::measure("spinning", 10000);
}
