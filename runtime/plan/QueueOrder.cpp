//===- QueueOrder.cpp - Vector clocks -----------------------------------------------------------------------------===//

#include "runtime/plan/QueueOrder.h"
#include <algorithm>

namespace llmc {

/// The next step of `queue` starts after `step`, and so after all that this one started after.
void QueueOrder::join(uint32_t queue, uint32_t step) {
  uint32_t *next = ended.data() + queue * numQueues;
  for (uint32_t q = 0; q < numQueues; ++q)
    next[q] = std::max(next[q], clockOf(step)[q]);
  next[steps[step].queue] = std::max(next[steps[step].queue], steps[step].index + 1);
}

uint32_t QueueOrder::add(uint32_t queue, std::span<const uint32_t> waits) {
  for (uint32_t step : waits)
    join(queue, step);
  auto now = ended.begin() + queue * numQueues;
  clocks.insert(clocks.end(), now, now + numQueues);
  steps.push_back({queue, counts[queue]++});
  now[queue] = counts[queue];
  return uint32_t(steps.size()) - 1;
}

uint32_t QueueOrder::addAlone(uint32_t queue) {
  std::copy(counts.begin(), counts.end(), ended.begin() + queue * numQueues);
  uint32_t step = add(queue, {});
  for (uint32_t q = 0; q < numQueues; ++q)
    join(q, step);
  return step;
}

void ArenaUsers::add(uint32_t step) {
  std::vector<uint32_t> &list = byQueue[order.queueOf(step)];
  if (list.empty() || list.back() != step)
    list.push_back(step);
}

uint32_t ArenaUsers::lastUnordered(uint32_t step) const {
  uint32_t last = step;
  for (const std::vector<uint32_t> &list : byQueue) {
    // Later steps of a queue start after all that earlier ones do.
    auto first = std::upper_bound(list.begin(), list.end(), step);
    auto ordered = std::partition_point(first, list.end(), [&](uint32_t other) { return !order.isBefore(step, other); });
    if (ordered != first)
      last = std::max(last, *std::prev(ordered));
  }
  return last;
}

} // namespace llmc
