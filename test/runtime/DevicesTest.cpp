//===- DevicesTest.cpp - Plans on several devices, and what simulated ones find ------------------------------------===//

#include "llmc/llmc.hpp"
#include "runtime/device/SimDevice.h"
#include "test/runtime/LoadHelper.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

namespace llmc::test {
namespace {

using Floats = std::vector<float>;

/// A device profile with this text, while it lives.
class ProfileFile {
public:
  explicit ProfileFile(const std::string &text)
      : path(std::filesystem::temp_directory_path() / ("profile" + std::to_string(::getpid()))) {
    std::ofstream(path) << text;
  }
  ~ProfileFile() { std::filesystem::remove(path); }
  const std::filesystem::path path;
};

Options withProfile(const ProfileFile &profile, int threads = 1) {
  Options options;
  options.threads = threads;
  options.deviceProfile = profile.path;
  return options;
}

Floats runSum(Session &session, const Floats &a, const Floats &b) {
  session.setInput<float>("a", {4}, a);
  session.setInput<float>("b", {4}, b);
  session.run();
  auto values = session.output(0).as<float>();
  return {values.begin(), values.end()};
}

TEST(Devices, steps_run_where_they_are_put) {
  PageAligned file(twoDevicesPlan().file());
  Plan plan(file.bytes());
  Session session(plan);
  for (int run = 0; run < 200; ++run)
    EXPECT_EQ(runSum(session, {1, 2, 3, float(run)}, {-5, 5, -5, 5}), (Floats{0, 7, 0, float(run) + 5}));
}

TEST(Devices, sessions_have_queues_of_their_own) {
  PageAligned file(twoDevicesPlan().file());
  Plan plan(file.bytes());
  std::vector<std::thread> clients;
  for (int client = 0; client < 3; ++client)
    clients.emplace_back([&plan, client] {
      Session session(plan);
      Floats a(4, float(client)), one(4, 1);
      for (int run = 0; run < 100; ++run)
        EXPECT_EQ(runSum(session, a, one), Floats(4, float(client + 1)));
    });
  for (std::thread &client : clients)
    client.join();
}

Floats runLoop(Session &session, const Floats &x) {
  session.setInput<float>("x", {4}, x);
  session.run();
  auto values = session.output(0).as<float>();
  return {values.begin(), values.end()};
}

TEST(Devices, steps_of_a_block_run_where_they_are_put) {
  PageAligned file(deviceLoopPlan().file());
  for (int threads : {1, 2}) {
    Options options;
    options.threads = threads;
    Plan plan(file.bytes(), options);
    Session session(plan);
    for (int run = 0; run < 200; ++run)
      EXPECT_EQ(runLoop(session, {1, -2, 0, float(run)}), (Floats{27, -2, 0, 27 * float(run)}));
  }
}

/// The rule that refuses the loop on three devices after `spoil` has changed the steps of its body.
std::string ruleInLoop(const std::function<void(std::vector<std::unique_ptr<plan::StepT>> &)> &spoil) {
  PlanBuilder builder = deviceLoopPlan();
  spoil(builder.body().blocks[1]->steps);
  return loadStatus(builder.file()).rule();
}

TEST(Devices, no_copy_or_wait_of_a_block_can_be_left_out) {
  EXPECT_EQ(ruleInLoop([](auto &) {}), "");
  EXPECT_EQ(ruleInLoop([](auto &steps) { steps.erase(steps.begin()); }), "read-before-write");
  EXPECT_EQ(ruleInLoop([](auto &steps) { steps[2]->wait.clear(); }), "unordered");
  EXPECT_EQ(ruleInLoop([](auto &steps) { steps[5]->wait.clear(); }), "unordered");
  EXPECT_EQ(ruleInLoop([](auto &steps) { steps[1]->signal.clear(); }), "wait-unsignalled");
  EXPECT_EQ(ruleInLoop([](auto &steps) { std::swap(steps[4]->signal, steps[3]->signal); }), "unordered") << "too early";
}

TEST(Devices, control_flow_hands_over_bytes_of_the_host_only) {
  auto ruleOf = [](auto spoil) {
    PlanBuilder builder = deviceLoopPlan();
    spoil(*builder.body().blocks[0]->steps[0]->body.AsLoop(), builder.body().buffers);
    return std::string(loadStatus(builder.file()).rule());
  };
  uint32_t onLeft = 4;
  EXPECT_EQ(ruleOf([&](plan::LoopT &loop, auto &) { loop.carried_yield = {onLeft}; }), "residency");
  EXPECT_EQ(ruleOf([&](plan::LoopT &loop, auto &) { loop.carried_argument = {onLeft}; }), "residency");
  EXPECT_EQ(ruleOf([&](plan::LoopT &loop, auto &buffers) {
              loop.collected_yield = {onLeft};
              loop.collected_out = {uint32_t(buffers.size())};
              buffers.push_back(std::make_unique<plan::BufferT>(*buffers[2]));
            }),
            "residency");
}

TEST(Devices, a_branch_that_does_not_write_what_is_read_later_is_refused) {
  auto ruleOf = [](bool bothWrite) {
    PlanBuilder b;
    uint32_t four = b.constant(4), bytes = b.constant(16), one = b.constant(1), zero = b.constant(0);
    uint32_t flag = b.input("flag", plan::DType::BOOL, {}, one), y = b.output("y", plan::DType::F32, {four}, bytes);
    uint32_t value = b.arena(plan::DType::F32, bytes), blocks[] = {b.newBlock(), b.newBlock()};
    for (uint32_t block : blocks) {
      b.inBlock(block);
      uint32_t size = b.constant(16), there = b.view(plan::DType::F32, value, b.constant(0), size);
      if (bothWrite || block == blocks[0])
        b.fill(there, 0, 4);
    }
    b.inBlock(0);
    b.branch(flag, blocks[0], blocks[1]);
    b.copy(value, zero, y, zero, bytes);
    return std::string(loadStatus(b.file()).rule());
  };
  EXPECT_EQ(ruleOf(true), "");
  EXPECT_EQ(ruleOf(false), "read-before-write");
}

/// The rule that refuses a plan after `spoil` has changed its steps.
std::string ruleAfter(const std::function<void(std::vector<std::unique_ptr<plan::StepT>> &)> &spoil) {
  PlanBuilder builder = twoDevicesPlan();
  spoil(builder.body().blocks[0]->steps);
  return loadStatus(builder.file()).rule();
}

TEST(Devices, no_copy_can_be_left_out) {
  EXPECT_EQ(ruleAfter([](auto &) {}), "");
  for (size_t step : {0, 1, 3})
    EXPECT_EQ(ruleAfter([&](auto &steps) {
                if (step == 3)
                  steps[4]->wait = steps[3]->wait;
                steps.erase(steps.begin() + long(step));
              }),
              "read-before-write")
        << "step " << step;
  EXPECT_EQ(ruleAfter([](auto &steps) { steps.pop_back(); }), "output-unwritten");
}

TEST(Devices, no_wait_can_be_left_out) {
  EXPECT_EQ(ruleAfter([](auto &steps) { steps[3]->wait.clear(); }), "unordered");
  EXPECT_EQ(ruleAfter([](auto &steps) { std::swap(steps[3]->wait, steps[4]->wait); }), "unordered") << "too late";
  EXPECT_EQ(ruleAfter([](auto &steps) { steps[2]->signal.clear(); }), "wait-unsignalled");
  EXPECT_EQ(ruleAfter([](auto &steps) { std::swap(steps[2]->signal, steps[1]->signal); }), "unordered") << "too early";
}

TEST(Devices, a_semaphore_is_signalled_from_one_queue) {
  EXPECT_EQ(ruleAfter([](auto &steps) { steps[3]->signal.emplace_back(0, 0, 2); }), "signal-queue");
}

TEST(Devices, steps_stay_on_their_device) {
  EXPECT_EQ(ruleAfter([](auto &steps) { steps[4]->queue = 1; }), "residency");
  EXPECT_EQ(ruleAfter([](auto &steps) { steps[4]->queue = 0; }), "residency");
  EXPECT_EQ(ruleAfter([](auto &steps) { steps[0]->queue = 0; }), "residency");
  EXPECT_EQ(ruleAfter([](auto &steps) { steps[5]->queue = 0; }), "residency");
  EXPECT_EQ(ruleAfter([](auto &steps) { steps[3]->queue = 1; }), "residency") << "a copy is its target's";
  EXPECT_EQ(ruleAfter([](auto &steps) { steps[4]->body.AsDispatch()->buffers[0] = 5; }), "residency");
}

/// The host doubles x in two arena buffers one after the other; a device copies the first one away in between.
PlanBuilder reusePlan(bool waits) {
  PlanBuilder b;
  uint32_t sim = b.addDevice("sim", plan::DeviceKind::SIM, 0);
  b.body().semaphores = 2;
  uint32_t four = b.constant(4), bytes = b.constant(16), zero = b.constant(0);
  uint32_t x = b.input("x", plan::DType::F32, {four}, bytes), y = b.output("y", plan::DType::F32, {four}, bytes);
  uint32_t z = b.output("z", plan::DType::F32, {four}, bytes), place = b.constant(0);
  uint32_t first = b.arena(plan::DType::F32, bytes, place), second = b.arena(plan::DType::F32, bytes, place);
  uint32_t away = b.arenaOn(sim, plan::DType::F32, bytes);
  b.dispatch("add", {x, x, first}, {four}).signal.emplace_back(0, 0, 1);
  plan::StepT &copy = b.copy(first, zero, away, zero, bytes);
  copy.queue = sim;
  copy.wait.emplace_back(0, 0, 1);
  copy.signal.emplace_back(1, 0, 1);
  plan::StepT &again = b.dispatch("add", {x, x, second}, {four});
  if (waits)
    again.wait.emplace_back(1, 0, 1);
  b.dispatch("relu", {second, y}, {four});
  b.copy(away, zero, z, zero, bytes).queue = sim;
  return b;
}

TEST(Devices, memory_is_used_again_only_after_a_wait) {
  EXPECT_STREQ(loadStatus(reusePlan(true).file()).rule(), "");
  EXPECT_STREQ(loadStatus(reusePlan(false).file()).rule(), "arena-overlap");
  PlanBuilder open = reusePlan(false); // the runtime places what has no place so that it is right
  for (auto &buffer : open.body().buffers)
    buffer->offset = kNone;
  PageAligned file(open.file());
  Plan plan(file.bytes());
  Session session(plan);
  Floats x = {1, 2, 3, 4};
  session.setInput<float>("x", {4}, x);
  for (int run = 0; run < 100; ++run) {
    session.run();
    EXPECT_EQ(session.output(0).as<float>()[3], 8);
    EXPECT_EQ(session.output(1).as<float>()[3], 8);
  }
}

TEST(Devices, faults_name_the_step) {
  PlanBuilder b;
  uint32_t sim = b.addDevice("sim", plan::DeviceKind::SIM, 3);
  uint32_t n = b.inputDim("n", 0, 0, 1, 1000), bytes = b.mul(n, b.constant(4)), zero = b.constant(0);
  uint32_t x = b.input("x", plan::DType::I32, {n}, bytes), copied = b.arenaOn(sim, plan::DType::I32, bytes);
  b.copy(x, zero, copied, zero, bytes).queue = sim;
  b.dispatch("fail", {copied}, {n}, "Broken").queue = sim;
  PageAligned file(b.file());
  Plan plan(file.bytes());
  Session session(plan);
  std::vector<int32_t> data = {0, 0, 1};
  session.setInput<int32_t>(0, std::vector<int64_t>{3}, data);
  EXPECT_EQ(llmc_session_run(session.get()), LLMC_DATA);
  EXPECT_STREQ(llmc_last_error(), "step 1 'Broken_op' of node 'Broken': index out of range: value 1, row 2");
  data[2] = 0;
  session.run();
}

TEST(Devices, kernels_get_the_default_floating_point_mode) {
  PlanBuilder b;
  uint32_t sim = b.addDevice("sim", plan::DeviceKind::SIM, 0);
  uint32_t two = b.constant(2), eight = b.constant(8), zero = b.constant(0);
  uint32_t y = b.output("y", plan::DType::I32, {two}, eight), there = b.arenaOn(sim, plan::DType::I32, eight);
  b.dispatch("environment", {there}, {}).queue = sim;
  b.copy(there, zero, y, zero, eight).queue = sim;
  PageAligned file(b.file());
  Plan plan(file.bytes());
  Session session(plan);
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040); // flush denormals: the thread of the queue is started with that
  session.run();
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(session.output(0).as<int32_t>()[1] & ~0x3f, 0x1f80);
}

/// Prepares a run of `builder` on a machine of this profile; the error's text.
std::string errorWith(const PlanBuilder &builder, const std::string &profile) {
  ProfileFile text(profile);
  PageAligned file(builder.file());
  try {
    Plan plan(file.bytes(), withProfile(text));
    Session session(plan);
    Floats zeros(4, 0.0f);
    runSum(session, zeros, zeros);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Devices, memory_ends_where_the_profile_says) {
  EXPECT_EQ(errorWith(twoDevicesPlan(), "sim:* memory_bytes 4096"), "");
  std::string error = errorWith(twoDevicesPlan(), "sim:* memory_bytes 4096\nsim:1 memory_bytes 79 # too little");
  EXPECT_NE(error.find("device 'right' (sim:1) has 79 bytes of memory, 0 of them in use, and 80 more are needed"), std::string::npos)
      << error;
}

TEST(Devices, constants_count_too) {
  PlanBuilder b = twoDevicesPlan();
  uint32_t table = b.weights("table", plan::DType::F32, Floats(64, 1.0f));
  b.body().buffers[table]->device = 1;
  std::string error = errorWith(b, "sim:0 memory_bytes 255");
  EXPECT_NE(error.find("constant 'table': device 'left' (sim:0) has 255 bytes"), std::string::npos) << error;
  EXPECT_EQ(errorWith(b, "sim:0 memory_bytes 1000"), "");
}

TEST(Devices, profiles_say_what_is_wrong_with_them) {
  EXPECT_NE(errorWith(twoDevicesPlan(), "# none\n\nsim:x launch_ns 1").find(":3: 'sim:x' is no device"), std::string::npos);
  EXPECT_NE(errorWith(twoDevicesPlan(), "sim:1 speed 1").find("'speed' is not known"), std::string::npos);
  EXPECT_NE(errorWith(twoDevicesPlan(), "cpu launch_ns fast").find("expected one number"), std::string::npos);
  Options options;
  options.deviceProfile = "/nowhere/profile";
  PageAligned file(twoDevicesPlan().file());
  EXPECT_THROW(Plan(file.bytes(), options), Error);
}

TEST(Devices, the_virtual_clock_counts_the_same_each_time) {
  // Two copies of 16 bytes, a kernel of 48; then a copy, a kernel of 32 and a copy.
  ProfileFile profile("sim:0 copy_ns 100\nsim:0 copy_bytes_per_us 1000\nsim:0 launch_ns 7\nsim:0 bytes_per_us 16\nsim:1 launch_ns 1\n");
  PageAligned file(twoDevicesPlan().file());
  Plan plan(file.bytes(), withProfile(profile));
  Session session(plan);
  Floats zeros(4, 0.0f);
  for (int run = 0; run < 20; ++run) {
    runSum(session, zeros, zeros);
    EXPECT_EQ(session.virtualTime(), 2 * (100 + 16) + (7 + 3000) + 1);
  }
}

TEST(Devices, the_virtual_clock_waits_where_a_block_is_entered_and_left) {
  ProfileFile profile("sim:* copy_ns 100\nsim:* launch_ns 10\ncpu launch_ns 1\n");
  PageAligned file(deviceLoopPlan().file());
  Plan plan(file.bytes(), withProfile(profile));
  Session session(plan);
  for (int run = 0; run < 20; ++run) {
    runLoop(session, {1, 2, 3, 4});
    EXPECT_EQ(session.virtualTime(), 3 * (3 * 100 + 2 * 10 + 1));
  }
}

TEST(Devices, a_fault_in_a_block_ends_the_run) {
  PlanBuilder b;
  uint32_t sim = b.addDevice("sim", plan::DeviceKind::SIM, 0);
  uint32_t four = b.constant(4), bytes = b.constant(16), one = b.constant(1);
  uint32_t x = b.input("x", plan::DType::I32, {four}, bytes), flag = b.input("flag", plan::DType::BOOL, {}, one);
  uint32_t block = b.newBlock();
  b.inBlock(block);
  uint32_t fourHere = b.constant(4), bytesHere = b.constant(16), zeroHere = b.constant(0);
  uint32_t there = b.arenaOn(sim, plan::DType::I32, bytesHere);
  b.copy(b.view(plan::DType::I32, x, zeroHere, bytesHere), zeroHere, there, zeroHere, bytesHere).queue = sim;
  b.dispatch("fail", {there}, {fourHere}, "Broken").queue = sim;
  b.inBlock(0);
  b.branch(flag, block, kNone);
  PageAligned file(b.file());
  Plan plan(file.bytes());
  Session session(plan);
  std::vector<int32_t> data = {0, 1, 0, 0};
  bool taken = true;
  session.setInput<int32_t>(0, std::vector<int64_t>{4}, data);
  session.setInput(1, LLMC_TYPE_BOOL, {}, std::as_bytes(std::span(&taken, 1)));
  EXPECT_EQ(llmc_session_run(session.get()), LLMC_DATA);
  std::string error = llmc_last_error();
  EXPECT_NE(error.find("'Broken_op' of node 'Broken': index out of range: value 1, row 1"), std::string::npos) << error;
  taken = false;
  session.run();
}

// --- The simulated device itself ----------------------------------------------------------------------------------

/// Writes one float more than its binding has room for, up to the end of the page.
int32_t overrun(const llmc_args *args, int64_t, int64_t end, void *) {
  auto *x = static_cast<float *>(args->pointers[0]);
  for (int64_t i = 0; i < end; ++i)
    x[i] = 1;
  return LLMC_KERNEL_OK;
}

struct Sim : testing::Test {
  rt::CpuDevice cpu{1, ""};
  rt::SimDevice sim{"'sim' (sim:0)", INT64_MAX, cpu}, other{"'other' (sim:1)", INT64_MAX, cpu};
  std::unique_ptr<rt::Queue> queue = std::move(*sim.makeQueue(16));
  std::byte *memory = *sim.allocate(64, 64);

  /// Runs `overrun` over `items` floats at `address`; the queue's error.
  std::string launch(std::byte *address, int64_t items) {
    void *pointers[] = {address};
    queue->begin();
    queue->launch(5, {reinterpret_cast<const void *>(&overrun), pointers, nullptr, items, nullptr});
    queue->drain();
    return queue->fault() ? queue->fault()->status.message() : "";
  }
  Floats read(std::byte *address, size_t items) {
    Floats result(items);
    queue->copy(0, {&cpu, reinterpret_cast<std::byte *>(result.data())}, {&sim, address}, items * 4);
    queue->drain();
    return result;
  }
};

TEST_F(Sim, kernels_see_memory_of_their_device_only) {
  EXPECT_EQ(launch(memory, 16), "");
  EXPECT_EQ(read(memory, 16), Floats(16, 1.0f));
  alignas(64) std::byte host[64];
  EXPECT_EQ(launch(host, 16), "binding 0 is not in the memory of device 'sim' (sim:0)");
  EXPECT_EQ(launch(*other.allocate(64, 64), 16), "binding 0 is not in the memory of device 'sim' (sim:0)");
  sim.free(memory, 64);
  EXPECT_EQ(launch(memory, 16), "binding 0 is not in the memory of device 'sim' (sim:0)");
}

TEST_F(Sim, copies_stay_within_an_allocation) {
  std::byte host[128] = {};
  queue->begin();
  queue->copy(1, {&sim, memory}, {&cpu, host}, 65);
  queue->drain();
  ASSERT_TRUE(queue->fault());
  EXPECT_EQ(queue->fault()->step, 1u);
  EXPECT_EQ(queue->fault()->status.message(), "the target of the copy is not in the memory of device 'sim' (sim:0)");
}

TEST_F(Sim, memory_holds_no_numbers_until_it_is_written) {
  for (float value : read(memory, 16))
    EXPECT_NE(value, value);
  launch(memory, 16);
  queue->discard(memory, 64);
  for (float value : read(memory, 16))
    EXPECT_NE(value, value);
}

#ifndef LLMC_SANITIZED
using SimDeathTest = Sim;

TEST_F(SimDeathTest, the_host_can_not_touch_memory_of_a_device) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(*static_cast<volatile std::byte *>(memory) = std::byte(1), "");
  EXPECT_DEATH(std::memcpy(std::vector<std::byte>(64).data(), memory, 64), "");
}

TEST_F(SimDeathTest, a_kernel_that_leaves_its_memory_dies) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(launch(memory, 17), "");
}
#endif

} // namespace
} // namespace llmc::test
