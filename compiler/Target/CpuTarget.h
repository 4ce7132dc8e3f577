// From dispatch functions to the code image of one CPU level.
#ifndef LLMC_COMPILER_TARGET_CPUTARGET_H
#define LLMC_COMPILER_TARGET_CPUTARGET_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"
#include "compiler/Target/CpuLevel.h"

namespace llmc {

/// One kernel of an image. Expressions are over the kernel's scalars "s0", "s1", ..., its index arguments in order.
struct CompiledKernel {
  std::string name;             // of the dispatch function
  std::string kernelTemplate;   // what made it: "elementwise", "reference", ...
  uint64_t entry = 0;           // virtual address in the image
  graph::DimExpr grid;          // number of work items
  graph::DimExpr scratch;       // bytes per thread
  graph::DimExpr grain;         // fewest work items worth a thread
  graph::DimExpr rows;          // of a batch, which it marks instead of failing; unknown if it does not
  std::string fallbackReason;   // why it calls a reference kernel; empty: it is generated code
  bool isReference() const { return !fallbackReason.empty(); }
};

/// The kernels of all dispatch functions for one level: an image as Linker.h describes it.
struct CompiledImage {
  std::string level;
  std::vector<std::string> features; // that the machine must have
  std::vector<char> bytes;
  std::vector<CompiledKernel> kernels; // in the order of the dispatch functions
  std::string llvmIr, assembly;        // if asked for
};

struct CpuCodegenOptions {
  int optimisation = 2;    // see BackendOptions
  bool keepLlvmIr = false; // optimised
  bool keepAssembly = false;
};

/// Compiles all functions of `dispatches` that have the attribute `graph.dispatch`. The bytes follow from the arguments alone.
/// Calls for several levels may run at once on one module, provided its context went through `prepareForCpu` before. Errors are
/// reported as diagnostics.
mlir::FailureOr<CompiledImage> compileForCpu(mlir::ModuleOp dispatches, const CpuLevel &level,
                                             const CpuCodegenOptions &options);

/// Loads the dialects that code generation uses.
void prepareForCpu(mlir::MLIRContext &context);

/// The kernels of `dispatches` as emitted for `level`, before lowering: for tests and for people.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> emitCpuKernels(mlir::ModuleOp dispatches, const CpuLevel &level,
                                                                  std::vector<CompiledKernel> &kernels);

} // namespace llmc

#endif // LLMC_COMPILER_TARGET_CPUTARGET_H
