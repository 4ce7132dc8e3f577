// A Fourier transform as a product with a matrix of cosines and sines that the run makes.
#include "compiler/Import/FourierAtRunTime.h"

#include "compiler/Import/Converters.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace llmc {

using namespace graph;

namespace {

/// x with two parts in its last dim: real numbers get an imaginary one of 0.
Value asComplex(NodeContext &node, Value x, bool mustBeReal) {
  Dims dims = node.dims(x);
  DimExpr parts = dims.back(), two = node.number(2);
  if (mustBeReal)
    node.require(parts, node.number(1), "a one-sided transform of complex numbers is not defined");
  else
    node.require((parts - 1) * (parts - 2), node.number(0), "expects a last dim of 1 or 2, for real or complex numbers");
  if (parts.isConstant(2))
    return x;
  dims.back() = (two - parts).max(node.number(0));
  Value zeros = node.create<BroadcastOp>({node.scalar(x, 0)}, {node.named("dims", dims)});
  return node.create<ConcatOp>({x, zeros}, {node.named("axis", node.rank(x) - 1)});
}

Value unsqueezed(NodeContext &node, Value x, ArrayRef<int64_t> axes) {
  return node.create<UnsqueezeOp>({x}, {node.named("axes", axes)});
}

/// Of each row of a real signal's spectrum, of which only half is given: 2, but 1 for the first and the middle one.
Value timesGiven(NodeContext &node, Value rows, Value length) {
  Value twice = node.create<AddOp>({rows, rows}), zero = node.scalar(rows, 0), one = node.scalar(rows, 1);
  Value isOnce = node.create<OrOp>({node.create<EqualOp>({rows, zero}), node.create<EqualOp>({twice, length})});
  return node.create<WhereOp>({isOnce, one, node.scalar(rows, 2)});
}

/// [rows * 2, columns * 2]: what the parts of the input at each row add to the parts of the result at each column.
Value factors(NodeContext &node, DimExpr rowCount, DimExpr columnCount, DimExpr length, bool inverse, bool onesided, Type element) {
  Type f64 = Float64Type::get(node.context());
  Value rows = unsqueezed(node, iota(node, rowCount), {1}), columns = iota(node, columnCount);
  Value size = node.create<FromDimsOp>({}, {node.named("dims", ArrayRef{length})}), points = castTo(node, size, f64);
  Value turns = castTo(node, node.create<ModOp>({node.create<MulOp>({rows, columns}), size}), f64);
  Value angle = node.create<DivOp>({node.create<MulOp>({turns, node.scalar(f64, 2 * llvm::numbers::pi)}), points});
  Value cosine = node.create<CosOp>({angle}), sine = node.create<SinOp>({angle});
  if (inverse) {
    Value weight = castTo(node, onesided ? timesGiven(node, rows, size) : node.scalar(rows, 1), f64);
    weight = node.create<DivOp>({weight, points});
    cosine = node.create<MulOp>({cosine, weight});
    sine = node.create<MulOp>({sine, weight});
  }
  Value minus = node.create<NegOp>({sine});
  auto pair = [&](Value real, Value imaginary) {
    return node.create<ConcatOp>({unsqueezed(node, real, {1, 3}), unsqueezed(node, imaginary, {1, 3})}, {node.named("axis", int64_t(3))});
  };
  Value ofReal = pair(cosine, inverse ? sine : minus), ofImaginary = pair(inverse ? minus : sine, cosine);
  Value all = castTo(node, node.create<ConcatOp>({ofReal, ofImaginary}, {node.named("axis", int64_t(1))}), element);
  return node.create<ViewOp>({all}, {node.named("dims", ArrayRef{rowCount * 2, columnCount * 2})});
}

} // namespace

DimExpr columnsOf(DimExpr length, bool inverse, bool onesided) { return onesided && !inverse ? length.floorDiv(2) + 1 : length; }

Value transformAtRunTime(NodeContext &node, Value x, DimExpr length, bool inverse, bool onesided) {
  std::optional<Dims> dims = node.knownDims(x, "the transform");
  if (!dims)
    return {};
  const int64_t swap[] = {0, 2, 1, 3};
  ArrayRef<int64_t> swapped(swap);
  DimExpr front = (*dims)[0], size = (*dims)[1], behind = (*dims)[2], two = node.number(2);
  DimExpr rows = size.min(onesided && inverse ? length.floorDiv(2) + 1 : length), columns = columnsOf(length, inverse, onesided);
  Type element = node.elementType(x);
  x = part(node, asComplex(node, x, onesided && !inverse), 1, node.number(0), rows);
  x = node.create<TransposeOp>({x}, {node.named("perm", swapped)});
  x = node.create<ViewOp>({x}, {node.named("dims", ArrayRef{front * behind, rows * 2})});
  Value y = node.create<MatMulOp>({x, factors(node, rows, columns, length, inverse, onesided, element)});
  y = node.create<ViewOp>({y}, {node.named("dims", ArrayRef{front, behind, columns, two})});
  y = node.create<TransposeOp>({y}, {node.named("perm", swapped)});
  return onesided && inverse ? part(node, y, 3, node.number(0), node.number(1)) : y;
}

} // namespace llmc
