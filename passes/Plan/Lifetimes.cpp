// See Lifetimes.h.
#include "passes/Plan/Lifetimes.h"

using namespace mlir;

namespace llmc {

Lifetimes::Lifetimes(plan::BodyOp body) {
  number(body.getSteps().front());
  for (auto &[step, time] : steps)
    collect(step);
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
  for (; user->getBlock() != root.getParentBlock(); user = user->getParentOp())
    time = of(user->getParentOp());
  auto [place, isNew] = used.try_emplace(root, time);
  place->second.first = std::min(place->second.first, time.first);
  place->second.last = std::max(place->second.last, time.last);
}

} // namespace llmc
