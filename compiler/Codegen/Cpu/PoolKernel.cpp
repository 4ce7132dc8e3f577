// Maximum and average pooling over channels-last tensors.
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "compiler/Codegen/Cpu/SlidingWindow.h"
#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;

namespace llmc::cpu {
namespace {

class Maximum final : public WindowReducer {
public:
  explicit Maximum(KernelBuilder &kb) : kb(kb) {}
  Value initial(unsigned count) override {
    return kb.constantVector(kb.b.getF32FloatAttr(-std::numeric_limits<float>::infinity()), count);
  }
  Value combine(Value value, Value input, Value) override { return arith::MaximumFOp::create(kb.b, value, input); }

private:
  KernelBuilder &kb;
};

class Mean final : public WindowReducer {
public:
  Mean(KernelBuilder &kb, bool countPads) : kb(kb), countPads(countPads) {}
  Value initial(unsigned count) override { return kb.zeroVector(kb.b.getF32Type(), count); }
  Value combine(Value value, Value input, Value) override { return arith::AddFOp::create(kb.b, value, input); }
  Value finish(Value value, Value taps, Value paddedTaps) override {
    Value divisor = arith::SIToFPOp::create(kb.b, kb.b.getF32Type(), countPads ? paddedTaps : taps);
    return arith::DivFOp::create(kb.b, value, kb.splat(divisor, cast<VectorType>(value.getType()).getNumElements()));
  }

private:
  KernelBuilder &kb;
  bool countPads;
};

template <typename PoolOp> PoolOp poolOf(func::FuncOp dispatch) {
  for (auto pool : dispatch.getOps<PoolOp>())
    if (pool.getChannelsLast() && getElementTypeOrSelf(pool.getType()).isF32() && pool.getKernel().size() <= 3)
      return pool;
  return nullptr;
}

template <typename PoolOp> LogicalResult emit(KernelBuilder &kb, PoolOp op, WindowReducer &reducer) {
  Window window = Window::of(kb, op, op.getKernel());
  Nest nest(kb, kb.sizesOf(op.getY()));
  FailureOr<Epilogue> epilogue = Epilogue::of(kb, op.getY(), nest);
  FailureOr<View> input = kb.viewOf(op.getX());
  if (failed(epilogue) || failed(input))
    return failure();
  if (!input->strides.back().isConstant(1))
    return op.emitError("reads channels that are not contiguous");
  return emitSlidingWindow(kb, *input, window, nest, *epilogue, reducer);
}

} // namespace

bool hasPool(func::FuncOp dispatch) {
  return poolOf<graph::MaxPoolOp>(dispatch) || poolOf<graph::AveragePoolOp>(dispatch);
}

LogicalResult emitPool(KernelBuilder &kb) {
  if (auto op = poolOf<graph::MaxPoolOp>(kb.dispatch)) {
    Maximum reducer(kb);
    return emit(kb, op, reducer);
  }
  auto op = poolOf<graph::AveragePoolOp>(kb.dispatch);
  Mean reducer(kb, op.getCountIncludePad());
  return emit(kb, op, reducer);
}

} // namespace llmc::cpu
