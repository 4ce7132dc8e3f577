// The plan dialect: the only header of it that other folders include.
#ifndef LLMC_DIALECTS_PLAN_PLAN_H
#define LLMC_DIALECTS_PLAN_PLAN_H

#include "dialects/Graph/Graph.h"

namespace llmc::plan {
class IfOp;
class LoopOp;
class YieldOp;
} // namespace llmc::plan

#include "dialects/Plan/PlanDialect.h.inc"
#include "dialects/Plan/PlanEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/PlanTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Plan/PlanAttrs.h.inc"
#include "dialects/Plan/PlanInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/BodyOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/BufferOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/StepOps.h.inc"

namespace llmc::plan {

/// Bytes of a dense tensor.
graph::DimExpr byteSize(mlir::Type element, mlir::ArrayAttr dims);
/// The buffer whose memory a buffer lies in: itself, or for a view its parent's.
mlir::Value rootOf(mlir::Value buffer);
/// Whether a step may write it: not what the caller or the artifact only lends.
bool isWritable(mlir::Value buffer);
/// Name and value of each symbol that an op with a frame hands over.
llvm::SmallVector<std::pair<llvm::StringRef, graph::DimExpr>> frameArguments(mlir::DictionaryAttr frame);
/// Names of the symbols that a step defines for what comes after it in its block.
llvm::SmallVector<llvm::StringRef> definedSymbols(mlir::Operation *op);

} // namespace llmc::plan

#endif // LLMC_DIALECTS_PLAN_PLAN_H
