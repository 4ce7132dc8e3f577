//===- BatchRandomTest.cpp - The invariants hold after any event --------------------------------------------------===//
//
// Worlds of random settings are sent random events: arrivals of all kinds, cancels, completions with every fault at any
// time, instances that come and go, new settings and versions. After each event all invariants are checked, and a
// shadow keeps what each request has become.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/batch/BatcherCore.h"
#include "test/runtime/batch/Random.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace llmc::test {
namespace {

using namespace llmc::batch;

class RandomWorld {
public:
  RandomWorld(uint64_t seed, bool keepLog) : random(seed), keepLog(keepLog) {
    BatcherConfig config = randomConfig();
    instances = uint32_t(config.instances.size());
    models = uint32_t(config.models.size());
    core = std::move(*BatcherCore::create(std::move(config)));
    for (uint32_t i = 0; i < instances; ++i)
      core->instanceUp(0, i);
  }

  void play(uint64_t events) {
    for (uint64_t i = 0; i < events && !testing::Test::HasFailure(); ++i) {
      bool timer = random.once(4) && core->nextWakeup() < kNever;
      TimeNs next = now + (random.once(3) ? 0 : TimeNs(random.below(kMillisecond)));
      now = timer && core->nextWakeup() >= now ? core->nextWakeup() : next;
      if (!timer)
        randomEvent();
      step();
    }
  }
  /// Everything ends, and each request has ended once.
  void finish() {
    core->drain(now, now + kSecond);
    step();
    for (int i = 0; i < 100000 && (!running.empty() || core->nextWakeup() < kNever); ++i) {
      if (running.empty())
        now = std::max(now, core->nextWakeup());
      else
        complete(random.below(running.size()));
      step();
    }
    EXPECT_EQ(core->numInside(), 0u);
    for (uint64_t id = 0; id < states.size(); ++id)
      ASSERT_EQ(states[id], Ended) << "request " << id << " has no outcome";
  }

  std::string log;
  uint64_t starts = 0, reasons[kNumReasons] = {}, kinds[8] = {};

private:
  enum State : uint8_t { Inside, Ended };

  BatcherConfig randomConfig() {
    BatcherConfig config;
    config.maxRequests = 24 + uint32_t(random.below(40));
    config.devices.resize(1 + random.below(2));
    for (DeviceConfig &device : config.devices) {
      device.slots = 1 + uint32_t(random.below(3));
      device.costPercent = random.once(2) ? 100 : 100 + uint32_t(random.below(300));
      if (random.once(3))
        device.memoryBytes = 1000 + int64_t(random.below(4000));
    }
    config.models.resize(1 + random.below(3));
    for (ModelConfig &model : config.models)
      model = randomModel(config);
    for (uint32_t model = 0; model < config.models.size(); ++model)
      for (uint64_t i = 0, n = 1 + random.below(3); i < n; ++i)
        config.instances.push_back({model, 1, uint32_t(random.below(config.devices.size()))});
    if (random.once(4))
      config.maxQueuedBytes = 2000;
    return config;
  }

  ModelConfig randomModel(const BatcherConfig &config) {
    ModelConfig model;
    model.name = "m";
    model.variants = {1, 2, 4, 8};
    model.variants.resize(1 + random.below(4));
    model.anySize = random.once(3);
    BucketConfig bucket;
    for (uint32_t rows : model.variants)
      bucket.cost.push_back(kMillisecond / 4 * TimeNs(1 + random.below(4) + rows));
    model.buckets.assign(1 + random.below(3), bucket);
    for (size_t i = 0; i < model.buckets.size(); ++i)
      model.buckets[i].elementsPerRow = 16 + 4 * int64_t(i);
    if (random.once(2))
      for (uint32_t rows : model.variants)
        model.arenaBytes.push_back(100 * rows);
    model.maxRows = random.once(3) ? 1 + uint32_t(random.below(model.variants.back())) : 0;
    model.maxElements = random.once(3) ? 64 : kUnlimitedBytes;
    if (random.once(3) && model.maxRows == 0)
      model.preferredRows = {model.variants.back()};
    model.classes.resize(1 + random.below(3));
    for (ClassConfig &policy : model.classes) {
      policy.timeoutAction = TimeoutAction(random.below(2));
      policy.queueTimeout = random.once(2) ? kNever : 20 * kMillisecond;
      policy.maxQueuedRequests = random.once(3) ? 10 : kUnlimited;
    }
    model.agingQuantum = TimeNs(random.below(10)) * kMillisecond;
    model.strict = random.once(4);
    model.strictGuard = 2 + uint32_t(random.below(6));
    model.order = ResponseOrder(random.below(3));
    model.maxHeldBytes = random.once(4) ? 500 : 1 << 20;
    model.maxQueuedRequests = random.once(2) ? kUnlimited : 8;
    model.maxQueuedRows = random.once(2) ? 0 : 30;
    model.admitByDeadline = random.once(3);
    model.weight = 1 + uint32_t(random.below(5));
    model.critical = random.once(2);
    model.doubleBuffer = random.once(2);
    model.copyTime = 100 * kMicrosecond;
    model.stateful = random.once(5);
    model.retry.budget = uint32_t(random.below(8));
    model.retry.outOfMemoryPause = 20 * kMillisecond;
    model.breaker.minRequests = random.once(3) ? 0 : 20;
    model.breaker.openFor = 5 * kMillisecond;
    model.breaker.maxOpenFor = 20 * kMillisecond;
    if (random.once(2))
      model.fallback = {uint32_t(random.below(config.models.size()))};
    settle(model);
    return model;
  }
  /// What may change while it runs.
  void settle(ModelConfig &model) {
    model.delay = random.once(2) ? 0 : TimeNs(random.below(5)) * kMillisecond;
    model.pad = PadPolicy(random.below(3));
    model.mix = MixPolicy(random.below(3));
    model.sloP99 = random.once(3) ? 50 * kMillisecond : 0;
    model.execP95 = random.once(3) ? 3 * kMillisecond : 0;
  }

  void randomEvent() {
    uint64_t dice = random.below(1000);
    if (dice < 450)
      arrive();
    else if (dice < 850 && !running.empty())
      complete(random.below(running.size()));
    else if (dice < 950 && !handles.empty())
      core->cancel(now, handles[random.below(handles.size())]);
    else if (dice < 975)
      core->instanceUp(now, uint32_t(random.below(instances)));
    else if (dice < 980)
      fail(uint32_t(random.below(instances)));
    else if (dice < 984)
      core->instanceDrain(now, uint32_t(random.below(instances)));
    else if (dice < 990)
      addInstance();
    else if (dice < 995)
      (void)core->swapVersion(now, uint32_t(random.below(models)), 1 + uint32_t(random.below(6))); // may be unknown
    else
      configure(uint32_t(random.below(models)));
  }

  void arrive() {
    Arrival arrival;
    arrival.id = states.size();
    arrival.model = uint32_t(random.below(models));
    arrival.bucket = uint32_t(random.below(3));
    arrival.version = random.once(10) ? 1 + uint32_t(random.below(4)) : kNone;
    arrival.rows = 1 + uint32_t(random.below(3));
    arrival.bytes = int64_t(random.below(200));
    arrival.elements = int64_t(random.below(20));
    arrival.priority = uint32_t(random.below(4));
    arrival.stream = random.below(4);
    if (random.once(3))
      arrival.deadline = now + TimeNs(random.below(20)) * kMillisecond - kMillisecond;
    if (random.once(3))
      arrival.queueTimeout = TimeNs(random.below(20)) * kMillisecond;
    arrival.hasContent = random.once(2);
    arrival.content = {random.below(1000), 0};
    states.push_back(Inside);
    RequestHandle handle = core->arrive(now, arrival);
    if (handle.index == kNone)
      return;
    if (handles.size() < 64)
      handles.push_back(handle);
    else
      handles[random.below(64)] = handle;
  }
  void complete(size_t which) {
    BatchId id = running[which];
    running.erase(running.begin() + long(which));
    Completion completion;
    uint64_t dice = random.below(100);
    completion.fault = dice < 80 ? BatchFault::None : BatchFault(1 + dice % 4);
    uint32_t bad = uint32_t(random.below(core->batch(id).count));
    if (completion.fault == BatchFault::None && random.once(8))
      completion.badMembers = std::span(&bad, 1);
    core->complete(now, id, completion);
  }
  void fail(uint32_t instance) {
    std::erase_if(running, [&](BatchId id) { return core->batch(id).instance == instance; });
    core->instanceFailed(now, instance);
  }
  void addInstance() {
    InstanceConfig instance = {uint32_t(random.below(models)), 1 + uint32_t(random.below(6)),
                               uint32_t(random.below(core->config().devices.size()))};
    rt::Result<uint32_t> id = core->addInstance(now, instance);
    if (id.ok())
      instances = std::max(instances, *id + 1);
  }
  void configure(uint32_t model) {
    ModelConfig config = core->config().models[model];
    settle(config);
    (void)core->configure(now, model, config); // refused where the delay is over a timeout
  }

  void step() {
    for (const Action &action : core->step(now))
      note(action);
    if (const char *fault = core->checkInvariants(now))
      ADD_FAILURE() << fault;
    if (core->nextWakeup() <= now)
      ADD_FAILURE() << "a timer that does not advance";
  }
  void note(const Action &action) {
    ++kinds[unsigned(action.kind)];
    if (keepLog)
      log += std::to_string(now) + ' ' + std::to_string(unsigned(action.kind)) + ' ' + name(action.reason) + ' ' +
             std::to_string(action.instance) + ' ' + std::to_string(action.batch) + ' ' + std::to_string(action.rows) +
             ' ' + std::to_string(action.id) + '\n';
    if (action.kind == ActionKind::Finish) {
      ++reasons[unsigned(action.reason)];
      if (states[action.id] != Inside)
        ADD_FAILURE() << "request " << action.id << " has two outcomes";
      states[action.id] = Ended;
    } else if (action.kind == ActionKind::Start) {
      ++starts;
      running.push_back(action.batch);
      checkOvertaking(core->batch(action.batch));
    }
  }
  /// Nobody who waits in the same queue has a smaller key than the members of a batch; where less urgent ones may fill
  /// padding, that holds for its head.
  void checkOvertaking(const Batch &batch) {
    const ModelConfig &model = core->config().models[batch.model];
    const Request &head = core->request(batch.first);
    if (model.strict || model.mix == MixPolicy::Isolate || head.retries > 0 || head.pin != 0 || model.doubleBuffer)
      return;
    for (RequestHandle handle : handles) {
      const Request *other = core->find(handle);
      if (!other || other->state != RequestState::Queued || other->model != batch.model ||
          other->bucket != batch.bucket || other->pin != 0)
        continue;
      for (uint32_t index = batch.first; index != kNone; index = core->request(index).nextInBatch) {
        const Request &member = core->request(index);
        if (std::pair(member.key, member.sequence) > std::pair(other->key, other->sequence) &&
            member.bucket == batch.bucket && member.pin == 0)
          ADD_FAILURE() << "request " << member.id << " has overtaken request " << other->id;
        if (model.mix != MixPolicy::Merge)
          break;
      }
    }
  }

  Random random;
  bool keepLog;
  std::unique_ptr<BatcherCore> core;
  uint32_t models = 0, instances = 0;
  TimeNs now = 0;
  std::vector<BatchId> running;
  std::vector<RequestHandle> handles; // of some, many of which have left
  std::vector<State> states;          // by id
};

uint64_t firstSeed() {
  const char *given = std::getenv("LLMC_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

TEST(BatchRandom, invariants_hold_after_each_event) {
  constexpr uint64_t kPerWorld = 5000;
  uint64_t starts = 0, reasons[kNumReasons] = {}, kinds[8] = {};
  std::printf("seeds from %llu (LLMC_SEED)\n", (unsigned long long)firstSeed());
  for (uint64_t seed = firstSeed(), end = seed + kRandomEvents / kPerWorld; seed < end; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomWorld world(seed, /*keepLog=*/false);
    world.play(kPerWorld);
    if (!testing::Test::HasFailure())
      world.finish();
    if (testing::Test::HasFailure())
      return;
    starts += world.starts;
    for (unsigned i = 0; i < kNumReasons; ++i)
      reasons[i] += world.reasons[i];
    for (unsigned i = 0; i < 8; ++i)
      kinds[i] += world.kinds[i];
  }
  EXPECT_GT(starts, kRandomEvents / 25) << "batches ran";
  for (unsigned i = 0; i < kNumReasons; ++i)
    EXPECT_GT(reasons[i], 0u) << name(Reason(i)) << " never happened";
  for (unsigned i = 0; i <= unsigned(ActionKind::VersionIdle); ++i)
    EXPECT_GT(kinds[i], 0u) << "action " << i << " never happened";
}

TEST(BatchRandom, the_same_seed_gives_the_same_log) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    RandomWorld first(seed, true), second(seed, true);
    first.play(4000);
    second.play(4000);
    EXPECT_GT(first.log.size(), 10000u);
    EXPECT_EQ(first.log, second.log);
  }
}

} // namespace
} // namespace llmc::test
