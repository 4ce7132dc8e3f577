// Symbolic dims: integer expressions over named symbols, in a normal form, uniqued by the MLIR context.
//
// Sums are kept as polynomials: a constant plus products of atoms with integer coefficients, in a fixed order; an atom is a symbol
// or a division, remainder, minimum or maximum of expressions. So expressions that are equal as polynomials compare equal.
// A default-constructed DimExpr is "unknown"; any operation on it is unknown, and it equals nothing.
#ifndef LLMC_DIALECTS_GRAPH_DIMEXPR_H
#define LLMC_DIALECTS_GRAPH_DIMEXPR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <optional>

namespace llmc::graph {

class ExprAttr;

class DimExpr {
public:
  /// Stored in attributes; never renumber.
  enum class Kind : int32_t { Constant = 0, Symbol, Add, Mul, FloorDiv, CeilDiv, Mod, Min, Max };

  DimExpr() = default;
  explicit DimExpr(mlir::Attribute attribute) : impl(attribute) {}
  static DimExpr constant(mlir::MLIRContext *context, int64_t value);
  static DimExpr symbol(mlir::MLIRContext *context, llvm::StringRef name);

  explicit operator bool() const { return static_cast<bool>(impl); }
  /// Known and equal as polynomials.
  bool operator==(DimExpr other) const { return impl && impl == other.impl; }
  bool operator!=(DimExpr other) const { return !(*this == other); }

  DimExpr operator+(DimExpr other) const;
  DimExpr operator-(DimExpr other) const;
  DimExpr operator*(DimExpr other) const;
  /// Divisors are positive; division of a polynomial by a monomial that divides each of its terms is exact.
  DimExpr floorDiv(DimExpr divisor) const;
  DimExpr ceilDiv(DimExpr divisor) const;
  DimExpr mod(DimExpr divisor) const;
  DimExpr min(DimExpr other) const;
  DimExpr max(DimExpr other) const;
  DimExpr operator+(int64_t value) const;
  DimExpr operator-(int64_t value) const;
  DimExpr operator*(int64_t value) const;
  DimExpr floorDiv(int64_t divisor) const;
  DimExpr ceilDiv(int64_t divisor) const;

  std::optional<int64_t> asConstant() const;
  bool isConstant(int64_t value) const { return asConstant() == value; }

  Kind kind() const;
  llvm::StringRef symbolName() const;
  llvm::SmallVector<DimExpr, 2> operands() const;
  ExprAttr attribute() const;
  mlir::MLIRContext *context() const { return impl.getContext(); }

  /// Value at the given symbol values; nothing if a symbol is missing, on overflow or on division by zero.
  std::optional<int64_t> evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> symbol) const;
  /// The same expression with symbols replaced; symbols for which `replace` gives "unknown" stay.
  DimExpr substitute(llvm::function_ref<DimExpr(llvm::StringRef)> replace) const;
  void forEachSymbol(llvm::function_ref<void(llvm::StringRef)> visit) const;
  std::string str() const;

private:
  mlir::Attribute impl;
};

using Dims = llvm::SmallVector<DimExpr, 4>;

/// Parses what str() prints. Unknown on a syntax error, whose place `error` then tells.
DimExpr parseDimExpr(mlir::MLIRContext *context, llvm::StringRef text, std::string &error);

/// Inclusive bounds of symbols, and what follows for expressions.
struct DimRange {
  int64_t lo = 0;
  int64_t hi = INT64_MAX;
};
class DimRanges {
public:
  void set(llvm::StringRef symbol, DimRange range) { ranges[symbol] = range; }
  bool has(llvm::StringRef symbol) const { return ranges.contains(symbol); }
  void erase(llvm::StringRef symbol) { ranges.erase(symbol); }
  DimRange of(llvm::StringRef symbol) const;
  /// Interval arithmetic; INT64_MAX and INT64_MIN stand for "no bound".
  DimRange of(DimExpr expr) const;
  /// Whether lhs >= rhs, or lhs == rhs, holds for all symbol values within the ranges, as far as intervals can tell.
  bool provesAtLeast(DimExpr lhs, DimExpr rhs) const;
  bool provesEqual(DimExpr lhs, DimExpr rhs) const;
  /// Drops the operands of a minimum or maximum that can not win.
  DimExpr simplify(DimExpr expr) const;

private:
  llvm::StringMap<DimRange> ranges;
};

/// Product of all dims, 1 for none.
DimExpr productOf(mlir::MLIRContext *context, llvm::ArrayRef<DimExpr> dims);
/// ArrayAttr of #graph.expr <-> Dims. All must be known.
mlir::ArrayAttr dimsAttr(mlir::MLIRContext *context, llvm::ArrayRef<DimExpr> dims);
Dims dimsOf(mlir::ArrayAttr attribute);
/// Static sizes, and ShapedType::kDynamic for all else.
llvm::SmallVector<int64_t> staticSizes(llvm::ArrayRef<DimExpr> dims);

} // namespace llmc::graph

#endif // LLMC_DIALECTS_GRAPH_DIMEXPR_H
