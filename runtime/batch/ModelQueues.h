//===- ModelQueues.h - The waiting requests of one model ----------------------------------------------------------===//
//
// One ordered queue per pin, bucket and class. Pin 0 holds what any present version may take, pin s + 1 what is bound
// to the version in slot s. A walk merges the queues that a batch may draw from, in the order of keys.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_MODELQUEUES_H
#define LLMC_RUNTIME_BATCH_MODELQUEUES_H

#include "runtime/batch/BatchConfig.h"
#include "runtime/batch/RequestTable.h"
#include <array>

namespace llmc::batch {

/// Sums over queued requests.
struct QueueSums {
  uint32_t requests = 0;
  int64_t rows = 0, bytes = 0;
  bool operator==(const QueueSums &) const = default;
};

/// The requests of several queues in the order of their keys. The queues must not change meanwhile.
class QueueWalk {
public:
  explicit QueueWalk(const QueuePool &pool) : pool(&pool) {}
  void add(const OrderedQueue &queue) {
    if (!queue.empty())
      heads[count++] = queue.head();
  }
  /// The next request; kNone at the end.
  uint32_t current() {
    at = 0;
    for (unsigned i = 1; i < count; ++i)
      if ((*pool)[heads[i]].key < (*pool)[heads[at]].key)
        at = i;
    return count == 0 ? kNone : heads[at];
  }
  /// Past what current() gave.
  void advance() {
    heads[at] = (*pool)[heads[at]].next;
    if (heads[at] == kNone)
      heads[at] = heads[--count];
  }

private:
  const QueuePool *pool;
  std::array<uint32_t, 2 * (kMaxClasses + 1)> heads;
  unsigned count = 0, at = 0;
};

class ModelQueues {
public:
  ModelQueues(size_t buckets, size_t classes);

  /// Where they belong by pin, bucket, priority and key.
  void insert(RequestTable &table, uint32_t request);
  void remove(RequestTable &table, uint32_t request);

  const QueueSums &total() const { return sums; }
  const QueueSums &ofClass(uint32_t priority) const { return classSums[priority - 1]; }
  /// What a version may take: its own, and if it is the present one what is bound to none.
  struct View {
    uint32_t versionSlot;
    bool isCurrent;
  };
  /// Requests of the bucket within the classes first..last.
  QueueWalk walk(const RequestTable &table, View view, uint32_t bucket, uint32_t firstClass, uint32_t lastClass) const;
  uint32_t numClasses() const { return classes; } // with that of the demoted
  bool hasPinned(uint32_t versionSlot) const;
  /// The request that arrived first; kNone without any.
  uint32_t oldest(const RequestTable &table, View view) const;
  /// The request that was admitted last of the class.
  uint32_t newest(const RequestTable &table, uint32_t priority) const;
  /// Any request; kNone without any.
  uint32_t any() const;
  int64_t rowsBefore(const RequestTable &table, QueueKey key) const;
  /// nullptr, or what is wrong.
  const char *check(const RequestTable &table) const;

private:
  OrderedQueue &at(uint32_t pin, uint32_t bucket, uint32_t priority) {
    return queues[(pin * buckets + bucket) * classes + priority - 1];
  }
  const OrderedQueue &at(uint32_t pin, uint32_t bucket, uint32_t priority) const {
    return queues[(pin * buckets + bucket) * classes + priority - 1];
  }

  uint32_t buckets, classes;
  std::vector<OrderedQueue> queues;
  QueueSums sums;
  std::vector<QueueSums> classSums;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_MODELQUEUES_H
