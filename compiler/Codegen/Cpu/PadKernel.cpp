// Constant padding: rows of the result (all dims but the last) that are copied with their ends filled, or filled altogether.
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "dialects/Graph/Graph.h"

using namespace mlir;
using llmc::graph::DimExpr;

namespace llmc::cpu {
namespace {

constexpr int64_t kItemBytes = 8192;

graph::PadOp padOf(func::FuncOp dispatch) {
  auto pads = dispatch.getBody().getOps<graph::PadOp>();
  return pads.empty() ? graph::PadOp() : *pads.begin();
}

class PadKernel {
public:
  PadKernel(KernelBuilder &kb, graph::PadOp op) : kb(kb), op(op), rank(op.getType().getRank()) {}

  LogicalResult emit() {
    FailureOr<View> source = kb.viewOf(op.getX());
    if (failed(source))
      return failure();
    x = *source;
    result = kb.resultView(0);
    lanes = std::max(1u, kb.level.vectorBytes / x.elementBytes());
    if (failed(readFiller()))
      return failure();
    ArrayRef<DimExpr> outer = ArrayRef(result.sizes).drop_back();
    DimExpr rows = graph::productOf(kb.context(), outer), width = result.sizes.back();
    int64_t rowBytes = std::max<int64_t>(width.asConstant().value_or(kItemBytes) * x.elementBytes(), 1);
    int64_t rowsPerItem = std::max<int64_t>(kItemBytes / rowBytes, 1);
    kb.cost.grid = rows.ceilDiv(rowsPerItem);
    kb.cost.grain = grainFor((width.ceilDiv(lanes) * 2 + 10) * rowsPerItem);
    Value first = kb.mul(kb.begin(), kb.index(rowsPerItem));
    Value last = kb.min(kb.mul(kb.end(), kb.index(rowsPerItem)), kb.index(rows));
    kb.loop(first, last, 1, [&](Value row) { emitRow(row); });
    kb.finish();
    return success();
  }

private:
  LogicalResult readFiller() {
    if (!op.getValue()) {
      filler = kb.zeroVector(x.elementType, lanes);
      return success();
    }
    FailureOr<View> value = kb.viewOf(op.getValue());
    if (failed(value))
      return failure();
    filler = kb.splat(kb.loadScalar(value->base, x.elementType), lanes);
    return success();
  }

  void emitRow(Value row) {
    SmallVector<Value> place = kb.delinearize(row, ArrayRef(result.sizes).drop_back());
    Value inside, from = kb.index(0); // whether the row is one of x's, and which
    for (int64_t d = 0; d + 1 < rank; ++d) {
      Value size = kb.index(x.sizes[d]), at = kb.sub(place[d], kb.index(op.getPads()[d]));
      from = kb.add(kb.mul(from, size), at);
      if (op.getPads()[d] == 0 && op.getPads()[rank + d] == 0)
        continue;
      // Unsigned: a place before x is beyond any size.
      Value within = arith::CmpIOp::create(kb.b, arith::CmpIPredicate::ult, at, size);
      inside = inside ? arith::AndIOp::create(kb.b, inside, within) : within;
    }
    Value width = kb.index(result.sizes.back());
    Value target = kb.advance(result.base, result.elementType, kb.mul(row, width));
    if (!inside)
      return copyRow(from, target);
    auto branch = scf::IfOp::create(kb.b, inside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(kb.b);
    kb.b.setInsertionPointToStart(branch.thenBlock());
    copyRow(from, target);
    kb.b.setInsertionPointToStart(branch.elseBlock());
    fill(target, kb.index(0), width);
  }

  void copyRow(Value from, Value target) {
    Value size = kb.index(x.sizes.back()), lead = kb.index(op.getPads()[rank - 1]), trail = kb.index(op.getPads()[2 * rank - 1]);
    Value source = kb.advance(x.base, x.elementType, kb.mul(from, size));
    Value behind = kb.add(lead, size);
    fill(target, kb.index(0), lead);
    Value middle = kb.advance(target, x.elementType, lead);
    kb.loopOverLanes(kb.index(0), size, lanes, [&](Value i, const Lanes &active) {
      kb.store(kb.load(kb.advance(source, x.elementType, i), x.elementType, active), kb.advance(middle, x.elementType, i), active);
    });
    fill(target, behind, kb.add(behind, trail));
  }

  void fill(Value target, Value begin, Value end) {
    kb.loopOverLanes(begin, end, lanes, [&](Value i, const Lanes &active) {
      kb.store(filler, kb.advance(target, x.elementType, i), active);
    });
  }

  KernelBuilder &kb;
  graph::PadOp op;
  int64_t rank;
  View x, result;
  Value filler;
  unsigned lanes = 1;
};

} // namespace

bool isPad(func::FuncOp dispatch) {
  graph::PadOp pad = padOf(dispatch);
  // From an argument as it is to the result as it is, adding elements of one value.
  return pad && isa<BlockArgument>(pad.getX()) && (!pad.getValue() || isa<BlockArgument>(pad.getValue())) &&
         dispatch.getBody().front().getTerminator()->getOperand(0) == pad.getResult() && pad.getMode() == 0 &&
         pad.getType().getRank() >= 2 && pad.getType().getElementType().isSignlessIntOrFloat() &&
         llvm::all_of(pad.getPads(), [](int64_t count) { return count >= 0; });
}

LogicalResult emitPad(KernelBuilder &kb) { return PadKernel(kb, padOf(kb.dispatch)).emit(); }

} // namespace llmc::cpu
