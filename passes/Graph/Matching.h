// What the passes that match a shape of ops ask of values: constants, and uses.
#ifndef LLMC_PASSES_GRAPH_MATCHING_H
#define LLMC_PASSES_GRAPH_MATCHING_H

#include "dialects/Graph/Graph.h"

namespace llmc {

/// Elements of a float constant (f64, f32, f16 or bf16), row-major. Nothing if `value` is not one.
std::optional<std::vector<double>> floatElements(mlir::Value value);
/// The element of a float constant that has one.
std::optional<double> floatScalar(mlir::Value value);
/// A constant of `values`, each rounded once to the element type.
mlir::ElementsAttr makeFloatConstant(mlir::RankedTensorType type, llvm::ArrayRef<double> values);

/// Whether a scalar that a model states as `value` means `expected`: exporters write constants in the model's type, or
/// cut them to six digits.
bool isAbout(double value, double expected, mlir::Type elementType);
/// Whether `value` is a float constant of one element that is about `expected`.
bool isScalarAbout(mlir::Value value, double expected);

/// Whether no other op than these uses `value`.
bool isUsedOnlyBy(mlir::Value value, llvm::ArrayRef<mlir::Operation *> users);

/// The locations of `last` and of all that it computes from `x` on: those of one op that takes their place.
mlir::Location locationFrom(mlir::Value x, mlir::Operation *last);

/// The defining op of `value` if it is an `Op` and nothing else uses its result: such an op can vanish in a match.
template <typename Op> Op soleUseOf(mlir::Value value) { return value.hasOneUse() ? value.getDefiningOp<Op>() : Op(); }

/// Operands of a commutative op in both orders: returns the one for which `match(this, other)` holds.
template <typename Op, typename Match> bool inSomeOrder(Op op, Match match) {
  return match(op.getLhs(), op.getRhs()) || match(op.getRhs(), op.getLhs());
}

} // namespace llmc

#endif // LLMC_PASSES_GRAPH_MATCHING_H
