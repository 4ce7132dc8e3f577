// The windows of convolutions and poolings over channels-last tensors: which element of the input a tap of an output
// position reads, and whether it lies inside.
#ifndef LLMC_COMPILER_CODEGEN_CPU_WINDOW_H
#define LLMC_COMPILER_CODEGEN_CPU_WINDOW_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"

namespace llmc::cpu {

/// Spatial geometry of a window op; one entry per spatial dim.
struct Window {
  llvm::SmallVector<int64_t, 3> kernel, strides, dilations;
  llvm::SmallVector<graph::DimExpr, 3> pads, padsEnd; // before and after each dim

  /// Of a channels-last graph.conv or pooling with this kernel.
  template <typename Op> static Window of(KernelBuilder &kb, Op op, llvm::ArrayRef<int64_t> kernel) {
    Window window;
    window.kernel.assign(kernel.begin(), kernel.end());
    window.strides.assign(op.getStrides().begin(), op.getStrides().end());
    window.dilations.assign(op.getDilations().begin(), op.getDilations().end());
    graph::Dims input = kb.sizesOf(op.getX());
    for (size_t d = 0, rank = kernel.size(); d < rank; ++d) {
      window.pads.push_back(kb.constantExpr(op.getPads()[d]));
      window.padsEnd.push_back(kb.constantExpr(op.getPads()[rank + d]));
      if (op.getAutoPad())
        window.setSamePads(d, input[d + 1], *op.getAutoPad() == "same_upper");
    }
    return window;
  }

  /// ONNX's SAME padding: ceil(size / stride) positions, the odd element after (upper) or before.
  void setSamePads(unsigned d, graph::DimExpr size, bool upper) {
    int64_t reach = (kernel[d] - 1) * dilations[d] + 1;
    graph::DimExpr span = (size.ceilDiv(strides[d]) - 1) * strides[d] + reach;
    graph::DimExpr total = (span - size).max(graph::DimExpr::constant(size.context(), 0));
    pads[d] = upper ? total.floorDiv(2) : total.ceilDiv(2);
    padsEnd[d] = total - pads[d];
  }

  size_t rank() const { return kernel.size(); }
  int64_t taps() const {
    int64_t count = 1;
    for (int64_t size : kernel)
      count *= size;
    return count;
  }
  /// One tap at each output position's own place: the input is read like a matrix.
  bool isPointwise() const {
    return taps() == 1 && llvm::all_of(strides, [](int64_t stride) { return stride == 1; }) &&
           llvm::all_of(pads, [](graph::DimExpr pad) { return pad.isConstant(0); });
  }

  /// Whether the taps of the last dim lie side by side and inside, whatever the output position.
  bool isRowContiguous() const {
    return dilations.back() == 1 && pads.back().isConstant(0) && padsEnd.back().isConstant(0);
  }

  /// Input coordinate in dim `d` of tap 0 at output coordinate `position`; may lie outside.
  mlir::Value origin(KernelBuilder &kb, unsigned d, mlir::Value position) const {
    return kb.sub(kb.mul(position, kb.index(strides[d])), kb.index(pads[d]));
  }
  /// How many taps of dim `d` lie less than `distance` (i64, may be negative) beyond the origin.
  mlir::Value tapsWithin(KernelBuilder &kb, unsigned d, mlir::Value distance) const {
    mlir::Value reach = kb.add(kb.max(distance, kb.index(0)), kb.index(dilations[d] - 1));
    return kb.min(kb.div(reach, kb.index(dilations[d])), kb.index(kernel[d]));
  }
  /// Taps [first, last) of dim `d` that lie inside an input of `size`.
  std::pair<mlir::Value, mlir::Value> tapsInside(KernelBuilder &kb, unsigned d, mlir::Value origin,
                                                 mlir::Value size) const {
    mlir::Value last = tapsWithin(kb, d, kb.sub(size, origin));
    return {kb.min(tapsWithin(kb, d, kb.sub(kb.index(0), origin)), last), last};
  }
};

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_WINDOW_H
