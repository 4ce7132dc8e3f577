//===- BatchMemoryTest.cpp - The batcher allocates nothing once it runs -------------------------------------------===//

#include "runtime/batch/BatcherCore.h"
#include "test/runtime/batch/Random.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

// Counts all allocations of the process. The sanitizers have allocators of their own and count nothing here.
static long allocations = 0;
#ifndef LLMC_SANITIZED
void *operator new(size_t size) {
  ++allocations;
  if (void *result = std::malloc(size))
    return result;
  throw std::bad_alloc();
}
void operator delete(void *pointer) noexcept { std::free(pointer); }
void operator delete(void *pointer, size_t) noexcept { std::free(pointer); }
#endif

namespace llmc::test {
namespace {

using namespace llmc::batch;

/// Arrivals, cancels, faults, full queues, streams and staging, over a table that is often full.
TEST(BatchMemory, steady_state_allocates_nothing) {
  BatcherConfig config;
  config.maxRequests = 128;
  config.devices[0].slots = 2;
  config.models.resize(2);
  for (ModelConfig &model : config.models) {
    model.variants = {1, 4, 8};
    model.buckets.assign(2, BucketConfig{{kMillisecond, 2 * kMillisecond, 3 * kMillisecond}, 0});
    model.classes.resize(2);
    model.order = ResponseOrder::PerStream;
    model.doubleBuffer = true;
    model.retry.runsPerToken = 1;
    model.maxQueuedRows = 100;
    model.fallback = {0};
  }
  config.instances = {{0, 1, 0}, {1, 1, 0}, {0, 1, 0}};
  auto core = std::move(*BatcherCore::create(config));
  for (uint32_t i = 0; i < 3; ++i)
    core->instanceUp(0, i);
  Random random(1);
  TimeNs now = 0;
  std::vector<BatchId> running;
  running.reserve(16);
  std::vector<RequestHandle> handles(64);
  uint64_t done = 0, before = 0;
  for (uint64_t i = 0; i < kRandomEvents / 5; ++i) {
    if (i == 1000)
      before = uint64_t(allocations);
    now += TimeNs(random.below(kMillisecond / 2));
    if (random.below(10) < 7) {
      Arrival arrival;
      arrival.id = i;
      arrival.model = uint32_t(random.below(2));
      arrival.bucket = uint32_t(random.below(2));
      arrival.rows = 1 + uint32_t(random.below(2));
      arrival.priority = 1 + uint32_t(random.below(2));
      arrival.stream = random.below(8);
      arrival.deadline = now + TimeNs(random.below(40)) * kMillisecond;
      handles[random.below(64)] = core->arrive(now, arrival);
    } else if (!running.empty()) {
      size_t which = random.below(running.size());
      BatchId id = running[which];
      running.erase(running.begin() + long(which));
      core->complete(now, id, {random.once(10) ? BatchFault::Error : BatchFault::None, {}});
    }
    if (random.once(10))
      core->cancel(now, handles[random.below(64)]);
    for (const Action &action : core->step(now)) {
      if (action.kind == ActionKind::Start)
        running.push_back(action.batch);
      done += action.kind == ActionKind::Finish && action.outcome == Outcome::Done;
    }
  }
  EXPECT_GT(done, kRandomEvents / 20);
#ifdef NDEBUG // the checks of a debug build allocate
  EXPECT_EQ(uint64_t(allocations), before);
#endif
}

} // namespace
} // namespace llmc::test
