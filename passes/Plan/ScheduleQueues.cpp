// The order of steps on several queues.
#include "passes/Plan/Accesses.h"
#include "passes/Plan/Passes.h"
#include "runtime/plan/QueueOrder.h"
#include "llvm/ADT/DenseSet.h"
#include <numeric>
#include <tuple>

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_SCHEDULEQUEUESPASS
#include "passes/Plan/Passes.h.inc"
namespace {

/// For each step, those before it that it must not overtake: writers of what it touches, readers of what it writes.
class Conflicts {
public:
  /// Of the step that gets the next number; each earlier step once.
  SmallVector<uint32_t> add(Operation *step) {
    llvm::SmallDenseSet<uint32_t> earlier;
    forEachAccess(step, [&](OpOperand &operand, bool writes) {
      Users &users = usersOf[plan::rootOf(operand.get())];
      if (users.writer)
        earlier.insert(*users.writer);
      if (writes) {
        earlier.insert(users.readers.begin(), users.readers.end());
        users = {next, {}};
      } else {
        users.readers.push_back(next);
      }
    });
    earlier.erase(next++);
    SmallVector<uint32_t> result(earlier.begin(), earlier.end());
    llvm::sort(result, std::greater<>());
    return result;
  }

private:
  struct Users {
    std::optional<uint32_t> writer;
    SmallVector<uint32_t> readers; // since it was written
  };
  llvm::DenseMap<Value, Users> usersOf; // by the buffer that has the bytes
  uint32_t next = 0;
};

/// One block, and then those inside of it.
class Scheduler {
public:
  Scheduler(plan::BodyOp body, Block &block) : body(body), block(block) {
    for (auto step : block.getOps<plan::StepOpInterface>())
      steps.push_back(step);
  }
  void run();

private:
  int64_t queue(uint32_t step) const { return queueOf(cast<plan::StepOpInterface>(steps[step])); }
  std::vector<uint32_t> levels() const;
  void sortSteps();
  void placeBuffers(Operation *user, llvm::DenseSet<Operation *> &waiting);
  void placeBuffer(Value buffer, llvm::DenseSet<Operation *> &waiting);
  Block::iterator end() { return isa<plan::BodyOp>(block.getParentOp()) ? block.end() : block.getTerminator()->getIterator(); }
  void addPoints();

  plan::BodyOp body;
  Block &block;
  SmallVector<Operation *> steps;
};

/// The number of changes of queue on the longest way to each step: steps of one queue and level form a segment, and segments can not
/// depend on each other in a circle. A number that the host makes known counts as read by all that comes later.
std::vector<uint32_t> Scheduler::levels() const {
  std::vector<uint32_t> result(steps.size());
  Conflicts conflicts;
  std::optional<uint32_t> read;
  for (uint32_t s = 0; s < steps.size(); ++s) {
    SmallVector<uint32_t> earlier = conflicts.add(steps[s]);
    if (read)
      earlier.push_back(*read);
    for (uint32_t other : earlier)
      result[s] = std::max(result[s], result[other] + (queue(other) != queue(s)));
    if (!plan::definedSymbols(steps[s]).empty())
      read = s;
  }
  return result;
}

/// Moves the buffer to the end of the block, behind what it views, if it is among those that wait for a use.
void Scheduler::placeBuffer(Value buffer, llvm::DenseSet<Operation *> &waiting) {
  Operation *op = buffer.getDefiningOp();
  if (!waiting.erase(op))
    return;
  if (auto view = dyn_cast<plan::ViewOp>(op))
    placeBuffer(view.getParent(), waiting);
  op->moveBefore(&block, end());
}

/// The buffers of the block that `user` or an op inside of it names.
void Scheduler::placeBuffers(Operation *user, llvm::DenseSet<Operation *> &waiting) {
  user->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value buffer : op->getOperands())
      placeBuffer(buffer, waiting);
  });
}

/// Segment by segment. The host comes last in its level: it does its own work while the other devices do what it gave them.
void Scheduler::sortSteps() {
  if (steps.empty())
    return;
  std::vector<uint32_t> level = levels();
  std::vector<uint32_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0);
  auto key = [&](uint32_t step) { return std::tuple(level[step], queue(step) == 0, queue(step), step); };
  llvm::sort(order, [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  llvm::DenseSet<Operation *> waiting; // buffers that follow a step may depend on a number that is read
  for (Operation *op = steps.front(); op; op = op->getNextNode())
    if (isa<plan::BufferOpInterface>(op))
      waiting.insert(op);
  SmallVector<Operation *> sorted = llvm::map_to_vector(order, [&](uint32_t step) { return steps[step]; });
  for (Operation *step : sorted) {
    placeBuffers(step, waiting);
    step->moveBefore(&block, end());
  }
  if (end() != block.end())
    placeBuffers(&*end(), waiting);
  for (Operation *op : llvm::to_vector(llvm::make_pointer_range(llvm::reverse(block))))
    if (isa<plan::ArenaOp, plan::ViewOp, plan::ConstantOp>(op) && op->use_empty())
      op->erase();
  steps = std::move(sorted);
}

/// One semaphore per queue that another one waits for; a step is waited for only where nothing else makes sure of its end.
void Scheduler::addPoints() {
  QueueOrder order(body.getQueues().size());
  Conflicts conflicts;
  SmallVector<SmallVector<uint32_t>> waits(steps.size());
  SmallVector<char> isAwaited(steps.size());
  for (uint32_t s = 0; s < steps.size(); ++s) {
    SmallVector<uint32_t> earlier = conflicts.add(steps[s]);
    if (joins(steps[s])) {
      order.addAlone(queue(s));
      continue;
    }
    for (uint32_t other : earlier) { // latest first
      auto covers = [&](uint32_t wait) { return queue(wait) == queue(other) || order.isBefore(other, wait); };
      if (queue(other) == queue(s) || order.isBeforeNext(other, queue(s)) || llvm::any_of(waits[s], covers))
        continue;
      waits[s].push_back(other);
      isAwaited[other] = true;
    }
    order.add(queue(s), waits[s]);
  }
  MLIRContext *context = body.getContext();
  llvm::DenseMap<int64_t, int64_t> semaphores, values; // per queue
  SmallVector<Attribute> points(steps.size());
  for (uint32_t s = 0; s < steps.size(); ++s) {
    SmallVector<Attribute> waited = llvm::map_to_vector(waits[s], [&](uint32_t other) { return points[other]; }), signalled;
    if (isAwaited[s]) {
      int64_t semaphore = semaphores.try_emplace(queue(s), body.getSemaphores() + semaphores.size()).first->second;
      signalled.push_back(points[s] = plan::PointAttr::get(context, semaphore, ++values[queue(s)]));
    }
    auto list = [&](ArrayRef<Attribute> attributes) { return attributes.empty() ? ArrayAttr() : ArrayAttr::get(context, attributes); };
    if (!waited.empty() || !signalled.empty())
      steps[s]->setAttr("schedule", plan::ScheduleAttr::get(context, queue(s), list(waited), list(signalled)));
  }
  body.setSemaphores(body.getSemaphores() + semaphores.size());
}

void Scheduler::run() {
  sortSteps();
  addPoints();
  for (Operation *step : steps)
    for (Region &region : step->getRegions())
      if (!region.empty())
        Scheduler(body, region.front()).run();
}

struct ScheduleQueuesPass : impl::ScheduleQueuesPassBase<ScheduleQueuesPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto body : getOperation().getBodies().front().getOps<plan::BodyOp>())
      if (body.getQueues().size() > 1)
        Scheduler(body, body.getSteps().front()).run();
  }
};

} // namespace
} // namespace llmc
