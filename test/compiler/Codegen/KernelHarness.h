// Compiles dispatch functions given as MLIR text and runs their kernels in this process.
#ifndef LLMC_TEST_COMPILER_CODEGEN_KERNELHARNESS_H
#define LLMC_TEST_COMPILER_CODEGEN_KERNELHARNESS_H

#include "compiler/Target/CpuTarget.h"
#include "kernels/abi/kernel_abi.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <memory>

namespace llmc::test {

/// An image mapped as a runtime maps it.
class MappedImage {
public:
  explicit MappedImage(const std::vector<char> &bytes);
  ~MappedImage();
  MappedImage(const MappedImage &) = delete;
  llmc_kernel at(uint64_t entry) const { return reinterpret_cast<llmc_kernel>(base + entry); }

private:
  char *base = nullptr;
  size_t size = 0;
};

/// What a launch gave back.
struct Launch {
  int32_t status = 0;
  llmc_error error = {};
};

/// The kernels of one module for one level.
class CompiledKernels {
public:
  CompiledKernels(mlir::ModuleOp dispatches, const CpuLevel &level, CpuCodegenOptions options = {});

  bool good() const { return mapped != nullptr; }
  const CompiledImage &image() const { return compiled; }
  const CompiledKernel &kernel(llvm::StringRef name) const;
  int64_t grid(llvm::StringRef name, llvm::ArrayRef<int64_t> scalars) const;
  /// Runs all work items in `calls` calls of equal ranges.
  Launch run(llvm::StringRef name, llvm::ArrayRef<void *> pointers, llvm::ArrayRef<int64_t> scalars, int64_t calls = 1) const;

private:
  CompiledImage compiled;
  std::unique_ptr<MappedImage> mapped;
};

/// Parses `text`; an error fails the test.
mlir::OwningOpRef<mlir::ModuleOp> parseDispatches(llvm::StringRef text, mlir::MLIRContext &context);
/// A context with all that dispatch functions may hold.
std::unique_ptr<mlir::MLIRContext> createContext();

/// The levels that this machine runs.
std::vector<const CpuLevel *> runnableLevels();

class KernelTest : public ::testing::Test {
protected:
  std::unique_ptr<mlir::MLIRContext> context = createContext();

  /// The kernels of `text` for each level that runs here.
  std::vector<std::unique_ptr<CompiledKernels>> compile(llvm::StringRef text);
};

} // namespace llmc::test

#endif // LLMC_TEST_COMPILER_CODEGEN_KERNELHARNESS_H
