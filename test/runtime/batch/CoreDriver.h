//===- CoreDriver.h - Runs the batcher under a virtual clock and keeps what it did --------------------------------===//
#ifndef LLMC_TEST_RUNTIME_BATCH_COREDRIVER_H
#define LLMC_TEST_RUNTIME_BATCH_COREDRIVER_H

#include "runtime/batch/BatcherCore.h"
#include "tools/llmc-batch-sim/EventQueue.h"
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

namespace llmc::test {

using namespace llmc::batch;

inline constexpr TimeNs ms(double value) { return TimeNs(value * kMillisecond); }

class CoreDriver {
public:
  struct Run {
    TimeNs time; // of its start
    uint32_t instance, executed, model;
    std::vector<uint64_t> ids;
    bool operator==(const Run &) const = default;
  };
  struct End {
    TimeNs time;
    Outcome outcome;
    Reason reason;
    bool operator==(const End &) const = default;
  };
  struct Served {
    TimeNs time;
    BatchFault fault = BatchFault::None;
    std::vector<uint32_t> badMembers = {};
  };
  using Service = std::function<Served(const Run &)>;
  using Call = std::function<void(BatcherCore &, TimeNs)>;

  /// All instances are up from the start.
  CoreDriver(BatcherConfig config, Service service);

  void arrive(TimeNs time, const Arrival &arrival);
  void cancel(TimeNs time, uint64_t id);
  void call(TimeNs time, EventKind kind, Call call) { events.push(time, kind, std::move(call)); }
  /// All that happens until then, included.
  void run(TimeNs until = kNever);

  BatcherCore &core() { return *core_; }
  std::function<void(TimeNs, const Action &)> onAction; // after it has been noted
  std::vector<Run> runs;
  std::vector<uint64_t> order; // of the ends
  std::map<uint64_t, End> ends;
  std::string log; // every action, as text
  bool keepLog = true;

private:
  void note(TimeNs now, const Action &action);
  void startRun(TimeNs now, const Action &action);

  std::unique_ptr<BatcherCore> core_;
  Service service;
  sim::EventQueue<Call> events;
  std::unordered_map<uint64_t, RequestHandle> handles;
};

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_BATCH_COREDRIVER_H
