// gather(f(tables...), indices) -> f(gather(tables, indices)...)
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "passes/Graph/Passes.h"
#include "passes/Rewrite.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_PUSHGATHERSPASS
#include "passes/Graph/Passes.h.inc"
namespace {

RankedTensorType tensorOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// A constant, or made of constants element by element.
bool isTable(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !tensorOf(value).hasStaticShape())
    return false;
  return matchPattern(value, m_Constant()) || (op->hasTrait<graph::Elementwise>() && llvm::all_of(op->getOperands(), isTable));
}

struct PushGather final : OpRewritePattern<graph::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::GatherOp gather, PatternRewriter &rewriter) const override {
    Operation *op = gather.getX().getDefiningOp();
    if (!op || !op->hasTrait<graph::Elementwise>() || !op->hasOneUse() || !isTable(gather.getX()))
      return rewriter.notifyMatchFailure(gather, "gathers from no table that is computed for it alone");
    if (gather.getAxis() != 0)
      return rewriter.notifyMatchFailure(gather, "gathers along another dim than the first");
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return rowsOf(operand, gather, rewriter); });
    Operation *pushed = rewriter.clone(*op);
    pushed->setOperands(operands);
    pushed->getResult(0).setType(gather.getType());
    remark::passed(gather.getLoc(), remark::RemarkOpts::name("Pushed").category("graph-push-gathers"))
        << remark::metric("Before", graph::joinedSourceNames(op->getLoc()));
    rewriter.replaceOp(gather, pushed);
    return success();
  }

  /// What the operand, broadcast to the rank of the table, has in the rows that are gathered.
  static Value rowsOf(Value operand, graph::GatherOp gather, PatternRewriter &rewriter) {
    RankedTensorType type = tensorOf(operand), table = tensorOf(gather.getX());
    if (type.getRank() < table.getRank())
      return operand;
    if (type.getDimSize(0) == 1 && table.getDimSize(0) != 1) {
      auto shape = type.getShape().drop_front();
      graph::Dims dims = llvm::map_to_vector<4>(
          shape, [&](int64_t size) { return graph::DimExpr::constant(rewriter.getContext(), size); });
      return graph::ViewOp::create(rewriter, gather.getLoc(), type.clone(shape), operand, graph::dimsAttr(rewriter.getContext(), dims));
    }
    SmallVector<int64_t> shape(tensorOf(gather.getIndices()).getShape());
    llvm::append_range(shape, type.getShape().drop_front());
    return graph::GatherOp::create(rewriter, gather.getLoc(), type.clone(shape), operand, gather.getIndices(), gather.getAxis());
  }
};

struct PushGathersPass : impl::PushGathersPassBase<PushGathersPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PushGather>(&getContext());
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace llmc
