// Who translates which operator: one table per family, searched by operator and opset version.
#pragma once

#include "compiler/Import/NodeContext.h"

namespace llmc {

/// Translates a node whose opset version is in [first, last]: gives the context one result per output that it produces. Operators
/// of another domain than the default one have it in front: "com.microsoft.Gelu".
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
llvm::ArrayRef<Converter> attentionConverters();
llvm::ArrayRef<Converter> lossConverters();
llvm::ArrayRef<Converter> quantizationConverters();
llvm::ArrayRef<Converter> einsumConverters();
llvm::ArrayRef<Converter> signalConverters();
llvm::ArrayRef<Converter> imageConverters();
llvm::ArrayRef<Converter> resizeConverters();
llvm::ArrayRef<Converter> recurrentConverters();
llvm::ArrayRef<Converter> microsoftConverters();
llvm::ArrayRef<Converter> selectionConverters();
llvm::ArrayRef<Converter> controlConverters();
llvm::ArrayRef<Converter> listConverters();
llvm::ArrayRef<Converter> mlConverters();
llvm::ArrayRef<Converter> stringConverters();
llvm::ArrayRef<Converter> trainingConverters();

/// Null if there is none.
const Converter *findConverter(llvm::StringRef op, int64_t version);

// Steps that several converters share.
mlir::Value reshapeLike(NodeContext &node, mlir::Value value, mlir::Value like);
/// The `count` dims whose entry of `stays` is 1, in order; 1 where there are not as many.
graph::Dims keptDims(NodeContext &node, llvm::ArrayRef<graph::DimExpr> dims, llvm::ArrayRef<graph::DimExpr> stays, int64_t count);
/// The dims from `start` to `end` as a tensor. Negative places count from the end, others are clamped.
mlir::Value shapeOf(NodeContext &node, mlir::Value x, int64_t start, int64_t end);
/// An input as a list of `count` elements; null if it is absent or empty, which older files say in place of absent.
mlir::Value listInput(NodeContext &node, size_t i, int64_t count);
/// x itself if it has that type.
mlir::Value castTo(NodeContext &node, mlir::Value x, mlir::Type type);

/// Gives the next result: y in the element type of the node's first input.
void resultLikeInput(NodeContext &node, mlir::Value y);
/// Elements offset + i * step, i < size, of one dim.
mlir::Value part(NodeContext &node, mlir::Value x, int64_t axis, graph::DimExpr offset, graph::DimExpr size, int64_t step = 1);
/// The first `size` elements along an axis. Where the run finds fewer, it is the check of their number that fails: a gather asks for
/// nothing before it runs, other than a view.
mlir::Value firstOf(NodeContext &node, mlir::Value x, int64_t axis, graph::DimExpr size);
/// [0, 1 ... size - 1] of i64, for any size that is known, be it at run time.
mlir::Value iota(NodeContext &node, graph::DimExpr size);
/// x with a dim of `size`, where that of x may be 1 at run time (any other size is an error then). A dim that is known to be 1 stays.
mlir::Value expanded(NodeContext &node, mlir::Value x, int64_t axis, graph::DimExpr size);
/// A value of rank 1 as [1, size, 1, ...] of the given rank: one value per channel.
mlir::Value perChannel(NodeContext &node, mlir::Value value, int64_t rank);

/// A convolution with the attributes of the node. `bias` may be null.
mlir::Value convolution(NodeContext &node, mlir::Value x, mlir::Value weight, mlir::Value bias);
/// x in 255 steps from the least to the greatest element and 0, where the zero point is the step nearest to 0.
struct QuantizedBytes {
  mlir::Value bytes, scale, zeroPoint;
};
QuantizedBytes dynamicallyQuantized(NodeContext &node, mlir::Value x);
/// Adds the results 1 and 2 of a layer norm over the dims from `axis` on: mean and 1 / standard deviation, in float32.
void addStatistics(NodeContext &node, mlir::Value x, int64_t axis, double epsilon);

} // namespace llmc
