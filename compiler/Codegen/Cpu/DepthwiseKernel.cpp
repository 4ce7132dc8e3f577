// Depthwise convolution over channels-last tensors: a sliding window with one weight per tap and channel.
#include "compiler/Codegen/Cpu/ConvKernel.h"
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "compiler/Codegen/Cpu/Microkernel.h"
#include "compiler/Codegen/Cpu/SlidingWindow.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace llmc::cpu {
namespace {

class WeightedSum final : public WindowReducer {
public:
  /// `weights`: [taps][C padded], or dense [C, 1, kernel..].
  WeightedSum(KernelBuilder &kb, const View &weights, int64_t taps, int64_t channels)
      : kb(kb), weights(weights), taps(taps), isPacked(!weights.encoding.empty()),
        tapStep(isPacked ? llvm::alignTo(channels, panelColumns) : 1) {}

  Value initial(unsigned count) override { return kb.zeroVector(kb.b.getF32Type(), count); }

  Value operandOf(Value tap, Value channel, const Lanes &lanes) override {
    Type f32 = kb.b.getF32Type();
    Value offset = kb.add(kb.mul(tap, kb.index(tapStep)), kb.mul(channel, kb.index(isPacked ? 1 : taps)));
    Value pointer = kb.advance(weights.base, f32, kb.add(kb.index(weights.offset), offset));
    if (isPacked) // padding makes whole vectors readable
      return kb.load(pointer, f32, kb.allLanes(lanes.count));
    return kb.loadStrided(pointer, f32, kb.index(taps), lanes);
  }

  Value combine(Value value, Value input, Value operand) override {
    return math::FmaOp::create(kb.b, input, operand, value);
  }

private:
  KernelBuilder &kb;
  const View &weights;
  int64_t taps;
  bool isPacked;
  int64_t tapStep;
};

} // namespace

bool hasDepthwise(func::FuncOp dispatch) {
  graph::ConvOp conv = convOf(dispatch);
  return conv && isDepthwise(conv);
}

LogicalResult emitDepthwise(KernelBuilder &kb) {
  graph::ConvOp op = convOf(kb.dispatch);
  ArrayRef<int64_t> dims = cast<RankedTensorType>(op.getWeight().getType()).getShape();
  Window window = Window::of(kb, op, dims.drop_front(2));
  Nest nest(kb, kb.sizesOf(op.getY()));
  FailureOr<Epilogue> epilogue = Epilogue::of(kb, op.getY(), nest);
  if (failed(epilogue) || (op.getBias() && failed(epilogue->addBias(kb, op.getBias(), nest.loops.size() - 1, nest))))
    return failure();
  FailureOr<View> input = kb.viewOf(op.getX()), weights = kb.viewOf(op.getWeight());
  if (failed(input) || failed(weights))
    return failure();
  if (!input->strides.back().isConstant(1) ||
      (!weights->encoding.empty() && weights->encoding != encodingOfWeights(op).name()))
    return op.emitError("can not read its operands in the layout that they have");
  WeightedSum reducer(kb, *weights, window.taps(), dims[0]);
  return emitSlidingWindow(kb, *input, window, nest, *epilogue, reducer);
}

} // namespace llmc::cpu
