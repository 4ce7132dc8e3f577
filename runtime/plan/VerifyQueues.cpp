//===- VerifyQueues.cpp - Whether queues wait for each other where they share bytes -------------------------------===//
//
// Of two steps that touch the same buffer, one of them writing, one ends before the other starts. Two buffers that share
// bytes of an arena are told apart by their lifetimes: a buffer is in use until all steps that touch its arena are known to
// come later. So a wait that is missing is found here, or where buffers overlap (Placement.cpp).
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/plan/ProgramUses.h"
#include "runtime/plan/QueueOrder.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>

namespace llmc::rt {
namespace {

/// Works on the steps of the root block; what is inside an If or Loop counts as its own.
class QueueVerifier {
public:
  explicit QueueVerifier(Program &program)
      : program(program), steps(program.stepsOf(program.blocks[0])), order(count(program.body->queues())) {}

  Status verify();

private:
  struct Use {
    uint32_t root;
    bool writes;
  };
  Status orderSteps();
  Status findSignaller(const Program::Step &step, Program::Point &point) const;
  Status signal(const Program::Step &step, uint32_t number);
  void collectUses();
  uint32_t numberOf(uint32_t block, uint32_t step) const;
  Status verifySharing() const;
  Status unordered(uint32_t before, uint32_t after, uint32_t buffer) const;
  void extendLifetimes();

  Program &program;
  std::span<const Program::Step> steps;
  QueueOrder order;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> signals; // per semaphore: values and numbers of steps, rising
  std::vector<std::vector<Use>> uses;                              // per step
};

/// The step that sets the semaphore to the point's value, or beyond.
Status QueueVerifier::findSignaller(const Program::Step &step, Program::Point &point) const {
  const auto &earlier = signals[point.semaphore];
  auto found = std::lower_bound(earlier.begin(), earlier.end(), std::pair(point.value, uint32_t(0)));
  if (found == earlier.end())
    return fail("wait-unsignalled", describeStep(program, step), " waits for value ", point.value, " of semaphore ",
                point.semaphore, ", which no step before it signals");
  point.signaller = found->second;
  return {};
}

Status QueueVerifier::signal(const Program::Step &step, uint32_t number) {
  for (const Program::Point &point : program.pointsOf(step.signals)) {
    uint32_t &queue = program.signallers[point.semaphore];
    if (queue != kNone && queue != step.queue)
      return fail("signal-queue", "semaphore ", point.semaphore, " is signalled from queues ", queue, " and ", step.queue);
    queue = step.queue;
    auto &earlier = signals[point.semaphore];
    if (!earlier.empty() && earlier.back().first >= point.value)
      return fail("signal-value", "semaphore ", point.semaphore, " falls from ", earlier.back().first, " to ", point.value);
    earlier.emplace_back(point.value, number);
  }
  return {};
}

Status QueueVerifier::orderSteps() {
  signals.resize(program.signallers.size());
  std::vector<uint32_t> waits;
  for (uint32_t s = 0; s < steps.size(); ++s) {
    Program::Step &step = program.steps[s];
    waits.clear();
    for (uint32_t p = step.waits.first; p < step.waits.first + step.waits.size; ++p) {
      LLMC_TRY(findSignaller(step, program.points[p]));
      waits.push_back(program.points[p].signaller);
      step.needsHost |= step.queue != kHostQueue && steps[waits.back()].queue == kHostQueue;
    }
    order.add(step.queue, waits);
    LLMC_TRY(signal(step, s));
  }
  return {};
}

/// The number of the root block's step that `step` of `block` is, or is inside of. The root block's come first.
uint32_t QueueVerifier::numberOf(uint32_t block, uint32_t step) const {
  for (; block != 0; block = program.blocks[block].parent)
    step = program.blocks[block].entryStep;
  return step;
}

void QueueVerifier::collectUses() {
  uses.resize(steps.size());
  for (uint32_t b : program.blockOrder)
    for (const Program::Step &step : program.stepsOf(program.blocks[b])) {
      std::vector<Use> &list = uses[numberOf(b, uint32_t(&step - program.steps.data()))];
      forEachUse(program, step, [&](uint32_t buffer, plan::Access access, uint32_t, uint32_t) {
        list.push_back({program.buffers[buffer].root, access != plan::Access::READ});
      });
    }
}

Status QueueVerifier::unordered(uint32_t before, uint32_t after, uint32_t buffer) const {
  return fail("unordered", describeStep(program, steps[after]), " does not wait for ", describeStep(program, steps[before]),
              ", which uses buffer ", buffer, " '", text(program.buffers[buffer].spec->name()), "' too");
}

Status QueueVerifier::verifySharing() const {
  struct Last {
    uint32_t write = kNone;
    std::vector<uint32_t> reads; // since then: the last of each queue
  };
  std::vector<Last> last(program.buffers.size());
  for (uint32_t s = 0; s < steps.size(); ++s)
    for (const Use &use : uses[s]) {
      Last &before = last[use.root];
      if (before.write != kNone && before.write != s && !order.isBefore(before.write, s))
        return unordered(before.write, s, use.root);
      if (use.writes)
        for (uint32_t read : before.reads)
          if (read != s && !order.isBefore(read, s))
            return unordered(read, s, use.root);
      if (use.writes) {
        before.write = s;
        before.reads.clear();
      } else {
        std::erase_if(before.reads, [&](uint32_t read) { return order.queueOf(read) == order.queueOf(s); });
        before.reads.push_back(s);
      }
    }
  return {};
}

void QueueVerifier::extendLifetimes() {
  std::vector<ArenaUsers> users(count(program.body->arenas()), ArenaUsers(order, count(program.body->queues())));
  auto isArena = [&](const Use &use) { return program.buffers[use.root].kind == plan::BufKind::ARENA; };
  for (uint32_t s = 0; s < steps.size(); ++s)
    for (const Use &use : uses[s])
      if (isArena(use))
        users[program.buffers[use.root].arena].add(s);
  for (uint32_t s = 0; s < steps.size(); ++s)
    for (const Use &use : uses[s]) {
      if (!isArena(use))
        continue;
      Program::Buffer &buffer = program.buffers[use.root];
      if (uint32_t other = users[buffer.arena].lastUnordered(s); other != s)
        buffer.lastUse = std::max(buffer.lastUse, steps[other].end + 1);
    }
}

Status QueueVerifier::verify() {
  LLMC_TRY(orderSteps());
  collectUses();
  LLMC_TRY(verifySharing());
  extendLifetimes();
  return {};
}

} // namespace

Status orderQueues(Program &program) {
  program.signallers.assign(program.body->semaphores(), kNone);
  bool isSimple = count(program.body->queues()) == 1 && program.body->semaphores() == 0;
  return isSimple ? Status() : QueueVerifier(program).verify();
}

} // namespace llmc::rt
