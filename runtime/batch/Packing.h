//===- Packing.h - Which waiting requests would make the next batch, and how many rows run ------------------------===//
//
// Looks only: nothing leaves a queue here. Batches are bound late, so this is asked again whenever something may start.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_PACKING_H
#define LLMC_RUNTIME_BATCH_PACKING_H

#include "runtime/batch/LatencyModel.h"
#include "runtime/batch/ModelQueues.h"

namespace llmc::batch {

/// The longest prefix of a bucket, in the order of keys, that fits a batch.
struct Pack {
  std::vector<uint32_t> members; // storage is kept between uses
  uint32_t rows = 0;
  int64_t elements = 0, bytes = 0;
  bool full = false;            // waiting longer would not make it larger
  TimeNs firstArrival = kNever; // of all members
  TimeNs firstDeadline = kNever;
  QueueKey head;
  uint32_t headClass = 0;
};

/// What a batch of the model may be, at this moment.
struct PackLimits {
  const ModelConfig &config;
  const std::vector<uint32_t> &variants; // ascending
  uint32_t cap;                          // rows; a single request may be larger
};

/// The row count that runs for so many rows.
uint32_t executedRows(const PackLimits &limits, uint32_t rows);

/// `first`: a request that has to be the head, kNone for the one with the smallest key. False if nothing waits.
bool packBucket(const PackLimits &limits, const RequestTable &table, const ModelQueues &queues, ModelQueues::View view,
                uint32_t bucket, uint32_t first, Pack &pack);

/// Adds rows of the next smaller bucket where padding them to this one is cheap enough and makes nobody late.
void promote(const PackLimits &limits, const RequestTable &table, const ModelQueues &queues, ModelQueues::View view,
             uint32_t bucket, const LatencyModel &latency, TimeNs now, Pack &pack);

/// Settles the row count that runs; members that it has no room for leave the pack at its end.
uint32_t chooseRows(const PackLimits &limits, const RequestTable &table, uint32_t bucket, const LatencyModel &latency,
                    TimeNs now, Pack &pack);

/// Lets less urgent requests take what would be padding of a run of `rows` rows.
void fillPadding(const PackLimits &limits, const RequestTable &table, const ModelQueues &queues, ModelQueues::View view,
                 uint32_t bucket, uint32_t rows, Pack &pack);

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_PACKING_H
