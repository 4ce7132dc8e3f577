// Named layouts of constant operands, and the native packers that produce them at compile time.
//
// A name is what an argument of a dispatch function carries in `graph.encoding`; the same bytes serve every CPU level.
//   "p32"           matrices [batch.., K, N] as [batch..][N/32][K][32]: panels of 32 columns, zero padded
//   "p32.t"         matrices [batch.., N, K], read transposed, in the same form
//   "p32.conv"      convolution weights [M, C/G, kernel..] as [G][(M/G)/32][kernel.., C/G][32]; "p32.conv:G" for G
//   groups "dw"            depthwise weights [C, 1, kernel..] as [kernel..][C padded to 32]
// Elements are f32. Packed constants are aligned to 64 bytes in the artifact.
#ifndef LLMC_COMPILER_CODEGEN_CPU_PACKING_H
#define LLMC_COMPILER_CODEGEN_CPU_PACKING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace llmc::cpu {

struct Encoding {
  enum class Kind { Dense, Matrix, TransposedMatrix, Convolution, Depthwise };
  Kind kind = Kind::Dense;
  int64_t groups = 1; // of a convolution

  /// The empty name is dense; nothing for an unknown name.
  static std::optional<Encoding> parse(llvm::StringRef name);
  std::string name() const;
};

/// Size of a packed constant of these logical dims.
int64_t packedBytes(const Encoding &encoding, llvm::ArrayRef<int64_t> dims);

/// Packs dense row-major f32 `bytes` (any alignment) and hands the result to `sink` in order, one piece of a panel at a
/// time.
void pack(const Encoding &encoding, llvm::ArrayRef<char> bytes, llvm::ArrayRef<int64_t> dims,
          llvm::function_ref<void(llvm::ArrayRef<char>)> sink);

/// The layout in which the kernel of `dispatch` wants argument `argument` if that is a constant at every call. The
/// kernel also works on a dense argument, but slower.
Encoding chooseEncoding(mlir::func::FuncOp dispatch, unsigned argument);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_PACKING_H
