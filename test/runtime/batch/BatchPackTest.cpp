//===- BatchPackTest.cpp - Requests of different lengths in one run -----------------------------------------------===//

#include "test/runtime/batch/BatchPlans.h"
#include <gmock/gmock.h>
#include <numeric>
#include <thread>

namespace llmc::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// To packedPlan: numbers that nobody else has.
struct PackRequest {
  PackRequest(int id, int length) : x(size_t(length)) { std::iota(x.begin(), x.end(), float(id) * 1000); }
  std::vector<Input> inputs() const { return {input("x", {int64_t(x.size())}, std::span<const float>(x))}; }
  void check(const Future &future) const {
    TensorView y = future.get().output(0), n = future.output(1);
    ASSERT_EQ(y.dims[0], int64_t(x.size()));
    EXPECT_TRUE(std::equal(x.begin(), x.end(), y.as<float>().begin()));
    ASSERT_EQ(n.dims[0], 1);
    EXPECT_EQ(n.as<int64_t>()[0], int64_t(x.size()));
  }
  std::vector<float> x;
};

std::string messageOf(const std::function<void()> &action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "nothing is wrong";
}

TEST(BatchPack, fills_a_run_with_as_many_requests_as_it_takes) {
  HeldPlan held(packedPlan());
  BatchOptions options;
  options.delay = 10s; // a full batch does not wait
  Batcher batcher(held.plan, options);
  std::vector<PackRequest> requests;
  std::vector<Future> futures;
  for (int i = 0; i < 9; ++i) { // eight requests are a batch, and so are 64 places
    requests.emplace_back(i, i == 8 ? 64 : 1 + i % 3);
    futures.push_back(batcher.submit(requests.back().inputs()));
  }
  for (size_t i = 0; i < requests.size(); ++i)
    requests[i].check(futures[i]);
  EXPECT_EQ(batcher.stats().executions, 2);
  EXPECT_EQ(batcher.stats().rows, 64 + 15);
  EXPECT_EQ(batcher.stats().executed_rows, 64 + 15); // nothing is padded
}

/// Eight requests, which is all that it takes, wait for nobody.
TEST(BatchPack, runs_as_soon_as_it_has_as_many_requests_as_it_takes) {
  HeldPlan held(packedPlan());
  BatchOptions options;
  options.delay = 3600s;
  Batcher batcher(held.plan, options);
  std::vector<PackRequest> requests;
  std::vector<Future> futures;
  for (int i = 0; i < 8; ++i) {
    requests.emplace_back(i, 1 + i % 3);
    futures.push_back(batcher.submit(requests.back().inputs()));
  }
  for (size_t i = 0; i < requests.size(); ++i)
    requests[i].check(futures[i]);
  EXPECT_EQ(batcher.stats().executions, 1);
}

TEST(BatchPack, callers_from_many_threads) {
  HeldPlan held(packedPlan(), 2);
  for (bool doubleBuffer : {false, true}) {
    llmc_batch_model model = modelOf(held);
    model.instances = 2;
    model.double_buffer = doubleBuffer;
    Batcher batcher(std::span(&model, 1));
    std::vector<std::thread> callers;
    for (int id = 0; id < 8; ++id)
      callers.emplace_back([&, id] {
        for (int run = 0; run < 100; ++run) {
          PackRequest first(id * 1000 + run, 1 + run % 20), second(id * 1000 + 500 + run, 1 + run % 3);
          Future one = batcher.submit(first.inputs()), two = batcher.submit(second.inputs());
          first.check(one);
          second.check(two);
        }
      });
    for (std::thread &caller : callers)
      caller.join();
    EXPECT_EQ(batcher.stats().done, 1600);
  }
}

TEST(BatchPack, says_what_is_wrong) {
  HeldPlan held(packedPlan());
  EXPECT_FALSE(held.plan.input(0).isGenerated);
  EXPECT_TRUE(held.plan.input(1).isGenerated);
  Batcher batcher(held.plan);
  PackRequest good(1, 3), long1(2, 65);
  std::vector<int64_t> count = {3};
  std::vector<Input> both = good.inputs();
  both.push_back(input("counts", {1}, std::span<const int64_t>(count)));
  EXPECT_THAT(messageOf([&] { batcher.submit(both); }),
              HasSubstr("input 'counts' is made by the batcher, requests do not bring it"));
  EXPECT_THAT(messageOf([&] { batcher.submit(std::vector<Input>()); }), HasSubstr("input 'x' is missing"));
  EXPECT_THAT(messageOf([&] { batcher.submit(long1.inputs()); }),
              HasSubstr("the request has 65 rows, more than the 64 of a batch"));
  good.check(batcher.submit(good.inputs()));
  BatchOptions split;
  split.splitLarge = true;
  EXPECT_THAT(messageOf([&] { Batcher(held.plan, split); }),
              HasSubstr("split_large: a packed request can not be run in parts"));
}

/// Its answers are not cut from where they are not.
TEST(BatchPack, refuses_outputs_of_other_sizes_than_the_plan_says) {
  PlanBuilder builder = packedPlan();
  plan::EntryPointT &entry = *builder.parts.plan.entries[0];
  uint32_t eight = builder.constant(8);
  entry.outputs[1]->dims = {eight};
  HeldPlan held(builder);
  Batcher batcher(held.plan);
  PackRequest request(1, 3);
  EXPECT_THAT(messageOf([&] { batcher.submit(request.inputs()).get(); }), HasSubstr("output 'n'"));
}

} // namespace
} // namespace llmc::test
