#include "compiler/Codegen/Cpu/ConvKernel.h"
#include "compiler/Codegen/Cpu/Gemm.h"
#include "compiler/Codegen/Cpu/IndirectRows.h"
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "compiler/Codegen/Cpu/Microkernel.h"

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {
namespace {

ArrayRef<int64_t> weightDims(graph::ConvOp op) { return cast<RankedTensorType>(op.getWeight().getType()).getShape(); }

class ConvEmitter {
public:
  ConvEmitter(KernelBuilder &kb, graph::ConvOp op)
      : kb(kb), op(op), dims(weightDims(op)), groups(op.getGroup()), channels(dims[1]),
        window(Window::of(kb, op, dims.drop_front(2))),
        nest(kb, kb.sizesOf(op.getY())) {}

  LogicalResult emit() {
    unsigned channelDim = nest.loops.size() - 1;
    FailureOr<Epilogue> epilogue = Epilogue::of(kb, op.getY(), nest);
    if (failed(epilogue) || (op.getBias() && failed(epilogue->addBias(kb, op.getBias(), channelDim, nest))))
      return failure();
    FailureOr<View> input = kb.viewOf(op.getX()), weights = kb.viewOf(op.getWeight());
    if (failed(input) || failed(weights))
      return failure();
    if (!input->strides.back().isConstant(1))
      return op.emitError("reads channels that are not contiguous");
    int64_t rowBytes = bytesPerRow();
    if (groups > 1)
      nest.split(channelDim, kb.constantExpr(dims[0] / groups));
    else if (window.isRowContiguous() && !weights->encoding.empty()) { // packed in this order: one long tap instead of many
      channels *= window.kernel.back();
      window.kernel.back() = 1;
    }

    Gemm gemm(nest, *epilogue, kb.constantExpr(window.taps()), kb.constantExpr(channels));
    gemm.leftStep = gemm.leftSegmentStep = kb.constantExpr(1);
    if (failed(addWeights(gemm, *weights)))
      return failure();
    std::optional<unsigned> groupLoop = groups > 1 ? std::optional(channelDim + 1) : std::nullopt; // original number
    IndirectRows rows(kb, *input, window, channels, groupLoop);
    if (window.isPointwise())
      gemm.left = gemm.nest.addAccess(pixels(*input));
    else
      gemm.rows = &rows;
    SmallVector<unsigned> positions(channelDim);
    std::iota(positions.begin(), positions.end(), 0);
    gemm.rowLoop = collapseRows(gemm.nest, positions);
    gemm.rowBytes = rowBytes;
    return emitGemm(kb, gemm);
  }

private:
  /// Bytes of input that one more output position needs.
  int64_t bytesPerRow() const {
    int64_t bytes = channels * sizeof(float);
    for (auto [stride, size] : llvm::zip_equal(window.strides, window.kernel))
      bytes *= std::min(stride, size);
    return bytes;
  }

  /// The input as a matrix of output positions, for windows of one tap.
  Access pixels(const View &input) {
    Dims strides(input.strides.begin(), input.strides.end() - 1);
    if (groups > 1)
      strides.push_back(kb.constantExpr(channels));
    strides.push_back(kb.constantExpr(0));
    return {input, strides};
  }

  LogicalResult addWeights(Gemm &gemm, const View &weights) {
    int64_t outputs = dims[0] / groups, depth = window.taps() * channels;
    Access access{weights, Dims(gemm.nest.loops.size(), kb.constantExpr(0))};
    std::optional<Encoding> encoding = Encoding::parse(weights.encoding);
    if (!encoding || (encoding->kind != Encoding::Kind::Dense && encoding->name() != encodingOfWeights(op).name()))
      return op.emitError("can not read weights in the layout ") << weights.encoding;
    gemm.rightIsPacked = encoding->kind != Encoding::Kind::Dense;
    gemm.rightSegmentStep = kb.constantExpr(1);
    gemm.rightStep = kb.constantExpr(window.taps());
    if (!gemm.rightIsPacked)
      access.strides.back() = kb.constantExpr(depth);
    if (groups > 1)
      access.strides.rbegin()[1] =
          kb.constantExpr(gemm.rightIsPacked ? depth * llvm::alignTo(outputs, panelColumns) : depth * outputs);
    gemm.right = gemm.nest.addAccess(access);
    return success();
  }

  KernelBuilder &kb;
  graph::ConvOp op;
  ArrayRef<int64_t> dims; // of the weights: [outputs, channels of a group, kernel..]
  int64_t groups, channels;
  Window window;
  Nest nest;
};

} // namespace

bool isDepthwise(graph::ConvOp op) {
  ArrayRef<int64_t> dims = weightDims(op);
  int64_t groups = op.getGroup();
  return groups > 1 && dims[0] == groups && dims[1] == 1;
}

bool isCompiledConv(graph::ConvOp op) {
  auto isFloat = [](Value value) { return !value || getElementTypeOrSelf(value.getType()).isF32(); };
  return op.getChannelsLast() && isFloat(op.getX()) && isFloat(op.getBias()) &&
         cast<RankedTensorType>(op.getWeight().getType()).hasStaticShape() && weightDims(op).size() <= 5;
}

Encoding encodingOfWeights(graph::ConvOp op) {
  if (!isCompiledConv(op))
    return {};
  if (isDepthwise(op))
    return {Encoding::Kind::Depthwise};
  return {Encoding::Kind::Convolution, static_cast<int64_t>(op.getGroup())};
}

graph::ConvOp convOf(func::FuncOp dispatch) {
  for (auto conv : dispatch.getOps<graph::ConvOp>())
    return isCompiledConv(conv) ? conv : nullptr;
  return nullptr;
}

bool hasConv(func::FuncOp dispatch) {
  graph::ConvOp conv = convOf(dispatch);
  return conv && !isDepthwise(conv);
}

LogicalResult emitConv(KernelBuilder &kb) {
  func::FuncOp dispatch = kb.dispatch;
  return ConvEmitter(kb, convOf(dispatch)).emit();
}

} // namespace llmc::cpu
