//===- BatchRefusalTest.cpp - What is wrong with settings and requests is said in one sentence, and disturbs nothing ===//

#include "test/runtime/batch/BatchPlans.h"
#include <array>
#include <functional>

namespace llmc::test {
namespace {

using namespace std::chrono_literals;

/// A batcher of addReluPlan that says what is wrong with a submission, and then answers a good request.
class BatchRefusal : public testing::Test {
protected:
  BatchRefusal() : held(addReluPlan()), model(modelOf(held, "batch")) {
    model.name = "sums";
    batcher.emplace(std::span(&model, 1));
    inputs[0] = {"a", LLMC_TYPE_F32, 2, dims, good.a.data(), 16};
    inputs[1] = {"b", LLMC_TYPE_F32, 2, dims, good.b.data(), 16};
  }

  void says(const char *message, std::function<void(llmc_submission &)> spoil,
            llmc_status status = LLMC_INVALID_ARGUMENT) {
    std::array<llmc_batch_input, 2> kept = inputs;
    llmc_submission what = {};
    what.struct_size = sizeof what;
    what.inputs = inputs.data();
    what.num_inputs = 2;
    spoil(what);
    int64_t admitted = batcher->stats().admitted;
    llmc_request *request = nullptr;
    EXPECT_EQ(llmc_batcher_submit(batcher->get(), &what, &request), status) << message;
    EXPECT_STREQ(llmc_last_error(), message);
    EXPECT_EQ(request, nullptr);
    inputs = kept;
    EXPECT_EQ(batcher->stats().admitted, admitted);
    good.check(batcher->submit(good.inputs()));
  }

  HeldPlan held;
  llmc_batch_model model;
  std::optional<Batcher> batcher;
  AddRequest good{1, 1};
  int64_t dims[2] = {1, 4};
  std::array<llmc_batch_input, 2> inputs;
};

TEST_F(BatchRefusal, names) {
  says("there is no input 'c'; there is 'a', 'b'", [&](auto &) { inputs[1].name = "c"; });
  says("input 'b' is missing", [](auto &what) { what.num_inputs = 1; });
  says("input 'a' is given twice", [&](auto &) { inputs[1].name = "a"; });
  std::array<llmc_batch_input, 3> three = {inputs[0], inputs[1], inputs[1]};
  three[2].name = nullptr;
  says("there is no input 2 among 2", [&](auto &what) { what.inputs = three.data(), what.num_inputs = 3; });
  says("there is no model 1 among 1", [](auto &what) { what.model = 1; });
  says("there is no model -1 among 1", [](auto &what) { what.model = -1; });
  says("model 'sums' has no version 7 in use; new requests start with version 1", [](auto &what) { what.version = 7; });
  says("version is -1", [](auto &what) { what.version = -1; });
}

TEST_F(BatchRefusal, outputs) {
  alignas(4) std::byte memory[32];
  llmc_batch_output outputs[2] = {{"y", memory, 16}, {"y", memory, 16}};
  auto give = [&](llmc_submission &what) { what.outputs = outputs, what.num_outputs = 1; };
  says("output 'y' is given twice", [&](auto &what) { give(what), what.num_outputs = 2; });
  says("1 outputs, at no place", [](auto &what) { what.num_outputs = 1; });
  outputs[0].name = "z";
  says("there is no output 'z'; there is 'y'", give);
  outputs[0] = {"y", nullptr, 16};
  says("the memory for output 'y' is null", give);
  outputs[0] = {"y", memory + 1, 16};
  says("the memory for output 'y' is not aligned to its elements", give);
  outputs[0] = {"y", memory, 12};
  says("the memory for output 'y' has 12 bytes, it needs 16", give);
}

TEST_F(BatchRefusal, tensors) {
  int64_t five[] = {1, 5}, two[] = {2, 4}, none[] = {0, 4}, negative[] = {-1, 4}, huge[] = {INT64_MAX, 4};
  AddRequest more(2, 2);
  says("input 'b' has type I32, expected F32", [&](auto &) { inputs[1].type = LLMC_TYPE_I32; }, LLMC_SHAPE);
  says("input 'b' has rank 1, expected 2", [&](auto &) { inputs[1].rank = 1; }, LLMC_SHAPE);
  says("input 'b' has rank 2 without dims, expected 2", [&](auto &) { inputs[1].dims = nullptr; }, LLMC_SHAPE);
  says("input 'b' has 5 in dim 1, expected 4", [&](auto &) { inputs[1].dims = five; }, LLMC_SHAPE);
  says("input 'b' has -1 in dim 0", [&](auto &) { inputs[1].dims = negative; }, LLMC_SHAPE);
  says("input 'b' has 16 bytes, its dims and type ask for 32", [&](auto &) { inputs[1].dims = two; });
  says("input 'b' has 16 bytes, its dims and type ask for too many", [&](auto &) { inputs[1].dims = huge; });
  says("the data of input 'b' is null", [&](auto &) { inputs[1].data = nullptr; });
  says("the memory of input 'b' is not aligned to its elements of 4 bytes",
       [&](auto &) { inputs[1].data = reinterpret_cast<const char *>(good.b.data()) + 1; });
  says(
      "inputs 'a' and 'b' disagree on 'batch': 1 and 2",
      [&](auto &) { inputs[1] = {"b", LLMC_TYPE_F32, 2, two, more.b.data(), 32}; }, LLMC_SHAPE);
  says(
      "the request has 0 rows",
      [&](auto &) {
        for (llmc_batch_input &input : inputs)
          input.dims = none, input.size = 0;
      },
      LLMC_SHAPE);
}

TEST_F(BatchRefusal, rows_over_the_cap) {
  model.max_rows = 2;
  batcher.emplace(std::span(&model, 1));
  AddRequest large(3, 5);
  auto enlarge = [&](llmc_submission &) {
    static const int64_t five[] = {5, 4};
    inputs[0] = {"a", LLMC_TYPE_F32, 2, five, large.a.data(), 80};
    inputs[1] = {"b", LLMC_TYPE_F32, 2, five, large.b.data(), 80};
  };
  says("the request has 5 rows, more than the 2 of a batch", enlarge);
  model.split_large = 1;
  batcher.emplace(std::span(&model, 1));
  large.check(batcher->submit(large.inputs()));
  llmc_batcher_options options = {};
  options.struct_size = sizeof options;
  options.max_requests = 3; // the request and its three parts are four
  batcher.emplace(std::span(&model, 1), &options);
  says("there are 3 requests that have not been released, max_requests allows no more", enlarge, LLMC_REJECTED);
}

TEST_F(BatchRefusal, the_rest_of_a_submission) {
  says("priority 2 is not within 1 and 1", [](auto &what) { what.priority = 2; });
  says("priority -1 is not within 1 and 1", [](auto &what) { what.priority = -1; });
  says("deadline_us is -1, which is in the past", [](auto &what) { what.deadline_us = -1; });
  says("queue_timeout_us is -5, which is in the past", [](auto &what) { what.queue_timeout_us = -5; });
  says("-1 inputs, at a place", [](auto &what) { what.num_inputs = -1; });
  says("struct_size of the submission is not set", [](auto &what) { what.struct_size = 0; });
  llmc_submission what = {};
  what.struct_size = sizeof what;
  EXPECT_EQ(llmc_batcher_submit(batcher->get(), &what, nullptr), LLMC_INVALID_ARGUMENT);
  EXPECT_STREQ(llmc_last_error(), "neither a request nor a callback is asked for, so nobody would hear of the answer");
  EXPECT_EQ(llmc_batcher_submit(batcher->get(), nullptr, nullptr), LLMC_INVALID_ARGUMENT);
  EXPECT_STREQ(llmc_last_error(), "the submission is null");
}

TEST_F(BatchRefusal, handles) {
  EXPECT_EQ(llmc_request_wait(nullptr, 0), LLMC_INVALID_ARGUMENT);
  EXPECT_STREQ(llmc_last_error(), "request is null");
  EXPECT_STREQ(llmc_request_reason(nullptr), "none");
  EXPECT_STREQ(llmc_request_error(nullptr), "");
  llmc_request_cancel(nullptr);
  llmc_request_release(nullptr);
  Future future = batcher->submit(good.inputs());
  future.get();
  EXPECT_THROW(future.output(1), Error);
  EXPECT_STREQ(llmc_last_error(), "there is no output 1 among 1");
  llmc_batch_stats stats = {};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(llmc_batcher_stats(batcher->get(), 2, &stats), LLMC_INVALID_ARGUMENT);
  EXPECT_STREQ(llmc_last_error(), "there is no model 2 among 1");
  int64_t upto, count;
  EXPECT_EQ(llmc_batcher_histogram(batcher->get(), 0, LLMC_LATENCY_RUN, -1, &upto, &count), LLMC_INVALID_ARGUMENT);
  EXPECT_STREQ(llmc_last_error(), "there is no column -1 of histogram 1");
  EXPECT_EQ(llmc_batcher_count(batcher->get(), 0, "bored"), -1);
  EXPECT_EQ(llmc_batcher_version(batcher->get(), 1), -1);
  good.check(batcher->submit(good.inputs()));
}

TEST_F(BatchRefusal, swaps) {
  HeldPlan other(lookupPlan());
  auto refuses = [&](const llmc_plan *plan, int32_t index, int32_t entry, const char *message) {
    int32_t version = 0;
    EXPECT_EQ(llmc_batcher_swap(batcher->get(), index, plan, entry, &version), LLMC_INVALID_ARGUMENT);
    EXPECT_STREQ(llmc_last_error(), message);
    EXPECT_EQ(llmc_batcher_version(batcher->get(), 0), 1);
    good.check(batcher->submit(good.inputs()));
  };
  refuses(other.plan.get(), 0, 0, "no input has a dim 'batch'; there is 'N'");
  refuses(held.plan.get(), 1, 0, "there is no model 1 among 1");
  refuses(held.plan.get(), 0, 3, "there is no entry 3 among 1");
  refuses(nullptr, 0, 0, "the plan of a model is null");
  HeldPlan ids(lookupPlan()), middle(middleRowsPlan());
  BatchOptions inN;
  inN.batchDim = "N";
  Batcher lookups(ids.plan, inN);
  EXPECT_THROW(lookups.swap(middle.plan), Error);
  EXPECT_STREQ(llmc_last_error(), "model 'main': inputs, outputs or batching of the new plan are not those of the old");
}

TEST_F(BatchRefusal, requests_that_nobody_released) {
  llmc_batcher_options options = {};
  options.struct_size = sizeof options;
  options.max_requests = 2;
  batcher.emplace(std::span(&model, 1), &options);
  Future first = batcher->submit(good.inputs());
  {
    Future second = batcher->submit(good.inputs());
    EXPECT_THROW(batcher->submit(good.inputs()), Error);
    EXPECT_STREQ(llmc_last_error(), "there are 2 requests that have not been released, max_requests allows no more");
    second.get();
  }
  good.check(batcher->submit(good.inputs()));
  good.check(first);
}

TEST_F(BatchRefusal, after_the_end) {
  Future before = batcher->submit(good.inputs());
  batcher->drain();
  EXPECT_THROW(batcher->submit(good.inputs()), Error);
  EXPECT_STREQ(llmc_last_error(), "the batcher is closed");
  batcher->close();
  EXPECT_THROW(batcher->submit(good.inputs()), Error);
  EXPECT_STREQ(llmc_last_error(), "the batcher is closed");
  EXPECT_THROW(batcher->swap(held.plan), Error);
  EXPECT_STREQ(llmc_last_error(), "the batcher is closed");
  EXPECT_EQ(batcher->stats().done, 1);
  good.check(before);
}

/// A deadline that has to be missed ends its request alone.
TEST(BatchRefusals, a_deadline_that_can_not_be_kept) {
  HeldPlan held(slowPlan(500));
  llmc_batch_model model = modelOf(held, "N");
  model.max_rows = 1;
  model.admit_by_deadline = 1;
  Batcher batcher(std::span(&model, 1));
  std::vector<float> x(4, 3);
  std::vector<Input> inputs = {input("x", {1, 4}, std::span<const float>(x))};
  for (int i = 0; i < 40; ++i) // it learns what runs cost
    batcher.submit(inputs).get();
  Future running = batcher.submit(inputs), next = batcher.submit(inputs);
  SubmitOptions hurried;
  hurried.deadline = 1us;
  EXPECT_THROW(batcher.submit(inputs, hurried), Error);
  EXPECT_STREQ(llmc_last_error(), "the requests of model 'main' that wait leave no time before the deadline");
  EXPECT_EQ(next.get().output(0).as<float>()[3], 3);
}

TEST(BatchRefusals, dims_that_are_padded) {
  HeldPlan held(paddedPlan());
  Batcher batcher(held.plan);
  std::vector<float> x(130, 2);
  auto ask = [&](int64_t length) {
    return batcher.submit({input("x", {2, 1, length}, std::span<const float>(x).first(size_t(2 * length)))});
  };
  EXPECT_THROW(ask(65), Error);
  EXPECT_STREQ(llmc_last_error(), "input 'x' has 65 in dim 2, the largest bucket of 'S' is 64");
  EXPECT_EQ(ask(5).get().output(0).as<float>()[9], 4);
}

TEST(BatchRefusals, too_many_shapes) {
  HeldPlan held(middleRowsPlan());
  llmc_batch_model model = modelOf(held, "N");
  model.max_shapes = 1;
  model.delay_us = 1000000;
  Batcher batcher(std::span(&model, 1));
  std::vector<float> x(20, 1);
  auto ask = [&](int64_t length) {
    return batcher.submit({input("x", {2, 1, length}, std::span<const float>(x).first(size_t(2 * length)))});
  };
  {
    Future waits = ask(3);
    EXPECT_THROW(ask(4), Error);
    EXPECT_STREQ(llmc_last_error(),
                 "requests of 1 other shapes are under way, no more are allowed at one time by max_shapes");
    EXPECT_EQ(waits.get().output(0).as<float>()[5], 2);
  }
  EXPECT_EQ(ask(4).get().output(0).as<float>()[7], 2);
}

void refuses(std::span<const llmc_batch_model> models, const llmc_batcher_options *options, const char *message) {
  llmc_batcher *batcher;
  EXPECT_NE(llmc_batcher_create(models.data(), int32_t(models.size()), options, &batcher), LLMC_OK);
  EXPECT_STREQ(llmc_last_error(), message);
  EXPECT_EQ(batcher, nullptr);
}

using ModelSetting = std::function<void(llmc_batch_model &)>;

TEST(BatchRefusals, settings_of_a_model) {
  HeldPlan held(addReluPlan()), padded(paddedPlan()), data(compressPlan()), exact(middleRowsPlan());
  auto says = [&](const char *message, ModelSetting set) {
    llmc_batch_model model = modelOf(held, "batch");
    set(model);
    refuses({&model, 1}, nullptr, message);
  };
  using M = llmc_batch_model &;
  static const int32_t sizes[] = {1, 2, 128}, falling[] = {4, 2}, none[] = {0, 1}, three[] = {3}, rows[] = {32},
                       fall[] = {8, 4};
  static const int32_t one[] = {1}, itself[] = {0};
  // Rows.
  says("model 'main': the plan does not say which dim is batched: compile it with --batch-dim, or name one of 'batch'",
       [](M m) { m.batch_dim = nullptr; });
  says("model 'main': no input has a dim 'M'; there is 'batch'", [](M m) { m.batch_dim = "M"; });
  says("model 'main': a size of 128 rows, but 'batch' is in 1..64", [](M m) { m.sizes = sizes, m.num_sizes = 3; });
  says("model 'main': the variants are not positive row counts in ascending order",
       [](M m) { m.sizes = falling, m.num_sizes = 2; });
  says("model 'main': sizes has 0", [](M m) { m.sizes = none, m.num_sizes = 2; });
  says("model 'main': sizes: 2 of them, at no place", [](M m) { m.num_sizes = 2; });
  says("model 'main': max_rows is 65, but 'batch' is in 1..64", [](M m) { m.max_rows = 65; });
  says("model 'main': max_rows is -1", [](M m) { m.max_rows = -1; });
  says("model 'main': a batch may have 8 rows, more than the largest size that runs, 2",
       [](M m) { m.sizes = sizes, m.num_sizes = 2, m.max_rows = 8; });
  says("model 'main': preferred size 32 is over the cap of 16 rows",
       [](M m) { m.preferred = rows, m.num_preferred = 1, m.max_rows = 16; });
  says("model 'main': preferred size 3 is not among the variants",
       [](M m) { m.preferred = three, m.num_preferred = 1, m.sizes = sizes, m.num_sizes = 2; });
  says("model 'main': the preferred sizes are not in ascending order",
       [](M m) { m.preferred = fall, m.num_preferred = 2; });
  says("model 'main': only preferred sizes may run, but none is given", [](M m) { m.only_preferred = 1; });
  says("model 'main': nothing is batched, but sizes of batches are given",
       [](M m) { m.batch_dim = LLMC_BATCH_NONE, m.max_rows = 4; });
  says("model 'main': max_shapes is 5000, which is not within 0 and 4096", [](M m) { m.max_shapes = 5000; });
  says("model 'main': the plan is batched in 'N', not in 'batch'", [&](M m) { m.plan = padded.plan.get(); });
  says("model 'main': a size of 3 rows, which the plan does not have",
       [&](M m) { m.plan = padded.plan.get(), m.batch_dim = nullptr, m.sizes = three, m.num_sizes = 1; });
  says("model 'main': a batch may have 16 rows, more than the largest size that runs, 8",
       [&](M m) { m.plan = padded.plan.get(), m.batch_dim = nullptr, m.max_rows = 16; });
  says("model 'main': output 'y' has no dim 'n', so it can not be told which of it belongs to which row",
       [&](M m) { m.plan = data.plan.get(), m.batch_dim = "n"; });
  // Time and order.
  says("model 'main': delay_us is -1 microseconds", [](M m) { m.delay_us = -1; });
  says("model 'main': delay_us is 9223372036854775807 microseconds", [](M m) { m.delay_us = INT64_MAX; });
  says("model 'main': the delay is not within 0 and one hour", [](M m) { m.delay_us = 3'601'000'000; });
  says("model 'main': the delay of 2000000 ns is over the deadline of the SLO, 1000000 ns",
       [](M m) { m.delay_us = 2000, m.slo_p99_us = 1000; });
  says("model 'main': slo_p99_us is -1 microseconds", [](M m) { m.slo_p99_us = -1; });
  says("model 'main': exec_p95_us is -1 microseconds", [](M m) { m.exec_p95_us = -1; });
  says("model 'main': aging_us is -2 microseconds", [](M m) { m.aging_us = -2; });
  says("model 'main': default priority 3 is not within 1 and 1", [](M m) { m.default_priority = 3; });
  says("model 'main': default_priority is -1", [](M m) { m.default_priority = -1; });
  says("model 'main': pad, mix or order is not one of their values: 3, 0, 0", [](M m) { m.pad = llmc_pad_policy(3); });
  // Limits, devices, failure, answers.
  says("model 'main': max_queued_requests is -1", [](M m) { m.max_queued_requests = -1; });
  says("model 'main': at most 3 rows may wait, fewer than the 32 of a batch", [](M m) { m.max_queued_rows = 3; });
  says("model 'main': max_queued_bytes is -1", [](M m) { m.max_queued_bytes = -1; });
  says("model 'main': instances is -1, which is not within 0 and 1024", [](M m) { m.instances = -1; });
  says("model 'main': weight 10001 is not within 1 and 10000", [](M m) { m.weight = 10001; });
  says("model 'main': breaker_min_requests is -2", [](M m) { m.breaker_min_requests = -2; });
  says("model 'main': fallback 1 is not one of the 1 models", [](M m) { m.fallback = one, m.num_fallback = 1; });
  says("model 'main' can not take over requests of 'main': inputs, outputs or batching differ, or have dims that are "
       "neither rows nor padded",
       [](M m) { m.fallback = itself, m.num_fallback = 1; });
  says("model 'main': cache_bytes is -1", [](M m) { m.cache_bytes = -1; });
  says("model 'main': answers of a model with state can not be kept", [](M m) { m.cache_bytes = 1, m.stateful = 1; });
  says("the plan of a model is null", [](M m) { m.plan = nullptr; });
  says("there is no entry 2 among 1", [](M m) { m.entry = 2; });
  says("struct_size of a model is not set", [](M m) { m.struct_size = 0; });
}

TEST(BatchRefusals, priorities) {
  HeldPlan held(addReluPlan());
  auto says = [&](const char *message, int32_t count, std::function<void(llmc_batch_class &, llmc_batch_model &)> set) {
    std::vector<llmc_batch_class> classes(20, {sizeof(llmc_batch_class), 0, 0, 0});
    llmc_batch_model model = modelOf(held, "batch");
    model.classes = classes.data();
    model.num_classes = count;
    set(classes[0], model);
    refuses({&model, 1}, nullptr, message);
  };
  says("model 'main': 17 priority classes, which is not within 1 and 16", 17, [](auto &, auto &) {});
  says("model 'main': -1 classes, at a place", -1, [](auto &, auto &) {});
  says("model 'main': struct_size of a class is not set", 1, [](auto &one, auto &) { one.struct_size = 0; });
  says("model 'main': queue_timeout_us is -1 microseconds", 1, [](auto &one, auto &) { one.queue_timeout_us = -1; });
  says("model 'main': max_queued_requests is -1", 1, [](auto &one, auto &) { one.max_queued_requests = -1; });
  says("model 'main': the delay of 2000000 ns is over a queue timeout of 1000000 ns", 2,
       [](auto &one, auto &model) { one.queue_timeout_us = 1000, model.delay_us = 2000; });
  says("model 'main': default priority 3 is not within 1 and 2", 2,
       [](auto &, auto &model) { model.default_priority = 3; });
}

TEST(BatchRefusals, settings_of_a_batcher) {
  HeldPlan held(addReluPlan());
  llmc_batch_model model = modelOf(held, "batch");
  auto says = [&](const char *message, std::function<void(llmc_batcher_options &)> set) {
    llmc_batcher_options options = {};
    options.struct_size = sizeof options;
    set(options);
    refuses({&model, 1}, &options, message);
  };
  using O = llmc_batcher_options &;
  says("spin_us is -1, which is not within 0 and one second", [](O o) { o.spin_us = -1; });
  says("spin_us is 1000001, which is not within 0 and one second", [](O o) { o.spin_us = 1000001; });
  says("max_requests is -1", [](O o) { o.max_requests = -1; });
  says("room for 16777217 requests, which is not within 1 and 16777216", [](O o) { o.max_requests = (1 << 24) + 1; });
  says("parallel_runs is -1", [](O o) { o.parallel_runs = -1; });
  says("max_queued_bytes is -1", [](O o) { o.max_queued_bytes = -1; });
  says("struct_size of the options is not set", [](O o) { o.struct_size = 0; });
  refuses(std::span(&model, size_t(0)), nullptr, "a batcher needs a model");
  refuses(std::span<const llmc_batch_model>(), nullptr, "models is null");
}

/// A model that takes other inputs can not stand in.
TEST(BatchRefusals, fallbacks) {
  HeldPlan sums(addReluPlan()), lookups(lookupPlan());
  llmc_batch_model models[] = {modelOf(sums, "batch"), modelOf(lookups, "N")};
  models[0].name = "sums";
  models[1].name = "lookups";
  static const int32_t second[] = {1};
  models[0].fallback = second;
  models[0].num_fallback = 1;
  refuses(models, nullptr,
          "model 'lookups' can not take over requests of 'sums': inputs, outputs or batching differ, or have dims that "
          "are neither rows nor padded");
}

} // namespace
} // namespace llmc::test
