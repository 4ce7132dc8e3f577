//===- Packing.cpp - Which waiting requests would make the next batch, and how many rows run ----------------------===//

#include "runtime/batch/Packing.h"
#include <algorithm>

namespace llmc::batch {

uint32_t executedRows(const PackLimits &limits, uint32_t rows) {
  if (limits.config.anySize)
    return rows;
  return *std::lower_bound(limits.variants.begin(), limits.variants.end(), rows);
}

static bool fits(const PackLimits &limits, const Pack &pack, const Request &request, uint32_t rows) {
  return pack.rows + request.rows <= rows && pack.elements + request.elements <= limits.config.maxElements &&
         pack.bytes + request.bytes <= limits.config.maxBatchBytes;
}

static void take(Pack &pack, uint32_t index, const Request &request) {
  pack.members.push_back(index);
  pack.rows += request.rows;
  pack.elements += request.elements;
  pack.bytes += request.bytes;
  pack.firstArrival = std::min(pack.firstArrival, request.arrival);
  pack.firstDeadline = std::min(pack.firstDeadline, request.deadline);
}

static void clear(Pack &pack) {
  pack.members.clear();
  pack.rows = 0;
  pack.elements = pack.bytes = 0;
  pack.full = false;
  pack.firstArrival = pack.firstDeadline = kNever;
}

/// The classes that may join a batch with such a head as of right.
static std::pair<uint32_t, uint32_t> partners(const ModelConfig &config, uint32_t numClasses, uint32_t headClass) {
  switch (config.mix) {
  case MixPolicy::Isolate:
    return {headClass, headClass};
  case MixPolicy::FillPadding:
    return {1, headClass};
  case MixPolicy::Merge:
    break;
  }
  return {1, numClasses};
}

bool packBucket(const PackLimits &limits, const RequestTable &table, const ModelQueues &queues, ModelQueues::View view,
                uint32_t bucket, uint32_t first, Pack &pack) {
  clear(pack);
  if (first == kNone)
    first = queues.walk(table, view, bucket, 1, queues.numClasses()).current();
  if (first == kNone)
    return false;
  pack.head = {table[first].key, table[first].sequence};
  pack.headClass = table[first].priority;
  take(pack, first, table[first]);
  auto [from, to] = partners(limits.config, queues.numClasses(), pack.headClass);
  QueueWalk walk = queues.walk(table, view, bucket, from, to);
  for (uint32_t next = walk.current(); next != kNone && pack.rows < limits.cap; walk.advance(), next = walk.current()) {
    if (next == first)
      continue;
    if (!fits(limits, pack, table[next], limits.cap)) {
      pack.full = true;
      break;
    }
    take(pack, next, table[next]);
  }
  const std::vector<uint32_t> &preferred = limits.config.preferredRows;
  pack.full |= pack.rows >= limits.cap || pack.elements >= limits.config.maxElements ||
               (!preferred.empty() && pack.rows >= preferred.back());
  return true;
}

void promote(const PackLimits &limits, const RequestTable &table, const ModelQueues &queues, ModelQueues::View view,
             uint32_t bucket, const LatencyModel &latency, TimeNs now, Pack &pack) {
  if (bucket == 0 || pack.full)
    return;
  int64_t large = limits.config.buckets[bucket].elementsPerRow,
          small = limits.config.buckets[bucket - 1].elementsPerRow;
  if (large <= 0 || small <= 0 || (large - small) * 100 > large * int64_t(limits.config.maxWastePercent))
    return;
  auto [from, to] = partners(limits.config, queues.numClasses(), pack.headClass);
  QueueWalk walk = queues.walk(table, view, bucket - 1, from, to);
  for (uint32_t next = walk.current(); next != kNone; walk.advance(), next = walk.current()) {
    if (!fits(limits, pack, table[next], limits.cap))
      return;
    TimeNs end = now + latency.predict(bucket, executedRows(limits, pack.rows + table[next].rows));
    if (end > std::min(pack.firstDeadline, table[next].deadline))
      return;
    take(pack, next, table[next]);
  }
}

/// Is one of those behind the first `rows` rows too late if these run alone and the others after them?
static bool leavesSomebodyLate(const RequestTable &table, const Pack &pack, uint32_t rows, TimeNs end) {
  for (uint32_t index : pack.members)
    if (table[index].rows <= rows)
      rows -= table[index].rows;
    else if (rows = 0; table[index].deadline < end)
      return true;
  return false;
}

uint32_t chooseRows(const PackLimits &limits, const RequestTable &table, uint32_t bucket, const LatencyModel &latency,
                    TimeNs now, Pack &pack) {
  uint32_t up = executedRows(limits, pack.rows);
  if (up == pack.rows || limits.config.pad == PadPolicy::PadUp)
    return up;
  auto above = std::upper_bound(limits.variants.begin(), limits.variants.end(), pack.rows);
  uint32_t low = above == limits.variants.begin() ? 0 : *(above - 1);
  if (low < table[pack.members[0]].rows)
    return up;
  TimeNs lowCost = latency.predict(bucket, low), upCost = latency.predict(bucket, up);
  if (limits.config.pad == PadPolicy::MinCost && __int128(lowCost) * pack.rows > __int128(upCost) * low)
    return up;
  TimeNs end = now + lowCost + latency.predict(bucket, executedRows(limits, pack.rows - low));
  if (leavesSomebodyLate(table, pack, low, end))
    return up;
  while (pack.rows > low) {
    pack.rows -= table[pack.members.back()].rows;
    pack.members.pop_back();
  }
  return executedRows(limits, pack.rows);
}

void fillPadding(const PackLimits &limits, const RequestTable &table, const ModelQueues &queues, ModelQueues::View view,
                 uint32_t bucket, uint32_t rows, Pack &pack) {
  if (limits.config.mix != MixPolicy::FillPadding || pack.headClass >= queues.numClasses())
    return;
  rows = std::min(rows, limits.cap);
  QueueWalk walk = queues.walk(table, view, bucket, pack.headClass + 1, queues.numClasses());
  for (uint32_t next = walk.current(); next != kNone && pack.rows < rows; walk.advance(), next = walk.current()) {
    if (!fits(limits, pack, table[next], rows))
      return;
    take(pack, next, table[next]);
  }
}

} // namespace llmc::batch
