// Rows of a convolution's left operand through a table of pointers: for each tap and output position of a work item,
// where the input's channels lie, or a row of zeros for a tap in the padding. One template then serves every kernel
// size, stride, padding and dilation, and sizes that are known only at run time.
#ifndef LLMC_COMPILER_CODEGEN_CPU_INDIRECTROWS_H
#define LLMC_COMPILER_CODEGEN_CPU_INDIRECTROWS_H

#include "compiler/Codegen/Cpu/Gemm.h"
#include "compiler/Codegen/Cpu/Window.h"

namespace llmc::cpu {

class IndirectRows final : public Gemm::Rows {
public:
  /// `input`: [N, spatial.., C]. The original loops of the nest: 0 is the batch, then come the spatial dims;
  /// `groupLoop` (if any) counts groups of `channels` channels.
  IndirectRows(KernelBuilder &kb, View input, Window window, int64_t channels, std::optional<unsigned> groupLoop)
      : kb(kb), input(std::move(input)), window(std::move(window)), channels(channels), groupLoop(groupLoop) {}

  graph::DimExpr scratchBytes(const GemmStrategy &strategy) override;
  void prepareKernel(mlir::Value scratch, const GemmStrategy &strategy) override;
  void prepareBlock(const Nest &nest, unsigned rowLoop, llvm::ArrayRef<mlir::Value> indices, mlir::Value first,
                    mlir::Value last) override;
  llvm::SmallVector<mlir::Value> pointers(mlir::Value row, int64_t count, mlir::Value segment) override;

private:
  int64_t tableBytes(const GemmStrategy &strategy) const;
  int64_t zeroBytes() const;
  void fillTaps(unsigned d, mlir::Value isInside, mlir::Value pointer, mlir::Value entry,
                llvm::ArrayRef<mlir::Value> origins);

  KernelBuilder &kb;
  View input;
  Window window;
  int64_t channels;
  std::optional<unsigned> groupLoop;
  mlir::Value table, zeros;
  int64_t blockRows = 0; // entries per tap
};

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_INDIRECTROWS_H
