// The plan dialect: the only header of it that other folders include.
#ifndef LLMC_DIALECTS_PLAN_PLAN_H
#define LLMC_DIALECTS_PLAN_PLAN_H

#include "dialects/Graph/Graph.h"

#include "dialects/Plan/PlanDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/PlanTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"

namespace llmc::plan {

/// Bytes of a dense tensor.
graph::DimExpr byteSize(mlir::Type element, mlir::ArrayAttr dims);
/// The buffer whose memory a buffer lies in: itself, or for a view its parent's.
mlir::Value rootOf(mlir::Value buffer);

} // namespace llmc::plan

#endif // LLMC_DIALECTS_PLAN_PLAN_H
