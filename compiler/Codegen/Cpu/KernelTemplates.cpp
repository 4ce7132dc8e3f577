// See KernelTemplates.h.
#include "compiler/Codegen/Cpu/KernelTemplates.h"

using namespace mlir;
using llmc::graph::DimExpr;

namespace llmc::cpu {
namespace {

constexpr KernelTemplate kTemplates[] = {
    {"contraction", hasContraction, emitContraction},
    {"conv", hasConv, emitConv},
    {"depthwise", hasDepthwise, emitDepthwise},
    {"pool", hasPool, emitPool},
    {"sizes", isSizes, emitSizes},
    {"elementwise", isElementwise, emitElementwise},
    {"rows", isRowGroup, emitRowGroup},
    {"gather", isGather, emitGather},
    {"pad", isPad, emitPad},
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
