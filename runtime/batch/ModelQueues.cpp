//===- ModelQueues.cpp - The waiting requests of one model --------------------------------------------------------===//

#include "runtime/batch/ModelQueues.h"

namespace llmc::batch {

ModelQueues::ModelQueues(size_t buckets, size_t classes)
    : buckets(uint32_t(buckets)), classes(uint32_t(classes) + 1), queues((kMaxVersions + 1) * buckets * (classes + 1)),
      classSums(classes + 1) {}

static void account(QueueSums &sums, const Request &request, int sign) {
  sums.requests += uint32_t(sign);
  sums.rows += sign * int64_t(request.rows);
  sums.bytes += sign * request.bytes;
}

void ModelQueues::insert(RequestTable &table, uint32_t index) {
  const Request &request = table[index];
  at(request.pin, request.bucket, request.priority)
      .insert(table.queueLinks, index, {request.key, request.sequence}, request.rows);
  account(sums, request, 1);
  account(classSums[request.priority - 1], request, 1);
}

void ModelQueues::remove(RequestTable &table, uint32_t index) {
  const Request &request = table[index];
  at(request.pin, request.bucket, request.priority).remove(table.queueLinks, index);
  account(sums, request, -1);
  account(classSums[request.priority - 1], request, -1);
}

QueueWalk ModelQueues::walk(const RequestTable &table, View view, uint32_t bucket, uint32_t firstClass,
                            uint32_t lastClass) const {
  QueueWalk walk(table.queueLinks);
  for (uint32_t priority = firstClass; priority <= lastClass; ++priority) {
    walk.add(at(view.versionSlot + 1, bucket, priority));
    if (view.isCurrent)
      walk.add(at(0, bucket, priority));
  }
  return walk;
}

bool ModelQueues::hasPinned(uint32_t versionSlot) const {
  for (uint32_t i = 0; i < buckets * classes; ++i)
    if (!queues[(versionSlot + 1) * buckets * classes + i].empty())
      return true;
  return false;
}

/// Within a queue all have the same head start, so its head arrived first.
uint32_t ModelQueues::oldest(const RequestTable &table, View view) const {
  uint32_t result = kNone;
  for (uint32_t pin : {view.versionSlot + 1, 0u}) {
    if (pin == 0 && !view.isCurrent)
      continue;
    for (uint32_t i = 0; i < buckets * classes; ++i) {
      uint32_t head = queues[pin * buckets * classes + i].head();
      if (head != kNone && (result == kNone || table[head].sequence < table[result].sequence))
        result = head;
    }
  }
  return result;
}

uint32_t ModelQueues::newest(const RequestTable &table, uint32_t priority) const {
  uint32_t result = kNone;
  for (size_t i = priority - 1; i < queues.size(); i += classes) {
    uint32_t tail = queues[i].tail();
    if (tail != kNone && (result == kNone || table[tail].sequence > table[result].sequence))
      result = tail;
  }
  return result;
}

uint32_t ModelQueues::any() const {
  for (const OrderedQueue &queue : queues)
    if (!queue.empty())
      return queue.head();
  return kNone;
}

int64_t ModelQueues::rowsBefore(const RequestTable &table, QueueKey key) const {
  int64_t rows = 0;
  for (const OrderedQueue &queue : queues)
    rows += queue.rowsBefore(table.queueLinks, key);
  return rows;
}

const char *ModelQueues::check(const RequestTable &table) const {
  QueueSums found;
  std::array<QueueSums, kMaxClasses + 1> foundOfClass;
  for (const OrderedQueue &queue : queues) {
    if (queue.empty())
      continue;
    if (!queue.isSound(table.queueLinks))
      return "a queue is not in the order of its keys";
    for (uint32_t index = queue.head(); index != kNone; index = table.queueLinks[index].next) {
      const Request &request = table[index];
      if (request.state != RequestState::Queued || &at(request.pin, request.bucket, request.priority) != &queue)
        return "a request is in a queue where it does not belong";
      account(found, request, 1);
      account(foundOfClass[request.priority - 1], request, 1);
    }
  }
  for (uint32_t priority = 1; priority <= classes; ++priority)
    if (!(foundOfClass[priority - 1] == classSums[priority - 1]))
      return "the sums of a class are not those of its queues";
  return found == sums ? nullptr : "the sums of a model are not those of its queues";
}

} // namespace llmc::batch
