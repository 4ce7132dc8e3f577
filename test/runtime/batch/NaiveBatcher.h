//===- NaiveBatcher.h - What the batcher means, written as plainly as possible ------------------------------------===//
//
// One model on one device, no failures: one sorted list of waiting requests, everything recomputed at each step. The
// tests compare the real one with it.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_TEST_RUNTIME_BATCH_NAIVEBATCHER_H
#define LLMC_TEST_RUNTIME_BATCH_NAIVEBATCHER_H

#include "test/runtime/batch/CoreDriver.h"
#include <set>

namespace llmc::test {

class NaiveBatcher {
public:
  /// `cost`: of a run, per variant.
  NaiveBatcher(const ModelConfig &model, uint32_t instances) : model(model), idle(instances) {}

  void arrive(TimeNs time, const Arrival &arrival) { events.push(time, EventKind::Arrive, {arrival, {}}); }
  void cancel(TimeNs time, uint64_t id) {
    events.push(time, EventKind::Cancel, {});
    cancels[{time, cancelCount++}] = id;
  }
  void run();

  std::vector<std::pair<TimeNs, std::vector<uint64_t>>> runs;
  std::map<uint64_t, CoreDriver::End> ends;

private:
  struct Waiting {
    Arrival arrival;
    TimeNs time, key, timeout;
    uint64_t order;
    auto rank() const { return std::pair(key, order); }
  };
  struct Payload {
    Arrival arrival;
    std::vector<uint64_t> finished;
  };
  struct Choice {
    std::vector<Waiting> members;
    uint32_t rows = 0;
    bool full = false;
  };

  uint32_t variantFor(uint32_t rows) const {
    return *std::lower_bound(model.variants.begin(), model.variants.end(), rows);
  }
  TimeNs cost(uint32_t rows) const {
    return model.buckets[0]
        .cost[size_t(std::lower_bound(model.variants.begin(), model.variants.end(), rows) - model.variants.begin())];
  }
  void end(uint64_t id, Outcome outcome, Reason reason) {
    running.erase(id);
    ends.emplace(id, CoreDriver::End{now, outcome, reason});
  }
  void admit(const Arrival &arrival);
  void expire();
  Choice pack(uint32_t bucket) const;
  void trim(Choice &choice) const;
  void step();
  void start(Choice choice);
  void remove(uint64_t id) {
    std::erase_if(queue, [&](const Waiting &w) { return w.arrival.id == id; });
  }

  ModelConfig model;
  uint32_t idle;
  TimeNs now = 0, wakeup = kNever;
  uint64_t admitted = 0, cancelCount = 0;
  std::vector<Waiting> queue; // by rank
  std::set<uint64_t> running;
  sim::EventQueue<Payload> events;
  std::map<std::pair<TimeNs, uint64_t>, uint64_t> cancels;
};

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_BATCH_NAIVEBATCHER_H
