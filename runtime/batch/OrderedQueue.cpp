//===- OrderedQueue.cpp - A treap, threaded as a list -------------------------------------------------------------===//

#include "runtime/batch/OrderedQueue.h"

namespace llmc::batch {

/// The finalizer of splitmix64.
static uint32_t hashOf(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return uint32_t((value ^ (value >> 31)) >> 32);
}

static int64_t sumOf(const QueuePool &pool, uint32_t index) { return index == kNone ? 0 : pool[index].subtreeRows; }

static void updateSum(QueuePool &pool, uint32_t index) {
  QueueLink &link = pool[index];
  link.subtreeRows = link.rows + sumOf(pool, link.left) + sumOf(pool, link.right);
}

void OrderedQueue::insert(QueuePool &pool, uint32_t index, QueueKey key, uint32_t rows) {
  QueueLink &link = pool[index];
  link = QueueLink();
  link.key = key;
  link.priority = hashOf(key.sequence);
  link.rows = rows;
  link.subtreeRows = rows;
  ++size_;
  if (root == kNone) {
    root = head_ = tail_ = index;
    return;
  }
  // Most come last: no need to search.
  if (pool[tail_].key < key) {
    attach(pool, index, tail_, /*left=*/false);
    return;
  }
  uint32_t at = root;
  while (true) {
    bool left = key < pool[at].key;
    uint32_t child = left ? pool[at].left : pool[at].right;
    if (child == kNone)
      return attach(pool, index, at, left);
    at = child;
  }
}

void OrderedQueue::attach(QueuePool &pool, uint32_t index, uint32_t parent, bool left) {
  QueueLink &link = pool[index];
  link.parent = parent;
  (left ? pool[parent].left : pool[parent].right) = index;
  link.previous = left ? pool[parent].previous : parent;
  link.next = left ? parent : pool[parent].next;
  (link.previous == kNone ? head_ : pool[link.previous].next) = index;
  (link.next == kNone ? tail_ : pool[link.next].previous) = index;
  for (uint32_t at = parent; at != kNone; at = pool[at].parent)
    pool[at].subtreeRows += link.rows;
  while (link.parent != kNone && pool[link.parent].priority < link.priority)
    rotateUp(pool, index);
}

void OrderedQueue::replaceChild(QueuePool &pool, uint32_t parent, uint32_t from, uint32_t to) {
  if (parent == kNone)
    root = to;
  else
    (pool[parent].left == from ? pool[parent].left : pool[parent].right) = to;
}

void OrderedQueue::rotateUp(QueuePool &pool, uint32_t index) {
  QueueLink &link = pool[index];
  uint32_t parent = link.parent;
  QueueLink &above = pool[parent];
  bool isLeft = above.left == index;
  uint32_t moved = isLeft ? link.right : link.left;
  (isLeft ? above.left : above.right) = moved;
  (isLeft ? link.right : link.left) = parent;
  if (moved != kNone)
    pool[moved].parent = parent;
  replaceChild(pool, above.parent, parent, index);
  link.parent = above.parent;
  above.parent = index;
  updateSum(pool, parent);
  updateSum(pool, index);
}

void OrderedQueue::remove(QueuePool &pool, uint32_t index) {
  QueueLink &link = pool[index];
  while (link.left != kNone || link.right != kNone) {
    bool left = link.right == kNone || (link.left != kNone && pool[link.left].priority >= pool[link.right].priority);
    rotateUp(pool, left ? link.left : link.right);
  }
  replaceChild(pool, link.parent, index, kNone);
  for (uint32_t at = link.parent; at != kNone; at = pool[at].parent)
    pool[at].subtreeRows -= link.rows;
  (link.previous == kNone ? head_ : pool[link.previous].next) = link.next;
  (link.next == kNone ? tail_ : pool[link.next].previous) = link.previous;
  --size_;
}

int64_t OrderedQueue::rowsBefore(const QueuePool &pool, QueueKey key) const {
  int64_t rows = 0;
  for (uint32_t at = root; at != kNone;) {
    if (pool[at].key < key) {
      rows += pool[at].rows + sumOf(pool, pool[at].left);
      at = pool[at].right;
    } else {
      at = pool[at].left;
    }
  }
  return rows;
}

bool OrderedQueue::isSoundBelow(const QueuePool &pool, uint32_t index) const {
  const QueueLink &link = pool[index];
  int64_t sum = link.rows;
  for (uint32_t child : {link.left, link.right}) {
    if (child == kNone)
      continue;
    if (pool[child].parent != index || pool[child].priority > link.priority || !isSoundBelow(pool, child))
      return false;
    sum += pool[child].subtreeRows;
  }
  return sum == link.subtreeRows;
}

bool OrderedQueue::isSound(const QueuePool &pool) const {
  uint32_t count = 0, last = kNone;
  for (uint32_t at = head_; at != kNone; last = at, at = pool[at].next, ++count)
    if (pool[at].previous != last || (last != kNone && !(pool[last].key < pool[at].key)))
      return false;
  return count == size_ && last == tail_ && (root == kNone || (pool[root].parent == kNone && isSoundBelow(pool, root)));
}

} // namespace llmc::batch
