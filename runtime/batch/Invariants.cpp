//===- Invariants.cpp - What holds after each step ----------------------------------------------------------------===//

#include "runtime/batch/BatcherCore.h"
#include <algorithm>

namespace llmc::batch {

const char *BatcherCore::checkInvariants(TimeNs now) const {
  for (const Model &model : models)
    if (const char *fault = model.queues.check(table))
      return fault;
  for (const char *(BatcherCore::*check)() const :
       {&BatcherCore::checkRequests, &BatcherCore::checkBatches, &BatcherCore::checkInstances})
    if (const char *fault = (this->*check)())
      return fault;
  return checkNothingWaitsInVain(now);
}

/// Each is in one place, and the places hold no others.
const char *BatcherCore::checkRequests() const {
  uint32_t used = 0, queuedRequests = 0, inBatch = 0, expiring = 0;
  int64_t bytes = 0;
  for (uint32_t index = 0; index < table.capacity(); ++index) {
    const Request &request = table[index];
    if (request.state == RequestState::Free)
      continue;
    ++used;
    expiring += request.expires;
    bool isQueued = request.state == RequestState::Queued;
    queuedRequests += isQueued;
    bytes += isQueued ? request.bytes : 0;
    bool hasBatch = !isQueued && request.state != RequestState::Held;
    inBatch += hasBatch;
    if (hasBatch && (request.batch == kNone || !batches[request.batch].inUse))
      return "a request runs in a batch that does not exist";
    if (request.state == RequestState::Held && (request.streamSlot == kNone || reorder.isFirst(table, index)))
      return "an answer is held back though it is its turn";
    if (request.state == RequestState::Abandoned && request.streamSlot != kNone)
      return "an abandoned request holds up its stream";
  }
  if (used != table.size())
    return "the table has lost count";
  uint32_t inQueues = 0, inMembers = 0;
  for (const Model &model : models)
    inQueues += model.queues.total().requests;
  for (const Batch &batch : batches)
    inMembers += batch.inUse ? batch.count : 0;
  if (inQueues != queuedRequests || bytes != queuedBytes)
    return "what is queued is not what the queues hold";
  if (inMembers != inBatch)
    return "a request is in several batches";
  return expiring == expiry.size() && expiry.isSound(table.expiryLinks) ? nullptr : "the queue of expiries is wrong";
}

const char *BatcherCore::checkBatches() const {
  uint32_t inUse = 0;
  for (BatchId id = 0; id < batches.size(); ++id) {
    if (!batches[id].inUse)
      continue;
    ++inUse;
    if (const char *fault = checkBatch(id))
      return fault;
  }
  return inUse + freeBatches.size() == batches.size() ? nullptr : "the batches have lost count";
}

const char *BatcherCore::checkBatch(BatchId id) const {
  const Batch &batch = batches[id];
  const Model &model = models[batch.model];
  uint32_t count = 0, rows = 0, classOfFirst = 0;
  for (uint32_t index = batch.first; index != kNone; index = table[index].nextInBatch) {
    const Request &request = table[index];
    ++count;
    rows += request.rows;
    if (request.batch != id || request.model != batch.model)
      return "a member of a batch does not know it";
    if (request.bucket != batch.bucket && request.bucket + 1 != batch.bucket)
      return "a batch mixes buckets";
    if (request.pin != 0 && request.pin != batch.versionSlot + 1)
      return "a batch mixes versions";
    if (count == 1)
      classOfFirst = request.priority;
    if (model.config.mix == MixPolicy::Isolate && request.priority != classOfFirst)
      return "a batch mixes classes that are isolated";
  }
  if (count == 0 || count != batch.count || rows != batch.rows)
    return "a batch has lost count of its members";
  if (batch.rows > batch.executed || batch.rows > model.cap)
    return "a batch is over the cap";
  if (!model.config.anySize && !std::binary_search(model.variants.begin(), model.variants.end(), batch.executed))
    return "a size runs that is no variant";
  bool waits = std::find(model.quarantine.begin(), model.quarantine.end(), id) != model.quarantine.end();
  if (waits != (batch.quarantine && !batch.running))
    return "a half of a failed batch is lost";
  if (!waits && instances[batch.instance].running != id && instances[batch.instance].staged != id)
    return "a batch is on no instance";
  return nullptr;
}

const char *BatcherCore::checkInstances() const {
  std::vector<uint32_t> running(shares.size());
  std::vector<int64_t> memory(shares.size());
  for (const Instance &instance : instances) {
    bool runs = instance.state == InstanceState::Busy || instance.state == InstanceState::Draining;
    if (runs != (instance.running != kNone))
      return "an instance runs nothing and is busy, or the other way round";
    if (instance.staged != kNone && instance.state != InstanceState::Busy && instance.state != InstanceState::Idle)
      return "a batch is staged for an instance that is gone";
    if (!runs)
      continue;
    ++running[instance.device];
    memory[instance.device] += batches[instance.running].memory;
  }
  for (size_t device = 0; device < shares.size(); ++device) {
    if (running[device] != shares[device].running() || running[device] > shares[device].slots())
      return "a device runs more or less than it should";
    if (memory[device] != shares[device].memoryUsed() || memory[device] > shares[device].memoryFor(true))
      return "a device uses more or less memory than it should";
  }
  return nullptr;
}

/// No instance idles while something could start on it, and nothing that will become due is forgotten.
const char *BatcherCore::checkNothingWaitsInVain(TimeNs now) const {
  if (!expiry.empty() && wakeup > table.expiryLinks[expiry.head()].key.time + 1)
    return "a request will end late";
  for (const Instance &instance : instances) {
    const Model &model = models[instance.model];
    if (instance.state != InstanceState::Idle || instance.staged != kNone || !shares[instance.device].hasFreeSlot() ||
        !mayStart(now, model, instance))
      continue;
    bool waitsForMemory = nextHalf(model, instance.versionSlot) != kNone;
    for (uint32_t id : model.instances)
      waitsForMemory |= instances[id].state == InstanceState::Idle && instances[id].staged != kNone &&
                        instances[id].versionSlot == instance.versionSlot && instances[id].device == instance.device;
    for (uint32_t bucket = 0; bucket < model.config.buckets.size() && !waitsForMemory; ++bucket) {
      Candidate candidate;
      TimeNs due = kNever;
      if (assess(now, model, instance, bucket, kNone, checkPack, candidate, due))
        return "an instance idles though a bucket may start";
      if (due < wakeup)
        return "a bucket becomes due and nobody will wake";
    }
  }
  return nullptr;
}

} // namespace llmc::batch
