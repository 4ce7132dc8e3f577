//===- Executor.cpp - All workers of a team walk the program together ---------------------------------------------===//
//
// Every worker walks all steps. A parallel step is split between the workers by ranges that follow from its grid alone;
// a serial one is worker 0's, and the others pass it by. Workers meet at a barrier only where one needs another's work:
// before and after a parallel step, not between serial ones.
//
// Steps that decide or make numbers known (If, Loop, ReadScalar) are worker 0's between two barriers, so nobody reads
// numbers that are being written. Decisions are handed over in two alternating slots: while the others still read one,
// worker 0 can be at most at the next.
//
// Steps of other queues are worker 0's too: it hands them over and goes on. Their waits for steps of the host are met by
// then; where a step of the host waits for another queue, worker 0 waits, and the others for it at the next barrier. Where a
// block with steps of other queues is entered or left, all queues are empty.
//
// A failure is sticky. All workers learn of it at the same barrier, from the bit that the last to arrive publishes, and
// leave together.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/exec/Executor.h"
#include "runtime/device/FloatMode.h"
#include "runtime/device/KernelCall.h"
#include "runtime/exec/Handover.h"
#include "runtime/exec/Steps.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>

namespace llmc::rt {
namespace {

using StepKind = Program::StepKind;
using Clock = std::chrono::steady_clock;

/// Shared by the workers of one run.
struct Run {
  const RunRequest &request;
  RunState &state;
  const Program &program;
  Team *team; // null: one worker
  unsigned workers;
  std::atomic<bool> failed = false;
  Status status;                    // worker 0's first error outside of kernels
  uint32_t stopped = 0;             // the step of that error
  std::atomic<uint32_t> faulty = kNone; // step whose kernel failed
  uint32_t decisions[2] = {};

  Run(const RunRequest &request, Team *team)
      : request(request), state(request.state), program(state.program), team(team),
        workers(team ? team->size() : 1) {}
};

class Walker {
public:
  Walker(Run &run, unsigned worker)
      : run(run), state(run.state), program(run.program), worker(worker),
        phase(run.team ? run.team->phase() : 0) {}

  /// Whether to go on.
  bool walk(uint32_t block);

private:
  bool step(const Program::Step &step);
  bool submit(const Program::Step &step);
  void await(const Program::Step &step);
  void join(const Program::Step &step);
  bool profiled(const Program::Step &step);
  bool dispatch(const Program::Step &step);
  bool copy(const Program::Step &step);
  bool fill(const Program::Step &step);
  bool branch(const Program::Step &step);
  bool loop(const Program::Step &step);
  bool readScalar(const Program::Step &step);

  /// Waits for all; false if the run has failed.
  bool meet();
  /// Meets unless nothing has happened since the last time.
  bool settle() { return pending == Pending::Nothing ? !alone() || !failed() : meet(); }
  /// Before a step that `participants` workers share: meets if it needs what others did.
  bool enter(unsigned participants);
  /// Worker 0 decides, all others get its decision.
  template <typename Decide> bool decide(uint32_t &decision, Decide decide);
  /// Of worker 0: notes an error; true if there was none.
  bool report(Status status, const Program::Step &step);
  Status enterBlock(uint32_t block) const;
  bool alone() const { return !run.team; }
  bool failed() const { return run.failed.load(std::memory_order_relaxed); }
  bool isFirst() const { return worker == 0; }
  uint32_t numberOf(const Program::Step &step) const { return uint32_t(&step - program.steps.data()); }

  enum class Pending { Nothing, Serial, Parallel };

  Run &run;
  RunState &state;
  const Program &program;
  const unsigned worker;
  uint32_t phase;
  unsigned numDecisions = 0;
  Pending pending = Pending::Nothing; // what ran since the last barrier
};

bool Walker::meet() {
  pending = Pending::Nothing;
  return alone() ? !failed() : !run.team->meet(worker, phase, run.failed);
}

bool Walker::enter(unsigned participants) {
  Pending now = participants > 1 ? Pending::Parallel : Pending::Serial;
  bool needsOthers = pending == Pending::Parallel || (pending == Pending::Serial && now == Pending::Parallel);
  if (needsOthers && !meet())
    return false;
  pending = now;
  return true;
}

template <typename Decide> bool Walker::decide(uint32_t &decision, Decide decide) {
  uint32_t &slot = run.decisions[numDecisions++ & 1];
  if (isFirst())
    slot = decide();
  if (!meet())
    return false;
  decision = slot;
  return true;
}

bool Walker::report(Status status, const Program::Step &step) {
  if (status.ok())
    return true;
  if (run.status.ok()) {
    run.status = std::move(status).inStep(describeStep(program, step));
    run.stopped = numberOf(step);
  }
  run.failed.store(true, std::memory_order_relaxed);
  return false;
}

bool Walker::walk(uint32_t block) {
  for (const Program::Step &next : program.stepsOf(program.blocks[block])) {
    if (isFirst() && run.request.cancelled.load(std::memory_order_relaxed))
      report({Code::Cancelled, "the run was cancelled"}, next);
    if (!(run.request.profile.call ? profiled(next) : step(next)))
      return false;
    if (alone() && failed())
      return false;
  }
  return true;
}

/// With a barrier after each step, so that its end is the end of all its workers.
bool Walker::profiled(const Program::Step &next) {
  Clock::time_point begin = Clock::now();
  if (!step(next) || !settle())
    return false;
  if (isFirst()) {
    if (next.queue != kHostQueue)
      state.queues[next.queue]->drain();
    unsigned participants =
        next.kind == StepKind::Dispatch && next.queue == kHostQueue ? participantsOf(state.shape.launches[next.index], run.workers) : 1;
    run.request.profile.call(run.request.profile.user, {&program, &next, begin, Clock::now(), participants});
  }
  return true;
}

bool Walker::submit(const Program::Step &next) {
  if (next.needsHost && pending == Pending::Parallel && !meet())
    return false;
  if (isFirst() && !failed())
    submitWork(state, next);
  return true;
}

void Walker::await(const Program::Step &next) {
  bool waits = false;
  for (const Program::Point &point : program.pointsOf(next.waits)) {
    uint32_t queue = program.signallers[point.semaphore];
    if (queue == kHostQueue)
      continue;
    waits = true;
    if (!isFirst() || failed())
      continue;
    state.semaphores[point.semaphore].wait(point.value);
    if (state.queues[queue]->hasFailed())
      run.failed.store(true, std::memory_order_relaxed); // execute() asks the queue why
  }
  if (waits && pending == Pending::Nothing)
    pending = Pending::Serial;
}

/// Of worker 0, where a block of `next` is entered or left, if that has steps of other queues.
void Walker::join(const Program::Step &next) {
  if (!next.joins)
    return;
  for (const std::unique_ptr<Queue> &queue : state.queues) {
    if (!queue)
      continue;
    queue->drain();
    if (queue->hasFailed())
      run.failed.store(true, std::memory_order_relaxed); // execute() asks the queue why
  }
  if (run.request.clock)
    run.request.clock->join();
}

bool Walker::step(const Program::Step &next) {
  if (isFirst() && run.request.clock)
    run.request.clock->run(next, state.shape);
  if (next.queue != kHostQueue)
    return submit(next);
  await(next);
  switch (next.kind) {
  case StepKind::Dispatch:
    return dispatch(next);
  case StepKind::Copy:
    return copy(next);
  case StepKind::Fill:
    return fill(next);
  case StepKind::If:
    return branch(next);
  case StepKind::Loop:
    return loop(next);
  case StepKind::ReadScalar:
    return readScalar(next);
  case StepKind::Check: // tested as soon as its number was known
    return true;
  case StepKind::Barrier:
    return settle();
  }
  return true;
}

bool Walker::dispatch(const Program::Step &next) {
  const Launch &launch = state.shape.launches[next.index];
  unsigned participants = participantsOf(launch, run.workers);
  if (!enter(participants))
    return false;
  // A fault of another worker in this very launch does not count: each does its part, so that which fault is told does not
  // depend on who was faster.
  uint32_t number = numberOf(next);
  bool failedBefore = run.failed.load(std::memory_order_acquire) && run.faulty.load(std::memory_order_relaxed) != number;
  if (worker >= participants || launch.grid == 0 || failedBefore)
    return true;
  llmc_error &error = run.request.errors[worker];
  WorkRange range = rangeOf(launch.grid, worker, participants);
  if (callKernel(state, next.index, range, worker, error) != LLMC_KERNEL_OK) {
    run.faulty.store(number, std::memory_order_relaxed);
    run.failed.store(true, std::memory_order_release);
  }
  return true;
}

bool Walker::copy(const Program::Step &next) {
  CopyRange copy = copyRange(state, program.copies[next.index]);
  unsigned participants = copy.canSplit() ? run.workers : 1;
  if (!enter(participants))
    return false;
  if (worker < participants && !failed())
    copy.run(rangeOf(copy.length, worker, participants));
  return true;
}

bool Walker::fill(const Program::Step &next) {
  if (!enter(1))
    return false;
  if (isFirst() && !failed())
    fillBuffer(state, program.fills[next.index]);
  return true;
}

Status Walker::enterBlock(uint32_t block) const {
  for (const BlockError &error : run.request.binding.blockErrors)
    if (error.block == block)
      return error.status;
  for (uint32_t semaphore : program.blocks[block].semaphores)
    state.semaphores[semaphore].reset();
  return state.resolve(program.blocks[block].entryEvent, run.request.outputs);
}

bool Walker::branch(const Program::Step &next) {
  const Program::If &branch = program.ifs[next.index];
  if (!settle())
    return false;
  uint32_t taken = 0;
  bool go = decide(taken, [&]() -> uint32_t {
    join(next);
    uint32_t chosen = state.addresses[branch.cond][0] != std::byte(0);
    if (branch.blocks[chosen] != kNone && !failed())
      report(enterBlock(branch.blocks[chosen]), next);
    return chosen;
  });
  if (!go || (branch.blocks[taken] != kNone && !walk(branch.blocks[taken])))
    return false;
  if (branch.sizes.size == 0 && branch.results.size == 0 && !next.joins)
    return true;
  if (!settle())
    return false;
  if (isFirst())
    join(next);
  if (isFirst() && !failed())
    report(giveBranchResults(state, branch, taken, run.request.outputs), next);
  return meet();
}

bool Walker::loop(const Program::Step &next) {
  const Program::Loop &loop = program.loops[next.index];
  if (!settle())
    return false;
  for (int64_t trip = 0;; ++trip) {
    uint32_t goesOn = 0;
    bool go = decide(goesOn, [&]() -> uint32_t {
      bool hasTrip = false;
      join(next);
      bool started = !failed() && report(startTrip(state, loop, trip, run.request.outputs, hasTrip), next);
      return started && hasTrip && report(enterBlock(loop.block), next) && report(checkCarried(state, loop), next);
    });
    if (!go)
      return false;
    if (!goesOn)
      return true;
    if (!walk(loop.block) || !settle())
      return false;
  }
}

bool Walker::readScalar(const Program::Step &next) {
  const Program::ReadScalar &read = program.reads[next.index];
  if (!settle())
    return false;
  if (isFirst() && report(readSymbol(state, read), next))
    report(state.resolve(read.event, run.request.outputs), next);
  return meet();
}

/// Of a kernel of the host: the first worker's range is the first in order.
Status kernelFault(const Run &run) {
  for (const llmc_error &error : run.request.errors)
    if (error.code != LLMC_KERNEL_OK)
      return faultStatus(error).in(describeStep(run.program, run.program.steps[run.faulty.load()]));
  return {Code::Internal, "a kernel failed without a reason"};
}

/// Waits for all queues. Of several faults the first in the program counts, whoever was faster.
Status finish(Run &run) {
  uint32_t first = run.status.ok() ? run.faulty.load() : run.stopped;
  const QueueFault *fault = nullptr;
  for (const std::unique_ptr<Queue> &queue : run.state.queues) {
    if (!queue)
      continue;
    queue->drain();
    if (queue->fault() && queue->fault()->step < first) {
      fault = queue->fault();
      first = fault->step;
    }
  }
  if (fault)
    return Status(fault->status).in(describeStep(run.program, run.program.steps[first]));
  return !run.status.ok() ? std::move(run.status) : run.faulty.load() != kNone ? kernelFault(run) : Status();
}

} // namespace

Status execute(const RunRequest &request, Team *team) {
  DefaultFloatMode mode;
  Run run(request, team);
  std::fill(request.errors.begin(), request.errors.end(), llmc_error{});
  run.state.begin();
  if (request.clock)
    request.clock->reset();
  auto job = [](void *context, unsigned worker) { Walker(*static_cast<Run *>(context), worker).walk(0); };
  if (team)
    team->run(job, &run);
  else
    job(&run, 0);
  return finish(run);
}

} // namespace llmc::rt
