//===- Run.cpp - What the core decides, and the threads that do it ------------------------------------------------===//

#include "runtime/batch/Batcher.h"
#include "runtime/device/FloatMode.h"
#include <algorithm>
#include <pthread.h>

namespace llmc::batch {

using std::chrono::nanoseconds;

/// The request whose callback this thread runs.
static thread_local Call *inCallback = nullptr;

Call *Batcher::takeRequest() {
  if (freeRequests.empty()) {
    if (requests.size() == maxRequests)
      return nullptr;
    requests.push_back(std::make_unique<Call>());
    requests.back()->index = uint32_t(requests.size()) - 1;
    requests.back()->batcher = this;
    freeRequests.push_back(requests.back().get());
  }
  Call *request = freeRequests.back();
  freeRequests.pop_back();
  request->reset();
  return request;
}

/// Nothing uses it, or any part of it.
void Batcher::putBack(Call &request) {
  for (Call *part = request.nextPart, *next; part; part = next) {
    next = part->nextPart;
    freeRequests.push_back(part);
  }
  if (request.usesShape)
    models[request.model]->shapes.leave(request.bucket);
  if (request.cacheSlot != kNone) { // it was refused
    request.outcome = Outcome::Rejected;
    models[request.model]->cache->ended(request);
  }
  freeRequests.push_back(&request);
}

/// Nobody holds it any more, but it may still be in use by a run.
void Batcher::recycle(Call &request) {
  request.released = true;
  if (request.pins > 0)
    return;
  shares -= request.isShared;
  putBack(request);
}

TimeNs Batcher::advance() { return lastTime = std::max(lastTime, clock->now()); }

/// Steps the core and does what it says.
void Batcher::act(Effects &effects) {
  for (bool again = true; again;) {
    for (const Action &action : core->step(advance()))
      apply(action, effects);
    again = !idleVersions.empty() || !toCancel.empty();
    for (auto [model, version] : idleVersions)
      retire(model, version);
    for (Call *request : toCancel)
      core->cancel(lastTime, request->handle);
    idleVersions.clear();
    toCancel.clear();
  }
  if (core->nextWakeup() < armed) {
    armed = core->nextWakeup();
    effects.wakesTimer = true;
  }
}

void Batcher::apply(const Action &action, Effects &effects) {
  switch (action.kind) {
  case ActionKind::Finish:
    return settle(*requests[action.id], action, effects);
  case ActionKind::Start:
    return assign(action, effects);
  case ActionKind::Stage:
  case ActionKind::Restage:
  case ActionKind::Unstage:
    return stageFor(action, effects);
  case ActionKind::AbortHint:
    return workers[action.instance]->instance.cancel();
  case ActionKind::VersionIdle:
    idleVersions.emplace_back(action.model, action.version);
    return;
  }
}

void Batcher::settle(Call &request, const Action &action, Effects &effects) {
  if (action.request.index == kNone) { // never admitted: whoever submits it is told
    request.owner().outcome = action.outcome;
    request.owner().reason = action.reason;
    return;
  }
  request.outcome = action.outcome;
  request.reason = action.reason;
  request.late = action.late;
  if (Call &owner = request.owner(); action.model != owner.model && owner.cacheSlot != kNone)
    models[owner.model]->cache->abandon(owner); // a fallback served it
  if (request.whole)
    return settlePart(request, effects);
  request.settled = true;
  if (request.pins > 0 && request.lends)
    request.held = true;
  else
    end(request, effects);
}

/// The first part that is not done decides what becomes of the whole, and the others are not needed any more.
void Batcher::settlePart(Call &part, Effects &effects) {
  Call &whole = *part.whole;
  --whole.partsLeft;
  if (whole.refused)
    return;
  if (part.outcome != Outcome::Done && whole.outcome == Outcome::Done) {
    whole.outcome = part.outcome;
    whole.reason = part.reason;
    whole.error = part.error;
    for (Call *other = whole.nextPart; other; other = other->nextPart)
      toCancel.push_back(other);
  }
  whole.late |= part.late;
  if (whole.partsLeft > 0)
    return;
  whole.settled = true;
  if (whole.pins > 0 && whole.lends)
    whole.held = true;
  else
    end(whole, effects);
}

void Batcher::end(Call &request, Effects &effects) {
  request.end = lastTime;
  if (std::exchange(request.usesShape, false))
    models[request.model]->shapes.leave(request.bucket);
  if (request.cacheSlot != kNone)
    models[request.model]->cache->ended(request);
  (effects.lastEnded ? effects.lastEnded->nextEnded : effects.firstEnded) = &request;
  effects.lastEnded = &request;
}

void Batcher::describeJob(Job &job, BatchId id, uint32_t rows) {
  const Batch &batch = core->batch(id);
  job.batch = id;
  job.rows = rows;
  job.members.clear();
  for (uint32_t member = batch.first; member != kNone; member = core->request(member).nextInBatch)
    job.members.push_back(requests[core->request(member).id].get());
  const Model &model = *models[job.members[0]->model]; // the batch may run on a fallback, which has not met the shape
  if (!model.spec.isBatched()) {
    job.inputDims = job.members[0]->inputDims;
    job.outputDims = job.members[0]->outputDims;
    return;
  }
  job.inputDims = model.shapes[batch.bucket].inputDims;
  job.outputDims = model.shapes[batch.bucket].outputDims;
  job.lengths.clear();
  for (const Call *member : job.members)
    job.lengths.push_back(member->rows);
  job.placeRows(model.spec);
  for (const BatchTensor &output : model.spec.outputs) {
    if (output.hasRows())
      job.outputDims[output.firstDim + output.rowAxis] = rows;
    if (output.requestAxis != kNone)
      job.outputDims[output.firstDim + output.requestAxis] = int64_t(job.members.size());
  }
}

void Batcher::pin(const Job &job) {
  for (Call *member : job.members)
    ++member->owner().pins;
}

void Batcher::unpin(const Job &job, Effects &effects) {
  for (Call *member : job.members) {
    Call &owner = member->owner();
    if (--owner.pins > 0)
      continue;
    if (std::exchange(owner.held, false))
      end(owner, effects);
    else if (owner.released)
      recycle(owner);
  }
}

void Batcher::assign(const Action &action, Effects &effects) {
  Worker &worker = *workers[action.instance];
  bool wasStaged = worker.staged.batch == action.batch;
  describeJob(worker.job, action.batch, action.rows);
  pin(worker.job);
  worker.usesStaged = wasStaged && (worker.ready || (worker.gathering && !worker.wantsStage));
  if (worker.usesStaged)
    worker.set = 1 - worker.set;
  worker.wantsStage = false;
  worker.staged.batch = kNone;
  worker.hasJob.store(true, std::memory_order_release);
  worker.work.raise();
}

/// What is staged has changed.
void Batcher::stageFor(const Action &action, Effects &effects) {
  Worker &worker = *workers[action.instance];
  ++worker.stageNumber;
  worker.ready = false;
  worker.wantsStage = action.kind != ActionKind::Unstage;
  if (!worker.wantsStage) {
    worker.staged.batch = kNone;
    return;
  }
  describeJob(worker.staged, action.batch, action.rows);
  effects.wakesStager = true;
}

void Batcher::endRun(Worker &worker, const RunResult &result, Effects &effects) {
  TimeNs now = advance();
  if (result.fault != BatchFault::None)
    for (Call *member : worker.job.members)
      member->error = result.error;
  for (size_t i = 0; i < result.badMembers.size(); ++i)
    worker.job.members[result.badMembers[i]]->error = result.badErrors[i];
  unpin(worker.job, effects);
  core->complete(now, worker.job.batch, {result.fault, result.badMembers});
  act(effects);
}

/// Before its end.
RecordedRun Batcher::recordOf(const Job &job) const {
  const Batch &batch = core->batch(job.batch);
  return {batch.started, std::max(lastTime, clock->now()) - batch.started, batch.bucket, batch.rows, batch.executed};
}

/// What the step left to do once the lock is free.
void Batcher::perform(const Effects &effects) {
  if (effects.wakesTimer)
    timerWord.raise();
  if (effects.wakesStager)
    stagerWord.raise();
  for (Call *request = effects.firstEnded, *next; request; request = next) {
    next = request->nextEnded;
    tell(*request);
  }
}

/// Once it has ended.
RecordedRequest Batcher::recordOf(const Call &request) {
  bool isKept = request.outcome == Outcome::Done && request.handle.index == kNone && !request.nextPart;
  TimeNs deadline = request.deadline < kNever ? request.deadline - request.arrival : kNever;
  return {request.arrival,
          request.end - request.arrival,
          deadline,
          request.rows,
          request.bucket,
          request.priority,
          isKept ? "kept" : name(request.outcome),
          name(request.reason)};
}

void Batcher::tell(Call &request) {
  if (trace)
    trace->add(models[request.model]->name, recordOf(request));
  bool isGone = false;
  if (request.callback) {
    request.state.store(Call::Ended);
    Call *outer = std::exchange(inCallback, &request);
    request.callback(request.user, reinterpret_cast<llmc_request *>(&request));
    isGone = request.releasesItself || inCallback == nullptr; // released inside
    inCallback = outer;
  }
  if (isGone) {
    std::lock_guard lock(mutex);
    recycle(request);
  } else {
    request.state.store(Call::Told); // the request may be gone from here on
  }
  if (untold.fetch_sub(1) == 1 && refuses)
    idleWord.raise();
}

Call::State Batcher::wait(Call &request, int64_t timeoutUs) {
  nanoseconds limit(timeoutUs < 0 || timeoutUs > kNever / kMicrosecond ? -1 : timeoutUs * kMicrosecond);
  return Call::State(request.state.waitWhile(Call::Pending, request.batcher->spin, limit));
}

void Batcher::cancel(Call &request) {
  Batcher &batcher = *request.batcher;
  if (!batcher.isOfThisProcess() || request.state.load() != Call::Pending)
    return;
  Effects effects;
  {
    std::lock_guard lock(batcher.mutex);
    TimeNs now = batcher.advance();
    if (!request.settled && !request.nextPart)
      batcher.core->cancel(now, request.handle);
    for (Call *part = request.nextPart; part && !request.settled; part = part->nextPart)
      batcher.core->cancel(now, part->handle);
    batcher.act(effects);
  }
  batcher.perform(effects);
}

void Batcher::release(Call &request) {
  Batcher &batcher = *request.batcher;
  if (!batcher.isOfThisProcess())
    return;
  if (inCallback == &request) {
    inCallback = nullptr; // whoever runs the callback frees it afterwards
    return;
  }
  cancel(request);
  for (uint32_t state; (state = request.state.load()) != Call::Told;)
    request.state.waitWhile(state, nanoseconds(0));
  std::unique_lock lock(batcher.mutex);
  batcher.recycle(request);
  bool last = batcher.shares == 0;
  lock.unlock();
  if (last)
    delete &batcher;
}

void Batcher::runWorker(Worker &worker) {
  pthread_setname_np(pthread_self(), "llmc-batch");
  RunResult result;
  for (uint32_t seen = 0;;) {
    seen = worker.work.waitWhile(seen, spin);
    while (worker.hasJob.exchange(false, std::memory_order_acquire)) {
      bool isGathered = worker.usesStaged && awaitStage(worker);
      worker.instance.run(worker.job, worker.set, isGathered, result);
      Effects effects;
      RecordedRun run;
      {
        std::lock_guard lock(mutex);
        if (trace)
          run = recordOf(worker.job);
        endRun(worker, result, effects);
      }
      perform(effects);
      if (trace && result.fault == BatchFault::None)
        trace->add(models[worker.model]->name, run);
    }
    if (worker.stops)
      return;
  }
}

/// Whether the inputs are there.
bool Batcher::awaitStage(Worker &worker) {
  for (;;) {
    uint32_t seen = worker.stageEnded.load();
    {
      std::lock_guard lock(mutex);
      if (!worker.gathering)
        return std::exchange(worker.ready, false);
    }
    worker.stageEnded.waitWhile(seen, spin);
  }
}

void Batcher::runTimer() {
  pthread_setname_np(pthread_self(), "llmc-timer");
  while (!stopping) {
    uint32_t seen = timerWord.load();
    Effects effects;
    nanoseconds limit(-1);
    {
      std::lock_guard lock(mutex);
      armed = 0; // nobody has to wake this thread
      act(effects);
      armed = core->nextWakeup();
      if (armed < kNever)
        limit = nanoseconds(std::max<TimeNs>(1, armed - lastTime));
    }
    perform(effects);
    timerWord.waitWhile(seen, nanoseconds(0), limit);
  }
}

void Batcher::runStager() {
  pthread_setname_np(pthread_self(), "llmc-stager");
  Job job;
  while (!stopping) {
    uint32_t seen = stagerWord.load();
    std::unique_lock lock(mutex);
    auto wants = [](const auto &worker) { return worker && worker->wantsStage && !worker->gathering; };
    auto next = std::find_if(workers.begin(), workers.end(), wants);
    if (next != workers.end()) {
      stage(**next, job, lock);
      continue;
    }
    lock.unlock();
    stagerWord.waitWhile(seen, nanoseconds(0));
  }
}

/// Gathers what is staged for the worker, without the lock. It counts unless it has changed meanwhile.
void Batcher::stage(Worker &worker, Job &job, std::unique_lock<std::mutex> &lock) {
  job = worker.staged;
  uint32_t number = worker.stageNumber;
  unsigned set = 1 - worker.set;
  worker.wantsStage = false;
  worker.gathering = true;
  pin(job);
  lock.unlock();
  bool ok = !worker.instance.runsInPlace(job) && worker.instance.gather(job, set).ok();
  Effects effects;
  lock.lock();
  unpin(job, effects);
  worker.gathering = false;
  worker.ready = ok && number == worker.stageNumber;
  worker.stageEnded.raise();
  lock.unlock();
  perform(effects);
}

} // namespace llmc::batch
