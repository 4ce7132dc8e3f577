//===- BatchTypes.h - What the batcher is told and what it answers ------------------------------------------------===//
//
// The batcher sees descriptors of requests and the times of events, never tensors. Times are nanoseconds of one
// monotonic clock that the caller reads, >= 0 and < kNever.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_BATCHTYPES_H
#define LLMC_RUNTIME_BATCH_BATCHTYPES_H

#include <cstdint>
#include <limits>
#include <span>

namespace llmc::batch {

using TimeNs = int64_t;
inline constexpr TimeNs kMicrosecond = 1000, kMillisecond = 1000 * kMicrosecond, kSecond = 1000 * kMillisecond;
inline constexpr TimeNs kNever = std::numeric_limits<TimeNs>::max() / 4; // sums of a few times do not overflow

inline constexpr uint32_t kNone = UINT32_MAX; // no index
inline constexpr uint64_t kNoStream = UINT64_MAX;

/// A request while it is in the batcher. Of one that has left, the handle is stale and harmless.
struct RequestHandle {
  uint32_t index = kNone;
  uint32_t generation = 0;
  bool operator==(const RequestHandle &) const = default;
};

/// A batch from Stage or Start until its completion or Unstage.
using BatchId = uint32_t;

struct ContentHash {
  uint64_t low = 0, high = 0;
  bool operator==(const ContentHash &) const = default;
};

/// The order in which events of one time are to be told; those of one kind as they came. `step` follows the last of
/// them.
enum class EventKind : uint8_t { Cancel, Complete, Arrive, InstanceUp, InstanceDown, Config, Timer };

struct Arrival {
  uint64_t id = 0; // the caller's name for it, given back with the outcome
  uint32_t model = 0;
  uint32_t bucket = 0;
  uint32_t version = kNone; // pinned to this version of the model; kNone: the present one
  uint32_t rows = 1;
  int64_t bytes = 0;     // of the inputs
  int64_t elements = 0; // of which a batch may have no more than ModelConfig::maxElements: packed requests are one each
  uint32_t priority = 0; // 1 is the most urgent; 0: the model's default
  uint64_t stream = kNoStream;
  TimeNs deadline = kNever;     // a time; one that equals now is not over yet
  TimeNs queueTimeout = kNever; // a span; the shorter of this and the class's counts
  bool hasContent = false; // `content` is the hash of the inputs, by which one that crashed a worker is known again
  ContentHash content;
};

enum class Outcome : uint8_t { Done, Failed, Rejected, Expired, Cancelled };
inline constexpr unsigned kNumOutcomes = 5;

enum class Reason : uint8_t {
  None,
  BadInput, // bucket, rows or priority out of range
  TooLarge, // does not fit a batch even alone
  NotFound, // no such model or version
  NotReady, // no instance is up
  Draining,
  Quarantined, // the same content crashed a worker
  QueueFull,
  Evicted, // gave way to a more urgent one
  DeadlineInfeasible,
  QueueTimeout,
  Deadline,
  Breaker, // the model fails too often, and no fallback takes the request
  RowFault,
  Exec,
  BatchAborted, // failed with its batch, innocent perhaps: worth a retry
  OutOfMemory,
  Cancelled
};
inline constexpr unsigned kNumReasons = 18;

const char *name(Outcome outcome);
const char *name(Reason reason);

/// How the run of a batch ended.
enum class BatchFault : uint8_t {
  None,
  Error,       // the run failed, the instance lives
  OutOfMemory, // an allocation failed, the instance lives
  Crash,       // the worker died by it: the instance is down
  DeviceLost   // the device went away: the instance is down
};

struct Completion {
  BatchFault fault = BatchFault::None;
  std::span<const uint32_t> badMembers =
      {}; // without a fault: positions of members whose rows a kernel refused, ascending
};

enum class ActionKind : uint8_t {
  Finish,     // the request has its one outcome; its handle is stale from now on
  Stage,      // gather the rows of `batch` for `instance`, which still runs another one
  Restage,    // members have left a staged batch
  Unstage,    // forget the staged batch
  Start,      // run `batch` on `instance` as `rows` rows, padded from those of its members
  AbortHint,  // nobody waits for this running batch any more; completion is awaited all the same
  VersionIdle // nothing needs this retired version of the model any more
};

struct Action {
  ActionKind kind;
  Outcome outcome = Outcome::Done; // Finish
  Reason reason = Reason::None;    // Finish
  bool late = false;               // Finish: done, but after its deadline
  uint32_t model = kNone;          // Finish: the model that served it, which a fallback changes; VersionIdle
  uint32_t version = 0;            // VersionIdle
  uint32_t instance = kNone;       // Stage .. Start
  BatchId batch = kNone;           // Stage .. AbortHint
  uint32_t rows = 0;               // Stage, Restage, Start: as executed
  RequestHandle request = {};      // Finish; invalid for one that was never admitted
  uint64_t id = 0;                 // Finish: the caller's
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_BATCHTYPES_H
