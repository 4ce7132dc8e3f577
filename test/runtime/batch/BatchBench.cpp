//===- BatchBench.cpp - How many events the batcher takes on one core ---------------------------------------------===//
//
// Not a test: build/release/test/batch-bench prints the rate of arrivals and completions, with a queue that is short,
// and with one that holds thousands of requests of three classes with deadlines.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/batch/BatcherCore.h"
#include "test/runtime/batch/Random.h"
#include <cstdio>
#include <ctime>

using namespace llmc::batch;

static void bench(const char *title, uint32_t perRun, uint32_t waiting) {
  BatcherConfig config;
  config.maxRequests = waiting + 4096;
  config.models.resize(1);
  ModelConfig &model = config.models[0];
  model.variants = {1, 2, 4, 8, 16};
  model.buckets = {BucketConfig{{1000, 1100, 1300, 1700, 2500}, 0}};
  model.classes.resize(3);
  model.agingQuantum = 100 * kMicrosecond;
  model.maxQueuedRows = kUnlimited;
  config.instances.resize(1);
  auto core = std::move(*BatcherCore::create(config));
  core->instanceUp(0, 0);
  llmc::test::Random random(1);
  TimeNs now = 0;
  BatchId running = kNone;
  uint64_t events = 0, id = 0;
  auto arrive = [&] {
    Arrival arrival;
    arrival.id = id++;
    arrival.priority = 1 + uint32_t(random.below(3));
    arrival.deadline = now + kSecond;
    core->arrive(now, arrival);
    ++events;
  };
  auto step = [&] {
    for (const Action &action : core->step(now))
      if (action.kind == ActionKind::Start)
        running = action.batch;
  };
  for (uint32_t i = 0; i < waiting; ++i)
    arrive();
  std::clock_t begin = std::clock(); // of this process, whatever else runs
  events = 0;
  while (events < 4'000'000) {
    for (uint32_t i = 0; i < perRun; ++i) {
      now += 100;
      arrive();
      step();
    }
    now += 1000;
    core->complete(now, running, {});
    ++events;
    step();
  }
  double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  std::printf("%-40s %6.2f million arrivals and completions a second, %.0f ns each\n", title,
              double(events) / seconds / 1e6, seconds / double(events) * 1e9);
}

int main() {
  bench("one request per run", 1, 0);
  bench("sixteen requests per run", 16, 0);
  bench("sixteen per run, 10,000 more are waiting", 16, 10000);
}
