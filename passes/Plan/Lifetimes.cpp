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
  auto loop = dyn_cast<plan::LoopOp>(step);
  if (!loop) {
    for (Value buffer : step->getOperands())
      use(step, buffer, start);
    return;
  }
  for (Value buffer : loop.getInits())
    use(step, buffer, start);
  for (Value buffer : loop.getCarried())
    use(step, buffer, time);
  if (loop.getCondition())
    use(step, loop.getCondition(), time);
  Operation *yield = loop.getBlock().front().getTerminator();
  for (Value buffer : yield->getOperands())
    use(yield, buffer, end);
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
