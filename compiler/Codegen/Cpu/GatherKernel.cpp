// Slices of a tensor chosen by indices: copies of contiguous runs.
//
// The result is [outer, indices, inner]; a work item is some (outer, index) pairs, or pieces of long runs. An index out of range is
// the caller's fault: the first one goes to the error record, nothing is read for it, and the kernel says so. Or, where it is known which
// row of a batch a pair is of, and the run marks rows: that row is marked, and gets zeros.
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "dialects/Graph/Graph.h"
#include "kernels/abi/kernel_abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cstddef>

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {
namespace {

constexpr int64_t kItemBytes = 8192;

graph::GatherOp gatherOf(func::FuncOp dispatch) {
  auto gathers = dispatch.getBody().getOps<graph::GatherOp>();
  return gathers.empty() ? graph::GatherOp() : *gathers.begin();
}

class GatherKernel {
public:
  GatherKernel(KernelBuilder &kb, graph::GatherOp op) : kb(kb), op(op) {}

  LogicalResult emit() {
    FailureOr<View> source = kb.viewOf(op.getX()), indexView = kb.viewOf(op.getIndices());
    if (failed(source) || failed(indexView))
      return failure();
    int64_t rank = source->sizes.size(), axis = op.getAxis() < 0 ? op.getAxis() + rank : op.getAxis();
    x = *source;
    indices = *indexView;
    result = kb.resultView(0);
    plan(axis);
    Value first = kb.mul(kb.begin(), kb.index(rowsPerItem));
    Value last = kb.min(kb.mul(kb.end(), kb.index(rowsPerItem)), kb.index(outer * count));
    kb.loop(first, last, 1, [&](Value row) { emitRow(row); });
    kb.finish(kb.loadScalar(errorMember(offsetof(llmc_error, code)), kb.b.getI32Type()));
    return success();
  }

private:
  void plan(int64_t axis) {
    ArrayRef<DimExpr> sizes = x.sizes;
    axisSize = sizes[axis];
    outer = graph::productOf(kb.context(), sizes.take_front(axis));
    inner = graph::productOf(kb.context(), sizes.drop_front(axis + 1));
    count = graph::productOf(kb.context(), indices.sizes);
    lanes = std::max(1u, kb.level.vectorBytes / x.elementBytes());
    int64_t rowBytes = std::max<int64_t>(inner.asConstant().value_or(kItemBytes) * x.elementBytes(), 1);
    rowsPerItem = std::max<int64_t>(kItemBytes / rowBytes, 1);
    if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("graph.rows"))
      findRows(axes[0], axis + int64_t(indices.sizes.size()));
    kb.cost.grid = (outer * count).ceilDiv(rowsPerItem);
    kb.cost.grain = grainFor((inner.ceilDiv(lanes) * 2 + 10) * rowsPerItem);
  }

  /// Pairs are [beforeRows, rows, afterRows]; unless the batch is in what a pair copies.
  void findRows(int64_t axis, int64_t pairRank) {
    ArrayRef<DimExpr> sizes = result.sizes;
    if (axis >= pairRank)
      return;
    pairs = {graph::productOf(kb.context(), sizes.take_front(axis)), sizes[axis],
             graph::productOf(kb.context(), sizes.slice(axis + 1, pairRank - axis - 1))};
    kb.cost.rows = sizes[axis];
  }

  /// `row` counts (outer, index) pairs.
  void emitRow(Value row) {
    SmallVector<Value> place = kb.delinearize(row, {outer, count});
    Value pointer = kb.advance(indices.base, indices.elementType, place[1]);
    Value given = kb.loadScalar(pointer, indices.elementType);
    if (!given.getType().isInteger(64))
      given = arith::ExtSIOp::create(kb.b, kb.b.getI64Type(), given);
    Value size = kb.index(axisSize);
    auto compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) -> Value {
      return arith::CmpIOp::create(kb.b, predicate, lhs, rhs);
    };
    Value wrapped = arith::SelectOp::create(kb.b, compare(arith::CmpIPredicate::slt, given, kb.index(0)), kb.add(given, size), given);
    Value good = compare(arith::CmpIPredicate::ult, wrapped, size);
    auto branch = scf::IfOp::create(kb.b, good, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(kb.b);
    kb.b.setInsertionPointToStart(branch.thenBlock());
    copyRow(kb.add(kb.mul(place[0], size), wrapped), row);
    kb.b.setInsertionPointToStart(branch.elseBlock());
    if (pairs.empty())
      return reportFault(given);
    Value rowOfBatch = kb.delinearize(row, pairs)[1];
    kb.refuseRow(rowOfBatch, int32(LLMC_KERNEL_INDEX_OUT_OF_RANGE), [&] { clearRow(row); }, [&] { reportFault(given); });
  }

  void clearRow(Value row) {
    Value size = kb.index(inner), target = kb.advance(result.base, result.elementType, kb.mul(row, size));
    kb.loopOverLanes(kb.index(0), size, lanes, [&](Value i, const Lanes &active) {
      kb.store(kb.zeroVector(result.elementType, lanes), kb.advance(target, result.elementType, i), active);
    });
  }

  void copyRow(Value from, Value to) {
    Value size = kb.index(inner);
    Value source = kb.advance(x.base, x.elementType, kb.mul(from, size));
    Value target = kb.advance(result.base, result.elementType, kb.mul(to, size));
    kb.loopOverLanes(kb.index(0), size, lanes, [&](Value i, const Lanes &active) {
      Value vector = kb.load(kb.advance(source, x.elementType, i), x.elementType, active);
      kb.store(vector, kb.advance(target, result.elementType, i), active);
    });
  }

  Value errorMember(int64_t offset) { return kb.advance(kb.errorRecord(), kb.b.getI8Type(), offset); }

  void reportFault(Value given) {
    Value code = errorMember(offsetof(llmc_error, code));
    Value clean = arith::CmpIOp::create(kb.b, arith::CmpIPredicate::eq, kb.loadScalar(code, kb.b.getI32Type()), int32(LLMC_KERNEL_OK));
    kb.ifThen(clean, [&] {
      kb.storeScalar(int32(LLMC_KERNEL_INDEX_OUT_OF_RANGE), code);
      kb.storeScalar(int32(1), errorMember(offsetof(llmc_error, operand)));
      kb.storeScalar(kb.index(-1), errorMember(offsetof(llmc_error, row)));
      kb.storeScalar(given, errorMember(offsetof(llmc_error, value)));
    });
  }

  Value int32(int64_t value) { return arith::ConstantIntOp::create(kb.b, value, 32); }

  KernelBuilder &kb;
  graph::GatherOp op;
  View x, indices, result;
  DimExpr axisSize, outer, inner, count;
  Dims pairs; // empty: nobody knows the row of a pair
  unsigned lanes = 1;
  int64_t rowsPerItem = 1;
};

} // namespace

bool isGather(func::FuncOp dispatch) {
  graph::GatherOp gather = gatherOf(dispatch);
  // From arguments as they are to the result as it is.
  return gather && isa<BlockArgument>(gather.getX()) && isa<BlockArgument>(gather.getIndices()) &&
         dispatch.getBody().front().getTerminator()->getOperand(0) == gather.getResult();
}

LogicalResult emitGather(KernelBuilder &kb) { return GatherKernel(kb, gatherOf(kb.dispatch)).emit(); }

} // namespace llmc::cpu
