// Ops that combine, channel by channel, the elements under a window: depthwise convolution and pooling over
// channels-last tensors.
//
// A work item is one line of the result: all positions of the last spatial dim. Several neighbouring positions are
// computed at once, so that inputs they share are read once. In a line of known size each tile knows which of its taps
// are outside; else positions at the borders are computed one at a time. All take the same taps in the same order.
// Channels are the lanes.
#ifndef LLMC_COMPILER_CODEGEN_CPU_SLIDINGWINDOW_H
#define LLMC_COMPILER_CODEGEN_CPU_SLIDINGWINDOW_H

#include "compiler/Codegen/Cpu/Epilogue.h"
#include "compiler/Codegen/Cpu/Window.h"

namespace llmc::cpu {

/// What happens under the window. Values are vectors of f32.
class WindowReducer {
public:
  virtual ~WindowReducer() = default;
  virtual mlir::Value initial(unsigned count) = 0;
  /// What tap number `tap` (i64, row-major) needs beside the input, for the channels from `channel` on; may be null.
  virtual mlir::Value operandOf(mlir::Value tap, mlir::Value channel, const Lanes &lanes) { return {}; }
  virtual mlir::Value combine(mlir::Value value, mlir::Value input, mlir::Value operand) = 0;
  /// The result at one position. `taps` (i64) is how many were combined, `paddedTaps` how many lie in the padded input.
  virtual mlir::Value finish(mlir::Value value, mlir::Value taps, mlir::Value paddedTaps) { return value; }
};

/// Emits the kernel: `input` is [N, spatial.., C], the loops of `nest` are the dims of the result.
mlir::LogicalResult emitSlidingWindow(KernelBuilder &kb, const View &input, const Window &window, const Nest &nest,
                                      const Epilogue &epilogue, WindowReducer &reducer);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_SLIDINGWINDOW_H
