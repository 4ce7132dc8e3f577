// plan.body -> Body: buffers, blocks and steps.
#ifndef LLMC_COMPILER_EMIT_BODYWRITER_H
#define LLMC_COMPILER_EMIT_BODYWRITER_H

#include "compiler/Emit/ConstantTable.h"
#include "compiler/Emit/FrameWriter.h"

namespace llmc {

/// What the bodies of a plan share. `devices`: those in the plan, in order.
struct PlanTables {
  plan::PlanT plan;
  ConstantTable constants;
  llvm::StringMap<uint32_t> exports; // of executable 0, by name
  llvm::SmallVector<plan::DeviceAttr> devices;
};

/// Writes one body of `entry`. The first also writes the entry's inputs, outputs and states: all bodies number their dims and buffers
/// alike, since they come first in each.
class BodyWriter {
public:
  BodyWriter(PlanTables &tables, plan::EntryPointT &entry, plan::BodyOp op) : tables(tables), entry(entry), op(op) {}
  /// Fails, with a diagnostic, if a step names a kernel that there is no code for.
  mlir::FailureOr<std::unique_ptr<plan::BodyT>> write();

private:
  /// A block under construction.
  struct Frame {
    Frame *parent;
    uint32_t number;
    plan::BlockT *block;
    FrameWriter exprs;
    llvm::SmallVector<std::pair<graph::DimExpr, graph::DimExpr>> arguments; // value in the parent's frame, symbol in this one
    llvm::DenseMap<mlir::Value, uint32_t> buffers; // of this block, and views of those around it
  };

  void writeResources();
  void writeInputSymbols(Frame &frame);
  void writeReadSymbols(mlir::Block &block, Frame &frame);
  void writeBoundary(Frame &frame);
  mlir::LogicalResult writeBlock(mlir::Block &block, Frame &frame);

  void addSymbol(Frame &frame, llvm::StringRef name, plan::SymbolT symbol);
  graph::DimExpr passArgument(Frame &frame, llvm::StringRef name, graph::DimExpr value, int64_t lowest);
  graph::DimExpr seenFrom(Frame &frame, Frame &owner, graph::DimExpr expr);
  std::vector<uint32_t> dimIndices(Frame &frame, mlir::ArrayAttr dims);
  uint32_t exprIndex(Frame &frame, graph::ExprAttr expr);

  void addBuffer(Frame &frame, plan::BufferOpInterface op);
  void addSpec(plan::BufferT &buffer, plan::BufferOpInterface op, int64_t index, llvm::StringRef name,
               std::vector<std::unique_ptr<plan::TensorSpecT>> &specs);
  uint32_t bufferIndex(Frame &frame, mlir::Value buffer);
  std::vector<uint32_t> bufferIndices(Frame &frame, mlir::ValueRange buffers);

  mlir::LogicalResult addStep(Frame &frame, plan::StepOpInterface op);
  mlir::FailureOr<plan::StepBodyUnion> writeStep(Frame &frame, plan::StepOpInterface op);
  Frame enterBlock(Frame *parent);
  mlir::LogicalResult writeInner(mlir::Block &block, mlir::DictionaryAttr arguments, Frame &frame);
  std::vector<uint32_t> symbolIndices(const Frame &frame, mlir::ArrayAttr names);
  std::vector<uint32_t> finishInner(Frame &frame);
  mlir::FailureOr<plan::DispatchT> writeDispatch(Frame &frame, plan::DispatchOp op);
  mlir::FailureOr<plan::IfT> writeIf(Frame &frame, plan::IfOp op);
  mlir::FailureOr<plan::LoopT> writeLoop(Frame &frame, plan::LoopOp op);
  plan::CopyT writeCopy(Frame &frame, plan::CopyOp op);
  plan::ReadScalarT writeReadScalar(Frame &frame, plan::ReadScalarOp op);
  plan::Guard guardOf(Frame &frame, plan::GuardAttr guard);

  PlanTables &tables;
  plan::EntryPointT &entry;
  plan::BodyOp op;
  std::unique_ptr<plan::BodyT> body = std::make_unique<plan::BodyT>();
  llvm::DenseMap<mlir::Value, graph::DimExpr> sizes; // bytes, in the frame of the buffer's own block
  llvm::DenseMap<mlir::Block *, Frame *> frames;
};

} // namespace llmc

#endif // LLMC_COMPILER_EMIT_BODYWRITER_H
