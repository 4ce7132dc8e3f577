//===- QueueOrder.h - Which steps of several queues come before which ---------------------------------------------===//
//
// A queue runs its steps in order; a step that waits for another one starts after it. Vector clocks tell for each pair of
// steps whether one ends before the other starts. The compiler uses it to order what it places, the runtime to prove it.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PLAN_QUEUEORDER_H
#define LLMC_RUNTIME_PLAN_QUEUEORDER_H

#include <cstdint>
#include <span>
#include <vector>

namespace llmc {

class QueueOrder {
public:
  explicit QueueOrder(uint32_t numQueues) : numQueues(numQueues), ended(numQueues * numQueues), counts(numQueues) {}

  /// Adds a step, which gets the next number, to a queue; it starts after the earlier steps `waits`.
  uint32_t add(uint32_t queue, std::span<const uint32_t> waits);
  /// Adds a step to a queue that starts after all earlier steps and ends before any later one starts.
  uint32_t addAlone(uint32_t queue);
  /// Whether step `a` has ended before step `b`, which has a greater number, starts.
  bool isBefore(uint32_t a, uint32_t b) const { return clockOf(b)[steps[a].queue] > steps[a].index; }
  /// Whether step `a` has ended before a step that is added next to `queue` would start.
  bool isBeforeNext(uint32_t a, uint32_t queue) const { return ended[queue * numQueues + steps[a].queue] > steps[a].index; }
  uint32_t queueOf(uint32_t step) const { return steps[step].queue; }

private:
  struct Step {
    uint32_t queue, index; // index: in its queue
  };
  const uint32_t *clockOf(uint32_t step) const { return clocks.data() + size_t(step) * numQueues; }
  void join(uint32_t queue, uint32_t step);

  uint32_t numQueues;
  std::vector<Step> steps;
  std::vector<uint32_t> clocks; // per step and queue: how many steps of the queue have ended before the step starts
  std::vector<uint32_t> ended;  // the same for the next step of each queue
  std::vector<uint32_t> counts; // steps of each queue
};

/// Steps that touch one arena, by queue.
class ArenaUsers {
public:
  ArenaUsers(const QueueOrder &order, uint32_t numQueues) : order(order), byQueue(numQueues) {}

  /// In rising order.
  void add(uint32_t step);
  /// The last step that may run while `step` does, or before it although it has a greater number. `step` itself if none.
  uint32_t lastUnordered(uint32_t step) const;

private:
  const QueueOrder &order;
  std::vector<std::vector<uint32_t>> byQueue;
};

} // namespace llmc

#endif // LLMC_RUNTIME_PLAN_QUEUEORDER_H
