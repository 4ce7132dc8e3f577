//===- BindingTest.cpp - Shapes, inputs and outputs: what is accepted, what is said, what it costs ----------------===//

#include "llmc/llmc.hpp"
#include "test/runtime/PlanBuilder.h"
#include <atomic>
#include <cstdlib>
#include <gmock/gmock.h>
#include <new>

// Counts all allocations of the process, so that a test can show that there are none. The sanitizers have allocators of their own
// and count nothing here.
static std::atomic<long> allocations = 0;
#ifndef LLMC_SANITIZED
static void *counted(size_t size, size_t alignment) {
  ++allocations;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void *operator new(size_t size) {
  if (void *result = counted(size, 16))
    return result;
  throw std::bad_alloc();
}
void *operator new(size_t size, std::align_val_t alignment) {
  if (void *pointer = operator new(size, alignment, std::nothrow))
    return pointer;
  throw std::bad_alloc();
}
void *operator new(size_t size, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  return counted(size, size_t(alignment));
}
void operator delete(void *pointer) noexcept { std::free(pointer); }
void operator delete(void *pointer, size_t) noexcept { std::free(pointer); }
void operator delete(void *pointer, std::align_val_t) noexcept { std::free(pointer); }
void operator delete(void *pointer, size_t, std::align_val_t) noexcept { std::free(pointer); }
#endif

namespace llmc::test {
namespace {

using plan::DType;
using testing::HasSubstr;
using Dims = std::vector<int64_t>;

struct Binding : testing::Test {
  PageAligned file{addReluPlan({2}, /*openPlacement=*/true).file()};
  Plan plan{file.bytes()};
  Session session{plan};
  std::vector<float> a = std::vector<float>(400, 1), b = std::vector<float>(400, 2);

  void set(int index, Dims dims, std::vector<float> &data) {
    int64_t elements = 1;
    for (int64_t dim : dims)
      elements *= dim;
    session.setInput<float>(index, dims, std::span<const float>(data).first(size_t(elements)));
  }
  /// The message of the error that `action` ends in.
  template <typename Action> std::string errorOf(llmc_status status, Action action) {
    try {
      action();
    } catch (const Error &error) {
      EXPECT_EQ(error.status(), status) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
};

TEST_F(Binding, describes_inputs_with_names_and_ranges) {
  TensorInfo info = plan.input(0);
  EXPECT_STREQ(info.name, "a");
  EXPECT_EQ(info.type, LLMC_TYPE_F32);
  ASSERT_EQ(info.dims.size(), 2u);
  EXPECT_STREQ(info.dims[0].name, "batch");
  EXPECT_EQ(info.dims[0].value, -1);
  EXPECT_EQ(info.dims[0].lo, 1);
  EXPECT_EQ(info.dims[0].hi, 64);
  EXPECT_EQ(info.dims[1].value, 4);
}

TEST_F(Binding, refuses_wrong_rank_type_and_dims) {
  EXPECT_EQ(errorOf(LLMC_SHAPE, [&] { set(0, {4}, a); }), "input 'a' has rank 1, expected 2");
  EXPECT_EQ(errorOf(LLMC_SHAPE,
                    [&] { session.setInput(0, LLMC_TYPE_I32, Dims{1, 4}, std::as_bytes(std::span(a)).first(16)); }),
            "input 'a' has type I32, expected F32");
  set(0, {2, 5}, a);
  set(1, {2, 5}, b);
  EXPECT_EQ(errorOf(LLMC_SHAPE, [&] { session.run(); }), "input 'a' has 5 in dim 1, expected 4");
}

TEST_F(Binding, refuses_a_dim_out_of_its_range) {
  set(0, {65, 4}, a);
  set(1, {65, 4}, b);
  EXPECT_EQ(errorOf(LLMC_SHAPE, [&] { session.run(); }), "input 'a' has 65 in dim 0, but 'batch' is in 1..64");
}

TEST_F(Binding, names_both_inputs_that_disagree) {
  set(0, {2, 4}, a);
  set(1, {3, 4}, b);
  EXPECT_EQ(errorOf(LLMC_SHAPE, [&] { session.run(); }),
            "inputs 'a' and 'b' disagree on 'batch': dim 0 of 'a' is 2, dim 0 of 'b' is 3");
}

TEST_F(Binding, names_missing_and_unknown_inputs) {
  set(0, {2, 4}, a);
  EXPECT_EQ(errorOf(LLMC_INVALID_ARGUMENT, [&] { session.run(); }), "input 'b' is missing");
  EXPECT_EQ(
      errorOf(LLMC_INVALID_ARGUMENT, [&] { session.setInput<float>("c", {1, 4}, std::span<const float>(a).first(4)); }),
      "there is no input 'c'; there is 'a', 'b'");
}

TEST_F(Binding, recovers_after_an_error) {
  set(0, {2, 4}, a);
  set(1, {3, 4}, b);
  errorOf(LLMC_SHAPE, [&] { session.run(); });
  set(1, {2, 4}, b);
  session.run();
  EXPECT_THAT(session.output(0).as<float>(), testing::Each(3.0f));
}

TEST_F(Binding, writes_into_the_callers_memory) {
  std::vector<float> y(9, -1);
  set(0, {2, 4}, a);
  set(1, {2, 4}, b);
  session.setOutput(0, std::as_writable_bytes(std::span(y)).first(32));
  session.run();
  EXPECT_EQ(session.output(0).data, y.data());
  EXPECT_THAT(std::span(y).first(8), testing::Each(3.0f));
  EXPECT_EQ(y[8], -1);
  session.setOutput(0, {});
  session.run();
  EXPECT_NE(session.output(0).data, y.data());
}

TEST_F(Binding, element_alignment_is_enough) {
  std::vector<float> shifted(100, 4), y(100);
  session.setInput<float>(0, Dims{2, 4}, std::span<const float>(shifted).subspan(1, 8));
  session.setInput<float>(1, Dims{2, 4}, std::span<const float>(shifted).subspan(3, 8));
  session.setOutput(0, std::as_writable_bytes(std::span(y).subspan(5, 8)));
  session.run();
  EXPECT_EQ(y[5], 8);
  EXPECT_EQ(y[12], 8);
  auto bytes = std::as_bytes(std::span(shifted));
  EXPECT_THAT(
      errorOf(LLMC_INVALID_ARGUMENT, [&] { session.setInput(0, LLMC_TYPE_F32, Dims{1, 4}, bytes.subspan(1, 16)); }),
      HasSubstr("not aligned"));
}

TEST_F(Binding, refuses_small_or_overlapping_memory) {
  std::vector<float> y(8);
  set(0, {2, 4}, a);
  set(1, {2, 4}, b);
  session.setOutput(0, std::as_writable_bytes(std::span(y)).first(28));
  EXPECT_EQ(errorOf(LLMC_INVALID_ARGUMENT, [&] { session.run(); }),
            "the memory given for output 'y' has 28 bytes, it needs 32");
  session.setOutput(0, std::as_writable_bytes(std::span(a)).first(32));
  EXPECT_EQ(errorOf(LLMC_INVALID_ARGUMENT, [&] { session.run(); }),
            "the memory for output 'y' overlaps that of input 'a'");
}

TEST_F(Binding, inputs_may_share_memory) {
  set(0, {50, 4}, a);
  set(1, {50, 4}, a);
  session.run();
  EXPECT_THAT(session.output(0).as<float>(), testing::Each(2));
  session.setInput<float>(1, Dims{50, 4}, std::span<const float>(a).subspan(100, 200)); // half of it
  session.run();
  EXPECT_THAT(session.output(0).as<float>(), testing::Each(2));
}

TEST_F(Binding, a_known_shape_allocates_nothing) {
#ifdef LLMC_SANITIZED
  GTEST_SKIP() << "allocations are not counted in sanitizer builds";
#endif
  for (int64_t n : {2, 3, 2, 3}) { // the second time round, memory has its greatest size
    set(0, {n, 4}, a);
    set(1, {n, 4}, b);
    session.run();
  }
  Dims two = {2, 4}, three = {3, 4};
  long before = allocations;
  for (int repeat = 0; repeat < 10; ++repeat) {
    session.run();
    for (const Dims *dims : {&two, &three}) {
      size_t elements = size_t((*dims)[0]) * 4, offset = size_t(repeat);
      session.setInput<float>(0, *dims, std::span<const float>(a).subspan(offset, elements)); // other memory each time
      session.setInput<float>(1, *dims, std::span<const float>(b).subspan(offset, elements));
      session.run();
    }
  }
  EXPECT_EQ(allocations - before, 0);
}

TEST_F(Binding, other_devices_allocate_nothing_either) {
#ifdef LLMC_SANITIZED
  GTEST_SKIP() << "allocations are not counted in sanitizer builds";
#endif
  PageAligned twoDevices(twoDevicesPlan().file());
  Plan cut(twoDevices.bytes());
  Session other(cut);
  for (int input : {0, 1})
    other.setInput<float>(input, Dims{4}, std::span<const float>(a).first(4));
  other.run();
  PageAligned blocks(deviceLoopPlan().file());
  Plan inBlocks(blocks.bytes());
  Session third(inBlocks);
  third.setInput<float>(0, Dims{4}, std::span<const float>(a).first(4));
  third.run();
  long before = allocations;
  for (int repeat = 0; repeat < 10; ++repeat) {
    other.run();
    third.run();
  }
  EXPECT_EQ(allocations - before, 0);
}

TEST_F(Binding, more_shapes_than_the_cache_holds) {
  Options options;
  options.shapeCacheSize = 2;
  Plan small(file.bytes(), options);
  Session other(small);
  for (int round = 0; round < 3; ++round)
    for (int64_t n = 1; n <= 8; ++n) {
      other.setInput<float>(0, Dims{n, 4}, std::span<const float>(a).first(size_t(n) * 4));
      other.setInput<float>(1, Dims{n, 4}, std::span<const float>(b).first(size_t(n) * 4));
      other.run();
      EXPECT_EQ(other.output(0).dims[0], n);
      EXPECT_THAT(other.output(0).as<float>(), testing::Each(3.0f));
    }
}

TEST_F(Binding, guards_choose_the_body) {
  // The body of higher priority takes even batches and subtracts nothing: it clears the output.
  PlanBuilder builder = addReluPlan();
  plan::EntryPointT &entry = *builder.parts.plan.entries[0];
  auto even = std::make_unique<plan::BodyT>(*entry.bodies[0]);
  even->name = "even";
  even->priority = 1;
  even->guards.emplace_back(0, plan::Cmp::DIVISIBLE, 0, 0, 2);
  plan::FillT fill;
  fill.dst = entry.outputs[0]->buffer;
  even->blocks[0]->steps.resize(1);
  even->blocks[0]->steps[0]->body.Set(fill);
  entry.bodies.push_back(std::move(even));
  PageAligned bytes(builder.file());
  Plan two(bytes.bytes());
  Session other(two);
  for (int64_t n : {1, 2, 3, 4}) {
    other.setInput<float>(0, Dims{n, 4}, std::span<const float>(a).first(size_t(n) * 4));
    other.setInput<float>(1, Dims{n, 4}, std::span<const float>(b).first(size_t(n) * 4));
    other.run();
    EXPECT_THAT(other.output(0).as<float>(), testing::Each(n % 2 ? 3.0f : 0.0f));
  }
}

TEST_F(Binding, data_faults_name_the_node) {
  PlanBuilder builder;
  uint32_t n = builder.inputDim("n", 0, 0, 0, 100), four = builder.constant(4), eight = builder.constant(8);
  uint32_t rows = builder.constant(5), bytes = builder.mul(n, eight);
  uint32_t indices = builder.input("indices", DType::I64, {n}, bytes);
  uint32_t table = builder.weights("table", DType::F32, std::vector<float>(20, 1));
  uint32_t y = builder.output("y", DType::F32, {n, four}, builder.mul(builder.mul(n, four), four));
  builder.dispatch("gather", {table, indices, y}, {rows, four, n}, "embedding/Gather");
  PageAligned gatherFile(builder.file());
  for (int threads : {1, 3}) {
    Options options;
    options.threads = threads;
    Plan gather(gatherFile.bytes(), options);
    Session other(gather);
    std::vector<int64_t> values(50, 4);
    values[30] = 5;
    values[40] = -7;
    other.setInput<int64_t>(0, Dims{50}, values);
    EXPECT_EQ(
        errorOf(LLMC_DATA, [&] { other.run(); }),
        "step 0 'embedding/Gather_op' of node 'embedding/Gather': index out of range: value 5, operand 1, row 30");
    values[30] = values[40] = 0;
    other.run(); // the session is fit to run again
  }
}

TEST_F(Binding, checks_and_bounds_of_data_are_told) {
  PageAligned everything(everythingPlan().file());
  Plan other(everything.bytes());
  Session run(other);
  int64_t steps = -1;
  uint8_t flag = 0;
  run.setInput<int64_t>(0, Dims{}, std::span<const int64_t>(&steps, 1));
  run.setInput(1, LLMC_TYPE_BOOL, Dims{}, std::as_bytes(std::span(&flag, 1)));
  EXPECT_EQ(errorOf(LLMC_DATA, [&] { run.run(); }),
            "step 2 'a_check_op' of node 'a_check': steps must not be negative (found -1, expected >= 0)");
  steps = 9;
  EXPECT_THAT(errorOf(LLMC_DATA, [&] { run.run(); }), HasSubstr("the loop does not end after 8 trips"));
}

TEST_F(Binding, c_api_refuses_null_and_unknown) {
  EXPECT_EQ(llmc_plan_load(nullptr, nullptr, nullptr), LLMC_INVALID_ARGUMENT);
  llmc_plan *none = reinterpret_cast<llmc_plan *>(1);
  EXPECT_EQ(llmc_plan_load("/nowhere/model.llmc", nullptr, &none), LLMC_IO);
  EXPECT_EQ(none, nullptr);
  EXPECT_STREQ(llmc_last_error(), "can not open '/nowhere/model.llmc': No such file or directory");
  EXPECT_EQ(llmc_session_run(nullptr), LLMC_INVALID_ARGUMENT);
  llmc_session *sessionHandle;
  EXPECT_EQ(llmc_session_create(plan.get(), 1, &sessionHandle), LLMC_INVALID_ARGUMENT);
  llmc_tensor_view view = {};
  view.struct_size = sizeof view;
  EXPECT_EQ(llmc_session_output(session.get(), 1, &view), LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(llmc_session_set_input(session.get(), -1, LLMC_TYPE_F32, nullptr, 0, nullptr, 0), LLMC_INVALID_ARGUMENT);
  EXPECT_EQ(llmc_plan_find_entry(plan.get(), "other"), -1);
  EXPECT_EQ(llmc_plan_num_inputs(plan.get(), 7), -1);
}

TEST_F(Binding, a_session_outlives_its_plan) {
  auto own = std::make_unique<Plan>(file.bytes());
  Session other(*own);
  own.reset();
  other.setInput<float>("a", {1, 4}, std::span<const float>(a).first(4));
  other.setInput<float>("b", {1, 4}, std::span<const float>(b).first(4));
  other.run();
  EXPECT_THAT(other.output(0).as<float>(), testing::Each(3.0f));
}

TEST_F(Binding, profile_tells_steps_and_nodes) {
  std::vector<std::string> seen;
  session.setProfile(
      [](void *user, const llmc_profile_event *event) {
        EXPECT_LE(event->begin_ns, event->end_ns);
        static_cast<std::vector<std::string> *>(user)->push_back(std::string(event->kind) + " " + event->op + " " +
                                                                 event->sources[0]);
      },
      &seen);
  set(0, {2, 4}, a);
  set(1, {2, 4}, b);
  session.run();
  EXPECT_THAT(seen, testing::ElementsAre("Dispatch Add_0_op Add_0", "Dispatch Relu_1_op Relu_1"));
  session.setProfile(nullptr, nullptr);
  session.run();
  EXPECT_EQ(seen.size(), 2u);
}

} // namespace
} // namespace llmc::test
