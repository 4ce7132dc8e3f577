//===- OrderedQueue.h - A queue in the order of keys that gives up any member by handle ---------------------------===//
//
// A treap over a pool of links, threaded as a list: insert and remove take O(log n), the first, the last and the next
// one O(1). The priorities are hashes of sequence numbers, so the tree is the same in each run. Subtrees know the sum
// of their rows, which tells how much is ahead of a key.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_ORDEREDQUEUE_H
#define LLMC_RUNTIME_BATCH_ORDEREDQUEUE_H

#include "runtime/batch/BatchTypes.h"
#include <vector>

namespace llmc::batch {

struct QueueKey {
  TimeNs time = 0;
  uint64_t sequence = 0; // unique
  auto operator<=>(const QueueKey &) const = default;
};

/// Member i of a queue is link i of the pool; it is in one queue of the pool at most.
struct QueueLink {
  QueueKey key;
  uint32_t parent = kNone, left = kNone, right = kNone;
  uint32_t previous = kNone, next = kNone;
  uint32_t priority = 0;
  uint32_t rows = 0;
  int64_t subtreeRows = 0;
};
using QueuePool = std::vector<QueueLink>;

class OrderedQueue {
public:
  bool empty() const { return head_ == kNone; }
  uint32_t size() const { return size_; }
  uint32_t head() const { return head_; }
  uint32_t tail() const { return tail_; }
  int64_t rows(const QueuePool &pool) const { return root == kNone ? 0 : pool[root].subtreeRows; }

  void insert(QueuePool &pool, uint32_t index, QueueKey key, uint32_t rows);
  void remove(QueuePool &pool, uint32_t index);
  /// Sum of the rows of all members before `key`.
  int64_t rowsBefore(const QueuePool &pool, QueueKey key) const;
  /// Order, links, priorities, sums and count are as they should be.
  bool isSound(const QueuePool &pool) const;

private:
  void attach(QueuePool &pool, uint32_t index, uint32_t parent, bool left);
  void rotateUp(QueuePool &pool, uint32_t index);
  void replaceChild(QueuePool &pool, uint32_t parent, uint32_t from, uint32_t to);
  bool isSoundBelow(const QueuePool &pool, uint32_t index) const;

  uint32_t root = kNone, head_ = kNone, tail_ = kNone, size_ = 0;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_ORDEREDQUEUE_H
