//===- MixedRequests.cpp - Requests of all kinds, for the tests that send many ------------------------------------===//

#include "test/runtime/MixedRequests.h"
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace llmc::test {

using Dims = std::vector<int64_t>;

/// A loop that would take years.
static PlanBuilder endlessPlan() {
  PlanBuilder b;
  uint32_t counter = b.output("y", plan::DType::I64, {}, b.constant(8));
  b.fill(counter, 0, 8);
  plan::LoopT loop;
  loop.trip = b.constant(INT64_MAX);
  loop.max_trip = UINT64_MAX;
  loop.body_block = b.newBlock();
  b.loop(loop);
  b.inBlock(1);
  uint32_t here = b.view(plan::DType::I64, counter, b.constant(0), b.constant(8));
  b.dispatch("add_scalar", {here, here}, {b.constant(1)});
  return b;
}

static Options withThreads(int threads) {
  Options options;
  options.threads = threads;
  options.shapeCacheSize = 8; // fewer than the shapes in use
  return options;
}

SharedPlans::SharedPlans(int threads)
    : options(withThreads(threads)), sumFile(addReluPlan({2}, /*openPlacement=*/true).file()), compressFile(compressPlan().file()),
      loopFile(everythingPlan().file()), devicesFile(twoDevicesPlan().file()),
      deviceLoopFile(deviceLoopPlan().file()), endlessFile(endlessPlan().file()),
      sum(sumFile.bytes(), options), compress(compressFile.bytes(), options), loop(loopFile.bytes(), options),
      devices(devicesFile.bytes(), options), deviceLoop(deviceLoopFile.bytes(), options), endless(endlessFile.bytes(), options) {}

MixedClient::MixedClient(const SharedPlans &plans, uint64_t seed)
    : plans(plans), random(seed), sum(plans.sum), compress(plans.compress), loop(plans.loop), devices(plans.devices),
      deviceLoop(plans.deviceLoop), endless(plans.endless), a(1000), b(1000) {}

void MixedClient::sumOf(Session &session, int64_t n) {
  size_t elements = size_t(n) * 4;
  for (size_t i = 0; i < elements; ++i) {
    a[i] = float(draw(-9, 9));
    b[i] = float(draw(-9, 9));
  }
  session.setInput<float>(0, Dims{n, 4}, std::span<const float>(a).first(elements));
  session.setInput<float>(1, Dims{n, 4}, std::span<const float>(b).first(elements));
  session.run();
  std::span<const float> y = session.output(0).as<float>();
  ASSERT_EQ(y.size(), elements);
  for (size_t i = 0; i < elements; ++i)
    ASSERT_EQ(y[i], std::max(a[i] + b[i], 0.0f));
}

void MixedClient::compressed() {
  int64_t n = draw(0, 1000);
  size_t kept = 0;
  for (int64_t i = 0; i < n; ++i)
    if ((a[size_t(i)] = float(draw(-1, 1))) > 0)
      ++kept;
  compress.setInput<float>(0, Dims{n}, std::span<const float>(a).first(size_t(n)));
  compress.run();
  ASSERT_EQ(compress.output(0).as<float>().size(), kept);
  for (float value : compress.output(0).as<float>())
    ASSERT_EQ(value, 1);
}

void MixedClient::looped(int64_t steps, bool flag) {
  uint8_t flagByte = flag;
  loop.setInput<int64_t>(0, Dims{}, std::span<const int64_t>(&steps, 1));
  loop.setInput(1, LLMC_TYPE_BOOL, {}, std::as_bytes(std::span(&flagByte, 1)));
  loop.run();
  ASSERT_EQ(loop.output(0).as<float>()[0], flag ? float(4 * steps * (steps - 1)) : 0);
}

void MixedClient::onDevices() {
  for (size_t i = 0; i < 4; ++i)
    a[i] = float(draw(-9, 9)), b[i] = float(draw(-9, 9));
  devices.setInput<float>(0, Dims{4}, std::span<const float>(a).first(4));
  devices.setInput<float>(1, Dims{4}, std::span<const float>(b).first(4));
  devices.run();
  for (size_t i = 0; i < 4; ++i)
    ASSERT_EQ(devices.output(0).as<float>()[i], std::max(a[i] + b[i], 0.0f));
}

void MixedClient::loopedOnDevices() {
  for (size_t i = 0; i < 4; ++i)
    a[i] = float(draw(-9, 9));
  deviceLoop.setInput<float>(0, Dims{4}, std::span<const float>(a).first(4));
  deviceLoop.run();
  for (size_t i = 0; i < 4; ++i)
    ASSERT_EQ(deviceLoop.output(0).as<float>()[i], a[i] > 0 ? 27 * a[i] : a[i]);
}

void MixedClient::refusedShape() {
  int64_t n = draw(65, 250); // the plan takes 64
  for (int input : {0, 1})
    sum.setInput<float>(input, Dims{n, 4}, std::span<const float>(a).first(size_t(n) * 4));
  EXPECT_EQ(llmc_session_run(sum.get()), LLMC_SHAPE) << llmc_last_error();
}

void MixedClient::failedCheck() {
  int64_t steps = draw(0, 1) ? draw(-9, -1) : draw(9, 99); // against a check, or more trips than the plan allows
  loop.setInput<int64_t>(0, Dims{}, std::span<const int64_t>(&steps, 1));
  uint8_t flag = 1;
  loop.setInput(1, LLMC_TYPE_BOOL, {}, std::as_bytes(std::span(&flag, 1)));
  EXPECT_EQ(llmc_session_run(loop.get()), LLMC_DATA) << steps << ": " << llmc_last_error();
}

void MixedClient::cancelled() {
  std::atomic<bool> ended = false;
  std::thread other([&] {
    while (!ended) { // again and again, since one before the run begins has no effect
      endless.cancel();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  EXPECT_EQ(llmc_session_run(endless.get()), LLMC_CANCELLED);
  ended = true;
  other.join();
}

void MixedClient::loadedAnew() {
  Plan plan(plans.sumFile.bytes(), plans.options);
  Session session(plan);
  sumOf(session, draw(1, 64));
}

void MixedClient::request() {
  switch (draw(0, 15)) {
  case 0:
    return refusedShape();
  case 1:
    return failedCheck();
  case 2:
    return cancelled();
  case 3:
    return loadedAnew();
  case 4:
  case 5:
  case 6:
    return looped(draw(0, 8), draw(0, 1));
  case 7:
  case 8:
    return onDevices();
  case 9:
    return loopedOnDevices();
  case 10:
  case 11:
  case 12:
    return compressed();
  default:
    return sumOf(sum, draw(1, 64));
  }
}

} // namespace llmc::test
