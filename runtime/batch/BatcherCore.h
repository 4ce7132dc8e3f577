//===- BatcherCore.h - The dynamic batcher as a state machine -----------------------------------------------------===//
//
// Told of events and their times, it answers with actions. It has no clock, threads, locks, tensors or I/O, and decides
// by integers alone, so the same events give the same actions. All events of one time are told first, in the order of
// EventKind; then `step` decides. Batches are bound late: none exists before it starts (or is staged).
//
// One thread at a time. After construction nothing is allocated but by addInstance and configure. Every admitted
// request gets exactly one Finish.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_BATCHERCORE_H
#define LLMC_RUNTIME_BATCH_BATCHERCORE_H

#include "runtime/batch/AdaptiveControl.h"
#include "runtime/batch/BatchStats.h"
#include "runtime/batch/Breaker.h"
#include "runtime/batch/DeviceShare.h"
#include "runtime/batch/Packing.h"
#include "runtime/batch/PoisonMemory.h"
#include "runtime/batch/ReorderBuffer.h"
#include "runtime/batch/RetryBudget.h"
#include <memory>
#include <span>

namespace llmc::batch {

enum class InstanceState : uint8_t {
  Warming,
  Idle,
  Busy,
  Draining, // ends its batch and is gone
  Failed,   // until it is up again
  Removed
};

/// A batch that is staged, running or waiting as a half of a failed one.
struct Batch {
  bool inUse = false, running = false, probe = false;
  bool quarantine = false;
  uint32_t model = 0, versionSlot = 0, bucket = 0;
  uint32_t instance = kNone;
  uint32_t first = kNone; // member; the others follow by Request::nextInBatch, in the order of keys
  uint32_t count = 0;
  uint32_t rows = 0;            // of the members
  uint32_t executed = 0;        // rows that run
  uint32_t awaited = 0;         // members whose callers still wait
  TimeNs started = 0, cost = 0; // when it runs; predicted
  int64_t memory = 0;
};

class BatcherCore {
public:
  static rt::Result<std::unique_ptr<BatcherCore>> create(BatcherConfig config);

  // Events. None calls back; what follows from it comes with the next step.

  /// The invalid handle if it is refused; its Finish tells why.
  RequestHandle arrive(TimeNs now, const Arrival &arrival);
  /// Once for a request; more, and stale handles, do nothing.
  void cancel(TimeNs now, RequestHandle request);
  /// A batch that was started has ended, whatever became of its members meanwhile.
  void complete(TimeNs now, BatchId batch, const Completion &completion);
  /// It is warm, or works again.
  void instanceUp(TimeNs now, uint32_t instance);
  /// No new batch; a running one ends, then the instance is gone.
  void instanceDrain(TimeNs now, uint32_t instance);
  /// It is broken. A batch that runs there is lost with it, as by BatchFault::DeviceLost.
  void instanceFailed(TimeNs now, uint32_t instance);
  rt::Result<uint32_t> addInstance(TimeNs now, const InstanceConfig &instance);
  /// New settings of one model, all or none. Buckets, variants, classes and the order of responses must be those that
  /// it has.
  rt::Status configure(TimeNs now, uint32_t model, ModelConfig config);
  /// New requests, and waiting ones that are bound to none, go to this version, of which an instance must have been
  /// added.
  rt::Status swapVersion(TimeNs now, uint32_t model, uint32_t version);
  /// Nothing more is admitted; what has not ended by the deadline is rejected, runs under way only if `endsRuns`.
  void drain(TimeNs now, TimeNs deadline, bool endsRuns = true);

  /// Decides. The actions, in order, also those that events caused since the last step; valid until the next call.
  std::span<const Action> step(TimeNs now);
  /// When `step` has to be called though nothing happens; kNever if never. Later than the last step.
  TimeNs nextWakeup() const { return wakeup; }

  // What there is to see.

  const Batch &batch(BatchId id) const { return batches[id]; }
  /// Of a member's index as in Batch::first and Request::nextInBatch.
  const Request &request(uint32_t index) const { return table[index]; }
  const Request *find(RequestHandle handle) const {
    uint32_t index = table.find(handle);
    return index == kNone ? nullptr : &table[index];
  }
  uint32_t numInside() const { return table.size(); }
  const QueueSums &queued(uint32_t model) const { return models[model].queues.total(); }
  const BatchStats &stats(uint32_t model) const { return *models[model].stats; }
  InstanceState instanceState(uint32_t instance) const { return instances[instance].state; }
  Breaker::State breakerState(TimeNs now, uint32_t model, uint32_t version, uint32_t device) const;
  TimeNs delay(uint32_t model) const { return models[model].adaptive.delay(); }
  TimeNs predict(uint32_t model, uint32_t device, uint32_t bucket, uint32_t rows) const;
  uint32_t effectiveCap(uint32_t model) const { return capOf(models[model]); }
  TimeNs busyTime(TimeNs now, uint32_t device) const { return shares[device].busyTime(now); }
  const BatcherConfig &config() const { return config_; }

  /// After a step: nullptr, or the invariant that does not hold.
  const char *checkInvariants(TimeNs now) const;

private:
  struct Instance {
    InstanceState state = InstanceState::Warming;
    uint32_t model = 0, versionSlot = 0, device = 0;
    BatchId running = kNone, staged = kNone;
    TimeNs predictedEnd = 0;
    uint64_t lastUse = 0;
  };
  struct VersionSlot {
    uint32_t number = 0;
    bool inUse = false;
    bool retired = false;   // another one has taken its place
    uint32_t batches = 0;   // staged, running or quarantined
    uint32_t instances = 0; // that are not removed
  };
  /// A version of a model on a device.
  struct Lane {
    LatencyModel latency;
    Breaker breaker;
    bool probing = false;
  };
  struct Model {
    Model(const BatcherConfig &config, uint32_t index);
    void resetLanes(const BatcherConfig &config, uint32_t versionSlot);
    Lane &lane(uint32_t versionSlot, uint32_t device) { return lanes[versionSlot * numDevices + device]; }
    const Lane &lane(uint32_t versionSlot, uint32_t device) const { return lanes[versionSlot * numDevices + device]; }
    PackLimits limits(uint32_t rows) const { return {config, variants, rows}; }

    ModelConfig config;
    uint32_t index, numDevices;
    std::vector<uint32_t> variants;
    uint32_t cap;            // rows of a batch by configuration
    uint32_t memoryCap;      // that fit each of its devices
    uint32_t outOfMemoryCap; // that seem to fit in fact
    TimeNs outOfMemoryAt = 0;
    ModelQueues queues;
    std::array<VersionSlot, kMaxVersions> versions = {};
    uint32_t current = 0;
    std::vector<Lane> lanes; // [version slot][device]
    std::vector<uint32_t> instances;
    uint32_t liveInstances = 0;      // that are idle or busy
    std::vector<BatchId> quarantine; // the last is next
    uint32_t inBatches = 0;          // staged and running batches
    RetryBudget budget;
    PoisonMemory poison;
    AdaptiveControl adaptive;
    std::unique_ptr<BatchStats> stats;
    int64_t heldBytes = 0;
    uint64_t completions = 0;
    uint32_t sinceGuard = 0;
    uint32_t rowLimit = 0; // of the queue
    TimeNs rowLimitAt = -kSecond;
    TimeNs windowBegan = 0, windowBusy = 0;
  };
  static bool isLive(const Instance &instance) {
    return instance.state == InstanceState::Idle || instance.state == InstanceState::Busy;
  }
  /// What an idle instance could start.
  struct Candidate {
    uint32_t instance = kNone;
    uint32_t bucket = 0;
    bool urgent = false, guard = false;
    QueueKey head;
    TimeNs cost = 0;
    BatchId formed = kNone; // staged or quarantined
    explicit operator bool() const { return instance != kNone; }
  };

  explicit BatcherCore(BatcherConfig config);

  // Requests.cpp: admission, and the ways out.
  Reason whyNotKnown(TimeNs now, const Arrival &arrival) const;
  Reason whyNotValid(TimeNs now, const Arrival &arrival, const Model &model) const;
  Reason admit(TimeNs now, uint32_t index);
  Reason makeRoom(TimeNs now, Model &model, const Request &request);
  bool exceedsLimits(const Model &model, const Request &request, const QueueSums &gone, uint32_t goneOfClass) const;
  bool canNotEndInTime(TimeNs now, const Model &model, const Request &request) const;
  void setKey(const Model &model, Request &request) const;
  uint32_t fallbackFor(TimeNs now, const Model &model, const Request &request) const;
  bool moveTo(TimeNs now, uint32_t index, uint32_t model);
  bool isAvailable(TimeNs now, const Model &model) const;
  void enterQueue(TimeNs now, uint32_t index);
  void leaveQueue(uint32_t index);
  void setExpiry(uint32_t index);
  void clearExpiry(uint32_t index);
  void expire(TimeNs now);
  void refuse(const Arrival &arrival, Reason reason);
  void finish(TimeNs now, uint32_t index, Outcome outcome, Reason reason);
  void answer(TimeNs now, uint32_t index, Outcome outcome, Reason reason, bool late);
  void leaveStream(TimeNs now, uint32_t index);
  void rejectAll(TimeNs now);
  uint32_t rowLimit(TimeNs now, Model &model);

  // Dispatch.cpp: what starts now.
  bool startOne(TimeNs now, uint32_t device);
  Candidate bestOf(TimeNs now, Model &model, uint32_t device);
  Candidate bestFor(TimeNs now, Model &model, uint32_t instance);
  Candidate bestInQueue(TimeNs now, Model &model, uint32_t instance);
  bool assess(TimeNs now, const Model &model, const Instance &instance, uint32_t bucket, uint32_t first, Pack &pack,
              Candidate &candidate, TimeNs &due) const;
  void dropLate(TimeNs now, Model &model, uint32_t versionSlot, uint32_t bucket);
  bool mayStart(TimeNs now, const Model &model, const Instance &instance) const;
  bool leavesItToFaster(TimeNs now, const Model &model, const Instance &instance, TimeNs cost, uint32_t bucket,
                        uint32_t rows) const;
  ModelQueues::View view(const Model &model, const Instance &instance) const {
    return {instance.versionSlot, instance.versionSlot == model.current};
  }
  BatchId formBatch(TimeNs now, Model &model, const Candidate &candidate);
  void start(TimeNs now, Model &model, const Candidate &candidate);
  bool stage(TimeNs now);
  bool stageFor(TimeNs now, Model &model, uint32_t instance);
  uint32_t capOf(const Model &model) const;
  int64_t memoryOf(const Model &model, uint32_t rows) const;
  void keepHouse(TimeNs now);
  void adapt(TimeNs now, Model &model);
  void reportIdleVersions();
  void wakeAt(TimeNs time) { wakeup = std::min(wakeup, time); }

  // Completion.cpp: batches that end, and what becomes of failed ones.
  void endRun(TimeNs now, Model &model, BatchId id, const Completion &completion);
  bool deliver(TimeNs now, Model &model, Lane &lane, BatchId id, std::span<const uint32_t> bad);
  bool failBatch(TimeNs now, Model &model, Lane &lane, BatchId id, Reason reason);
  void quarantineHalves(TimeNs now, Model &model, BatchId id);
  void splitBatch(Model &model, BatchId id);
  BatchId nextHalf(const Model &model, uint32_t versionSlot) const;
  bool prepareHalf(TimeNs now, Model &model, const Instance &instance, BatchId id, TimeNs cost);
  void requeue(TimeNs now, BatchId id);
  void halveCap(TimeNs now, Model &model, uint32_t executed);
  void onBreakerOpened(TimeNs now, Model &model);
  void dropAbandoned(BatchId id);
  void setInstanceDown(TimeNs now, uint32_t instance, InstanceState state);
  void unstage(TimeNs now, uint32_t instance);
  BatchId newBatch(const Model &model, uint32_t versionSlot, uint32_t bucket);
  void append(BatchId id, uint32_t request, uint32_t &last);
  void removeMember(BatchId id, uint32_t request);
  void afterRemoval(BatchId id);
  void freeBatch(BatchId id);

  uint32_t versionSlotOf(const Model &model, uint32_t version) const;
  rt::Result<uint32_t> makeVersionSlot(Model &model, uint32_t version);
  void push(const Action &action);

  // Invariants.cpp
  const char *checkRequests() const;
  const char *checkBatches() const;
  const char *checkBatch(BatchId id) const;
  const char *checkInstances() const;
  const char *checkNothingWaitsInVain(TimeNs now) const;

  BatcherConfig config_;
  RequestTable table;
  OrderedQueue expiry;
  ReorderBuffer reorder;
  std::vector<Model> models;
  std::vector<DeviceShare> shares;
  std::vector<Instance> instances;
  std::vector<Batch> batches;
  std::vector<BatchId> freeBatches;
  std::vector<Action> actions;
  bool actionsSeen = false;
  Pack pack;
  mutable Pack checkPack;
  int64_t queuedBytes = 0;
  uint64_t nextSequence = 1, useCount = 0;
  bool draining = false, drainEndsRuns = true;
  bool droppedSome = false; // requests that were late, while a step looked for what to start
  TimeNs drainDeadline = kNever;
  TimeNs wakeup = kNever;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_BATCHERCORE_H
