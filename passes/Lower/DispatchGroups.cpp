// Greedy grouping, in program order: an op joins the group of a producer when one kernel can compute both.
#include "passes/Lower/DispatchGroups.h"
#include "passes/Graph/Device.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace llmc {
namespace {

constexpr size_t mostOps = 32; // of one kernel

bool isContraction(linalg::GenericOp op) { return op.getNumReductionLoops() > 0 && op.getNumDpsInputs() >= 2; }

/// An op with a template of its own that takes an epilogue.
bool isGeneratedRoot(Operation *op) {
  auto isImage = [](Value x) {
    auto type = cast<RankedTensorType>(x.getType());
    return type.getRank() == 4 && type.getElementType().isF32();
  };
  if (auto conv = dyn_cast<graph::ConvOp>(op))
    return conv.getChannelsLast() && !conv.getBias() && isImage(conv.getX());
  if (auto pool = dyn_cast<graph::MaxPoolOp>(op))
    return pool.getChannelsLast() && isImage(pool.getX());
  if (auto pool = dyn_cast<graph::AveragePoolOp>(op))
    return pool.getChannelsLast() && isImage(pool.getX());
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && isContraction(generic);
}

/// Reductions over trailing dims in one run; others, such as a mean over the middle of [N, H, W, C], stay alone.
bool reducesTrailing(linalg::GenericOp op) {
  bool seen = false;
  for (utils::IteratorType iterator : op.getIteratorTypesArray()) {
    if (iterator == utils::IteratorType::reduction)
      seen = true;
    else if (seen)
      return false;
  }
  return true;
}

int64_t parallelRank(linalg::GenericOp op) { return op.getNumParallelLoops(); }

class Grouping {
public:
  Grouping(Block &block, bool fuse) : fuse(fuse) {
    for (auto [i, op] : llvm::enumerate(block)) {
      order[&op] = i;
      if (isFence(&op))
        fences.push_back(i);
    }
  }

  std::vector<DispatchGroup> run(Block &block) {
    for (Operation &op : block)
      if (needsKernel(&op))
        place(&op);
    return std::move(groups);
  }

private:
  void place(Operation *op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && fuse) {
      for (size_t candidate : producers(generic)) {
        const char *obstacle = obstacleTo(generic, candidate);
        if (!obstacle)
          return join(generic, candidate);
        reportNotFused(generic, groups[candidate], obstacle);
      }
    }
    DispatchGroup group;
    bool isRoot = isGeneratedRoot(op);
    group.kind = isRoot ? DispatchGroup::Kind::Root
                 : isa<linalg::GenericOp>(op) ? DispatchGroup::Kind::Rows : DispatchGroup::Kind::Reference;
    group.ops = {op};
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && !isRoot && generic.getNumReductionLoops() > 0)
      group.rowRank = reducesTrailing(generic) ? parallelRank(generic) : -2;
    groupOf[op] = groups.size();
    groups.push_back(std::move(group));
  }

  static void reportNotFused(Operation *op, const DispatchGroup &group, const char *obstacle) {
    remark::missed(op->getLoc(), remark::RemarkOpts::name("NotFused").category("form-dispatches"))
        << remark::reason("{0}", obstacle) << remark::metric("Producer", graph::joinedSourceNames(group.ops.back()->getLoc()));
  }

  void join(linalg::GenericOp op, size_t index) {
    DispatchGroup &group = groups[index];
    remark::passed(op.getLoc(), remark::RemarkOpts::name("Fused").category("form-dispatches"))
        << remark::metric("Producer", graph::joinedSourceNames(group.ops.back()->getLoc()));
    if (group.kind == DispatchGroup::Kind::Rows && op.getNumReductionLoops() > 0)
      group.rowRank = parallelRank(op);
    group.ops.push_back(op);
    groupOf[op] = index;
  }

  /// Groups that make an operand of `op`, latest first.
  SmallVector<size_t> producers(linalg::GenericOp op) const {
    SmallVector<size_t> result;
    for (Value input : op.getDpsInputs())
      if (Operation *producer = input.getDefiningOp(); producer && groupOf.contains(producer))
        result.push_back(groupOf.lookup(producer));
    llvm::sort(result, std::greater<>());
    result.erase(llvm::unique(result), result.end());
    return result;
  }

  /// Why `op` can not join a group; null if it can.
  const char *obstacleTo(linalg::GenericOp op, size_t index) const {
    const DispatchGroup &group = groups[index];
    if (deviceOf(op) != deviceOf(group.ops.front()))
      return "the producer is on another device";
    if (group.ops.size() == mostOps)
      return "the kernel would be too long";
    const char *obstacle = group.kind == DispatchGroup::Kind::Root   ? obstacleToRoot(op, group)
                           : group.kind == DispatchGroup::Kind::Rows ? obstacleToRows(op, group)
                                                                     : "the producer has no generated code";
    if (!obstacle && hasFenceBetween(group.ops.front(), op))
      return "a branch, a loop or a size that is read lies in between";
    if (!obstacle && reachesThroughOthers(op, index))
      return "another operand needs the producer's result first";
    return obstacle;
  }

  bool hasFenceBetween(Operation *first, Operation *last) const {
    return llvm::upper_bound(fences, order.lookup(first)) != llvm::upper_bound(fences, order.lookup(last));
  }

  /// None for an element-wise op over exactly the elements of the root, which nobody else reads.
  static const char *obstacleToRoot(linalg::GenericOp op, const DispatchGroup &group) {
    if (isContraction(op))
      return "a product reads its operands from memory";
    if (group.ops.size() != 1)
      return "the producer's kernel has an epilogue already";
    if (op.getNumReductionLoops() > 0)
      return "reduces what the producer computes in tiles";
    Value result = group.ops.front()->getResult(0);
    if (!llvm::all_of(result.getUsers(), [&](Operation *user) { return user == op.getOperation(); }))
      return "the producer's result has other readers";
    bool inPlace = llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
      return operand->get() != result || op.getMatchingIndexingMap(operand).isIdentity();
    });
    return inPlace ? nullptr : "reads the producer's result in another shape or order";
  }

  /// None for what reads the group's results row by row: the same leading dims, in place.
  static const char *obstacleToRows(linalg::GenericOp op, const DispatchGroup &group) {
    if (isContraction(op))
      return "a product reads its operands from memory";
    if (group.rowRank == -2)
      return "the producer reduces dims that are not the last ones";
    bool reduces = op.getNumReductionLoops() > 0;
    if (reduces && !reducesTrailing(op))
      return "reduces dims that are not the last ones";
    int64_t rank = group.rowRank >= 0 ? group.rowRank : reduces ? parallelRank(op) : -1;
    if (rank < 0) // those without were fused before
      return "the producer's result has other readers";
    bool sameRows = !(group.rowRank >= 0 && reduces && parallelRank(op) != rank) && op.getNumLoops() >= rank &&
                    llvm::all_of(group.ops, [&](Operation *member) { return cast<linalg::GenericOp>(member).getNumLoops() >= rank; });
    if (!sameRows || rowSizes(op, rank) != rowSizes(cast<linalg::GenericOp>(group.ops.front()), rank))
      return "has rows of other dims than the producer";
    for (OpOperand *operand : op.getDpsInputOperands()) {
      Operation *producer = operand->get().getDefiningOp();
      if (producer && llvm::is_contained(group.ops, producer) && !keepsRows(op.getMatchingIndexingMap(operand), rank))
        return "reads across the rows of the producer";
    }
    return nullptr;
  }

  /// The leading sizes of what the op makes. Equal ones are one value; two that only the run shows to be equal are not.
  static SmallVector<OpFoldResult> rowSizes(linalg::GenericOp op, int64_t rank) {
    Value init = op.getDpsInits()[0];
    if (auto fill = init.getDefiningOp<linalg::FillOp>())
      init = fill.getOutputs()[0];
    auto empty = init.getDefiningOp<tensor::EmptyOp>();
    if (!empty)
      return {};
    SmallVector<OpFoldResult> sizes = empty.getMixedSizes();
    sizes.truncate(std::min<size_t>(rank, sizes.size()));
    return sizes;
  }

  static bool keepsRows(AffineMap map, int64_t rank) {
    if (static_cast<int64_t>(map.getNumResults()) < rank)
      return false;
    for (int64_t i = 0; i < rank; ++i)
      if (map.getResult(i) != getAffineDimExpr(i, map.getContext()))
        return false;
    return true;
  }

  /// Whether an operand of `op` depends on group `index` by way of ops outside of it, which would have to run both before and after.
  bool reachesThroughOthers(Operation *op, size_t index) const {
    SmallVector<Operation *> pending;
    llvm::SmallDenseSet<Operation *> seen;
    auto push = [&](Operation *user) {
      for (Value operand : user->getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && seen.insert(producer).second)
          pending.push_back(producer);
    };
    size_t first = order.lookup(groups[index].ops.front());
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && !inGroup(producer, index))
        pending.push_back(producer);
    while (!pending.empty()) {
      Operation *current = pending.pop_back_val();
      if (inGroup(current, index))
        return true;
      // A group runs as a whole: what any member needs, all of it needs.
      auto found = groupOf.find(current);
      ArrayRef<Operation *> members = found == groupOf.end() ? ArrayRef(current) : ArrayRef(groups[found->second].ops);
      if (order.lookup(members.back()) > first)
        llvm::for_each(members, push);
    }
    return false;
  }

  bool inGroup(Operation *op, size_t index) const {
    auto found = groupOf.find(op);
    return found != groupOf.end() && found->second == index;
  }

  bool fuse;
  llvm::DenseMap<Operation *, size_t> order, groupOf;
  SmallVector<size_t> fences; // places in the block, ascending
  std::vector<DispatchGroup> groups;
};

} // namespace

bool isFence(Operation *op) { return isa<graph::ReadNumbersOp, graph::IfOp, graph::LoopOp>(op); }

bool needsKernel(Operation *op) {
  if (isa<graph::ConstantOp, graph::ViewOp, graph::PrefixOp, graph::SizeOp, graph::DispatchOp>(op))
    return false;
  return isa<linalg::GenericOp, tensor::FromElementsOp>(op) || isa<graph::ReferenceEvalOpInterface>(op);
}

std::vector<DispatchGroup> groupDispatches(Block &block, bool fuse) { return Grouping(block, fuse).run(block); }

} // namespace llmc
