//===- BatchFaultTest.cpp - The batcher when everything goes wrong ------------------------------------------------===//
//
// LLMC_BATCH_REQUESTS and LLMC_BATCH_LOADS: how many requests and load/unload cycles to run.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/batch/Batcher.h"
#include "test/runtime/batch/BatchPlans.h"
#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <malloc.h>
#include <random>
#include <thread>

#ifndef LLMC_SANITIZED
/// Memory of requests and sessions of this size is refused so often.
static std::atomic<int> refusals = 0;
static constexpr size_t kRefusedSize = 1024;

void *operator new(size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  if (size == kRefusedSize && refusals > 0 && refusals-- > 0)
    return nullptr;
  size_t align = size_t(alignment);
  return std::aligned_alloc(align, (size + align - 1) / align * align);
}
#endif

namespace llmc::test {
namespace {

using namespace std::chrono_literals;

int numberFrom(const char *variable, int otherwise) {
  const char *text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

/// Bytes that malloc has given out.
size_t heapInUse() { return mallinfo2().uordblks; }

llmc_batch_model modelOf(const Plan &plan, const char *dim) {
  llmc_batch_model model = {};
  model.struct_size = sizeof model;
  model.plan = plan.get();
  model.batch_dim = dim;
  model.breaker_min_requests = -1;
  return model;
}

/// What became of requests, each counted once.
struct Tally {
  std::atomic<int64_t> admitted = 0, refused = 0, ended = 0, wrong = 0;
  std::atomic<int64_t> byStatus[LLMC_PENDING + 1] = {};
};

/// A request to lookupPlan with a callback, which checks the answer and counts the end.
struct LookupCall {
  Tally *tally;
  int64_t id;
  int ends = 0;

  static void take(void *user, llmc_request *request) {
    auto *self = static_cast<LookupCall *>(user);
    llmc_status status = llmc_request_wait(request, 0);
    ++self->tally->byStatus[status];
    if (status == LLMC_OK) {
      llmc_tensor_view view = {};
      view.struct_size = sizeof view;
      const auto *y = llmc_request_output(request, 0, &view) == LLMC_OK ? static_cast<const float *>(view.data) : nullptr;
      self->tally->wrong += !y || view.size != 16 || y[3] != float(4 * self->id + 3);
    } else if (status == LLMC_DATA) {
      self->tally->wrong += self->id >= 0 && self->id < 8;
    }
    self->tally->wrong += ++self->ends != 1;
    ++self->tally->ended;
  }
};

/// A client that poisons one in 64 rows, cancels, sets deadlines that can not be kept, and leaves answers uncollected.
void storm(Batcher &batcher, Tally &tally, uint64_t seed, int requests) {
  std::mt19937_64 random(seed);
  std::vector<std::unique_ptr<LookupCall>> calls;
  std::vector<Future> open;
  for (int i = 0; i < requests; ++i) {
    auto call = std::make_unique<LookupCall>(LookupCall{&tally, int64_t(random() % 8)});
    if (random() % 64 == 0)
      call->id = 1000 + int64_t(random() % 1000);
    int64_t dims[] = {1};
    llmc_batch_input input = {"id", LLMC_TYPE_I64, 1, dims, &call->id, 8};
    llmc_submission what = {};
    what.struct_size = sizeof what;
    what.inputs = &input;
    what.num_inputs = 1;
    what.lend = int32_t(random() % 2);
    what.callback = LookupCall::take;
    what.user = call.get();
    what.deadline_us = random() % 8 == 0 ? int64_t(1 + random() % 300) : 0;
    what.queue_timeout_us = random() % 8 == 0 ? int64_t(1 + random() % 300) : 0;
    llmc_request *request;
    if (llmc_batcher_submit(batcher.get(), &what, &request) != LLMC_OK) {
      ++tally.refused;
      continue;
    }
    ++tally.admitted;
    calls.push_back(std::move(call));
    open.emplace_back(request);
    if (random() % 8 == 0)
      open.back().cancel();
    if (open.size() >= 64) // releases 32 of them, ended or not
      for (int k = 0; k < 32; ++k) {
        size_t at = random() % open.size();
        std::swap(open[at], open.back());
        if (random() % 8 != 0)
          open.back().waitFor(1s);
        open.pop_back();
      }
  }
  open.clear(); // waits for their callbacks
}

TEST(BatchFaults, each_request_ends_once) {
  HeldPlan held(lookupPlan());
  int requests = numberFrom("LLMC_BATCH_REQUESTS", 10000);
  llmc_batch_model model = modelOf(held.plan, "N");
  model.instances = 2;
  model.double_buffer = 1;
  Batcher batcher(std::span(&model, 1));
  Tally tally;
  size_t before = 0;
  for (int round = 0; round < 5; ++round) { // the first one makes memory and caches
    std::vector<std::thread> clients;
    for (uint64_t id = 0; id < 4; ++id)
      clients.emplace_back([&, id] { storm(batcher, tally, id + uint64_t(round) * 4 + 1, requests / 20); });
    for (std::thread &client : clients)
      client.join();
    if (round == 0)
      before = heapInUse();
  }
  // What grows still is the pool, while more requests are alive than ever before: 4 clients hold 64 each, of 12 KB.
  EXPECT_LT(heapInUse(), before + (4 << 20)) << "memory grows with requests";
  batcher.drain();
  EXPECT_EQ(tally.ended, tally.admitted);
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_EQ(tally.admitted + tally.refused, requests / 20 * 20);
  EXPECT_GT(tally.byStatus[LLMC_OK], requests / 4);
  EXPECT_GT(tally.byStatus[LLMC_DATA], 0);
  EXPECT_GT(tally.byStatus[LLMC_CANCELLED], 0);
  llmc_batch_stats stats = batcher.stats();
  EXPECT_EQ(stats.admitted, tally.admitted);
  EXPECT_EQ(stats.done, tally.byStatus[LLMC_OK]);
}

TEST(BatchFaults, loads_and_unloads_while_requests_run) {
  PageAligned file(lookupPlan().file());
  int loads = numberFrom("LLMC_BATCH_LOADS", 20);
  Tally tally;
  size_t before = 0;
  for (int load = 0; load < loads; ++load) {
    {
      Plan plan = HeldPlan::load(file, 2);
      llmc_batch_model model = modelOf(plan, "N");
      model.instances = 1 + load % 2;
      Batcher batcher(std::span(&model, 1));
      std::vector<std::thread> clients;
      for (uint64_t id = 0; id < 2; ++id)
        clients.emplace_back([&, id] { storm(batcher, tally, uint64_t(load) * 2 + id, 100); });
      std::this_thread::sleep_for(500us);
      batcher.close(); // under load
      for (std::thread &client : clients)
        client.join();
    }
    if (load == 3)
      before = heapInUse();
  }
  EXPECT_LT(heapInUse(), before + (256 << 10)) << "memory grows with loads";
  EXPECT_EQ(tally.ended, tally.admitted);
  EXPECT_EQ(tally.wrong, 0);
}

/// Somebody who never collects is told so, and others are served again once the answers are released.
TEST(BatchFaults, a_caller_that_never_collects) {
  HeldPlan held(lookupPlan());
  llmc_batch_model model = modelOf(held.plan, "N");
  llmc_batcher_options options = {};
  options.struct_size = sizeof options;
  options.max_requests = 10;
  Batcher batcher(std::span(&model, 1), &options);
  int64_t id = 3;
  std::vector<Input> inputs = {input("id", {1}, std::span<const int64_t>(&id, 1))};
  std::vector<Future> kept;
  for (int i = 0; i < 10; ++i)
    kept.push_back(batcher.submit(inputs));
  try {
    batcher.submit(inputs);
    ADD_FAILURE() << "the eleventh is taken";
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), LLMC_REJECTED);
    EXPECT_STREQ(error.what(), "there are 10 requests that have not been released, max_requests allows no more");
  }
  kept.back().get();
  kept.pop_back();
  EXPECT_EQ(batcher.submit(inputs).get().output(0).as<float>()[0], 12);
}

#ifndef LLMC_SANITIZED
/// A batch that there is no memory to gather runs in smaller ones.
TEST(BatchFaults, no_memory_to_gather) {
  HeldPlan held(middleRowsPlan());
  BatchOptions options;
  options.batchDim = "N";
  options.delay = 2s; // a full batch does not wait
  options.maxRows = 16;
  Batcher batcher(held.plan, options);
  std::vector<float> x(2 * 6 * 8, 3);
  std::vector<Future> futures;
  refusals = 1;
  for (int64_t rows : {6, 6, 4}) // 16 rows of 64 bytes
    futures.push_back(batcher.submit({input("x", {2, rows, 8}, std::span<const float>(x).first(size_t(16 * rows)))}));
  batcher.drain();
  EXPECT_EQ(refusals, 0);
  for (const Future &future : futures)
    for (float value : future.get().output(0).as<float>())
      ASSERT_EQ(value, 6);
  EXPECT_EQ(batcher.stats().failed_executions, 1);
  EXPECT_EQ(batcher.stats().done, 3);
}
#endif

/// A clock that a test moves.
class JumpingClock final : public batch::Clock {
public:
  batch::TimeNs now() override { return steady.now() + offset.load(); }
  std::atomic<batch::TimeNs> offset = 0;

private:
  batch::SteadyClock steady;
};

/// A jump forward ends what is over then; one back stops the time but nothing else.
TEST(BatchFaults, the_clock_jumps) {
  PageAligned file(slowPlan(20).file());
  auto planFile = rt::PlanFile::fromMemory(file.bytes());
  ASSERT_TRUE(planFile.ok());
  auto plan = rt::LoadedPlan::load(std::move(*planFile), {});
  ASSERT_TRUE(plan.ok());
  batch::ModelSetup setup;
  setup.source = {*plan, 0};
  setup.options.batch_dim = "N";
  setup.options.delay_us = 3600000000; // nothing starts by itself
  auto owned = std::make_unique<JumpingClock>();
  JumpingClock &clock = *owned;
  auto made = batch::Batcher::create({&setup, 1}, {}, std::move(owned));
  ASSERT_TRUE(made.ok()) << made.status().message();
  batch::Batcher &batcher = **made;
  std::vector<float> x(4);
  int64_t dims[] = {1, 4};
  llmc_batch_input input = {nullptr, LLMC_TYPE_F32, 2, dims, x.data(), 16};
  llmc_submission what = {};
  what.inputs = &input;
  what.num_inputs = 1;
  what.queue_timeout_us = 60000000;
  llmc_request *timed, *patient;
  ASSERT_TRUE(batcher.submit(what, &timed).ok());
  what.queue_timeout_us = 0;
  ASSERT_TRUE(batcher.submit(what, &patient).ok());
  EXPECT_EQ(llmc_request_wait(timed, 20000), LLMC_PENDING);
  clock.offset = -3600 * batch::kSecond;
  batcher.wakeTimer();
  EXPECT_EQ(llmc_request_wait(timed, 20000), LLMC_PENDING);
  clock.offset = 61 * batch::kSecond;
  batcher.wakeTimer();
  EXPECT_EQ(llmc_request_wait(timed, 10000000), LLMC_REJECTED);
  EXPECT_STREQ(llmc_request_reason(timed), "queue_timeout");
  clock.offset = 3601 * batch::kSecond;
  batcher.wakeTimer();
  EXPECT_EQ(llmc_request_wait(patient, 10000000), LLMC_OK);
  llmc_request_release(timed);
  llmc_request_release(patient);
  batch::Batcher::release(&batcher);
}

} // namespace
} // namespace llmc::test
