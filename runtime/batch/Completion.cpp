//===- Completion.cpp - Batches that end, and what becomes of failed ones -----------------------------------------===//
//
// A batch that fails as a whole is split in two halves in the order of keys, which run again before all else and take
// no newcomers, until the offender is alone. These runs are paid from a budget that executions fill.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/batch/BatcherCore.h"
#include <algorithm>

namespace llmc::batch {

BatchId BatcherCore::newBatch(const Model &model, uint32_t versionSlot, uint32_t bucket) {
  BatchId id = freeBatches.back();
  freeBatches.pop_back();
  batches[id] = Batch();
  batches[id].inUse = true;
  batches[id].model = model.index;
  batches[id].versionSlot = versionSlot;
  batches[id].bucket = bucket;
  ++models[model.index].versions[versionSlot].batches;
  ++models[model.index].inBatches;
  return id;
}

void BatcherCore::freeBatch(BatchId id) {
  Batch &batch = batches[id];
  Model &model = models[batch.model];
  --model.versions[batch.versionSlot].batches;
  --model.inBatches;
  batch.inUse = false;
  freeBatches.push_back(id);
}

/// `last`: the member appended before, kNone at first.
void BatcherCore::append(BatchId id, uint32_t index, uint32_t &last) {
  Batch &batch = batches[id];
  (last == kNone ? batch.first : table[last].nextInBatch) = index;
  last = index;
  table[index].batch = id;
  table[index].nextInBatch = kNone;
  batch.rows += table[index].rows;
  ++batch.count;
}

/// Of a batch that does not run.
void BatcherCore::removeMember(BatchId id, uint32_t index) {
  Batch &batch = batches[id];
  uint32_t *link = &batch.first;
  while (*link != index)
    link = &table[*link].nextInBatch;
  *link = table[index].nextInBatch;
  batch.rows -= table[index].rows;
  --batch.count;
  table[index].batch = kNone;
  afterRemoval(id);
}

/// A staged batch is made compact, an empty one is gone.
void BatcherCore::afterRemoval(BatchId id) {
  Batch &batch = batches[id];
  Model &model = models[batch.model];
  if (batch.count > 0) {
    batch.executed = executedRows(model.limits(model.cap), batch.rows);
    if (!batch.quarantine)
      push({.kind = ActionKind::Restage, .instance = batch.instance, .batch = id, .rows = batch.executed});
    return;
  }
  if (batch.quarantine) {
    std::erase(model.quarantine, id);
  } else {
    instances[batch.instance].staged = kNone;
    push({.kind = ActionKind::Unstage, .instance = batch.instance, .batch = id});
  }
  freeBatch(id);
}

/// The members of a staged batch go back to where they were.
void BatcherCore::unstage(TimeNs now, uint32_t instance) {
  BatchId id = instances[instance].staged;
  instances[instance].staged = kNone;
  push({.kind = ActionKind::Unstage, .instance = instance, .batch = id});
  requeue(now, id);
}

/// Back into the queue by the same keys; the batch is gone. Only members whose callers wait are left in it.
void BatcherCore::requeue(TimeNs now, BatchId id) {
  for (uint32_t index = batches[id].first; index != kNone;) {
    uint32_t next = table[index].nextInBatch;
    table[index].batch = kNone;
    enterQueue(now, index);
    index = next;
  }
  freeBatch(id);
}

void BatcherCore::complete(TimeNs now, BatchId id, const Completion &completion) {
  Batch &batch = batches[id];
  Model &model = models[batch.model];
  Instance &instance = instances[batch.instance];
  TimeNs measured = now - batch.started;
  shares[instance.device].end(now, model.index, model.config.weight, batch.cost, measured, batch.memory);
  ++model.stats->executions;
  model.stats->failedExecutions += completion.fault != BatchFault::None;
  model.stats->rows += batch.rows;
  model.stats->executedRows += batch.executed;
  model.stats->runTime.add(measured);
  instance.running = kNone;
  bool isDown = completion.fault == BatchFault::Crash || completion.fault == BatchFault::DeviceLost;
  if (instance.state == InstanceState::Draining)
    setInstanceDown(now, batch.instance, InstanceState::Removed);
  else if (isDown)
    setInstanceDown(now, batch.instance, InstanceState::Failed);
  else
    instance.state = InstanceState::Idle;
  batch.running = false;
  endRun(now, model, id, completion);
}

void BatcherCore::endRun(TimeNs now, Model &model, BatchId id, const Completion &completion) {
  const Batch batch = batches[id];
  Lane &lane = model.lane(batch.versionSlot, instances[batch.instance].device);
  bool opened = false, alone = batch.count == 1;
  if (batch.probe) {
    lane.probing = false;
    opened = lane.breaker.recordProbe(now, completion.fault == BatchFault::None);
  }
  switch (completion.fault) {
  case BatchFault::None: {
    TimeNs measured = now - batch.started;
    lane.latency.learn(batch.bucket, batch.executed, std::max<TimeNs>(1, measured));
    model.adaptive.executed(batch.rows, measured);
    opened |= deliver(now, model, lane, id, completion.badMembers);
    break;
  }
  case BatchFault::OutOfMemory:
    halveCap(now, model, batch.executed);
    if (alone || model.config.stateful) {
      opened |= failBatch(now, model, lane, id, Reason::OutOfMemory);
    } else {
      dropAbandoned(id);
      requeue(now, id);
    }
    break;
  case BatchFault::DeviceLost:
    opened |= lane.breaker.trip(now);
    dropAbandoned(id);
    if (model.config.stateful || (batches[id].first != kNone && table[batches[id].first].retries > 0)) {
      opened |= failBatch(now, model, lane, id, Reason::Exec);
    } else {
      for (uint32_t index = batches[id].first; index != kNone; index = table[index].nextInBatch)
        ++table[index].retries;
      requeue(now, id);
    }
    break;
  case BatchFault::Crash:
  case BatchFault::Error:
    if (completion.fault == BatchFault::Crash && alone && table[batch.first].hasContent)
      model.poison.remember(table[batch.first].content, now + model.config.retry.rememberPoison);
    if (alone || model.config.stateful)
      opened |= failBatch(now, model, lane, id, Reason::Exec);
    else
      quarantineHalves(now, model, id);
    break;
  }
  if (opened)
    onBreakerOpened(now, model);
}

/// Each member has its result, but for those whose rows a kernel refused. True if the breaker opens.
bool BatcherCore::deliver(TimeNs now, Model &model, Lane &lane, BatchId id, std::span<const uint32_t> bad) {
  bool opened = false;
  uint32_t position = 0;
  for (uint32_t index = batches[id].first; index != kNone; ++position) {
    uint32_t next = table[index].nextInBatch;
    bool isBad = !bad.empty() && bad.front() == position;
    if (isBad)
      bad = bad.subspan(1);
    else if (!batches[id].probe)
      opened |= lane.breaker.record(now, true);
    if (table[index].state == RequestState::Abandoned)
      table.release(index);
    else
      finish(now, index, isBad ? Outcome::Failed : Outcome::Done, isBad ? Reason::RowFault : Reason::None);
    ++model.completions;
    index = next;
  }
  freeBatch(id);
  return opened;
}

/// True if the breaker opens.
bool BatcherCore::failBatch(TimeNs now, Model &model, Lane &lane, BatchId id, Reason reason) {
  bool opened = false;
  for (uint32_t index = batches[id].first; index != kNone;) {
    uint32_t next = table[index].nextInBatch;
    if (!batches[id].probe)
      opened |= lane.breaker.record(now, false);
    if (table[index].state == RequestState::Abandoned)
      table.release(index);
    else
      finish(now, index, Outcome::Failed, reason);
    index = next;
  }
  freeBatch(id);
  return opened;
}

/// Members whose callers have been answered leave the batch.
void BatcherCore::dropAbandoned(BatchId id) {
  Batch &batch = batches[id];
  for (uint32_t *link = &batch.first; *link != kNone;) {
    uint32_t index = *link;
    if (table[index].state != RequestState::Abandoned) {
      link = &table[index].nextInBatch;
      continue;
    }
    *link = table[index].nextInBatch;
    batch.rows -= table[index].rows;
    --batch.count;
    table.release(index);
  }
}

/// The batch failed, and somebody in it may be to blame.
void BatcherCore::quarantineHalves(TimeNs now, Model &model, BatchId id) {
  dropAbandoned(id);
  Batch &batch = batches[id];
  if (batch.count == 0)
    return freeBatch(id);
  for (uint32_t index = batch.first; index != kNone; index = table[index].nextInBatch) {
    ++table[index].retries;
    table[index].state = RequestState::Quarantined;
    if (!table[index].expires)
      setExpiry(index);
  }
  batch.quarantine = true;
  batch.probe = false;
  if (batch.count > 1) {
    splitBatch(model, id);
    return;
  }
  batch.executed = executedRows(model.limits(model.cap), batch.rows);
  model.quarantine.push_back(id);
}

/// Both halves become the next to run, the first half before the second.
void BatcherCore::splitBatch(Model &model, BatchId id) {
  uint32_t half = (batches[id].count + 1) / 2, index = batches[id].first;
  BatchId halves[2] = {newBatch(model, batches[id].versionSlot, batches[id].bucket),
                       newBatch(model, batches[id].versionSlot, batches[id].bucket)};
  for (BatchId part : halves) {
    uint32_t last = kNone;
    batches[part].quarantine = true;
    while (index != kNone && (part == halves[1] || batches[part].count < half)) {
      uint32_t next = table[index].nextInBatch;
      append(part, index, last);
      index = next;
    }
    batches[part].executed = executedRows(model.limits(model.cap), batches[part].rows);
  }
  model.quarantine.push_back(halves[1]);
  model.quarantine.push_back(halves[0]);
  freeBatch(id);
}

BatchId BatcherCore::nextHalf(const Model &model, uint32_t versionSlot) const {
  for (size_t i = model.quarantine.size(); i-- > 0;)
    if (batches[model.quarantine[i]].versionSlot == versionSlot)
      return model.quarantine[i];
  return kNone;
}

/// Before a half runs: those who would be late leave it, and it has to be paid. False if that has changed anything.
bool BatcherCore::prepareHalf(TimeNs now, Model &model, const Instance &instance, BatchId id, TimeNs cost) {
  for (uint32_t index = batches[id].first; index != kNone; index = table[index].nextInBatch)
    if (now + cost > table[index].deadline) {
      removeMember(id, index);
      finish(now, index, Outcome::Expired, Reason::Deadline);
      return false;
    }
  if (model.budget.hasToken())
    return true;
  std::erase(model.quarantine, id);
  if (failBatch(now, model, model.lane(instance.versionSlot, instance.device), id, Reason::BatchAborted))
    onBreakerOpened(now, model);
  return false;
}

/// The next batches are half as large, until there has been no such failure for a while.
void BatcherCore::halveCap(TimeNs now, Model &model, uint32_t executed) {
  auto above = std::upper_bound(model.variants.begin(), model.variants.end(), std::max(1u, executed / 2));
  uint32_t smaller = above == model.variants.begin() ? model.variants.front() : *(above - 1);
  model.outOfMemoryCap = std::max(1u, std::min(model.outOfMemoryCap, smaller));
  model.outOfMemoryAt = now;
}

/// What waits goes to a fallback, or is told at once, unless another device of the model works.
void BatcherCore::onBreakerOpened(TimeNs now, Model &model) {
  for (uint32_t id : model.instances)
    if (instances[id].staged != kNone && !mayStart(now, model, instances[id]))
      unstage(now, id);
  if (isAvailable(now, model))
    return;
  while (!model.quarantine.empty()) {
    BatchId half = model.quarantine.back();
    uint32_t index = batches[half].first;
    removeMember(half, index);
    finish(now, index, Outcome::Rejected, Reason::Breaker);
  }
  for (uint32_t index = model.queues.any(); index != kNone; index = model.queues.any()) {
    leaveQueue(index);
    uint32_t fallback = fallbackFor(now, model, table[index]);
    if (fallback == kNone || !moveTo(now, index, fallback))
      finish(now, index, Outcome::Rejected, Reason::Breaker);
  }
}

} // namespace llmc::batch
