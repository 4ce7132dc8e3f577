//===- ExecutorTest.cpp - What runs compute, by every kind of step ------------------------------------------------===//

#include "llmc/llmc.hpp"
#include "test/runtime/PlanBuilder.h"
#include <algorithm>
#include <gtest/gtest.h>

namespace llmc::test {
namespace {

/// A plan in memory with a session on it.
struct Loaded {
  explicit Loaded(const PlanBuilder &builder, Options options = {})
      : file(builder.file()), plan(file.bytes(), options) {}
  PageAligned file;
  Plan plan;
  Session session{plan};

  template <typename T> void set(const char *name, std::vector<int64_t> dims, const std::vector<T> &data) {
    auto index = plan.findInput(name);
    ASSERT_TRUE(index) << name;
    session.setInput<T>(*index, dims, data);
  }
  template <typename T> std::vector<T> get(int index) {
    auto values = session.output(index).as<T>();
    return {values.begin(), values.end()};
  }
};

using Floats = std::vector<float>;

Options withThreads(int threads) {
  Options options;
  options.threads = threads;
  return options;
}

class Threads : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Executor, Threads, testing::Values(1, 2, 3, 5));

TEST_P(Threads, dispatches_feed_each_other) {
  Loaded loaded(addReluPlan(), withThreads(GetParam()));
  for (int64_t n : {1, 64, 3}) {
    Floats a(size_t(n) * 4), b(a.size()), expected(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = float(i) - 10;
      b[i] = i % 2 ? 1.0f : -1.0f;
      expected[i] = std::max(0.0f, a[i] + b[i]);
    }
    loaded.set("a", {n, 4}, a);
    loaded.set("b", {n, 4}, b);
    for (int repeat = 0; repeat < 50; ++repeat)
      loaded.session.run();
    EXPECT_EQ(loaded.get<float>(0), expected);
    EXPECT_EQ(loaded.session.output(0).dims[0], n);
  }
}

TEST_P(Threads, every_kind_of_step) {
  Loaded loaded(everythingPlan(), withThreads(GetParam()));
  for (int64_t steps = 0; steps <= 8; ++steps)
    for (uint8_t flag : {0, 1}) {
      std::vector<int64_t> stepsData = {steps};
      Floats expected(4, 0.0f);
      for (int64_t t = 0; t < steps && flag; ++t)
        for (int64_t c = 0; c < 4; ++c)
          expected[size_t(c)] += 2 * float(t * 4 + c);
      loaded.set("steps", {}, stepsData);
      loaded.session.setInput(1, LLMC_TYPE_BOOL, {}, std::as_bytes(std::span(&flag, 1)));
      loaded.session.run();
      EXPECT_EQ(loaded.get<float>(0), expected) << steps << (flag ? " doubled" : " cleared");
    }
}

TEST_P(Threads, sizes_that_depend_on_data) {
  Loaded loaded(compressPlan(), withThreads(GetParam()));
  for (int64_t n : {5, 0, 1000, 5}) {
    Floats x(size_t(n), 0.0f), expected;
    for (size_t i = 0; i < x.size(); ++i)
      if ((x[i] = float(i % 3) - 1) > 0)
        expected.push_back(x[i]);
    loaded.set("x", {n}, x);
    loaded.session.prepare();
    EXPECT_EQ(loaded.session.output(0).dims[0], -1) << "not known before the run";
    loaded.session.run();
    EXPECT_EQ(loaded.get<float>(0), expected);
    EXPECT_EQ(loaded.session.output(0).dims[0], int64_t(expected.size()));
  }
}

TEST_P(Threads, grid_is_split_in_order_by_grain) {
  PlanBuilder b;
  uint32_t n = b.inputDim("n", 0, 0, 0, 1000), eight = b.constant(8);
  b.input("x", plan::DType::U8, {n}, n);
  uint32_t out = b.output("y", plan::DType::I64, {n}, b.mul(n, eight));
  b.dispatch("ranges", {out}, {n});
  Loaded loaded(b, withThreads(GetParam()));
  for (int64_t items : {0, 1, 9, 19, 20, 39, 100, 1000}) {
    std::vector<uint8_t> x(size_t(items), 0);
    loaded.set("x", {items}, x);
    loaded.session.run();
    int64_t parts = std::clamp<int64_t>(items / 10, 1, GetParam()); // the kernel's grain is 10
    std::vector<int64_t> expected;
    for (int64_t part = 0; part < parts; ++part)
      for (int64_t i = items * part / parts; i < items * (part + 1) / parts; ++i)
        expected.push_back(items * part / parts);
    EXPECT_EQ(loaded.get<int64_t>(0), expected) << items << " items";
  }
}

TEST_P(Threads, scratch_is_each_workers_own) {
  PlanBuilder b;
  uint32_t n = b.inputDim("n", 0, 0, 1, 4096), four = b.constant(4), bytes = b.mul(n, b.constant(16));
  uint32_t x = b.input("x", plan::DType::F32, {n, four}, bytes);
  uint32_t y = b.output("y", plan::DType::F32, {n, four}, bytes);
  b.dispatch("reverse", {x, y}, {n});
  Loaded loaded(b, withThreads(GetParam()));
  Floats data(4096 * 4), expected(data.size());
  for (size_t i = 0; i < data.size(); ++i)
    expected[i / 4 * 4 + 3 - i % 4] = data[i] = float(i);
  loaded.set("x", {4096, 4}, data);
  for (int repeat = 0; repeat < 10; ++repeat)
    loaded.session.run();
  EXPECT_EQ(loaded.get<float>(0), expected);
}

TEST_P(Threads, copies_may_be_large) {
  PlanBuilder b;
  uint32_t n = b.inputDim("n", 0, 0, 2, 1 << 20), one = b.constant(1), rest = b.op(plan::ExprOp::SUB, n, one);
  uint32_t x = b.input("x", plan::DType::U8, {n}, n);
  uint32_t y = b.output("y", plan::DType::U8, {n}, n);
  uint32_t zero = b.constant(0);
  b.copy(x, one, y, zero, rest); // rotates by one
  b.copy(x, zero, y, rest, one);
  Loaded loaded(b, withThreads(GetParam()));
  std::vector<uint8_t> data(1 << 20);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = uint8_t(i * 7 + i / 256);
  loaded.set("x", {1 << 20}, data);
  loaded.session.run();
  std::rotate(data.begin(), data.begin() + 1, data.end());
  EXPECT_EQ(loaded.get<uint8_t>(0), data);
}

TEST(Executor, loop_ends_when_its_condition_does) {
  // for (c = 0; c < 5; c += 2) ...: the counter and the condition are written in place, through views.
  PlanBuilder b;
  uint32_t one = b.constant(1), eight = b.constant(8), zero = b.constant(0), limit = b.constant(5);
  uint32_t counter = b.arena(plan::DType::I64, eight), cond = b.arena(plan::DType::BOOL, one);
  uint32_t y = b.output("y", plan::DType::I64, {one}, eight);
  b.fill(counter, 0, 8);
  b.dispatch("less", {counter, cond}, {limit});
  uint32_t body = b.newBlock();
  plan::LoopT loop;
  loop.cond = cond;
  loop.trip = b.constant(INT64_MAX);
  loop.max_trip = 1000;
  loop.body_block = body;
  b.loop(loop);
  b.copy(counter, zero, y, zero, eight);
  b.inBlock(body);
  uint32_t two = b.constant(2), eightHere = b.constant(8), zeroHere = b.constant(0), oneHere = b.constant(1);
  uint32_t counterHere = b.view(plan::DType::I64, counter, zeroHere, eightHere);
  uint32_t condHere = b.view(plan::DType::BOOL, cond, zeroHere, oneHere);
  b.dispatch("add_scalar", {counterHere, counterHere}, {two});
  b.dispatch("less", {counterHere, condHere}, {b.constant(5)});
  Loaded loaded(b);
  loaded.session.run();
  EXPECT_EQ(loaded.get<int64_t>(0), std::vector<int64_t>{6});
}

TEST(Executor, fill_repeats_its_pattern) {
  for (uint8_t size : {1, 2, 4, 8}) {
    PlanBuilder b;
    uint32_t sixteen = b.constant(16);
    uint32_t y = b.output("y", plan::DType::U8, {sixteen}, sixteen);
    b.fill(y, 0x0807060504030201, size);
    Loaded loaded(b);
    loaded.session.run();
    std::vector<uint8_t> expected(16);
    for (size_t i = 0; i < 16; ++i)
      expected[i] = uint8_t(i % size + 1);
    EXPECT_EQ(loaded.get<uint8_t>(0), expected);
  }
}

TEST(Executor, kernels_get_the_default_floating_point_mode) {
  PlanBuilder b;
  uint32_t two = b.constant(2), eight = b.constant(8);
  uint32_t y = b.output("y", plan::DType::I32, {two}, eight);
  b.dispatch("environment", {y}, {});
  Loaded loaded(b);
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040); // flush denormals, as code built with -ffast-math sets it
  loaded.session.run();
  unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(loaded.get<int32_t>(0)[1] & ~0x3f, 0x1f80);
  EXPECT_EQ(after & 0x8040, 0x8040u) << "the caller's mode comes back";
}

} // namespace
} // namespace llmc::test
