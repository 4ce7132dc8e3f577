// The templates that turn a dispatch function into a kernel.
#ifndef LLMC_COMPILER_CODEGEN_CPU_KERNELTEMPLATES_H
#define LLMC_COMPILER_CODEGEN_CPU_KERNELTEMPLATES_H

#include "compiler/Codegen/Cpu/KernelBuilder.h"

namespace llmc::cpu {

/// How a kernel reads an argument whose element i goes into element i of a result, when the result is written over it.
enum class InPlace {
  Never,    // in any order: the result needs bytes of its own
  Elements, // element i before it writes element i, in the same work item, and never again
  Rows      // also the rest of the row: all of it before it writes the row, in the same work item
};

struct KernelTemplate {
  llvm::StringRef name; // for reports
  InPlace inPlace;
  bool (*accepts)(mlir::func::FuncOp dispatch);
  /// Emits the whole kernel, its costs included; fails with an error.
  llvm::LogicalResult (*emit)(KernelBuilder &kb);
};

/// The template for `dispatch`: the first of a fixed list that accepts it. Null if none does.
const KernelTemplate *findTemplate(mlir::func::FuncOp dispatch);

// One file each.
bool hasContraction(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitContraction(KernelBuilder &kb);
bool hasConv(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitConv(KernelBuilder &kb);
bool hasDepthwise(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitDepthwise(KernelBuilder &kb);
bool hasPool(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitPool(KernelBuilder &kb);
bool isElementwise(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitElementwise(KernelBuilder &kb);
bool isRowGroup(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitRowGroup(KernelBuilder &kb);
bool isConcat(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitConcat(KernelBuilder &kb);
bool isGather(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitGather(KernelBuilder &kb);
bool isPad(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitPad(KernelBuilder &kb);
bool isSizes(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitSizes(KernelBuilder &kb);
bool isReference(mlir::func::FuncOp dispatch);
llvm::LogicalResult emitReference(KernelBuilder &kb);

/// Work items that take about 10 us at `cyclesPerItem` (an expression over the scalars): fewer are not worth a thread.
graph::DimExpr grainFor(graph::DimExpr cyclesPerItem);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_KERNELTEMPLATES_H
