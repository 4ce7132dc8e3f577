//===- BatchReferenceTest.cpp - The batcher does what the naive one does ------------------------------------------===//

#include "test/runtime/batch/NaiveBatcher.h"
#include "test/runtime/batch/Random.h"
#include <gmock/gmock.h>

namespace llmc::test {
namespace {

ModelConfig randomModel(Random &random) {
  ModelConfig model;
  model.name = "m";
  model.variants = {1, 2, 4, 8};
  model.variants.resize(1 + random.below(4));
  std::vector<TimeNs> costs;
  for (uint32_t rows : model.variants)
    costs.push_back(ms(1 + 0.5 * double(random.below(4))) + TimeNs(rows) * ms(0.5));
  model.buckets.assign(1 + random.below(3), BucketConfig{costs, 0});
  model.delay = random.below(2) ? 0 : ms(0.5) * TimeNs(random.below(20));
  model.pad = PadPolicy(random.below(3));
  model.mix = MixPolicy::Merge;
  model.classes.resize(1 + random.below(3));
  model.agingQuantum = ms(0.5) * TimeNs(random.below(40));
  model.maxQueuedRequests = random.below(2) ? kUnlimited : 1 + uint32_t(random.below(8));
  model.maxQueuedRows = kUnlimited;
  return model;
}

/// Times are multiples of half a millisecond, so many things happen at once.
Arrival randomArrival(Random &random, const ModelConfig &model, TimeNs time, uint64_t id) {
  Arrival arrival;
  arrival.id = id;
  arrival.bucket = uint32_t(random.below(model.buckets.size()));
  arrival.rows = 1 + uint32_t(random.below(std::min<uint64_t>(3, model.variants.back())));
  arrival.priority = 1 + uint32_t(random.below(model.classes.size()));
  if (random.below(3) == 0)
    arrival.deadline = time + ms(0.5) * TimeNs(random.below(40));
  if (random.below(4) == 0)
    arrival.queueTimeout = ms(0.5) * TimeNs(random.below(30));
  return arrival;
}

void compare(uint64_t seed) {
  Random random(seed);
  BatcherConfig config;
  config.models = {randomModel(random)};
  const ModelConfig model = config.models[0];
  config.instances.resize(1 + random.below(3));
  config.devices[0].slots = uint32_t(config.instances.size());
  CoreDriver core(config, [&](const CoreDriver::Run &run) {
    auto variant =
        std::lower_bound(model.variants.begin(), model.variants.end(), run.executed) - model.variants.begin();
    return CoreDriver::Served{model.buckets[0].cost[size_t(variant)]};
  });
  NaiveBatcher naive(model, uint32_t(config.instances.size()));
  TimeNs time = 0;
  for (uint64_t id = 1; id <= 60; ++id) {
    time += ms(0.5) * TimeNs(random.below(5));
    Arrival arrival = randomArrival(random, model, time, id);
    core.arrive(time, arrival);
    naive.arrive(time, arrival);
    if (random.below(8) == 0) {
      TimeNs when = time + ms(0.5) * TimeNs(random.below(20));
      core.cancel(when, id);
      naive.cancel(when, id);
    }
  }
  core.run();
  naive.run();
  std::vector<std::pair<TimeNs, std::vector<uint64_t>>> runs;
  for (const CoreDriver::Run &run : core.runs)
    runs.push_back({run.time, run.ids});
  ASSERT_EQ(runs, naive.runs) << "seed " << seed;
  ASSERT_EQ(core.ends, naive.ends) << "seed " << seed;
  ASSERT_EQ(core.ends.size(), 60u) << "seed " << seed;
}

TEST(BatchReference, agrees_on_random_scenarios) {
  for (uint64_t seed = 1; seed <= kRandomScenarios && !testing::Test::HasFailure(); ++seed)
    compare(seed);
}

} // namespace
} // namespace llmc::test
