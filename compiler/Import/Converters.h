// Who translates which operator: one table per family, searched by operator and opset version.
#pragma once

#include "compiler/Import/NodeContext.h"

namespace llmc {

/// Translates a node whose opset version is in [first, last]: gives the context one result per output that it produces.
struct Converter {
  llvm::StringRef op;
  int first, last;
  void (*convert)(NodeContext &node);
};

/// The newest opset version of the default domain, for converters without an end.
inline constexpr int newest = static_cast<int>(maxDefaultOpset);

llvm::ArrayRef<Converter> elementwiseConverters();
llvm::ArrayRef<Converter> contractionConverters();
llvm::ArrayRef<Converter> windowConverters();
llvm::ArrayRef<Converter> reductionConverters();
llvm::ArrayRef<Converter> normalizationConverters();
llvm::ArrayRef<Converter> shapeConverters();
llvm::ArrayRef<Converter> partConverters();
llvm::ArrayRef<Converter> indexingConverters();
llvm::ArrayRef<Converter> constantConverters();

/// Null if there is none.
const Converter *findConverter(llvm::StringRef op, int64_t version);

// Steps that several converters share.
mlir::Value reshapeLike(NodeContext &node, mlir::Value value, mlir::Value like);
/// For axes that only the run shows, counted from the end if negative: per dim of `rank`, 1 if it is among them, else 0.
graph::Dims chosenDims(NodeContext &node, llvm::ArrayRef<graph::DimExpr> axes, int64_t rank);
/// The `count` dims whose entry of `stays` is 1, in order.
graph::Dims keptDims(NodeContext &node, llvm::ArrayRef<graph::DimExpr> dims, llvm::ArrayRef<graph::DimExpr> stays, int64_t count);
/// [0, 1 ... size - 1] of i64, for any size that is known, be it at run time.
mlir::Value iota(NodeContext &node, graph::DimExpr size);
/// A value of rank 1 as [1, size, 1, ...] of the given rank: one value per channel.
mlir::Value perChannel(NodeContext &node, mlir::Value value, int64_t rank);

} // namespace llmc
