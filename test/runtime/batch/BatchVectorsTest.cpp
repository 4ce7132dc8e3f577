//===- BatchVectorsTest.cpp - Twenty small scenarios with known answers -------------------------------------------===//
//
// Unless said: cap 4 rows, a delay of 10 ms, one instance, 5 ms for a run of any size, requests of one row.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "test/runtime/batch/CoreDriver.h"
#include <gmock/gmock.h>

namespace llmc::test {
namespace {

using testing::ElementsAre;

ModelConfig plainModel(uint32_t cap = 4, TimeNs delay = ms(10), TimeNs cost = ms(5)) {
  ModelConfig model;
  model.name = "m";
  model.anySize = true;
  model.variants = {1};
  model.buckets = {BucketConfig{{cost}, 0}};
  if (cap > 1) {
    model.variants.push_back(cap);
    model.buckets[0].cost.push_back(cost);
  }
  model.delay = delay;
  model.maxQueuedRows = kUnlimited;
  return model;
}

BatcherConfig plainConfig(ModelConfig model) {
  BatcherConfig config;
  config.models = {std::move(model)};
  config.instances = {InstanceConfig{}};
  return config;
}

CoreDriver::Service constant(TimeNs time) {
  return [time](const CoreDriver::Run &) { return CoreDriver::Served{time}; };
}

Arrival request(uint64_t id, uint32_t rows = 1) {
  Arrival arrival;
  arrival.id = id;
  arrival.rows = rows;
  return arrival;
}

/// "@3 [1 2]": the runs, times in ms.
std::vector<std::string> runsOf(const CoreDriver &driver) {
  std::vector<std::string> result;
  for (const CoreDriver::Run &run : driver.runs) {
    std::string text = "@" + std::to_string(run.time / kMillisecond);
    if (run.time % kMillisecond)
      text += "." + std::to_string(run.time % kMillisecond / 100000);
    for (size_t i = 0; i < run.ids.size(); ++i)
      text += (i == 0 ? " [" : " ") + std::to_string(run.ids[i]);
    result.push_back(text + "]");
  }
  return result;
}

void expectEnd(const CoreDriver &driver, uint64_t id, TimeNs time, Outcome outcome, Reason reason = Reason::None) {
  auto end = driver.ends.find(id);
  ASSERT_NE(end, driver.ends.end()) << "request " << id << " has not ended";
  EXPECT_EQ(end->second.time, time) << "request " << id;
  EXPECT_EQ(end->second.outcome, outcome) << "request " << id << ": " << name(end->second.outcome);
  EXPECT_EQ(end->second.reason, reason) << "request " << id << ": " << name(end->second.reason);
}

TEST(BatchVectors, v1_one_request_waits_for_the_delay) {
  CoreDriver driver(plainConfig(plainModel()), constant(ms(5)));
  driver.arrive(0, request(1));
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@10 [1]"));
  expectEnd(driver, 1, ms(15), Outcome::Done);
}

TEST(BatchVectors, v2_a_full_batch_starts_at_once) {
  CoreDriver driver(plainConfig(plainModel()), constant(ms(5)));
  for (int i = 0; i < 4; ++i)
    driver.arrive(ms(i), request(i + 1));
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@3 [1 2 3 4]"));
  expectEnd(driver, 4, ms(8), Outcome::Done);
}

TEST(BatchVectors, v3_the_delay_counts_from_arrival) {
  CoreDriver driver(plainConfig(plainModel()), constant(ms(5)));
  for (int i = 0; i < 5; ++i)
    driver.arrive(ms(i), request(i + 1));
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@3 [1 2 3 4]", "@14 [5]"));
  expectEnd(driver, 5, ms(19), Outcome::Done);
}

TEST(BatchVectors, v4_without_delay_a_batch_is_what_waits_when_the_instance_is_free) {
  CoreDriver driver(plainConfig(plainModel(4, 0)), constant(ms(5)));
  for (int i = 0; i < 6; ++i)
    driver.arrive(ms(i), request(i + 1));
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@0 [1]", "@5 [2 3 4 5]", "@10 [6]"));
}

TEST(BatchVectors, v5_the_least_urgent_class_is_overtaken_within_its_head_start_only) {
  ModelConfig model = plainModel(1, 0);
  model.classes.resize(3);
  model.agingQuantum = ms(20);
  CoreDriver driver(plainConfig(model), constant(ms(5)));
  Arrival patient = request(1);
  patient.priority = 3;
  driver.arrive(0, patient);
  for (int i = 0; i < 100; ++i) {
    Arrival urgent = request(i + 2);
    urgent.priority = 1;
    driver.arrive(ms(i), urgent);
  }
  driver.run();
  ASSERT_EQ(driver.runs.size(), 101u);
  EXPECT_THAT(driver.runs[0].ids, ElementsAre(2)) << "class 1 starts first";
  EXPECT_THAT(driver.runs[40].ids, ElementsAre(1));
  EXPECT_EQ(driver.runs[40].time, ms(200));
}

TEST(BatchVectors, v6_a_queue_timeout_ends_a_request_while_the_instance_is_busy) {
  CoreDriver driver(plainConfig(plainModel(4, 0, 90 * kSecond)), constant(90 * kSecond));
  driver.arrive(0, request(1));
  Arrival second = request(2);
  second.queueTimeout = 10 * kSecond;
  driver.arrive(ms(100), second);
  driver.run();
  expectEnd(driver, 2, ms(10100) + 1, Outcome::Rejected, Reason::QueueTimeout);
  expectEnd(driver, 1, 90 * kSecond, Outcome::Done);
}

TEST(BatchVectors, v7_a_deadline_starts_a_batch_early) {
  CoreDriver driver(plainConfig(plainModel()), constant(ms(5)));
  Arrival hurried = request(1);
  hurried.deadline = ms(8);
  driver.arrive(0, hurried);
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@2.5 [1]"));
  expectEnd(driver, 1, ms(7.5), Outcome::Done);
}

TEST(BatchVectors, v8_what_can_not_end_in_time_never_runs) {
  CoreDriver driver(plainConfig(plainModel(4, 0)), constant(ms(5)));
  driver.arrive(0, request(1));
  Arrival hurried = request(2);
  hurried.deadline = ms(9);
  driver.arrive(ms(1), hurried);
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@0 [1]"));
  expectEnd(driver, 2, ms(5), Outcome::Expired, Reason::Deadline);
}

TEST(BatchVectors, v9_cancelling_moves_the_due_time) {
  CoreDriver driver(plainConfig(plainModel()), constant(ms(5)));
  driver.arrive(0, request(1));
  driver.arrive(ms(1), request(2));
  driver.cancel(ms(4), 1);
  driver.run();
  expectEnd(driver, 1, ms(4), Outcome::Cancelled, Reason::Cancelled);
  EXPECT_THAT(runsOf(driver), ElementsAre("@11 [2]"));
}

TEST(BatchVectors, v10_cancelling_a_running_request_answers_at_once_and_leaves_the_others_alone) {
  CoreDriver driver(plainConfig(plainModel(4, 0)), constant(ms(5)));
  for (int i = 1; i <= 3; ++i)
    driver.arrive(0, request(i));
  driver.cancel(ms(2), 2);
  driver.run();
  expectEnd(driver, 2, ms(2), Outcome::Cancelled, Reason::Cancelled);
  expectEnd(driver, 1, ms(5), Outcome::Done);
  expectEnd(driver, 3, ms(5), Outcome::Done);
  EXPECT_THAT(runsOf(driver), ElementsAre("@0 [1 2 3]"));
}

TEST(BatchVectors, v11_padding_is_weighed_against_running_fewer_rows) {
  for (PadPolicy pad : {PadPolicy::MinCost, PadPolicy::PadUp}) {
    ModelConfig model = plainModel(1, 0);
    model.anySize = false;
    model.variants = {1, 4, 8, 16, 32};
    model.buckets[0].cost = {ms(3), ms(6), ms(9), ms(16), ms(26)};
    model.pad = pad;
    std::map<uint32_t, TimeNs> costs = {{1, ms(3)}, {4, ms(6)}, {8, ms(9)}, {16, ms(16)}, {32, ms(26)}};
    CoreDriver driver(plainConfig(model),
                      [&](const CoreDriver::Run &run) { return CoreDriver::Served{costs.at(run.executed)}; });
    for (int i = 1; i <= 18; ++i)
      driver.arrive(0, request(i));
    driver.run();
    std::vector<std::pair<TimeNs, uint32_t>> found, expected = {{0, 32}};
    for (const CoreDriver::Run &run : driver.runs)
      found.push_back({run.time, run.executed});
    if (pad == PadPolicy::MinCost)
      expected = {{0, 16}, {ms(16), 1}, {ms(19), 1}};
    EXPECT_EQ(found, expected);
    expectEnd(driver, 18, pad == PadPolicy::MinCost ? ms(22) : ms(26), Outcome::Done);
    expectEnd(driver, 1, pad == PadPolicy::MinCost ? ms(16) : ms(26), Outcome::Done);
  }
}

TEST(BatchVectors, v12_two_instances_draw_from_one_queue) {
  BatcherConfig config = plainConfig(plainModel(4, 0));
  config.devices[0].slots = 2;
  config.instances.resize(2);
  CoreDriver driver(config, constant(ms(5)));
  for (int i = 1; i <= 6; ++i)
    driver.arrive(0, request(i));
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@0 [1 2 3 4]", "@0 [5 6]"));
  EXPECT_NE(driver.runs[0].instance, driver.runs[1].instance);
}

TEST(BatchVectors, v13_buckets_do_not_mix) {
  ModelConfig model = plainModel();
  model.buckets.resize(2, model.buckets[0]);
  CoreDriver driver(plainConfig(model), constant(ms(5)));
  auto arrive = [&](TimeNs time, uint64_t id, uint32_t bucket) {
    Arrival arrival = request(id);
    arrival.bucket = bucket;
    driver.arrive(time, arrival);
  };
  arrive(0, 1, 0);
  arrive(ms(1), 2, 1);
  for (uint64_t id : {10, 11, 12})
    arrive(ms(2), id, 1);
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@2 [2 10 11 12]", "@10 [1]"));
}

TEST(BatchVectors, v14_a_batch_is_full_when_the_next_request_does_not_fit) {
  CoreDriver driver(plainConfig(plainModel()), constant(ms(5)));
  driver.arrive(0, request(1, 3));
  driver.arrive(ms(1), request(2, 2));
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@1 [1]", "@11 [2]"));
}

TEST(BatchVectors, v15_bisection_finds_the_poisoned_request) {
  CoreDriver driver(plainConfig(plainModel(8, 0)), [](const CoreDriver::Run &run) {
    bool poisoned = std::find(run.ids.begin(), run.ids.end(), 6) != run.ids.end();
    return CoreDriver::Served{ms(5), poisoned ? BatchFault::Error : BatchFault::None};
  });
  for (int i = 1; i <= 8; ++i)
    driver.arrive(0, request(i));
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@0 [1 2 3 4 5 6 7 8]", "@5 [1 2 3 4]", "@10 [5 6 7 8]", "@15 [5 6]",
                                          "@20 [5]", "@25 [6]", "@30 [7 8]"));
  for (uint64_t id = 1; id <= 8; ++id)
    EXPECT_EQ(driver.ends.at(id).outcome, id == 6 ? Outcome::Failed : Outcome::Done) << id;
  EXPECT_EQ(driver.ends.at(6).reason, Reason::Exec);
}

TEST(BatchVectors, v16_models_share_device_time_not_runs) {
  BatcherConfig config;
  config.models = {plainModel(1, 0, ms(10)), plainModel(1, 0, ms(1))};
  config.instances = {InstanceConfig{0, 1, 0}, InstanceConfig{1, 1, 0}};
  CoreDriver driver(config,
                    [](const CoreDriver::Run &run) { return CoreDriver::Served{run.model == 0 ? ms(10) : ms(1)}; });
  uint64_t id = 0;
  for (uint32_t model : {0, 1})
    for (int i = 0; i < 1100; ++i) {
      Arrival arrival = request(++id);
      arrival.model = model;
      driver.arrive(0, arrival);
    }
  driver.run(kSecond - 1);
  int runs[2] = {0, 0};
  for (const CoreDriver::Run &run : driver.runs)
    ++runs[run.model];
  EXPECT_NEAR(runs[0], 50, 1);
  EXPECT_NEAR(runs[1], 500, 10);
}

TEST(BatchVectors, v17_a_stream_is_answered_in_order_and_a_cancelled_request_does_not_hold_it_up) {
  for (bool cancelled : {false, true}) {
    ModelConfig model = plainModel(1, 0);
    model.order = ResponseOrder::PerStream;
    BatcherConfig config = plainConfig(model);
    config.devices[0].slots = 2;
    config.instances.resize(2);
    CoreDriver driver(config,
                      [](const CoreDriver::Run &run) { return CoreDriver::Served{run.ids[0] == 1 ? ms(9) : ms(5)}; });
    for (uint64_t id : {1, 2}) {
      Arrival arrival = request(id);
      arrival.stream = 7;
      driver.arrive(0, arrival);
    }
    if (cancelled)
      driver.cancel(ms(7), 1);
    driver.run();
    EXPECT_THAT(driver.order, ElementsAre(1, 2));
    expectEnd(driver, 2, cancelled ? ms(7) : ms(9), Outcome::Done);
  }
}

TEST(BatchVectors, v18_a_full_queue_evicts_the_newest_of_a_less_urgent_class) {
  ModelConfig model = plainModel();
  model.classes.resize(3);
  model.maxQueuedRequests = 3;
  CoreDriver driver(plainConfig(model), constant(ms(5)));
  for (uint64_t id = 1; id <= 5; ++id) {
    Arrival arrival = request(id);
    arrival.priority = id == 4 ? 1 : 3;
    driver.arrive(ms(double(id) / 10), arrival);
  }
  driver.run();
  expectEnd(driver, 3, ms(0.4), Outcome::Rejected, Reason::Evicted);
  expectEnd(driver, 5, ms(0.5), Outcome::Rejected, Reason::QueueFull);
  for (uint64_t id : {1, 2, 4})
    EXPECT_EQ(driver.ends.at(id).outcome, Outcome::Done) << id;
}

TEST(BatchVectors, v19_the_breaker_opens_at_the_twentieth_and_closes_after_three_probes) {
  CoreDriver driver(plainConfig(plainModel(1, 0)), [](const CoreDriver::Run &run) {
    bool fails = run.ids[0] <= 20 && run.ids[0] % 2 == 0;
    return CoreDriver::Served{ms(5), fails ? BatchFault::Error : BatchFault::None};
  });
  auto stateAt = [&](TimeNs time) {
    driver.run(time);
    return driver.core().breakerState(time, 0, 1, 0);
  };
  for (int i = 1; i <= 20; ++i)
    driver.arrive(ms(i * 100), request(i));
  EXPECT_EQ(stateAt(ms(2005) - 1), Breaker::State::Closed);
  EXPECT_EQ(stateAt(ms(2005)), Breaker::State::Open);
  driver.arrive(ms(3000), request(21));
  EXPECT_EQ(stateAt(ms(7005) - 1), Breaker::State::Open);
  expectEnd(driver, 21, ms(3000), Outcome::Rejected, Reason::Breaker);
  EXPECT_EQ(stateAt(ms(7005)), Breaker::State::HalfOpen);
  for (int i = 22; i <= 24; ++i)
    driver.arrive(ms(7010), request(i));
  EXPECT_EQ(stateAt(ms(7025) - 1), Breaker::State::HalfOpen);
  EXPECT_EQ(stateAt(ms(7025)), Breaker::State::Closed);
}

TEST(BatchVectors, v20_a_swap_of_versions_mixes_nothing_and_leaves_nothing_behind) {
  BatcherConfig config = plainConfig(plainModel(4, 0));
  config.devices[0].slots = 2;
  config.instances = {InstanceConfig{0, 1, 0}};
  CoreDriver driver(config, constant(ms(5)));
  std::vector<std::pair<TimeNs, uint32_t>> idle;
  driver.onAction = [&](TimeNs now, const Action &action) {
    if (action.kind == ActionKind::VersionIdle)
      idle.push_back({now, action.version});
  };
  driver.arrive(0, request(1));
  for (uint64_t id = 2; id <= 5; ++id) {
    Arrival arrival = request(id);
    arrival.version = id == 4 ? 1 : kNone;
    driver.arrive(ms(1), arrival);
  }
  driver.call(ms(2), EventKind::Config, [](BatcherCore &core, TimeNs now) {
    uint32_t added = *core.addInstance(now, InstanceConfig{0, 2, 0});
    ASSERT_EQ(added, 1u);
    core.instanceUp(now, added);
    ASSERT_TRUE(core.swapVersion(now, 0, 2).ok());
  });
  driver.run();
  EXPECT_THAT(runsOf(driver), ElementsAre("@0 [1]", "@2 [2 3 5]", "@5 [4]"));
  EXPECT_EQ(driver.runs[1].instance, 1u);
  EXPECT_EQ(driver.runs[2].instance, 0u);
  EXPECT_THAT(idle, ElementsAre(std::pair(ms(10), 1u)));
}

} // namespace
} // namespace llmc::test
