// See FallbackReason.h.
#include "compiler/Codegen/Cpu/FallbackReason.h"
#include "dialects/Graph/Graph.h"
#include "passes/Lower/ScalarBodies.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace llmc::cpu {
namespace {

/// The first element type that no generated code takes.
Type foreignType(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (Type element = getElementTypeOrSelf(type); !isGeneratedType(element))
        return element;
  return {};
}

const char *alongInnerDim(int64_t axis, Value value) {
  return axis + 1 == cast<RankedTensorType>(value.getType()).getRank() ? "only f32 has generated code"
                                                                       : "it works along a dim that is not the last";
}

const char *formOf(Operation *op) {
  return TypeSwitch<Operation *, const char *>(op)
      .Case<graph::ConvOp, graph::MaxPoolOp, graph::AveragePoolOp>([](auto op) {
        return op.getChannelsLast() ? "only f32 with static weights has generated code"
                                    : "it is not over images (rank 4) with a static kernel and number of channels";
      })
      .Case([](graph::MatMulOp) { return "a batch dim is broadcast, an operand is a vector, or elements are not f32"; })
      .Case([](graph::SoftmaxOp op) { return alongInnerDim(op.getAxis(), op.getX()); })
      .Case([](graph::LogSoftmaxOp op) { return alongInnerDim(op.getAxis(), op.getX()); })
      .Case([](graph::LayerNormOp op) { return alongInnerDim(op.getAxis(), op.getX()); })
      .Case([](graph::RmsNormOp op) { return alongInnerDim(op.getAxis(), op.getX()); })
      .Case([](graph::PadOp) { return "only padding by one value, in two dims and more, has generated code"; })
      .Case([](graph::PowOp) { return "only squares have generated code"; })
      .Case([](graph::CastOp) { return "from floats to integers only the reference kernel gets all cases right"; })
      .Case<graph::ReduceSumOp, graph::ReduceMeanOp, graph::ReduceMaxOp, graph::ReduceMinOp, graph::ReduceProdOp>(
          [](auto op) { return op.getAxes().empty() ? "it reduces no dim" : "only f32 has generated code"; })
      .Default([](Operation *op) {
        bool onFloats = op->getNumOperands() == 0 || getElementTypeOrSelf(op->getOperand(0)).isF32();
        return op->hasTrait<graph::Elementwise>() && !onFloats ? "only f32 has generated code" : "this op has no generated code";
      });
}

} // namespace

std::string fallbackReason(func::FuncOp dispatch) {
  for (Operation &op : dispatch.getBody().front().without_terminator()) {
    if (!isa<graph::ReferenceEvalOpInterface>(op))
      continue;
    std::string reason;
    llvm::raw_string_ostream os(reason);
    os << op.getName() << ": ";
    if (Type type = foreignType(&op))
      os << "elements of type " << type << " have no generated code";
    else
      os << formOf(&op);
    return reason;
  }
  llvm_unreachable("a reference kernel has an op");
}

} // namespace llmc::cpu
