//===- Requests.cpp - Admission of requests, and the ways out -----------------------------------------------------===//

#include "runtime/batch/BatcherCore.h"
#include <algorithm>

namespace llmc::batch {

static constexpr TimeNs kStrictOffset = kNever / 2; // puts the keys of the other classes behind all of class 1
static constexpr uint64_t kEnoughSamples = 32;      // completions, before the throughput is believed

/// A model can take a request if one of its instances works and is not cut off by its breaker.
bool BatcherCore::isAvailable(TimeNs now, const Model &model) const {
  for (uint32_t id : model.instances) {
    const Instance &instance = instances[id];
    if (isLive(instance) &&
        model.lane(instance.versionSlot, instance.device).breaker.state(now) != Breaker::State::Open)
      return true;
  }
  return false;
}

Reason BatcherCore::whyNotKnown(TimeNs now, const Arrival &arrival) const {
  if (draining)
    return Reason::Draining;
  if (arrival.model >= models.size())
    return Reason::NotFound;
  const Model &model = models[arrival.model];
  if (arrival.version != kNone && versionSlotOf(model, arrival.version) == kNone)
    return Reason::NotFound;
  return model.liveInstances == 0 ? Reason::NotReady : Reason::None;
}

Reason BatcherCore::whyNotValid(TimeNs now, const Arrival &arrival, const Model &model) const {
  if (arrival.bucket >= model.config.buckets.size() || arrival.rows == 0 || arrival.bytes < 0 || arrival.elements < 0 ||
      arrival.priority > model.config.classes.size() || arrival.queueTimeout < 0)
    return Reason::BadInput;
  if (arrival.hasContent && model.poison.knows(arrival.content, now))
    return Reason::Quarantined;
  if (arrival.rows > std::min(model.cap, model.memoryCap) || arrival.elements > model.config.maxElements ||
      arrival.bytes > model.config.maxBatchBytes)
    return Reason::TooLarge;
  return now > arrival.deadline ? Reason::Deadline : Reason::None;
}

/// Keys never swap while requests age, since all age alike: the head start is part of the key.
void BatcherCore::setKey(const Model &model, Request &request) const {
  request.key = request.arrival + TimeNs(request.priority - 1) * model.config.agingQuantum;
  if (model.config.strict && request.priority > 1)
    request.key += kStrictOffset;
}

RequestHandle BatcherCore::arrive(TimeNs now, const Arrival &arrival) {
  Reason reason = whyNotKnown(now, arrival);
  if (reason == Reason::None)
    reason = whyNotValid(now, arrival, models[arrival.model]);
  if (reason == Reason::None && table.full())
    reason = Reason::QueueFull;
  if (reason != Reason::None) {
    refuse(arrival, reason);
    return {};
  }
  Model &model = models[arrival.model];
  uint32_t index = table.acquire();
  Request &request = table[index];
  request.model = request.asked = arrival.model;
  request.bucket = arrival.bucket;
  request.pin = arrival.version == kNone ? 0 : versionSlotOf(model, arrival.version) + 1;
  request.priority = arrival.priority ? arrival.priority : model.config.defaultPriority;
  request.rows = arrival.rows;
  request.bytes = arrival.bytes;
  request.elements = arrival.elements;
  request.id = arrival.id;
  request.sequence = nextSequence++;
  request.arrival = now;
  request.deadline = arrival.deadline;
  TimeNs patience = std::min(arrival.queueTimeout, model.config.classes[request.priority - 1].queueTimeout);
  request.timeout = patience >= kNever ? kNever : now + patience;
  request.content = arrival.content;
  request.hasContent = arrival.hasContent;
  request.state = RequestState::Queued;
  reason = admit(now, index);
  if (reason != Reason::None) {
    table.release(index);
    refuse(arrival, reason);
    return {};
  }
  ++model.stats->admitted;
  bool ordered = model.config.order == ResponseOrder::PerModel ||
                 (model.config.order == ResponseOrder::PerStream && arrival.stream != kNoStream);
  if (ordered)
    reorder.enter(table, index, arrival.model,
                  model.config.order == ResponseOrder::PerModel ? kNoStream : arrival.stream);
  return table.handle(index);
}

/// To the queue of its model, or of the fallback that takes its place.
Reason BatcherCore::admit(TimeNs now, uint32_t index) {
  Request &request = table[index];
  Model &model = models[request.model];
  if (!isAvailable(now, model)) {
    uint32_t fallback = fallbackFor(now, model, request);
    return fallback != kNone && moveTo(now, index, fallback) ? Reason::None : Reason::Breaker;
  }
  setKey(model, request);
  if (model.heldBytes >= model.config.maxHeldBytes)
    return Reason::QueueFull;
  if (model.config.admitByDeadline && canNotEndInTime(now, model, request))
    return Reason::DeadlineInfeasible;
  Reason reason = makeRoom(now, model, request);
  if (reason == Reason::None)
    enterQueue(now, index);
  return reason;
}

bool BatcherCore::canNotEndInTime(TimeNs now, const Model &model, const Request &request) const {
  if (request.deadline >= kNever || model.completions < kEnoughSamples || model.instances.empty())
    return false;
  const Instance &instance = instances[model.instances[0]];
  const LatencyModel &latency = model.lane(model.current, instance.device).latency;
  int64_t ahead = model.queues.rowsBefore(table, {request.key, request.sequence});
  __int128 wait =
      __int128(ahead) * latency.predict(request.bucket, model.cap) / (int64_t(model.cap) * model.liveInstances);
  return now + wait + latency.predict(request.bucket, executedRows(model.limits(model.cap), request.rows)) >
         request.deadline;
}

/// Would the request be too much for the queue if those in `gone` were not there?
bool BatcherCore::exceedsLimits(const Model &model, const Request &request, const QueueSums &gone,
                                uint32_t goneOfClass) const {
  const QueueSums &sums = model.queues.total();
  uint32_t ofClass = model.queues.ofClass(request.priority).requests - goneOfClass;
  uint32_t classLimit = request.priority <= model.config.classes.size()
                            ? model.config.classes[request.priority - 1].maxQueuedRequests
                            : kUnlimited;
  return ofClass >= classLimit || sums.requests - gone.requests >= model.config.maxQueuedRequests ||
         sums.rows - gone.rows + request.rows > model.rowLimit ||
         sums.bytes - gone.bytes + request.bytes > model.config.maxQueuedBytes ||
         queuedBytes - gone.bytes + request.bytes > config_.maxQueuedBytes;
}

/// Evicts the newest of the least urgent classes, if that makes room at all.
Reason BatcherCore::makeRoom(TimeNs now, Model &model, const Request &request) {
  rowLimit(now, model);
  if (!exceedsLimits(model, request, {}, 0))
    return Reason::None;
  QueueSums lessUrgent;
  for (uint32_t priority = request.priority + 1; priority <= model.queues.numClasses(); ++priority) {
    const QueueSums &sums = model.queues.ofClass(priority);
    lessUrgent.requests += sums.requests;
    lessUrgent.rows += sums.rows;
    lessUrgent.bytes += sums.bytes;
  }
  if (exceedsLimits(model, request, lessUrgent, 0))
    return Reason::QueueFull;
  uint32_t priority = model.queues.numClasses();
  while (exceedsLimits(model, request, {}, 0)) {
    while (model.queues.ofClass(priority).requests == 0)
      --priority;
    uint32_t victim = model.queues.newest(table, priority);
    leaveQueue(victim);
    finish(now, victim, Outcome::Rejected, Reason::Evicted);
  }
  return Reason::None;
}

/// Settled at most once a second.
uint32_t BatcherCore::rowLimit(TimeNs now, Model &model) {
  if (now < model.rowLimitAt + kSecond)
    return model.rowLimit;
  model.rowLimitAt = now;
  uint32_t count = std::max(1u, model.liveInstances);
  if (model.config.maxQueuedRows)
    model.rowLimit = model.config.maxQueuedRows;
  else if (model.config.sloP99 > 0)
    model.rowLimit =
        rowsWithinSlo(model.config.sloP99, count, model.cap,
                      model.lane(model.current, instances[model.instances[0]].device).latency.predict(0, model.cap));
  else
    model.rowLimit = uint32_t(std::min<uint64_t>(kUnlimited, 4 * uint64_t(model.cap) * count));
  return model.rowLimit;
}

/// The first fallback that is available and can run the request; kNone without one.
uint32_t BatcherCore::fallbackFor(TimeNs now, const Model &model, const Request &request) const {
  if (request.pin != 0)
    return kNone;
  for (uint32_t other : model.config.fallback)
    if (isAvailable(now, models[other]) && request.bucket < models[other].config.buckets.size() &&
        request.rows <= std::min(models[other].cap, models[other].memoryCap))
      return other;
  return kNone;
}

/// False if the queue there is full. The request is in no queue.
bool BatcherCore::moveTo(TimeNs now, uint32_t index, uint32_t other) {
  Request &request = table[index];
  Model &model = models[other];
  uint32_t priority = std::min(request.priority, uint32_t(model.config.classes.size()));
  std::swap(request.priority, priority);
  rowLimit(now, model);
  if (exceedsLimits(model, request, {}, 0)) {
    request.priority = priority;
    return false;
  }
  request.model = other;
  setKey(model, request);
  enterQueue(now, index);
  return true;
}

void BatcherCore::enterQueue(TimeNs now, uint32_t index) {
  Request &request = table[index];
  Model &model = models[request.model];
  if (model.queues.total().requests == 0 && model.inBatches == 0)
    for (uint32_t id : model.instances) {
      DeviceShare &share = shares[instances[id].device];
      TimeNs least = kNever;
      for (const Model &other : models)
        if (&other != &model && (other.queues.total().requests > 0 || other.inBatches > 0))
          for (uint32_t theirs : other.instances)
            if (instances[theirs].device == instances[id].device)
              least = std::min(least, share.virtualTime(other.index));
      share.wake(model.index, least);
    }
  request.state = RequestState::Queued;
  model.queues.insert(table, index);
  queuedBytes += request.bytes;
  if (!request.expires)
    setExpiry(index);
}

void BatcherCore::leaveQueue(uint32_t index) {
  Request &request = table[index];
  models[request.model].queues.remove(table, index);
  queuedBytes -= request.bytes;
}

void BatcherCore::setExpiry(uint32_t index) {
  Request &request = table[index];
  TimeNs limit = std::min(request.timeout, request.deadline);
  request.expires = limit < kNever;
  if (request.expires)
    expiry.insert(table.expiryLinks, index, {limit, request.sequence}, 0);
}

void BatcherCore::clearExpiry(uint32_t index) {
  if (table[index].expires)
    expiry.remove(table.expiryLinks, index);
  table[index].expires = false;
}

/// A request is over when now is past its time, not at it.
void BatcherCore::expire(TimeNs now) {
  while (!expiry.empty()) {
    uint32_t index = expiry.head();
    if (table.expiryLinks[index].key.time >= now)
      return;
    Request &request = table[index];
    const ModelConfig &config = models[request.model].config;
    bool timedOut = request.timeout <= request.deadline;
    uint32_t policy = std::min<uint32_t>(request.priority, uint32_t(config.classes.size())) - 1;
    if (timedOut &&
        (request.state != RequestState::Queued || config.classes[policy].timeoutAction == TimeoutAction::Demote)) {
      request.timeout = kNever;
      clearExpiry(index);
      setExpiry(index);
      if (request.state != RequestState::Queued)
        continue; // it has left the queue in time, and waits to start with its batch
      models[request.model].queues.remove(table, index);
      request.priority = models[request.model].queues.numClasses();
      request.demoted = true;
      setKey(models[request.model], request);
      models[request.model].queues.insert(table, index);
      continue;
    }
    if (request.state == RequestState::Queued)
      leaveQueue(index);
    else
      removeMember(request.batch, index);
    finish(now, index, timedOut ? Outcome::Rejected : Outcome::Expired,
           timedOut ? Reason::QueueTimeout : Reason::Deadline);
  }
}

void BatcherCore::cancel(TimeNs now, RequestHandle handle) {
  uint32_t index = table.find(handle);
  if (index == kNone)
    return;
  Request &request = table[index];
  switch (request.state) {
  case RequestState::Queued:
    leaveQueue(index);
    return finish(now, index, Outcome::Cancelled, Reason::Cancelled);
  case RequestState::Quarantined:
  case RequestState::Claimed:
    removeMember(request.batch, index);
    return finish(now, index, Outcome::Cancelled, Reason::Cancelled);
  case RequestState::Running: {
    BatchId batch = request.batch;
    request.state = RequestState::Abandoned;
    answer(now, index, Outcome::Cancelled, Reason::Cancelled, false);
    if (--batches[batch].awaited == 0)
      push({.kind = ActionKind::AbortHint, .instance = batches[batch].instance, .batch = batch});
    return;
  }
  case RequestState::Held:
    models[request.model].heldBytes -= request.bytes;
    answer(now, index, Outcome::Cancelled, Reason::Cancelled, false);
    return table.release(index);
  case RequestState::Abandoned:
  case RequestState::Free:
    return;
  }
}

void BatcherCore::refuse(const Arrival &arrival, Reason reason) {
  Outcome outcome = reason == Reason::Deadline ? Outcome::Expired : Outcome::Rejected;
  if (arrival.model < models.size()) {
    BatchStats &stats = *models[arrival.model].stats;
    ++stats.outcomes[unsigned(outcome)];
    ++stats.reasons[unsigned(reason)];
  }
  push({.kind = ActionKind::Finish, .outcome = outcome, .reason = reason, .model = arrival.model, .id = arrival.id});
}

/// The end of a request that is in no queue and no batch any more. An answer waits for its turn; anything else does
/// not.
void BatcherCore::finish(TimeNs now, uint32_t index, Outcome outcome, Reason reason) {
  Request &request = table[index];
  clearExpiry(index);
  bool late = outcome == Outcome::Done && now > request.deadline;
  bool isAnswer = outcome == Outcome::Done || outcome == Outcome::Failed;
  if (isAnswer && request.streamSlot != kNone && !reorder.isFirst(table, index)) {
    request.state = RequestState::Held;
    request.outcome = outcome;
    request.reason = reason;
    request.late = late;
    models[request.model].heldBytes += request.bytes;
    return;
  }
  answer(now, index, outcome, reason, late);
  table.release(index);
}

/// Says the outcome; the slot stays.
void BatcherCore::answer(TimeNs now, uint32_t index, Outcome outcome, Reason reason, bool late) {
  const Request &request = table[index];
  BatchStats &stats = *models[request.asked].stats;
  ++stats.outcomes[unsigned(outcome)];
  ++stats.reasons[unsigned(reason)];
  stats.late += late;
  if (outcome == Outcome::Done) {
    stats.totalTime.add(now - request.arrival);
    models[request.model].adaptive.completed(now - request.arrival);
  }
  push({.kind = ActionKind::Finish,
        .outcome = outcome,
        .reason = reason,
        .late = late,
        .model = request.model,
        .request = table.handle(index),
        .id = request.id});
  if (request.streamSlot != kNone)
    leaveStream(now, index);
}

/// Answers that waited for this one follow it.
void BatcherCore::leaveStream(TimeNs now, uint32_t index) {
  bool wasFirst = reorder.isFirst(table, index);
  uint32_t next = table[index].streamNext;
  reorder.leave(table, index);
  while (wasFirst && next != kNone && table[next].state == RequestState::Held) {
    uint32_t held = next;
    next = table[held].streamNext;
    reorder.leave(table, held); // first, so that its answer does not come here again
    models[table[held].model].heldBytes -= table[held].bytes;
    answer(now, held, table[held].outcome, table[held].reason, table[held].late);
    table.release(held);
  }
}

/// The deadline of a drain has passed.
void BatcherCore::rejectAll(TimeNs now) {
  for (uint32_t index = 0; index < table.capacity(); ++index) {
    Request &request = table[index];
    if (request.state == RequestState::Queued)
      leaveQueue(index);
    else if (request.state == RequestState::Claimed || request.state == RequestState::Quarantined)
      removeMember(request.batch, index);
    else if (request.state != RequestState::Running || !drainEndsRuns)
      continue;
    if (request.state != RequestState::Running) {
      finish(now, index, Outcome::Rejected, Reason::Draining);
      continue;
    }
    request.state = RequestState::Abandoned;
    --batches[request.batch].awaited;
    answer(now, index, Outcome::Rejected, Reason::Draining, false);
  }
}

} // namespace llmc::batch
