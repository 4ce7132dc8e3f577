//===- BatchConfig.h - The settings of the batcher and what is wrong with them ------------------------------------===//
//
// Spans are nanoseconds. A configuration is checked as a whole: the first contradiction is one sentence that names the
// model and the two settings.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_BATCHCONFIG_H
#define LLMC_RUNTIME_BATCH_BATCHCONFIG_H

#include "runtime/base/Status.h"
#include "runtime/batch/BatchTypes.h"
#include <string>
#include <vector>

namespace llmc::batch {

inline constexpr uint32_t kUnlimited = UINT32_MAX;
inline constexpr int64_t kUnlimitedBytes = INT64_MAX / 4;
inline constexpr uint32_t kMaxClasses = 16;
inline constexpr uint32_t kMaxVersions = 4; // of one model that are in use at one time

/// What to run when the waiting rows lie between two variants.
enum class PadPolicy : uint8_t {
  PadUp,     // the larger one, padded
  BatchDown, // the smaller one, the rest stays queued
  MinCost    // the smaller one if it is no dearer per row
};
/// Who may share a batch with a more urgent request.
enum class MixPolicy : uint8_t {
  FillPadding, // less urgent rows take only what would have been padding
  Merge,       // any row
  Isolate      // nobody
};
enum class TimeoutAction : uint8_t { Reject, Demote };
enum class ResponseOrder : uint8_t { None, PerStream, PerModel };

struct ClassConfig {
  TimeNs queueTimeout = kNever;
  TimeoutAction timeoutAction = TimeoutAction::Reject; // Demote: behind all classes, without a timeout of its own
  uint32_t maxQueuedRequests = kUnlimited;
};

/// Requests of one bucket may share a batch.
struct BucketConfig {
  std::vector<TimeNs> cost; // of a run, per variant; learned while running
  int64_t elementsPerRow =
      0; // padded size; > 0: rows of the bucket before this one may fill it, within maxWastePercent
};

struct BreakerConfig {
  uint32_t minRequests = 20; // in the window; 0: no breaker
  uint32_t failurePercent = 50;
  TimeNs window = 10 * kSecond;
  TimeNs openFor = 5 * kSecond; // doubles up to maxOpenFor while probes fail
  TimeNs maxOpenFor = 60 * kSecond;
  uint32_t goodProbes = 3;
  bool operator==(const BreakerConfig &) const = default;
};

struct RetryConfig {
  uint32_t budget = 16;                   // runs of quarantined halves in a row
  uint32_t runsPerToken = 10;             // executions that earn one more
  TimeNs outOfMemoryPause = 60 * kSecond; // without failure before the cap grows by one variant
  TimeNs rememberPoison = 600 * kSecond;
  bool operator==(const RetryConfig &) const = default;
};

struct ModelConfig {
  std::string name;
  // Sizes.
  std::vector<uint32_t> variants = {1}; // row counts that are compiled and warmed, ascending: only these run
  bool anySize = false;                 // any row count runs, the variants are only points of the cost table
  std::vector<BucketConfig> buckets = {BucketConfig{{kMillisecond}, 0}};
  std::vector<int64_t> arenaBytes; // device memory of a run, per variant; empty: none
  uint32_t maxRows = 0;            // of a batch, before padding; 0: the largest variant
  int64_t maxElements = kUnlimitedBytes;
  int64_t maxBatchBytes = kUnlimitedBytes;
  PadPolicy pad = PadPolicy::MinCost;
  uint32_t maxWastePercent = 25;
  // When.
  TimeNs delay = 0;                    // that a request may wait for others, from its arrival
  std::vector<uint32_t> preferredRows; // the largest counts as full
  bool strictPreferred = false;        // only the preferred sizes run
  TimeNs epsilon = 500 * kMicrosecond; // a batch starts so much before the last moment for a deadline
  // Order.
  std::vector<ClassConfig> classes = {ClassConfig{}}; // [0] is class 1, the most urgent
  uint32_t defaultPriority = 1;
  TimeNs agingQuantum = kSecond; // head start of a class over the next one; 0: first come, first served
  bool strict = false;           // class 1 always first, but for one of every strictGuard batches
  uint32_t strictGuard = 8;
  MixPolicy mix = MixPolicy::FillPadding;
  ResponseOrder order = ResponseOrder::None;
  int64_t maxHeldBytes = 64 << 20; // of answers that wait for their turn
  // Limits of what is queued.
  uint32_t maxQueuedRequests = kUnlimited;
  uint32_t maxQueuedRows = 0; // 0: by the SLO if there is one, else four full batches per instance
  int64_t maxQueuedBytes = kUnlimitedBytes;
  bool admitByDeadline = false; // refuse at once what can not be done in time
  // Devices.
  uint32_t weight = 1;   // share of device time, against those of the other models on the device
  bool critical = false; // may use the reserve of device memory
  bool doubleBuffer = false;
  TimeNs copyTime = 0; // of gathering a batch; with doubleBuffer
  // Failure.
  bool stateful = false; // never run again after a failure
  RetryConfig retry;
  BreakerConfig breaker;
  std::vector<uint32_t> fallback; // models that take over while the breaker is open, in order
  // Adaptive control.
  TimeNs sloP99 = 0;       // > 0: delay and queue limit adapt to it
  TimeNs execP95 = 0;      // > 0: the largest batch adapts to it
  bool freeDevice = false; // wait also when no other model shares the device
};

struct DeviceConfig {
  std::string name;
  uint32_t slots = 1;         // runs at one time
  uint32_t costPercent = 100; // time of a run, against the costs of the model
  int64_t memoryBytes = kUnlimitedBytes;
  uint32_t reservePercent = 20;     // of the memory, for critical models
  uint32_t urgentSharePercent = 25; // of the time may go to urgent batches out of turn
};

struct InstanceConfig {
  uint32_t model = 0;
  uint32_t version = 1;
  uint32_t device = 0;
};

struct BatcherConfig {
  std::vector<DeviceConfig> devices = {DeviceConfig{}};
  std::vector<ModelConfig> models;
  std::vector<InstanceConfig> instances; // all start as warming
  uint32_t maxRequests = 4096;           // in the batcher at one time, queued, running or waiting for their turn
  int64_t maxQueuedBytes = kUnlimitedBytes;
};

rt::Status validate(const BatcherConfig &config);
/// One model alone; `numModels`: how many there are for a fallback to name.
rt::Status validate(const ModelConfig &model, size_t numModels);

/// The row counts that run: with strictPreferred the preferred ones, else all.
std::vector<uint32_t> runnableVariants(const ModelConfig &model);
/// The most rows of a batch.
uint32_t batchCap(const ModelConfig &model);

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_BATCHCONFIG_H
