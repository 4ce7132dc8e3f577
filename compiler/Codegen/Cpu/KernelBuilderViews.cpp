// Where tensors lie: arguments, slices and reshapes of them, results, scratch; and the addresses of their elements.
#include "compiler/Codegen/Cpu/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {

Dims KernelBuilder::denseStrides(ArrayRef<DimExpr> sizes) {
  Dims strides(sizes.size());
  DimExpr stride = constantExpr(1);
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride = stride * sizes[d];
  }
  return strides;
}

bool KernelBuilder::isView(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op))
      return false;
    tensor = op->getOperand(0);
  }
  return true;
}

FailureOr<View> KernelBuilder::viewOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    unsigned binding = llvm::count_if(argument.getOwner()->getArguments().take_front(argument.getArgNumber()),
                                      [](BlockArgument other) { return !other.getType().isIndex(); });
    Dims sizes = sizesOfArgument(argument);
    auto function = dispatch;
    auto encoding = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "graph.encoding");
    return View{pointers[binding], type.getElementType(), constantExpr(0), sizes, denseStrides(sizes),
                encoding ? encoding.str() : ""};
  }
  Operation *op = tensor.getDefiningOp();
  if (isa<tensor::ExtractSliceOp>(op))
    return sliceView(op);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return reshapedView(op);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return viewOf(cast.getSource());
  return emitError(tensor.getLoc(), "a kernel can not read '") << op->getName() << "' as memory";
}

FailureOr<View> KernelBuilder::sliceView(Operation *op) {
  auto slice = cast<tensor::ExtractSliceOp>(op);
  FailureOr<View> source = viewOf(slice.getSource());
  if (failed(source))
    return failure();
  View view{source->base, source->elementType, source->offset, sizesOf(slice.getResult()), {}, source->encoding};
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [d, offset, step] : llvm::enumerate(slice.getMixedOffsets(), slice.getMixedStrides())) {
    DimExpr start = exprOf(offset), stride = exprOf(step);
    if (!start || !stride)
      return op->emitError("offsets and steps of a slice in a kernel must be sizes or constants");
    view.offset = view.offset + start * source->strides[d];
    if (!dropped.test(d))
      view.strides.push_back(stride * source->strides[d]);
  }
  return view;
}

/// A reshape keeps the strided form if each group of dims that merge steps through memory evenly.
FailureOr<View> KernelBuilder::reshapedView(Operation *op) {
  FailureOr<View> source = viewOf(op->getOperand(0));
  if (failed(source))
    return failure();
  View view{source->base, source->elementType, source->offset, sizesOf(op->getResult(0)), {}, source->encoding};
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    view.strides.resize(view.sizes.size());
    for (auto [d, group] : llvm::enumerate(expand.getReassociationIndices())) {
      DimExpr stride = source->strides[d];
      for (int64_t inner : llvm::reverse(group)) {
        view.strides[inner] = stride;
        stride = stride * view.sizes[inner];
      }
    }
    return view;
  }
  for (ArrayRef<int64_t> group : cast<tensor::CollapseShapeOp>(op).getReassociationIndices()) {
    DimExpr stride, expected; // of the innermost dim that is not 1, and what the next outer one must have
    for (int64_t d : llvm::reverse(group)) {
      if (source->sizes[d].isConstant(1))
        continue;
      if (!stride)
        stride = source->strides[d];
      else if (expected != source->strides[d])
        return op->emitError("collapses dims of a slice that are not contiguous");
      expected = source->strides[d] * source->sizes[d];
    }
    view.strides.push_back(stride ? stride : constantExpr(1));
  }
  return view;
}

Value KernelBuilder::computedResult(unsigned result) {
  auto function = dispatch;
  Value value = function.getBody().front().getTerminator()->getOperand(result);
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

View KernelBuilder::resultView(unsigned result) {
  auto function = dispatch;
  Value value = computedResult(result);
  Value base = pointers[pointers.size() - function.getNumResults() + result];
  Dims sizes = sizesOf(value);
  return {base, cast<RankedTensorType>(value.getType()).getElementType(), constantExpr(0), sizes, denseStrides(sizes), ""};
}

View KernelBuilder::scratchView(Type elementType, Dims sizes, DimExpr byteOffset) {
  Dims strides = denseStrides(sizes);
  Value base = advance(scratch(), b.getI8Type(), index(byteOffset));
  return {base, elementType, constantExpr(0), std::move(sizes), std::move(strides), ""};
}

Value KernelBuilder::address(const View &view, ArrayRef<Value> indices) {
  assert(view.encoding.empty() && indices.size() == view.strides.size() && "address of an element of a dense tensor");
  Value offset = index(view.offset);
  for (auto [position, stride] : llvm::zip_equal(indices, view.strides))
    offset = add(offset, mul(position, index(stride)));
  return advance(view.base, view.elementType, offset);
}

Value KernelBuilder::advance(Value pointer, Type elementType, Value elements) {
  Type unit = b.getIntegerType(8 * bytesOf(elementType));
  return LLVM::GEPOp::create(b, pointer.getType(), unit, pointer, ArrayRef<LLVM::GEPArg>{elements});
}

Value KernelBuilder::advance(Value pointer, Type elementType, int64_t elements) {
  if (elements == 0)
    return pointer;
  assert(elements == static_cast<int32_t>(elements) && "constant offsets of a GEP have 32 bits");
  Type unit = b.getIntegerType(8 * bytesOf(elementType));
  return LLVM::GEPOp::create(b, pointer.getType(), unit, pointer, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(elements)});
}

} // namespace llmc::cpu
