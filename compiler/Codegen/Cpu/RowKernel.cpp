// Reductions, and element-wise ops before and after them that share the dims which are not reduced: softmax, layer norm, means,
// global pooling.
//
// All loops are those of the first reduction. A unit is one position of the parallel dims: a row, or where the innermost dim
// is parallel, a vector of neighbouring columns. For each unit the reductions run one after the other over the reduced dims,
// then the results of full size are written. Reduced values stay in registers; of what several of these passes need, only values
// that cost much (exp) are kept in scratch, the rest is computed again.
//
// Order of a sum: step i of the innermost reduced dim (of vectors, along a row) goes to accumulator i mod kAccumulators; these are
// combined in pairs, then the halves of the vector. So it depends on the sizes of the reduced dims alone.
#include "compiler/Codegen/Cpu/BodyEmitter.h"
#include "compiler/Codegen/Cpu/Combiner.h"
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "compiler/Codegen/Cpu/Pointwise.h"
#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {
namespace {

constexpr unsigned kAccumulators = 4;
constexpr int64_t kItemElements = 4096;
constexpr unsigned kCostlyCycles = 15; // an op of that price is not computed twice

/// Sizes of the loops of `op`.
Dims loopSizes(KernelBuilder &kb, linalg::GenericOp op) {
  Dims sizes(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands())
    for (auto [expr, size] : llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(), kb.sizesOf(operand.get())))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && !sizes[dim.getPosition()])
        sizes[dim.getPosition()] = size;
  return sizes;
}

SmallVector<linalg::GenericOp> reductionsOf(func::FuncOp dispatch) {
  SmallVector<linalg::GenericOp> reductions;
  for (auto op : dispatch.getBody().getOps<linalg::GenericOp>())
    if (op.getNumReductionLoops() != 0)
      reductions.push_back(op);
  return reductions;
}

/// A tensor that the function returns, and how it follows from the loops.
struct Output {
  Value tensor;
  AffineMap map;
  View view;
  bool isReduced; // one value per unit
};

class RowKernel {
public:
  explicit RowKernel(KernelBuilder &kb)
      : kb(kb), reductions(reductionsOf(kb.dispatch)), sizes(loopSizes(kb, reductions.front())), pointwise(kb, sizes) {}

  LogicalResult emit() {
    if (failed(collectReductions()) || failed(collectOutputs()))
      return failure();
    pointwise.collapse([&](unsigned outer, unsigned inner) { return isReduction(outer) == isReduction(inner); });
    classifyGroups();
    planScratch();
    planUnits();
    Value first = kb.mul(kb.begin(), kb.index(unitsPerItem));
    Value last = kb.min(kb.mul(kb.end(), kb.index(unitsPerItem)), kb.index(graph::productOf(kb.context(), unitSizes)));
    kb.loop(first, last, 1, [&](Value unit) { emitUnit(kb.delinearize(unit, unitSizes)); });
    kb.finish();
    return success(!kb.broken);
  }

private:
  bool isReduction(unsigned loop) {
    return reductions.front().getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  }

  // --- What there is to do ---

  LogicalResult collectReductions() {
    for (linalg::GenericOp op : reductions) {
      if (op.getIteratorTypesArray() != reductions.front().getIteratorTypesArray() || loopSizes(kb, op) != sizes)
        return op.emitError("reductions of one kernel must have the same loops");
      if (op->getNumResults() != 1 || !Combiner::of(op))
        return op.emitError("a reduction must have one result and one op that joins its elements");
      if (!op.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
        return op.emitError("a reduction must start from linalg.fill");
      pointwise.provide(op.getResult(0), [this, op](AffineMap map, const Position &position) {
        return reducedValue(op, map, position);
      });
    }
    for (linalg::GenericOp op : reductions)
      for (OpOperand *input : op.getDpsInputOperands())
        if (failed(pointwise.require(input->get(), op.getMatchingIndexingMap(input))))
          return failure();
    return success();
  }

  LogicalResult collectOutputs() {
    auto dispatch = kb.dispatch;
    linalg::GenericOp first = reductions.front();
    AffineMap reducedMap = first.getIndexingMapsArray().back();
    for (unsigned i = 0; i < dispatch.getNumResults(); ++i) {
      Value tensor = kb.computedResult(i);
      Dims tensorSizes = kb.sizesOf(tensor);
      bool isFull = tensorSizes == sizes && !llvm::is_contained(reductions, tensor.getDefiningOp<linalg::GenericOp>());
      if (!isFull && tensorSizes != kb.sizesOf(first.getResult(0)))
        return emitError(tensor.getLoc(), "a result of a row kernel must have the sizes of the loops or of the reduced values");
      outputs.push_back({tensor, isFull ? pointwise.identity() : reducedMap, kb.resultView(i), !isFull});
      if (failed(pointwise.require(tensor, outputs.back().map)))
        return failure();
    }
    return success();
  }

  void classifyGroups() {
    lanes = pointwise.naturalLanes();
    auto groups = pointwise.loopGroups();
    for (auto [number, group] : llvm::enumerate(groups))
      if (!group.empty() && isReduction(group.front()))
        reducedGroups.push_back(number);
    vectorGroup = groups.size() - 1;
    alongRow = !reducedGroups.empty() && reducedGroups.back() == vectorGroup;
    reducedSize = kb.constantExpr(1);
    for (unsigned group : reducedGroups)
      reducedSize = reducedSize * pointwise.groupSizes()[group];
  }

  SmallVector<Pointwise::Access> inputsOf(linalg::GenericOp op) {
    return llvm::map_to_vector(op.getDpsInputOperands(), [&](OpOperand *input) {
      return Pointwise::Access{input->get(), op.getMatchingIndexingMap(input)};
    });
  }

  /// What each pass computes: one per reduction, then the outputs.
  SmallVector<llvm::SetVector<Pointwise::Access>> closures() {
    SmallVector<llvm::SetVector<Pointwise::Access>> result(reductions.size() + 1);
    auto add = [&](unsigned pass, Pointwise::Access access) {
      auto closure = pointwise.closureOf(access);
      result[pass].insert(closure.begin(), closure.end());
    };
    for (auto [pass, op] : llvm::enumerate(reductions))
      for (const Pointwise::Access &input : inputsOf(op))
        add(pass, input);
    for (const Output &output : outputs)
      add(reductions.size(), {output.tensor, output.map});
    return result;
  }

  /// Along rows, costly values that a later pass needs again go to scratch.
  void planScratch() {
    kept.resize(reductions.size());
    kb.cost.scratch = kb.constantExpr(0);
    if (!alongRow)
      return;
    auto passes = closures();
    llvm::SmallDenseSet<Value> done;
    for (unsigned pass = 0; pass < reductions.size(); ++pass)
      for (const Pointwise::Access &access : passes[pass]) {
        auto generic = access.first.getDefiningOp<linalg::GenericOp>();
        bool isCostly = generic && bodyCycles(generic) > kCostlyCycles && access.second.isPermutation();
        bool isNeededAgain = llvm::any_of(ArrayRef(passes).drop_front(pass + 1),
                                          [&](const auto &later) { return later.contains(access); });
        if (isCostly && isNeededAgain && done.insert(access.first).second)
          kept[pass].push_back({access, scratchFor(access)});
      }
  }

  View scratchFor(const Pointwise::Access &access) {
    Type elementType = cast<RankedTensorType>(access.first.getType()).getElementType();
    View view{kb.advance(kb.scratch(), kb.b.getI8Type(), kb.index(kb.cost.scratch)), elementType, kb.constantExpr(0),
              kb.sizesOf(access.first), {}, ""};
    Dims loopStrides(sizes.size(), kb.constantExpr(0));
    DimExpr stride = kb.constantExpr(1);
    for (unsigned loop = sizes.size(); loop-- > 0;)
      if (isReduction(loop)) {
        loopStrides[loop] = stride;
        stride = stride * sizes[loop];
      }
    for (AffineExpr expr : access.second.getResults())
      view.strides.push_back(loopStrides[cast<AffineDimExpr>(expr).getPosition()]);
    kb.cost.scratch = kb.cost.scratch + (reducedSize * bytesOf(elementType)).ceilDiv(64) * 64;
    return view;
  }

  void planUnits() {
    for (auto [group, size] : llvm::enumerate(pointwise.groupSizes()))
      if (!llvm::is_contained(reducedGroups, group))
        unitSizes.push_back(group == vectorGroup ? size.ceilDiv(lanes) : size);
    DimExpr units = graph::productOf(kb.context(), unitSizes);
    std::optional<int64_t> elements = reducedSize.asConstant();
    int64_t perUnit = std::max<int64_t>(elements.value_or(kItemElements) * (alongRow ? 1 : lanes), 1);
    unitsPerItem = std::max<int64_t>(kItemElements / perUnit, 1);
    kb.cost.grid = units.ceilDiv(unitsPerItem);
    DimExpr steps = alongRow ? reducedSize.ceilDiv(lanes) : reducedSize;
    kb.cost.grain = grainFor((steps * pointwise.cycles() + 30) * unitsPerItem);
  }

  // --- Emission ---

  void emitUnit(ArrayRef<Value> place) {
    Position unit{SmallVector<Value>(pointwise.groupSizes().size(), kb.index(0)), vectorGroup, kb.allLanes(lanes)};
    unsigned next = 0;
    for (unsigned group = 0; group < unit.index.size(); ++group)
      if (!llvm::is_contained(reducedGroups, group))
        unit.index[group] = place[next++];
    if (!alongRow) {
      Value first = kb.mul(unit.index[vectorGroup], kb.index(lanes));
      unit.index[vectorGroup] = first;
      DimExpr columns = pointwise.groupSizes()[vectorGroup];
      if (std::optional<int64_t> known = columns.asConstant(); !known || *known % lanes != 0)
        unit.lanes = kb.firstLanes(lanes, kb.min(kb.sub(kb.index(columns), first), kb.index(lanes)));
    }
    for (auto [pass, op] : llvm::enumerate(reductions)) {
      reduced[op] = reduce(op, kept[pass], unit);
      for (const auto &[access, view] : kept[pass])
        pointwise.addView(access.first, view);
    }
    storeOutputs(unit);
  }

  using Kept = SmallVector<std::pair<Pointwise::Access, View>>;

  Value reduce(linalg::GenericOp op, const Kept &keep, const Position &unit) {
    Combiner combiner = *Combiner::of(op);
    SmallVector<Value> sums(kAccumulators, combiner.neutral(kb, lanes));
    Value sum = combiner.joinAll(kb, reduceOver(op, keep, unit, reducedGroups, sums));
    if (alongRow)
      sum = combiner.joinLanes(kb, sum);
    Value start = kb.scalar(op.getDpsInits()[0].getDefiningOp<linalg::FillOp>().value());
    return combiner.join(kb, kb.splat(start, alongRow ? 1 : lanes), sum);
  }

  SmallVector<Value> reduceOver(linalg::GenericOp op, const Kept &keep, Position position, ArrayRef<unsigned> groups,
                                SmallVector<Value> sums) {
    if (groups.empty()) {
      startRow(position, inputsOf(op));
      sums[0] = accumulate(op, keep, position, sums[0]);
      return sums;
    }
    Value size = kb.index(pointwise.groupSizes()[groups[0]]);
    if (groups.size() > 1)
      return kb.loop(kb.index(0), size, 1, sums, [&](Value i, ValueRange carried) {
        position.index[groups[0]] = i;
        return reduceOver(op, keep, position, groups.drop_front(), llvm::to_vector(carried));
      });
    startRow(position, inputsOf(op));
    return reduceLine(op, keep, position, groups[0], size, sums);
  }

  /// The innermost reduced group: kAccumulators steps at a time, then those that are left, each to its accumulator.
  SmallVector<Value> reduceLine(linalg::GenericOp op, const Kept &keep, Position position, unsigned group, Value size,
                                SmallVector<Value> sums) {
    int64_t step = alongRow ? lanes : 1;
    Value rest = kb.rem(size, kb.index(step * kAccumulators));
    Value fullEnd = kb.sub(size, rest);
    sums = kb.loop(kb.index(0), fullEnd, step * kAccumulators, sums, [&](Value i, ValueRange carried) {
      SmallVector<Value> next = llvm::to_vector(carried);
      for (unsigned v = 0; v < kAccumulators; ++v) {
        position.index[group] = kb.add(i, kb.index(v * step));
        next[v] = accumulate(op, keep, position, next[v]);
      }
      return next;
    });
    for (unsigned v = 0; v < kAccumulators; ++v) {
      position.index[group] = kb.add(fullEnd, kb.index(v * step));
      Value left = kb.sub(rest, kb.index(v * step));
      sums[v] = accumulateIfAny(op, keep, position, left, sums[v]);
    }
    return sums;
  }

  /// `left` steps are left, maybe none.
  Value accumulateIfAny(linalg::GenericOp op, const Kept &keep, Position position, Value left, Value sum) {
    auto emit = [&] {
      if (alongRow)
        position.lanes = kb.firstLanes(lanes, kb.min(left, kb.index(lanes)));
      return accumulate(op, keep, position, sum);
    };
    if (std::optional<int64_t> known = getConstantIntValue(left))
      return *known > 0 ? emit() : sum;
    Value any = arith::CmpIOp::create(kb.b, arith::CmpIPredicate::sgt, left, kb.index(0));
    auto branch = scf::IfOp::create(kb.b, sum.getType(), any, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(kb.b);
    kb.b.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(kb.b, emit());
    kb.b.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(kb.b, sum);
    return branch.getResult(0);
  }

  Value accumulate(linalg::GenericOp op, const Kept &keep, const Position &position, Value sum) {
    pointwise.newPosition();
    for (const auto &[access, view] : keep)
      pointwise.store(pointwise.evaluate(access.first, access.second, position), view, access.second, position);
    SmallVector<Value> arguments;
    for (const auto &[tensor, map] : inputsOf(op))
      arguments.push_back(pointwise.evaluate(tensor, map, position));
    arguments.push_back(sum);
    AffineMap loops = pointwise.identity();
    FailureOr<SmallVector<Value>> yielded = emitBody(kb, op, arguments, position.lanes.count, [&](int64_t dim) {
      return pointwise.indexAlong(loops.getResult(dim), position);
    });
    kb.broken |= failed(yielded);
    if (failed(yielded))
      return sum;
    if (!alongRow || !position.lanes.mask)
      return (*yielded)[0];
    return arith::SelectOp::create(kb.b, position.lanes.mask, (*yielded)[0], sum);
  }

  /// Along rows, what is the same for a whole line is computed before it; along columns each step differs.
  void startRow(const Position &position, ArrayRef<Pointwise::Access> accesses) {
    pointwise.hoist(position, alongRow ? accesses : ArrayRef<Pointwise::Access>());
  }

  /// The reduced value of the unit, for the passes after it.
  Value reducedValue(linalg::GenericOp op, AffineMap map, const Position &position) {
    Value value = reduced.lookup(op);
    for (auto [wanted, given] : llvm::zip_equal(map.getResults(), op.getIndexingMapsArray().back().getResults()))
      if (wanted != given && !isa<AffineConstantExpr>(wanted)) {
        op.emitError("the reduced value of another unit is read");
        kb.broken = true;
      }
    if (cast<VectorType>(value.getType()).getNumElements() == position.lanes.count)
      return value;
    return kb.splat(vector::ExtractOp::create(kb.b, value, 0), position.lanes.count);
  }

  // --- Results ---

  void storeOutputs(const Position &unit) {
    startRow(unit, {});
    Position one = unit;
    if (alongRow)
      one.lanes = kb.allLanes(1);
    SmallVector<const Output *> full;
    for (const Output &output : outputs) {
      if (output.isReduced)
        pointwise.store(pointwise.evaluate(output.tensor, output.map, one), output.view, output.map, one);
      else
        full.push_back(&output);
    }
    if (!full.empty())
      storeFull(full, unit, reducedGroups);
  }

  void storeFull(ArrayRef<const Output *> full, Position position, ArrayRef<unsigned> groups) {
    auto storeAll = [&] {
      pointwise.newPosition();
      SmallVector<Value> vectors; // all before the first store: a result may lie on an argument
      for (const Output *output : full)
        vectors.push_back(pointwise.evaluate(output->tensor, output->map, position));
      for (auto [vector, output] : llvm::zip_equal(vectors, full))
        pointwise.store(vector, output->view, output->map, position);
    };
    if (groups.empty())
      return storeAll();
    Value size = kb.index(pointwise.groupSizes()[groups[0]]);
    if (groups[0] != vectorGroup)
      return kb.loop(kb.index(0), size, 1, [&](Value i) {
        position.index[groups[0]] = i;
        storeFull(full, position, groups.drop_front());
      });
    startRow(position, llvm::map_to_vector(full, [](const Output *output) {
               return Pointwise::Access{output->tensor, output->map};
             }));
    kb.loopOverLanes(kb.index(0), size, lanes, [&](Value i, const Lanes &active) {
      position.index[vectorGroup] = i;
      position.lanes = active;
      storeAll();
    });
  }

  KernelBuilder &kb;
  SmallVector<linalg::GenericOp> reductions;
  Dims sizes; // of the loops
  Pointwise pointwise;
  SmallVector<Output> outputs;
  SmallVector<unsigned> reducedGroups; // outermost first
  unsigned vectorGroup = 0, lanes = 1;
  bool alongRow = false; // the vectorised group is reduced
  DimExpr reducedSize;
  SmallVector<Kept> kept; // per reduction: what it stores to scratch
  Dims unitSizes;
  int64_t unitsPerItem = 1;
  llvm::DenseMap<Operation *, Value> reduced; // of the current unit
};

} // namespace

bool isRowGroup(func::FuncOp dispatch) {
  if (reductionsOf(dispatch).empty())
    return false;
  return llvm::all_of(dispatch.getBody().front().without_terminator(), [](Operation &op) {
    return op.getName().getDialectNamespace() != "graph";
  });
}

LogicalResult emitRowGroup(KernelBuilder &kb) { return RowKernel(kb).emit(); }

} // namespace llmc::cpu
