//===- ConcurrencyTest.cpp - Many requests on one plan; the thread sanitizer watches ------------------------------===//

#include "llmc/llmc.hpp"
#include "test/runtime/MixedRequests.h"
#include <gtest/gtest.h>
#include <thread>

namespace llmc::test {
namespace {

class Concurrency : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Requests, Concurrency, testing::Values(1, 2, 4));

/// Each client sends data of its own and checks that it gets the answer to that.
TEST_P(Concurrency, sessions_share_a_plan) {
  PageAligned file(addReluPlan({2}, /*openPlacement=*/true).file());
  Options options;
  options.threads = GetParam();
  options.shapeCacheSize = 3; // fewer than the shapes in use
  Plan plan(file.bytes(), options);
  auto client = [&](int id) {
    Session session(plan);
    std::vector<float> a(256, float(id)), b(256, 0.5f);
    for (int run = 0; run < 40; ++run) {
      int64_t n = 1 + (id * 7 + run) % 64;
      std::vector<int64_t> dims = {n, 4};
      session.setInput<float>(0, dims, std::span<const float>(a).first(size_t(n) * 4));
      session.setInput<float>(1, dims, std::span<const float>(b).first(size_t(n) * 4));
      session.run();
      for (float value : session.output(0).as<float>())
        ASSERT_EQ(value, float(id) + 0.5f);
    }
  };
  std::vector<std::thread> clients;
  for (int id = 0; id < 6; ++id)
    clients.emplace_back(client, id);
  for (std::thread &thread : clients)
    thread.join();
}

TEST_P(Concurrency, plans_load_and_go_while_others_run) {
  PageAligned file(everythingPlan().file());
  auto client = [&] {
    for (int round = 0; round < 5; ++round) {
      Options options;
      options.threads = GetParam();
      Plan plan(file.bytes(), options);
      Session session(plan);
      int64_t steps = round;
      uint8_t flag = 1;
      session.setInput<int64_t>(0, std::vector<int64_t>{}, std::span<const int64_t>(&steps, 1));
      session.setInput(1, LLMC_TYPE_BOOL, {}, std::as_bytes(std::span(&flag, 1)));
      for (int run = 0; run < 5; ++run)
        session.run();
      ASSERT_EQ(session.output(0).as<float>()[0], float(4 * round * (round - 1)));
    }
  };
  std::vector<std::thread> clients;
  for (int id = 0; id < 4; ++id)
    clients.emplace_back(client);
  for (std::thread &thread : clients)
    thread.join();
}

/// Workers fail at different steps of the same barrier: all leave together, and the next run is whole again.
TEST_P(Concurrency, failures_leave_no_one_behind) {
  PlanBuilder b;
  uint32_t n = b.inputDim("n", 0, 0, 1, 1000), four = b.constant(4), bytes = b.mul(n, four);
  uint32_t x = b.input("x", plan::DType::I32, {n}, bytes);
  for (int i = 0; i < 4; ++i)
    b.dispatch("fail", {x}, {n}, "Fail");
  PageAligned file(b.file());
  Options options;
  options.threads = GetParam();
  Plan plan(file.bytes(), options);
  Session session(plan);
  std::vector<int32_t> data(1000);
  for (int run = 0; run < 200; ++run) {
    size_t at = size_t(run) * 37 % 1000;
    data[at] = run % 2;
    session.setInput<int32_t>(0, std::vector<int64_t>{1000}, data);
    if (run % 2) {
      EXPECT_THROW(session.run(), Error);
      EXPECT_NE(std::string(llmc_last_error()).find("row " + std::to_string(at)), std::string::npos)
          << llmc_last_error();
    } else {
      session.run();
    }
    data[at] = 0;
  }
}

/// Sums, loops, sizes of data, other devices, errors, cancels, loads and unloads, all at once and several sessions per plan.
TEST_P(Concurrency, a_thousand_mixed_requests) {
  SharedPlans plans(GetParam());
  std::vector<std::thread> clients;
  for (uint64_t id = 0; id < 8; ++id)
    clients.emplace_back([&plans, id] {
      MixedClient client(plans, id);
      for (int request = 0; request < 125; ++request)
        client.request();
    });
  for (std::thread &client : clients)
    client.join();
}

} // namespace
} // namespace llmc::test
