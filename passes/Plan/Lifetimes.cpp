// See Lifetimes.h.
#include "passes/Plan/Lifetimes.h"
#include "passes/Plan/Accesses.h"
#include "runtime/plan/QueueOrder.h"

using namespace mlir;

namespace llmc {

Lifetimes::Lifetimes(plan::BodyOp body) : top(&body.getSteps().front()) {
  number(*top);
  for (auto &[step, time] : steps)
    collect(step);
  if (body.getQueues().size() > 1)
    extend(body, *top);
}

void Lifetimes::number(Block &block) {
  for (Operation &op : block) {
    if (!isa<plan::StepOpInterface>(op))
      continue;
    uint32_t first = next++;
    bool entersBlocks = op.getNumRegions() > 0;
    // The entry is made before those of the steps inside.
    steps[&op] = {first, first};
    for (Region &region : op.getRegions())
      if (!region.empty())
        number(region.front());
    if (entersBlocks)
      steps[&op].last = next++;
  }
}

void Lifetimes::collect(Operation *step) {
  Lifetime time = of(step), start = {time.first, time.first}, end = {time.last, time.last};
  if (auto loop = dyn_cast<plan::LoopOp>(step))
    return collectLoop(loop, time);
  auto branch = dyn_cast<plan::IfOp>(step);
  for (Value buffer : step->getOperands())
    use(step, buffer, branch && buffer != branch.getCondition() ? end : start);
  for (Region &region : step->getRegions())
    if (!region.empty())
      useYields(region.front(), end);
}

void Lifetimes::useYields(Block &block, Lifetime time) {
  for (Value buffer : block.getTerminator()->getOperands())
    use(block.getTerminator(), buffer, time);
}

void Lifetimes::collectLoop(plan::LoopOp loop, Lifetime time) {
  Lifetime start = {time.first, time.first}, end = {time.last, time.last};
  llvm::SmallDenseSet<int64_t> inBlock; // carried values that lie in the block until the end
  for (auto argument : loop.getBlock().getOps<plan::ArgumentOp>()) {
    inBlock.insert(argument.getIndex());
    use(loop.getBlock().front().getTerminator(), argument, time);
  }
  for (Value buffer : loop.getInits())
    use(loop, buffer, start);
  for (auto [i, buffer] : llvm::enumerate(loop.getCarried()))
    use(loop, buffer, inBlock.contains(i) ? end : time);
  for (Value buffer : loop.getCollected())
    use(loop, buffer, time);
  if (loop.getCondition())
    use(loop, loop.getCondition(), time);
  useYields(loop.getBlock().front(), end);
}

/// `user` uses `buffer` at `time`.
void Lifetimes::use(Operation *user, Value buffer, Lifetime time) {
  Value root = plan::rootOf(buffer);
  Operation *step = isa<plan::YieldOp>(user) ? user->getParentOp() : user; // which reads what its blocks yield
  for (; step->getBlock() != top; step = step->getParentOp())
    users[step->getBlock()][root].push_back(step);
  users[top][root].push_back(step);
  for (; user->getBlock() != root.getParentBlock(); user = user->getParentOp())
    time = of(user->getParentOp());
  auto [place, isNew] = used.try_emplace(root, time);
  place->second.first = std::min(place->second.first, time.first);
  place->second.last = std::max(place->second.last, time.last);
}

/// The order that queues, waits and signals give to the steps of a block.
static QueueOrder orderOf(plan::BodyOp body, ArrayRef<Operation *> steps) {
  QueueOrder order(body.getQueues().size());
  llvm::DenseMap<Attribute, uint32_t> signallers; // #plan.point -> step
  for (auto [number, step] : llvm::enumerate(steps)) {
    SmallVector<uint32_t> waits;
    plan::ScheduleAttr schedule = cast<plan::StepOpInterface>(step).getScheduleAttr();
    if (schedule && schedule.getWait())
      for (Attribute point : schedule.getWait())
        waits.push_back(signallers.lookup(point));
    if (joins(step))
      order.addAlone(queueOf(cast<plan::StepOpInterface>(step)));
    else
      order.add(queueOf(cast<plan::StepOpInterface>(step)), waits);
    if (schedule && schedule.getSignal())
      for (Attribute point : schedule.getSignal())
        signallers[point] = number;
  }
  return order;
}

void Lifetimes::extend(plan::BodyOp body, Block &block) {
  SmallVector<Operation *> list;
  llvm::DenseMap<Operation *, uint32_t> numbers;
  for (auto step : block.getOps<plan::StepOpInterface>()) {
    numbers[step] = list.size();
    list.push_back(step);
  }
  QueueOrder order = orderOf(body, list);
  auto arenaOf = [](Value root) { return root.getDefiningOp<plan::ArenaOp>(); };
  SmallVector<llvm::SmallVector<char>> touched(body.arenaList().size(), llvm::SmallVector<char>(list.size()));
  for (auto &[root, steps] : users[&block])
    if (auto arena = arenaOf(root))
      for (Operation *user : steps)
        touched[arena.getArena()][numbers[user]] = true;
  std::vector<ArenaUsers> arenas(touched.size(), ArenaUsers(order, body.getQueues().size()));
  for (auto [arena, steps] : llvm::zip_equal(arenas, touched))
    for (auto [number, touches] : llvm::enumerate(steps))
      if (touches)
        arena.add(number);
  for (auto &[root, steps] : users[&block])
    if (auto arena = arenaOf(root))
      for (Operation *user : steps)
        if (uint32_t other = arenas[arena.getArena()].lastUnordered(numbers[user]); other != numbers[user])
          used[root].last = std::max(used[root].last, of(list[other]).last + 1);
  for (Operation *step : list)
    for (Region &region : step->getRegions())
      if (!region.empty())
        extend(body, region.front());
}

} // namespace llmc
