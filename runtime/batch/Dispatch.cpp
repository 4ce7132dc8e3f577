//===- Dispatch.cpp - What starts now -----------------------------------------------------------------------------===//
//
// A device with a free slot takes the model with the smallest virtual time among those that have something to start
// there. Of a model an idle instance takes, in this order: a staged batch, a half of a failed one, the most urgent
// bucket.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/batch/BatcherCore.h"
#include <algorithm>

namespace llmc::batch {

static constexpr TimeNs kStageMargin = 200 * kMicrosecond; // a staged batch is complete so much before it can start

std::span<const Action> BatcherCore::step(TimeNs now) {
  if (actionsSeen)
    actions.clear();
  actionsSeen = false;
  wakeup = kNever;
  expire(now);
  if (draining && now > drainDeadline)
    rejectAll(now);
  keepHouse(now);
  for (bool progress = true; progress;) {
    progress = droppedSome = false;
    wakeup = kNever; // only what holds after the last start counts
    for (uint32_t device = 0; device < shares.size(); ++device)
      while (shares[device].hasFreeSlot() && startOne(now, device))
        progress = true;
    if (!progress)
      progress = stage(now);
    progress |= droppedSome; // which may be good news for a device that was asked before
  }
  reportIdleVersions();
  if (!expiry.empty())
    wakeAt(table.expiryLinks[expiry.head()].key.time + 1);
  if (draining && table.size() > 0 && drainDeadline >= now)
    wakeAt(drainDeadline + 1);
  actionsSeen = true;
  assert((table.capacity() > 256 || !checkInvariants(now)) &&
         "the batcher is in order after each step"); // large ones take too long
  return actions;
}

/// The model whose turn it is; an urgent batch may jump the order within its share of the time.
bool BatcherCore::startOne(TimeNs now, uint32_t device) {
  DeviceShare &share = shares[device];
  Candidate best, urgent;
  uint32_t bestModel = 0, urgentModel = 0;
  for (Model &model : models) {
    if (model.queues.total().requests == 0 && model.inBatches == 0)
      continue;
    Candidate candidate = bestOf(now, model, device);
    if (!candidate)
      continue;
    TimeNs time = share.virtualTime(model.index);
    if (!best || time < share.virtualTime(bestModel)) {
      best = candidate;
      bestModel = model.index;
    }
    if (candidate.urgent && (!urgent || time < share.virtualTime(urgentModel))) {
      urgent = candidate;
      urgentModel = model.index;
    }
  }
  if (!best)
    return false;
  if (urgent && urgentModel != bestModel && !best.urgent && share.mayJump(now, urgent.cost)) {
    share.jump(now, urgent.cost);
    best = urgent;
    bestModel = urgentModel;
  }
  start(now, models[bestModel], best);
  return true;
}

/// Is `a` to start before `b`?
static bool precedes(bool aUrgent, QueueKey a, bool bUrgent, QueueKey b) {
  return aUrgent != bUrgent ? aUrgent : a < b;
}

/// Over the idle instances of the model on the device; of one version only the one that was used last, whose caches are
/// warm.
BatcherCore::Candidate BatcherCore::bestOf(TimeNs now, Model &model, uint32_t device) {
  std::array<uint32_t, kMaxVersions> idle;
  idle.fill(kNone);
  Candidate best;
  for (uint32_t id : model.instances) {
    const Instance &instance = instances[id];
    if (instance.device != device || instance.state != InstanceState::Idle)
      continue;
    uint32_t &chosen = idle[instance.versionSlot];
    if (chosen == kNone || instance.staged != kNone ||
        (instances[chosen].staged == kNone && instance.lastUse > instances[chosen].lastUse))
      chosen = id;
  }
  for (uint32_t id : idle) {
    if (id == kNone)
      continue;
    Candidate candidate = bestFor(now, model, id);
    if (candidate && (!best || precedes(candidate.urgent, candidate.head, best.urgent, best.head)))
      best = candidate;
  }
  return best;
}

/// The breaker of its lane lets the instance run something.
bool BatcherCore::mayStart(TimeNs now, const Model &model, const Instance &instance) const {
  const Lane &lane = model.lane(instance.versionSlot, instance.device);
  Breaker::State state = lane.breaker.state(now);
  return state == Breaker::State::Closed || (state == Breaker::State::HalfOpen && !lane.probing);
}

BatcherCore::Candidate BatcherCore::bestFor(TimeNs now, Model &model, uint32_t id) {
  Instance &instance = instances[id];
  Candidate candidate;
  if (!mayStart(now, model, instance)) {
    wakeAt(model.lane(instance.versionSlot, instance.device).breaker.opensUntil(now));
    return candidate;
  }
  const LatencyModel &latency = model.lane(instance.versionSlot, instance.device).latency;
  const DeviceShare &share = shares[instance.device];
  if (instance.staged != kNone) {
    const Batch &staged = batches[instance.staged];
    if (!share.fits(memoryOf(model, staged.executed), model.config.critical))
      return candidate;
    candidate.cost = latency.predict(staged.bucket, staged.executed);
    candidate.formed = instance.staged;
    candidate.instance = id;
    return candidate;
  }
  // The halves of a failed batch come before all that waits.
  for (BatchId half; (half = nextHalf(model, instance.versionSlot)) != kNone;) {
    uint32_t rows = batches[half].executed;
    TimeNs cost = latency.predict(batches[half].bucket, rows);
    if (!prepareHalf(now, model, instance, half, cost)) {
      if (!mayStart(now, model, instance))
        return candidate;
      continue;
    }
    if (!share.fits(memoryOf(model, rows), model.config.critical))
      return candidate;
    candidate.cost = cost;
    candidate.formed = half;
    candidate.instance = id;
    return candidate;
  }
  return model.queues.total().requests ? bestInQueue(now, model, id) : candidate;
}

BatcherCore::Candidate BatcherCore::bestInQueue(TimeNs now, Model &model, uint32_t id) {
  const Instance &instance = instances[id];
  Candidate best;
  uint32_t oldest = kNone;
  if (model.config.strict && model.sinceGuard + 1 >= model.config.strictGuard)
    oldest = model.queues.oldest(table, view(model, instance));
  for (uint32_t bucket = 0; bucket < model.config.buckets.size(); ++bucket) {
    dropLate(now, model, instance.versionSlot, bucket);
    Candidate candidate;
    TimeNs due = kNever;
    if (assess(now, model, instance, bucket, kNone, pack, candidate, due)) {
      candidate.instance = id;
      if (!best || precedes(candidate.urgent, candidate.head, best.urgent, best.head))
        best = candidate;
    }
    wakeAt(due);
  }
  // One batch in so many belongs to whoever has waited longest, as soon as it is due.
  if (oldest != kNone && table[oldest].state == RequestState::Queued) {
    Candidate candidate;
    TimeNs due = kNever;
    if (assess(now, model, instance, table[oldest].bucket, oldest, pack, candidate, due)) {
      candidate.instance = id;
      candidate.guard = true;
      return candidate;
    }
    wakeAt(due);
  }
  return best;
}

/// Early drop: while the head can not end in time within the batch that it would join, on any device, it goes. Asking
/// whether it could alone is not enough: the batch is larger, and everyone is late.
void BatcherCore::dropLate(TimeNs now, Model &model, uint32_t versionSlot, uint32_t bucket) {
  PackLimits limits = model.limits(capOf(model));
  ModelQueues::View from = {versionSlot, versionSlot == model.current};
  while (packBucket(limits, table, model.queues, from, bucket, kNone, pack)) {
    uint32_t head = pack.members[0], rows = executedRows(limits, pack.rows);
    TimeNs cost = kNever;
    for (uint32_t id : model.instances)
      if (isLive(instances[id]) && instances[id].versionSlot == versionSlot)
        cost = std::min(cost, model.lane(versionSlot, instances[id].device).latency.predict(bucket, rows));
    if (now + cost <= table[head].deadline)
      return;
    leaveQueue(head);
    finish(now, head, Outcome::Expired, Reason::Deadline);
    droppedSome = true;
  }
}

/// May the bucket start on the instance now? If not, `due` says when it may, kNever if something else has to happen
/// first.
bool BatcherCore::assess(TimeNs now, const Model &model, const Instance &instance, uint32_t bucket, uint32_t first,
                         Pack &pack, Candidate &candidate, TimeNs &due) const {
  PackLimits limits = model.limits(capOf(model));
  if (!packBucket(limits, table, model.queues, view(model, instance), bucket, first, pack))
    return false;
  uint32_t rows = executedRows(limits, pack.rows);
  TimeNs cost = model.lane(instance.versionSlot, instance.device).latency.predict(bucket, rows);
  if (!shares[instance.device].fits(memoryOf(model, rows), model.config.critical) ||
      now + cost > table[pack.members[0]].deadline || leavesItToFaster(now, model, instance, cost, bucket, rows))
    return false;
  TimeNs latest = pack.firstDeadline - cost - model.config.epsilon;
  TimeNs ready = std::min(pack.firstArrival + model.adaptive.delay(), latest);
  candidate.bucket = bucket;
  candidate.urgent = now >= latest;
  candidate.head = pack.head;
  candidate.cost = cost;
  if (pack.full || model.adaptive.delay() == 0 || now >= ready)
    return true;
  due = ready;
  return false;
}

/// A slower device takes work only if it would be done sooner than by waiting for a faster one.
bool BatcherCore::leavesItToFaster(TimeNs now, const Model &model, const Instance &instance, TimeNs cost,
                                   uint32_t bucket, uint32_t rows) const {
  if (shares.size() == 1)
    return false;
  for (uint32_t id : model.instances) {
    const Instance &other = instances[id];
    if (!isLive(other) || other.device == instance.device || other.versionSlot != instance.versionSlot ||
        !mayStart(now, model, other))
      continue;
    TimeNs theirs = model.lane(other.versionSlot, other.device).latency.predict(bucket, rows);
    bool canRunNow = other.state == InstanceState::Idle && shares[other.device].hasFreeSlot();
    if (other.state == InstanceState::Idle && !canRunNow)
      continue; // another model has the device: nobody knows for how long
    TimeNs wait = canRunNow ? 0 : std::max<TimeNs>(0, other.predictedEnd - now);
    if (theirs < cost && wait + theirs < cost && (canRunNow || other.staged == kNone))
      return true;
  }
  return false;
}

int64_t BatcherCore::memoryOf(const Model &model, uint32_t rows) const {
  if (model.config.arenaBytes.empty())
    return 0;
  const std::vector<uint32_t> &variants = model.config.variants;
  auto variant = std::lower_bound(variants.begin(), variants.end(), rows);
  return model.config.arenaBytes[std::min<size_t>(variant - variants.begin(), variants.size() - 1)];
}

uint32_t BatcherCore::capOf(const Model &model) const {
  return std::min({model.cap, model.memoryCap, model.outOfMemoryCap, model.adaptive.cap()});
}

/// Takes the members out of the queue.
BatchId BatcherCore::formBatch(TimeNs now, Model &model, const Candidate &candidate) {
  const Instance &instance = instances[candidate.instance];
  PackLimits limits = model.limits(capOf(model));
  ModelQueues::View from = view(model, instance);
  const LatencyModel &latency = model.lane(instance.versionSlot, instance.device).latency;
  uint32_t first = candidate.guard ? model.queues.oldest(table, from) : kNone;
  packBucket(limits, table, model.queues, from, candidate.bucket, first, pack);
  if (now < pack.firstDeadline) // a batch that is late already gets no company
    promote(limits, table, model.queues, from, candidate.bucket, latency, now, pack);
  uint32_t rows = chooseRows(limits, table, candidate.bucket, latency, now, pack);
  fillPadding(limits, table, model.queues, from, candidate.bucket, rows, pack);
  BatchId id = newBatch(model, instance.versionSlot, candidate.bucket);
  uint32_t last = kNone;
  for (uint32_t member : pack.members) {
    leaveQueue(member);
    append(id, member, last);
    table[member].state = RequestState::Claimed;
  }
  batches[id].executed = rows;
  model.sinceGuard = candidate.guard ? 0 : model.sinceGuard + 1;
  return id;
}

void BatcherCore::start(TimeNs now, Model &model, const Candidate &candidate) {
  Instance &instance = instances[candidate.instance];
  Lane &lane = model.lane(instance.versionSlot, instance.device);
  BatchId id = candidate.formed != kNone ? candidate.formed : formBatch(now, model, candidate);
  Batch &batch = batches[id];
  if (batch.quarantine) {
    std::erase(model.quarantine, id);
    model.budget.take();
  }
  batch.running = true;
  batch.instance = candidate.instance;
  batch.started = now;
  batch.cost = lane.latency.predict(batch.bucket, batch.executed);
  batch.memory = memoryOf(model, batch.executed);
  batch.probe = lane.breaker.state(now) == Breaker::State::HalfOpen;
  batch.awaited = batch.count;
  lane.probing = batch.probe;
  instance.state = InstanceState::Busy;
  instance.running = id;
  instance.staged = kNone;
  instance.predictedEnd = now + batch.cost;
  instance.lastUse = ++useCount;
  shares[instance.device].start(now, model.index, model.config.weight, batch.cost, batch.memory);
  model.budget.executed();
  for (uint32_t index = batch.first; index != kNone; index = table[index].nextInBatch) {
    clearExpiry(index);
    table[index].timeout = kNever; // it has left the queue for good
    table[index].state = RequestState::Running;
    model.stats->queueTime.add(now - table[index].arrival);
  }
  push({.kind = ActionKind::Start, .instance = candidate.instance, .batch = id, .rows = batch.executed});
}

/// The next batch is gathered while one runs, as late as it can be and still be ready. True if there is one more.
bool BatcherCore::stage(TimeNs now) {
  bool staged = false;
  for (Model &model : models)
    if (model.config.doubleBuffer)
      for (uint32_t id : model.instances)
        if (instances[id].state == InstanceState::Busy && instances[id].staged == kNone)
          staged |= stageFor(now, model, id);
  return staged;
}

bool BatcherCore::stageFor(TimeNs now, Model &model, uint32_t id) {
  Instance &instance = instances[id];
  TimeNs time = instance.predictedEnd - model.config.copyTime - kStageMargin;
  if (model.queues.total().requests == 0 || !mayStart(now, model, instance))
    return false;
  if (now < time) {
    wakeAt(time);
    return false;
  }
  Candidate candidate = bestInQueue(now, model, id);
  if (!candidate)
    return false;
  BatchId staged = formBatch(now, model, candidate);
  batches[staged].instance = id;
  instance.staged = staged;
  push({.kind = ActionKind::Stage, .instance = id, .batch = staged, .rows = batches[staged].executed});
  return true;
}

/// What depends on time alone.
void BatcherCore::keepHouse(TimeNs now) {
  for (Model &model : models) {
    if (model.outOfMemoryCap < model.cap && now >= model.outOfMemoryAt + model.config.retry.outOfMemoryPause) {
      auto next = std::upper_bound(model.variants.begin(), model.variants.end(), model.outOfMemoryCap);
      model.outOfMemoryCap = next == model.variants.end() ? model.cap : std::min(*next, model.cap);
      model.outOfMemoryAt = now;
    }
    if (model.adaptive.windowIsOver(now))
      adapt(now, model);
  }
}

void BatcherCore::adapt(TimeNs now, Model &model) {
  if (model.instances.empty())
    return;
  uint32_t device = instances[model.instances[0]].device;
  TimeNs busy = shares[device].busyTime(now), span = (now - model.windowBegan) * shares[device].slots();
  AdaptiveControl::Load load;
  load.busyPercent = span > 0 ? uint32_t((busy - model.windowBusy) * 100 / span) : 0;
  load.shared = std::any_of(instances.begin(), instances.end(), [&](const Instance &instance) {
    return instance.device == device && instance.model != model.index && instance.state != InstanceState::Removed;
  });
  load.singleCost = model.lane(model.current, device).latency.predict(0, model.variants[0]);
  model.adaptive.adapt(now, load);
  model.windowBegan = now;
  model.windowBusy = busy;
}

} // namespace llmc::batch
