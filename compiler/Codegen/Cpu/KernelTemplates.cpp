// See KernelTemplates.h.
#include "compiler/Codegen/Cpu/KernelTemplates.h"

using namespace mlir;
using llmc::graph::DimExpr;

namespace llmc::cpu {
namespace {

constexpr KernelTemplate kTemplates[] = {
    {"contraction", InPlace::Elements, hasContraction, emitContraction},
    {"conv", InPlace::Elements, hasConv, emitConv},
    {"depthwise", InPlace::Elements, hasDepthwise, emitDepthwise},
    {"pool", InPlace::Elements, hasPool, emitPool},
    {"sizes", InPlace::Never, isSizes, emitSizes},
    {"elementwise", InPlace::Elements, isElementwise, emitElementwise},
    {"rows", InPlace::Rows, isRowGroup, emitRowGroup},
    {"gather", InPlace::Never, isGather, emitGather},
    {"concat", InPlace::Never, isConcat, emitConcat},
    {"pad", InPlace::Never, isPad, emitPad},
    {"reference", InPlace::Never, isReference, emitReference},
};

constexpr int64_t kGrainCycles = 30'000; // 10 us at 3 GHz

} // namespace

const KernelTemplate *findTemplate(func::FuncOp dispatch) {
  for (const KernelTemplate &candidate : kTemplates)
    if (candidate.accepts(dispatch))
      return &candidate;
  return nullptr;
}

DimExpr grainFor(DimExpr cyclesPerItem) {
  DimExpr cycles = cyclesPerItem.max(DimExpr::constant(cyclesPerItem.context(), 1));
  return DimExpr::constant(cyclesPerItem.context(), kGrainCycles).ceilDiv(cycles);
}

} // namespace llmc::cpu
