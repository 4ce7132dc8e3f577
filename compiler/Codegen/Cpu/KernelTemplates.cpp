// See KernelTemplates.h.
#include "compiler/Codegen/Cpu/KernelTemplates.h"

#include "compiler/Codegen/Cpu/ContractionKernel.h"
#include "compiler/Codegen/Cpu/ConvKernel.h"

using namespace mlir;
using llmc::graph::DimExpr;

namespace llmc::cpu {
namespace {

/// The first op of the function that is an `Op` which `accepts` takes. Null if there is none.
template <typename Op> Op rootOf(func::FuncOp dispatch, bool (*accepts)(Op)) {
  for (auto op : dispatch.getBody().getOps<Op>())
    if (accepts(op))
      return op;
  return {};
}
template <typename Op, bool (*accepts)(Op)> bool hasRoot(func::FuncOp dispatch) { return bool(rootOf<Op>(dispatch, accepts)); }
template <typename Op, bool (*accepts)(Op), LogicalResult (*emit)(KernelBuilder &, Op)> LogicalResult emitRoot(KernelBuilder &kb) {
  return emit(kb, rootOf<Op>(kb.dispatch, accepts));
}

constexpr KernelTemplate kTemplates[] = {
    {"contraction", hasRoot<linalg::GenericOp, isContraction>, emitRoot<linalg::GenericOp, isContraction, emitContractionKernel>},
    {"conv", hasRoot<graph::ConvOp, isCompiledConv>, emitRoot<graph::ConvOp, isCompiledConv, emitConvKernel>},
    {"elementwise", isElementwise, emitElementwise},
    {"rows", isRowGroup, emitRowGroup},
    {"gather", isGather, emitGather},
    {"reference", isReference, emitReference},
};

constexpr int64_t kGrainCycles = 30'000; // 10 us at 3 GHz

} // namespace

const KernelTemplate *findTemplate(func::FuncOp dispatch) {
  for (const KernelTemplate &candidate : kTemplates)
    if (candidate.accepts(dispatch))
      return &candidate;
  dispatch.emitError("no kernel template takes this dispatch");
  return nullptr;
}

DimExpr grainFor(DimExpr cyclesPerItem) {
  DimExpr cycles = cyclesPerItem.max(DimExpr::constant(cyclesPerItem.context(), 1));
  return DimExpr::constant(cyclesPerItem.context(), kGrainCycles).ceilDiv(cycles);
}

} // namespace llmc::cpu
