//===- BatchPartsTest.cpp - The parts of the batcher, each alone --------------------------------------------------===//

#include "runtime/batch/AdaptiveControl.h"
#include "runtime/batch/Breaker.h"
#include "runtime/batch/Generated.h"
#include "runtime/batch/LatencyModel.h"
#include "runtime/batch/OrderedQueue.h"
#include "runtime/batch/ResponseCache.h"
#include "test/runtime/batch/Random.h"
#include <functional>
#include <gmock/gmock.h>
#include <map>

namespace llmc::test {
namespace {

using namespace llmc::batch;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename T>
std::vector<T> generated(plan::GeneratedKind kind, plan::DType type, std::vector<int64_t> lengths) {
  std::vector<T> values(size_t(generatedSize(kind, lengths)), T(77));
  writeGenerated(kind, type, lengths, reinterpret_cast<std::byte *>(values.data()));
  return values;
}

TEST(Generated, says_where_requests_lie) {
  using Kind = plan::GeneratedKind;
  EXPECT_THAT(generated<int64_t>(Kind::COUNT, plan::DType::I64, {3, 1, 2}), ElementsAre(3, 1, 2));
  EXPECT_THAT(generated<int32_t>(Kind::ACCUMULATED, plan::DType::I32, {3, 1, 2}), ElementsAre(3, 4, 6));
  EXPECT_THAT(generated<float>(Kind::ACCUMULATED_ZERO, plan::DType::F32, {3, 1, 2}), ElementsAre(0, 3, 4, 6));
  EXPECT_THAT(generated<int64_t>(Kind::INDEX, plan::DType::I64, {3, 1, 2}), ElementsAre(0, 0, 0, 1, 2, 2));
  EXPECT_THAT(generated<int32_t>(Kind::LONGEST, plan::DType::I32, {2, 3, 1}), ElementsAre(0, 0, 0));
  EXPECT_THAT(generated<int64_t>(Kind::ACCUMULATED_ZERO, plan::DType::I64, {5}), ElementsAre(0, 5));
}

TEST(OrderedQueue, is_a_sorted_map_that_knows_sums) {
  Random random(1);
  QueuePool pool(200);
  OrderedQueue queue;
  std::map<QueueKey, uint32_t> expected;
  std::vector<bool> inside(pool.size());
  for (uint64_t i = 0; i < 20000; ++i) {
    uint32_t index = uint32_t(random.below(pool.size()));
    if (inside[index]) {
      expected.erase(pool[index].key);
      queue.remove(pool, index);
    } else {
      QueueKey key = {TimeNs(random.below(50)), i};
      expected[key] = index;
      queue.insert(pool, index, key, 1 + index % 3);
    }
    inside[index] = !inside[index];
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(queue.head(), expected.empty() ? kNone : expected.begin()->second);
    ASSERT_EQ(queue.tail(), expected.empty() ? kNone : expected.rbegin()->second);
    if (i % 50 != 0)
      continue;
    ASSERT_TRUE(queue.isSound(pool));
    int64_t rows = 0;
    QueueKey bound = {TimeNs(random.below(50)), 0};
    for (const auto &[key, member] : expected)
      rows += key < bound ? 1 + member % 3 : 0;
    ASSERT_EQ(queue.rowsBefore(pool, bound), rows);
  }
}

/// The depth of a treap is logarithmic, also when keys come in order, as they do.
TEST(OrderedQueue, stays_shallow) {
  QueuePool pool(1 << 16);
  OrderedQueue queue;
  for (uint32_t i = 0; i < pool.size(); ++i)
    queue.insert(pool, i, {TimeNs(i), i}, 1);
  unsigned deepest = 0;
  for (uint32_t i = 0; i < pool.size(); ++i) {
    unsigned depth = 0;
    for (uint32_t at = i; at != kNone; at = pool[at].parent)
      ++depth;
    deepest = std::max(deepest, depth);
  }
  EXPECT_LT(deepest, 60u);
}

TEST(LatencyHistogram, knows_values_to_a_thirty_second) {
  for (TimeNs value :
       {TimeNs(0), TimeNs(1), TimeNs(31), TimeNs(32), TimeNs(33), TimeNs(1000), kSecond, 3 * kSecond + 7, kNever}) {
    TimeNs last = LatencyHistogram::lastOf(LatencyHistogram::bucketOf(value));
    EXPECT_GE(last, value);
    EXPECT_LE(last - value, value / 32);
    EXPECT_EQ(LatencyHistogram::bucketOf(last + 1), LatencyHistogram::bucketOf(value) + 1);
  }
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile(5000), 0);
  for (TimeNs value = 1; value <= 1000; ++value)
    histogram.add(value * kMicrosecond);
  EXPECT_NEAR(double(histogram.percentile(5000)), 500e3, 500e3 / 32);
  EXPECT_NEAR(double(histogram.percentile(9900)), 990e3, 990e3 / 32);
  EXPECT_EQ(histogram.mean(), 500500);
}

TEST(LatencyModel, learns_slowly_and_believes_no_outlier) {
  ModelConfig model;
  model.variants = {1, 4};
  model.buckets = {BucketConfig{{1600, 3200}, 0}};
  LatencyModel latency(model, 100);
  EXPECT_EQ(latency.predict(0, 3), 3200) << "three rows run as four";
  latency.learn(0, 3, 1600);
  EXPECT_EQ(latency.predict(0, 4), 3100);
  EXPECT_EQ(latency.predict(0, 1), 1600);
  latency.learn(0, 1, 1'000'000);
  EXPECT_EQ(latency.predict(0, 1), 1600 + 3 * 1600 / 16) << "clamped to four times";
}

TEST(LatencyModel, fits_a_line_where_any_size_runs) {
  ModelConfig model;
  model.variants = {1, 16};
  model.anySize = true;
  model.buckets = {BucketConfig{{4500, 12000}, 0}};
  LatencyModel latency(model, 200);
  EXPECT_EQ(latency.predict(0, 6), 9000 + 15000 * 5 / 15) << "between the points of the table";
  for (uint32_t rows = 1; rows <= 16; ++rows)
    latency.learn(0, rows, 8000 + 1000 * rows);
  EXPECT_EQ(latency.predict(0, 6), 14000);
  EXPECT_EQ(latency.predict(0, 12), 20000);
}

TEST(Breaker, stays_open_twice_as_long_after_a_bad_probe) {
  Breaker breaker{BreakerConfig{}};
  for (int i = 0; i < 19; ++i)
    EXPECT_FALSE(breaker.record(i, false));
  EXPECT_TRUE(breaker.record(19, false));
  EXPECT_EQ(breaker.opensUntil(20), 19 + 5 * kSecond);
  TimeNs now = 19 + 5 * kSecond;
  EXPECT_EQ(breaker.state(now), Breaker::State::HalfOpen);
  EXPECT_TRUE(breaker.recordProbe(now, false));
  EXPECT_EQ(breaker.opensUntil(now), now + 10 * kSecond);
}

TEST(Breaker, forgets_what_is_older_than_its_window) {
  Breaker breaker{BreakerConfig{}};
  for (int i = 0; i < 19; ++i)
    breaker.record(0, false);
  EXPECT_FALSE(breaker.record(11 * kSecond, false));
}

TEST(AdaptiveControl, waits_only_for_others_and_gives_way_at_once) {
  ModelConfig model;
  model.variants = {1, 8};
  model.sloP99 = 40 * kMillisecond;
  AdaptiveControl control(model, 8);
  TimeNs now = 0;
  auto window = [&](TimeNs latency, uint32_t busy, bool shared, int samples = 300) {
    for (int i = 0; i < samples; ++i)
      control.completed(latency);
    control.executed(2, kMillisecond);
    now += AdaptiveControl::kWindow;
    EXPECT_TRUE(control.windowIsOver(now));
    control.adapt(now, {busy, shared, 8 * kMillisecond});
    return control.delay();
  };
  EXPECT_EQ(window(10 * kMillisecond, 95, false), 0) << "nobody else needs the device";
  EXPECT_EQ(window(10 * kMillisecond, 95, true, 100), 0) << "too few samples";
  EXPECT_EQ(window(10 * kMillisecond, 95, true), kMillisecond);
  EXPECT_EQ(window(10 * kMillisecond, 95, true), 2 * kMillisecond);
  EXPECT_EQ(window(30 * kMillisecond, 80, true), 2 * kMillisecond) << "no reason to change";
  EXPECT_EQ(window(30 * kMillisecond, 40, true), 1500 * kMicrosecond);
  EXPECT_EQ(window(50 * kMillisecond, 95, true), 0) << "below a step it is nothing";
}

TEST(AdaptiveControl, the_batch_follows_the_time_of_runs) {
  ModelConfig model;
  model.variants = {1, 4, 8, 16};
  model.execP95 = 10 * kMillisecond;
  AdaptiveControl control(model, 16);
  control.executed(16, 11 * kMillisecond);
  EXPECT_EQ(control.cap(), 8u);
  for (uint32_t i = 0; i < AdaptiveControl::kRunsToGrow; ++i) {
    EXPECT_EQ(control.cap(), 8u);
    control.executed(8, 9 * kMillisecond);
  }
  EXPECT_EQ(control.cap(), 16u);
}

TEST(AdaptiveControl, as_many_rows_may_wait_as_end_within_the_slo) {
  EXPECT_EQ(rowsWithinSlo(50 * kMillisecond, 1, 16, 12 * kMillisecond), 26 * 16 / 12u);
  EXPECT_EQ(rowsWithinSlo(10 * kMillisecond, 1, 16, 12 * kMillisecond), 16u) << "never less than a batch";
}

TEST(ResponseCache, compares_content_not_hashes) {
  ResponseCache cache(4, 100);
  std::map<uint32_t, int> inputs;
  std::vector<uint32_t> evicted;
  auto ask = [&](int input) { return cache.find({7, 7}, [&](uint32_t slot) { return inputs.at(slot) == input; }); };
  auto keep = [&](uint32_t slot) { cache.complete(slot, 40, [&](uint32_t gone) { evicted.push_back(gone); }); };
  ResponseCache::Lookup first = ask(1);
  ASSERT_EQ(first.answer, ResponseCache::Answer::Run);
  inputs[first.slot] = 1;
  EXPECT_EQ(ask(1).answer, ResponseCache::Answer::Wait) << "the same request is running";
  ResponseCache::Lookup second = ask(2);
  ASSERT_EQ(second.answer, ResponseCache::Answer::Run) << "the hash is equal, the inputs are not";
  inputs[second.slot] = 2;
  keep(first.slot);
  keep(second.slot);
  EXPECT_EQ(ask(1).slot, first.slot);
  ResponseCache::Lookup third = ask(3);
  inputs[third.slot] = 3;
  keep(third.slot);
  EXPECT_THAT(evicted, ElementsAre(second.slot)) << "the least recently used";
  EXPECT_EQ(cache.bytes(), 80);
  ResponseCache::Lookup failed = ask(4);
  cache.abandon(failed.slot);
  inputs[failed.slot] = 0;
  EXPECT_EQ(ask(4).answer, ResponseCache::Answer::Run) << "failures are not kept";
  EXPECT_EQ(cache.hits(), 2u);
}

struct ConfigCase {
  const char *message;
  std::function<void(BatcherConfig &)> spoil;
};
void PrintTo(const ConfigCase &c, std::ostream *out) { *out << c.message; }

class BatchSettings : public testing::TestWithParam<ConfigCase> {};

TEST_P(BatchSettings, are_refused) {
  BatcherConfig config;
  config.models.resize(1);
  config.models[0].name = "m";
  config.models[0].variants = {1, 4};
  config.models[0].buckets[0].cost = {1000, 2000};
  config.instances.resize(1);
  ASSERT_TRUE(validate(config).ok()) << validate(config).message();
  GetParam().spoil(config);
  EXPECT_THAT(validate(config).message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, BatchSettings,
    testing::Values(
        ConfigCase{"a batch may have 9 rows, more than the largest size that runs, 4",
                   [](auto &c) { c.models[0].maxRows = 9; }},
        ConfigCase{"preferred size 4 is over the cap of 2 rows",
                   [](auto &c) {
                     c.models[0].maxRows = 2;
                     c.models[0].preferredRows = {4};
                   }},
        ConfigCase{"preferred size 3 is not among the variants", [](auto &c) { c.models[0].preferredRows = {3}; }},
        ConfigCase{"only preferred sizes may run, but none is given",
                   [](auto &c) { c.models[0].strictPreferred = true; }},
        ConfigCase{"the variants are not positive row counts in ascending order",
                   [](auto &c) {
                     c.models[0].variants = {4, 1};
                   }},
        ConfigCase{"1 costs for 2 variants", [](auto &c) { c.models[0].buckets[0].cost = {1}; }},
        ConfigCase{"the delay of 2000 ns is over a queue timeout of 1000 ns",
                   [](auto &c) {
                     c.models[0].delay = 2000;
                     c.models[0].classes[0].queueTimeout = 1000;
                   }},
        ConfigCase{"the delay of 2000 ns is over the deadline of the SLO, 1000 ns",
                   [](auto &c) {
                     c.models[0].delay = 2000;
                     c.models[0].sloP99 = 1000;
                   }},
        ConfigCase{"default priority 2 is not within 1 and 1", [](auto &c) { c.models[0].defaultPriority = 2; }},
        ConfigCase{"at most 3 rows may wait, fewer than the 4 of a batch",
                   [](auto &c) { c.models[0].maxQueuedRows = 3; }},
        ConfigCase{"fallback 1 is not one of the 1 models", [](auto &c) { c.models[0].fallback = {1}; }},
        ConfigCase{"needs 900 bytes of device '', which grants it 800",
                   [](auto &c) {
                     c.devices[0].memoryBytes = 1000;
                     c.models[0].arenaBytes = {900, 900};
                   }},
        ConfigCase{"an instance names model 0 of 1 and device 5 of 1", [](auto &c) { c.instances[0].device = 5; }},
        ConfigCase{"strict priority needs a guard", [](auto &c) {
                     c.models[0].strict = true;
                     c.models[0].strictGuard = 0;
                   }}));

} // namespace
} // namespace llmc::test
