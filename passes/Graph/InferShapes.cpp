// Result types from symbolic shapes.
#include "passes/Graph/Passes.h"
#include "passes/Graph/ShapeAnalysis.h"

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_INFERSHAPESPASS
#include "passes/Graph/Passes.h.inc"
namespace {

struct InferShapesPass : impl::InferShapesPassBase<InferShapesPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    ShapeAnalysis analysis(function);
    if (analysis.failed())
      return signalPassFailure();
    function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        refine(result, analysis);
      for (Region &region : op->getRegions())
        if (isa<graph::LoopOp>(op))
          for (Value argument : region.getArguments())
            refine(argument, analysis);
    });
    analysis.recordChecks();
    Operation *terminator = function.getBody().front().getTerminator();
    function.setType(FunctionType::get(&getContext(), function.getArgumentTypes(), terminator->getOperandTypes()));
  }

  /// Only graph ops accept refined types: all their constraints are compatible with more static ones.
  static void refine(Value result, const ShapeAnalysis &analysis) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    Operation *op = result.getDefiningOp();
    if (!type || (op && !isa<graph::ShapeInferenceOpInterface, graph::IfOp, graph::LoopOp>(op)))
      return;
    SmallVector<int64_t> sizes = graph::staticSizes(analysis.dims(result));
    if (ArrayRef(sizes) != type.getShape())
      result.setType(RankedTensorType::get(sizes, type.getElementType()));
  }
};

} // namespace
} // namespace llmc
