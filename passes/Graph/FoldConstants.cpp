// Constant subgraphs -> constants.
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "passes/Graph/Passes.h"
#include "passes/Rewrite.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "passes/Graph/Passes.h.inc"
namespace {

int64_t bytesOf(ShapedType type) { return type.getNumElements() * graph::elementBytes(type.getElementType()); }

/// Values of all operands, null where an optional operand is absent: kernels go by position.
FailureOr<SmallVector<ElementsAttr>> constantOperands(Operation *op) {
  SmallVector<ElementsAttr> operands;
  for (Value value : graph::operandsByPlace(op)) {
    ElementsAttr constant;
    if (value && !matchPattern(value, m_Constant(&constant)))
      return failure();
    operands.push_back(constant);
  }
  return operands;
}

/// Whether `value` is nothing but weights of products, be it after more element-wise ops or transposes.
bool becomesWeights(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto product = dyn_cast<graph::MatMulOp>(user))
      return product.getRhs() == value && product.getLhs() != value;
    if (auto conv = dyn_cast<graph::ConvOp>(user))
      return conv.getWeight() == value && conv.getX() != value;
    bool keepsFolding = (user->hasTrait<graph::Elementwise>() || isa<graph::TransposeOp, graph::ViewOp>(user)) &&
                        llvm::all_of(user->getOperands(), [&](Value other) { return other == value || matchPattern(other, m_Constant()); });
    return keepsFolding && becomesWeights(user->getResult(0));
  });
}

/// op(constants) -> constant
struct EvaluateOp final : OpInterfaceRewritePattern<graph::ReferenceEvalOpInterface> {
  EvaluateOp(MLIRContext *context, int64_t maxBytes) : OpInterfaceRewritePattern(context), maxBytes(maxBytes) {}

  LogicalResult matchAndRewrite(graph::ReferenceEvalOpInterface op, PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<ElementsAttr>> operands = constantOperands(op);
    if (failed(operands))
      return rewriter.notifyMatchFailure(op, "an operand is not constant");
    int64_t inputBytes = 0, bytes = 0, elements = 0;
    for (Type result : op->getResultTypes()) {
      auto type = dyn_cast<RankedTensorType>(result);
      if (!type || !type.hasStaticShape())
        return rewriter.notifyMatchFailure(op, "the shape of a result is not static");
      bytes += bytesOf(type);
      elements += type.getNumElements();
    }
    for (ElementsAttr operand : *operands)
      inputBytes += operand ? bytesOf(operand.getShapedType()) : 0;
    if (bytes > std::max<int64_t>(maxBytes, inputBytes) && !becomesWeights(op->getResult(0))) {
      remark::missed(op->getLoc(), remark::RemarkOpts::name("NotFolded").category("graph-fold-constants"))
          << remark::reason("the result would be larger than max-bytes and the inputs")
          << remark::metric("bytes", bytes);
      return rewriter.notifyMatchFailure(op, "result exceeds max-bytes and its inputs");
    }
    FailureOr<SmallVector<ElementsAttr>> values = graph::evaluate(op, *operands);
    if (failed(values))
      return rewriter.notifyMatchFailure(op, "the reference kernel has no value for these operands");
    remark::passed(op->getLoc(), remark::RemarkOpts::name("Folded").category("graph-fold-constants"))
        << remark::metric("elements", elements);
    rewriter.replaceOp(op, llvm::map_to_vector(*values, [&](ElementsAttr value) -> Value {
                         return graph::ConstantOp::create(rewriter, op->getLoc(), value);
                       }));
    return success();
  }

  int64_t maxBytes;
};

struct FoldConstantsPass : impl::FoldConstantsPassBase<FoldConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<EvaluateOp>(&getContext(), maxBytes);
    if (failed(rewriteAll(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace llmc
