// The unit that every kernel template builds on: opens a kernel with the ABI of kernels/abi/kernel_abi.h for one dispatch
// function, knows where its tensors lie and how large they are, and writes loops, addresses and masked vector accesses.
//
// The IR written is i64 arithmetic, scf.for over i64, arith/math/vector ops on native 1-D vectors, and LLVM-dialect pointers.
// All sizes are `DimExpr`s over the kernel's scalars "s0", "s1", ...: equal sizes compare equal at compile time, and `index`
// turns an expression into a value once, at the kernel's entry.
#ifndef LLMC_COMPILER_CODEGEN_CPU_KERNELBUILDER_H
#define LLMC_COMPILER_CODEGEN_CPU_KERNELBUILDER_H

#include "compiler/Target/CpuLevel.h"
#include "dialects/Graph/DimExpr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::cpu {

/// A tensor in memory: element (i0, i1, ...) lies at base[offset + i0 * strides[0] + i1 * strides[1] + ...], in elements.
struct View {
  mlir::Value base;       // !llvm.ptr
  mlir::Type elementType; // i1 takes one byte, 0 or 1
  graph::DimExpr offset;
  graph::Dims sizes;
  graph::Dims strides;
  std::string encoding; // of a packed argument, whose strides mean nothing then; empty if dense

  unsigned elementBytes() const;
};

/// The lanes of a vector that take part. Those at and beyond `active` read as 0 and are not written.
struct Lanes {
  unsigned count = 1;
  mlir::Value mask;   // vector<count x i1>; null: all lanes
  mlir::Value active; // i64, number of lanes that take part (1 or more); null: all
};

/// What a template finds out about its kernel beside the code; expressions over the scalars.
struct KernelCost {
  graph::DimExpr grid;    // number of work items
  graph::DimExpr scratch; // bytes per thread
  graph::DimExpr grain;   // fewest work items worth a thread
  graph::DimExpr rows = {}; // of those that it marks instead of failing; unknown if it marks none
};

class KernelBuilder {
public:
  /// Opens kernel `dispatch.getName()` at the end of `target`; the insertion point is then its body.
  KernelBuilder(mlir::func::FuncOp dispatch, mlir::ModuleOp target, const CpuLevel &level);
  KernelBuilder(const KernelBuilder &) = delete;

  mlir::ImplicitLocOpBuilder b;
  const CpuLevel &level;
  const mlir::func::FuncOp dispatch;
  mlir::func::FuncOp kernel;
  bool broken = false; // set when emission reported an error: the kernel is then discarded
  KernelCost cost; // grid 1, scratch 0 and grain 1 until the template sets them

  mlir::Value begin() { return kernel.getArgument(1); }
  mlir::Value end() { return kernel.getArgument(2); }
  mlir::Value scratch() { return kernel.getArgument(3); }
  /// Pointer to the launch's `llmc_error`.
  mlir::Value errorRecord();
  /// Where the launch has marks of rows, that of `row` becomes `code` (i32), and what `marked` emits runs; else what `failed` emits.
  void refuseRow(mlir::Value row, mlir::Value code, llvm::function_ref<void()> marked, llvm::function_ref<void()> failed);
  /// Closes the kernel, returning `status` (i32), or LLMC_KERNEL_OK if null.
  void finish(mlir::Value status = {});

  // --- Sizes ---
  mlir::MLIRContext *context() { return b.getContext(); }
  graph::DimExpr constantExpr(int64_t value) { return graph::DimExpr::constant(context(), value); }
  /// Expression of an index value of the dispatch function; unknown if it is not arithmetic on sizes.
  graph::DimExpr exprOf(mlir::Value index);
  graph::DimExpr exprOf(mlir::OpFoldResult index);
  /// Sizes of a tensor of the dispatch function: an argument, or whatever follows from arguments and tensor.empty.
  graph::Dims sizesOf(mlir::Value tensor);
  /// The value of `expr`, i64, emitted once at the entry of the kernel.
  mlir::Value index(graph::DimExpr expr);
  mlir::Value index(int64_t value) { return index(constantExpr(value)); }
  /// A scalar of the dispatch function (constant, size, arithmetic on them), index as i64; emitted once at the entry. Null with
  /// an error if it depends on tensors.
  mlir::Value scalar(mlir::Value value);

  // --- Memory ---
  /// The bytes of an argument, or of an extract_slice, collapse_shape or expand_shape of one. Fails, with an error, for values
  /// that are computed.
  mlir::FailureOr<View> viewOf(mlir::Value tensor);
  /// Whether viewOf can succeed.
  bool isView(mlir::Value tensor);
  /// Dense view of result `result` of the dispatch function. The value that is returned may be a collapse_shape or expand_shape
  /// of the computed one: the view then has the sizes of `computedResult(result)`.
  View resultView(unsigned result);
  mlir::Value computedResult(unsigned result);
  /// A dense tensor of `sizes` in the thread's scratch memory, `byteOffset` from its start (multiple of 64).
  View scratchView(mlir::Type elementType, graph::Dims sizes, graph::DimExpr byteOffset);

  // --- Arithmetic on i64, folded where operands are constant ---
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs); // unsigned
  mlir::Value rem(mlir::Value lhs, mlir::Value rhs); // unsigned
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  mlir::Value max(mlir::Value lhs, mlir::Value rhs);
  /// Coordinates of position `linear` in row-major `sizes`; the first is not reduced, so `linear` must be in range.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear, llvm::ArrayRef<graph::DimExpr> sizes);

  // --- Addresses ---
  /// Pointer to the element at `indices` (i64).
  mlir::Value address(const View &view, llvm::ArrayRef<mlir::Value> indices);
  /// `pointer` moved by `elements` (i64) of `elementType`.
  mlir::Value advance(mlir::Value pointer, mlir::Type elementType, mlir::Value elements);
  mlir::Value advance(mlir::Value pointer, mlir::Type elementType, int64_t elements);

  // --- Loops ---
  using Body = llvm::function_ref<void(mlir::Value)>;
  using CarryingBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;
  /// for (i = lower; i < upper; i += step), signed.
  void loop(mlir::Value lower, mlir::Value upper, int64_t step, Body body);
  /// The same with carried values; gives their last ones.
  llvm::SmallVector<mlir::Value> loop(mlir::Value lower, mlir::Value upper, int64_t step, mlir::ValueRange carried,
                                      CarryingBody body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);

  // --- Vectors ---
  Lanes allLanes(unsigned count) { return {count, {}, {}}; }
  /// The first `active` of `count` lanes; all if `active` is the constant `count`.
  Lanes firstLanes(unsigned count, mlir::Value active);
  /// Calls body(i, lanes) for i = lower, lower + count, ...: all lanes while they fit below `upper`, then once masked. Code for a
  /// part that static sizes exclude is not emitted.
  void loopOverLanes(mlir::Value lower, mlir::Value upper, unsigned count,
                     llvm::function_ref<void(mlir::Value, const Lanes &)> body);
  /// Elements at `pointer` onwards, one per lane. i1 elements come as i1 lanes.
  mlir::Value load(mlir::Value pointer, mlir::Type elementType, const Lanes &lanes);
  void store(mlir::Value vector, mlir::Value pointer, const Lanes &lanes);
  /// Elements `stride` apart (i64), one per lane, read one by one.
  mlir::Value loadStrided(mlir::Value pointer, mlir::Type elementType, mlir::Value stride, const Lanes &lanes);
  mlir::Value loadScalar(mlir::Value pointer, mlir::Type elementType);
  void storeScalar(mlir::Value value, mlir::Value pointer);
  mlir::Value splat(mlir::Value scalar, unsigned count);
  /// `attribute`, a number of element type `elementType`, in every lane.
  mlir::Value constantVector(mlir::TypedAttr attribute, unsigned count);
  mlir::Value zeroVector(mlir::Type elementType, unsigned count);

private:
  /// Emits at the end of the entry's straight-line part, however deep the insertion point is in loops.
  template <typename Emit> mlir::Value atEntry(Emit &&emit);
  /// A pointer of `llmc_args`.
  mlir::Value argumentsMember(int64_t offset);
  mlir::Value emitExpr(graph::DimExpr expr);
  mlir::Value emitScalar(mlir::Value value);
  mlir::FailureOr<View> sliceView(mlir::Operation *slice);
  mlir::FailureOr<View> reshapedView(mlir::Operation *reshape);
  graph::Dims sizesOfArgument(mlir::BlockArgument argument);
  graph::Dims denseStrides(llvm::ArrayRef<graph::DimExpr> sizes);

  mlir::Operation *entryEnd = nullptr; // last op of the entry's straight-line part
  llvm::SmallVector<mlir::Value> pointers; // per binding
  llvm::SmallVector<mlir::Value> scalars;  // per index argument, i64
  llvm::DenseMap<mlir::Attribute, mlir::Value> emittedExprs;
  llvm::DenseMap<mlir::Value, mlir::Value> emittedScalars;
};

/// Bytes of an element in memory: at least one.
unsigned bytesOf(mlir::Type elementType);

} // namespace llmc::cpu

#endif // LLMC_COMPILER_CODEGEN_CPU_KERNELBUILDER_H
