//===- VerifyQueues.cpp - Whether queues wait for each other where they share bytes -------------------------------===//
//
// Of two steps that touch the same buffer, one of them writing, one ends before the other starts. Two buffers that share
// bytes of an arena are told apart by their lifetimes: a buffer is in use until all steps that touch its arena are known to
// come later. So a wait that is missing is found here, or where buffers overlap (Placement.cpp).
//
// Each block is proved by itself, a step that enters blocks being one that uses all that they use. That is enough: without
// steps of other queues such blocks are work of the host's queue; with them the step joins, and is alone while it runs.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "runtime/plan/ProgramUses.h"
#include "runtime/plan/QueueOrder.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>
#include <unordered_map>

namespace llmc::rt {
namespace {

struct Use {
  uint32_t root;
  bool writes;
};
using StepUses = std::vector<std::vector<Use>>; // per step of the program, with all inside of it

/// Calls visit(step) for `step` of `block` and for the steps around it.
template <typename Visit> void forEachAround(const Program &program, uint32_t block, uint32_t step, Visit visit) {
  visit(step);
  for (; block != 0; block = program.blocks[block].parent)
    visit(program.blocks[block].entryStep);
}

StepUses collectUses(const Program &program) {
  StepUses uses(program.steps.size());
  for (uint32_t b : program.blockOrder)
    for (const Program::Step &step : program.stepsOf(program.blocks[b]))
      forEachUse(program, step, [&](uint32_t buffer, plan::Access access, uint32_t, uint32_t) {
        Use use = {program.buffers[buffer].root, access != plan::Access::READ};
        forEachAround(program, b, uint32_t(&step - program.steps.data()), [&](uint32_t at) { uses[at].push_back(use); });
      });
  return uses;
}

void findJoins(Program &program) {
  for (uint32_t b : program.blockOrder)
    for (const Program::Step &step : program.stepsOf(program.blocks[b]))
      if (step.queue != kHostQueue)
        forEachAround(program, b, uint32_t(&step - program.steps.data()),
                      [&](uint32_t at) { program.steps[at].joins |= program.steps[at].queue == kHostQueue; });
}

/// The steps of one block, which are numbered from 0 here.
class BlockQueues {
public:
  BlockQueues(Program &program, uint32_t block, const StepUses &uses)
      : program(program), block(program.blocks[block]), first(this->block.steps.first),
        steps(std::span(program.steps).subspan(first, this->block.steps.size)), uses(std::span(uses).subspan(first, steps.size())),
        order(count(program.body->queues())) {}

  Status verify();

private:
  using Signals = std::vector<std::pair<uint32_t, uint32_t>>; // values and numbers of steps, rising
  Status orderSteps();
  Status findSignaller(const Program::Step &step, const Program::Point &point, uint32_t &number) const;
  Status signal(const Program::Step &step, uint32_t number);
  Status verifySharing() const;
  Status unordered(uint32_t before, uint32_t after, uint32_t buffer) const;
  void extendLifetimes();

  Program &program;
  Program::Block &block;
  const uint32_t first;
  std::span<Program::Step> steps;
  std::span<const std::vector<Use>> uses;
  QueueOrder order;
  std::unordered_map<uint32_t, Signals> signals; // of semaphores
};

/// The step that sets the semaphore to the point's value, or beyond.
Status BlockQueues::findSignaller(const Program::Step &step, const Program::Point &point, uint32_t &number) const {
  auto semaphore = signals.find(point.semaphore);
  auto isBelow = [](const auto &earlier, uint32_t value) { return earlier.first < value; };
  if (semaphore != signals.end()) {
    const Signals &earlier = semaphore->second;
    if (auto found = std::lower_bound(earlier.begin(), earlier.end(), point.value, isBelow); found != earlier.end()) {
      number = found->second;
      return {};
    }
  }
  return fail("wait-unsignalled", describeStep(program, step), " waits for value ", point.value, " of semaphore ",
              point.semaphore, ", which no step of its block before it signals");
}

Status BlockQueues::signal(const Program::Step &step, uint32_t number) {
  for (const Program::Point &point : program.pointsOf(step.signals)) {
    Signals &earlier = signals[point.semaphore];
    uint32_t &queue = program.signallers[point.semaphore];
    if (earlier.empty() && queue != kNone)
      return fail("signal-block", "semaphore ", point.semaphore, " is signalled in two blocks");
    if (earlier.empty())
      block.semaphores.push_back(point.semaphore);
    else if (queue != step.queue)
      return fail("signal-queue", "semaphore ", point.semaphore, " is signalled from queues ", queue, " and ", step.queue);
    queue = step.queue;
    if (!earlier.empty() && earlier.back().first >= point.value)
      return fail("signal-value", "semaphore ", point.semaphore, " falls from ", earlier.back().first, " to ", point.value);
    earlier.emplace_back(point.value, number);
  }
  return {};
}

Status BlockQueues::orderSteps() {
  std::vector<uint32_t> waits;
  for (uint32_t s = 0; s < steps.size(); ++s) {
    Program::Step &step = steps[s];
    waits.clear();
    for (uint32_t p = step.waits.first; p < step.waits.first + step.waits.size; ++p) {
      uint32_t number = 0;
      LLMC_TRY(findSignaller(step, program.points[p], number));
      program.points[p].signaller = first + number;
      waits.push_back(number);
      step.needsHost |= step.queue != kHostQueue && steps[number].queue == kHostQueue;
    }
    if (step.joins)
      order.addAlone(step.queue);
    else
      order.add(step.queue, waits);
    LLMC_TRY(signal(step, s));
  }
  return {};
}

Status BlockQueues::unordered(uint32_t before, uint32_t after, uint32_t buffer) const {
  return fail("unordered", describeStep(program, steps[after]), " does not wait for ", describeStep(program, steps[before]),
              ", which uses buffer ", buffer, " '", text(program.buffers[buffer].spec->name()), "' too");
}

Status BlockQueues::verifySharing() const {
  struct Last {
    uint32_t write = kNone;
    std::vector<uint32_t> reads; // since then: the last of each queue
  };
  std::unordered_map<uint32_t, Last> last; // by root
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

void BlockQueues::extendLifetimes() {
  std::unordered_map<uint32_t, ArenaUsers> users; // by arena
  auto isArena = [&](const Use &use) { return program.buffers[use.root].kind == plan::BufKind::ARENA; };
  for (uint32_t s = 0; s < steps.size(); ++s)
    for (const Use &use : uses[s])
      if (isArena(use))
        users.try_emplace(program.buffers[use.root].arena, order, count(program.body->queues())).first->second.add(s);
  for (uint32_t s = 0; s < steps.size(); ++s)
    for (const Use &use : uses[s]) {
      if (!isArena(use))
        continue;
      Program::Buffer &buffer = program.buffers[use.root];
      if (uint32_t other = users.at(buffer.arena).lastUnordered(s); other != s)
        buffer.lastUse = std::max(buffer.lastUse, steps[other].end + 1);
    }
}

Status BlockQueues::verify() {
  bool isSerial = std::all_of(steps.begin(), steps.end(), [](const Program::Step &step) {
    return step.queue == kHostQueue && step.waits.size == 0 && step.signals.size == 0;
  });
  if (isSerial)
    return {};
  LLMC_TRY(orderSteps());
  LLMC_TRY(verifySharing());
  extendLifetimes();
  return {};
}

} // namespace

Status orderQueues(Program &program) {
  program.signallers.assign(program.body->semaphores(), kNone);
  if (count(program.body->queues()) == 1 && program.body->semaphores() == 0)
    return {};
  findJoins(program);
  StepUses uses = collectUses(program);
  for (uint32_t block : program.blockOrder)
    LLMC_TRY(BlockQueues(program, block, uses).verify());
  return {};
}

} // namespace llmc::rt
