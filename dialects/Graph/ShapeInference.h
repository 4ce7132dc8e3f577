// The argument of every op's shape rule: what is known of the operands, and where the results go.
#ifndef LLMC_DIALECTS_GRAPH_SHAPEINFERENCE_H
#define LLMC_DIALECTS_GRAPH_SHAPEINFERENCE_H

#include "dialects/Graph/DimExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/ValueRange.h"

namespace llmc::graph {

/// What is known of one tensor. Contents are the elements, row-major, of a small integer tensor.
struct TensorShape {
  Dims dims;
  std::optional<Dims> contents;
};

class ShapeInference {
public:
  /// From types alone: dynamic dims are unknown, contents those of constants.
  ShapeInference(mlir::MLIRContext *context, std::optional<mlir::Location> loc, mlir::ValueRange operands);
  /// What is told when equality of two dims that may differ has to be assumed; `maybeOne`: one of them may also be 1, and be stretched.
  using Assumed = std::function<void(DimExpr lhs, DimExpr rhs, bool maybeOne)>;
  /// From an analysis: `shapes` are those of the operands. New facts (equalities to check at run time) go to `assumed`.
  ShapeInference(mlir::MLIRContext *context, std::optional<mlir::Location> loc, mlir::ValueRange operands,
                 llvm::ArrayRef<TensorShape> shapes, const DimRanges &ranges,
                 Assumed assumed);

  size_t size() const { return shapes.size(); }
  mlir::Type elementType(size_t operand) const { return elementTypes[operand]; }
  llvm::ArrayRef<DimExpr> dims(size_t operand) const { return shapes[operand].dims; }
  int64_t rank(size_t operand) const { return shapes[operand].dims.size(); }
  const std::optional<Dims> &contents(size_t operand) const { return shapes[operand].contents; }
  const DimRanges &ranges() const { return dimRanges; }
  mlir::MLIRContext *context() const { return mlirContext; }
  DimExpr constant(int64_t value) const { return DimExpr::constant(mlirContext, value); }
  DimExpr simplify(DimExpr expr) const { return expr ? dimRanges.simplify(expr) : expr; }

  /// The size both dims have; fails if they differ for sure, and assumes equality where it is open.
  mlir::FailureOr<DimExpr> same(DimExpr lhs, DimExpr rhs, const llvm::Twine &what, bool maybeOne = false);
  /// numpy's broadcasting of two dims and of two shapes.
  mlir::FailureOr<DimExpr> broadcast(DimExpr lhs, DimExpr rhs);
  mlir::FailureOr<Dims> broadcast(llvm::ArrayRef<DimExpr> lhs, llvm::ArrayRef<DimExpr> rhs);
  mlir::LogicalResult sameElementType(size_t lhs, size_t rhs);
  mlir::LogicalResult fail(const llvm::Twine &message);

  void result(mlir::Type elementType, Dims dims, std::optional<Dims> contents = std::nullopt);
  void appendTypes(llvm::SmallVectorImpl<mlir::Type> &types) const;
  llvm::ArrayRef<TensorShape> results() const { return resultShapes; }

private:
  mlir::MLIRContext *mlirContext;
  std::optional<mlir::Location> loc;
  llvm::SmallVector<mlir::Type> elementTypes;
  llvm::SmallVector<TensorShape> shapes;
  DimRanges dimRanges;
  Assumed assumed;
  llvm::SmallVector<mlir::Type> resultElements;
  llvm::SmallVector<TensorShape> resultShapes;
};

/// Contents of tensors of more elements are not followed.
constexpr int64_t maxContents = 64;

/// Equal element types and compatible dims: a printed type may know more than inference does.
bool areCompatibleTypes(mlir::TypeRange lhs, mlir::TypeRange rhs);

// Rules shared by several ops.
mlir::LogicalResult inferUnary(ShapeInference &shapes);
mlir::LogicalResult inferPredicate(ShapeInference &shapes);
mlir::LogicalResult inferBroadcast(ShapeInference &shapes);
mlir::LogicalResult inferAdd(ShapeInference &shapes);
mlir::LogicalResult inferSub(ShapeInference &shapes);
mlir::LogicalResult inferMul(ShapeInference &shapes);
mlir::LogicalResult inferDiv(ShapeInference &shapes);
mlir::LogicalResult inferMax(ShapeInference &shapes);
mlir::LogicalResult inferMin(ShapeInference &shapes);
mlir::LogicalResult inferCompare(ShapeInference &shapes);
mlir::LogicalResult inferPow(ShapeInference &shapes);
mlir::LogicalResult inferWhere(ShapeInference &shapes);
mlir::LogicalResult inferAlongAxis(ShapeInference &shapes, int64_t axis);
mlir::LogicalResult inferReduce(ShapeInference &shapes, llvm::ArrayRef<int64_t> axes, bool keepdims);
mlir::LogicalResult inferArg(ShapeInference &shapes, int64_t axis, bool keepdims);

/// What a slice reads of each dim: elements offsets + k * steps, 0 <= k < sizes.
struct SliceBounds {
  Dims offsets, sizes;
  llvm::SmallVector<int64_t> steps;
};
/// ONNX's clamping rules on the operands x, starts, ends, axes?, steps?. Nothing if axes or steps are not constant; an offset or size
/// that is not known is an unknown expression.
mlir::FailureOr<std::optional<SliceBounds>> resolveSlice(ShapeInference &shapes, bool hasAxes, bool hasSteps);

} // namespace llmc::graph

#endif // LLMC_DIALECTS_GRAPH_SHAPEINFERENCE_H
