// Graph ops -> linalg on tensors, where generated code exists for them.
#include "passes/Graph/Device.h"
#include "passes/Graph/ShapeAnalysis.h"
#include "passes/Lower/DispatchGroups.h"
#include "passes/Lower/Passes.h"
#include "passes/Lower/ScalarBodies.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_GRAPHTOLINALGPASS
#include "passes/Lower/Passes.h.inc"
namespace {

using graph::DimExpr;
using Body = llvm::function_ref<Value(ImplicitLocOpBuilder &, ValueRange)>;

/// An operand of a generic and how it is read over the iteration dims.
struct Read {
  Value value;
  AffineMap map;
};

class Lowering {
public:
  Lowering(func::FuncOp function, const ShapeAnalysis &analysis)
      : analysis(analysis), b(function.getLoc(), function.getContext()) {}

  /// The lowered result, or null where the op stays as it is.
  Value lower(Operation *op);
  void remember(Value before, Value after) { mapping.map(before, after); }
  Value now(Value before) { return mapping.lookupOrDefault(before); }

private:
  // Pieces.
  Value size(DimExpr dim) { return graph::SizeOp::create(b, dim.attribute()); }
  Value empty(ArrayRef<DimExpr> dims, Type elementType);
  Value filled(ArrayRef<DimExpr> dims, Type elementType, TypedAttr value);
  Value generic(ArrayRef<Read> reads, ArrayRef<DimExpr> dims, Type elementType, Body body);
  Value reduce(ArrayRef<Read> reads, ArrayRef<DimExpr> domain, ArrayRef<int64_t> axes, Type elementType, TypedAttr init, Body body);
  AffineMap identity(size_t rank) { return b.getMultiDimIdentityMap(rank); }
  AffineMap broadcastMap(ArrayRef<DimExpr> operand, ArrayRef<DimExpr> result);
  AffineMap dropLast(size_t rank) { return AffineMap::getMultiDimIdentityMap(rank, b.getContext()).dropResult(rank - 1); }
  Value asFloat(DimExpr count);
  TypedAttr real(double value) { return b.getF32FloatAttr(value); }
  Value sumOverLast(Value x, ArrayRef<DimExpr> dims, bool squares);

  // One op each.
  Value elementwise(Operation *op);
  Value transpose(graph::TransposeOp op);
  Value broadcast(graph::BroadcastOp op);
  Value subview(graph::SubviewOp op);
  Value fromDims(graph::FromDimsOp op);
  Value matmul(graph::MatMulOp op);
  Value conv(graph::ConvOp op);
  Value softmax(Operation *op, int64_t axis, bool logarithm);
  Value layerNorm(graph::LayerNormOp op);
  Value rmsNorm(graph::RmsNormOp op);
  Value reduction(Operation *op, ArrayRef<int64_t> axes, bool keepdims);

  ArrayRef<DimExpr> dims(Value value) const { return analysis.dims(value); }

  const ShapeAnalysis &analysis;
  ImplicitLocOpBuilder b;
  IRMapping mapping;
};

Value Lowering::empty(ArrayRef<DimExpr> dims, Type elementType) {
  SmallVector<OpFoldResult> sizes;
  for (DimExpr dim : dims)
    sizes.push_back(dim.asConstant() ? OpFoldResult(b.getIndexAttr(*dim.asConstant())) : OpFoldResult(size(dim)));
  return tensor::EmptyOp::create(b, sizes, elementType);
}

Value Lowering::filled(ArrayRef<DimExpr> dims, Type elementType, TypedAttr value) {
  Value scalar = arith::ConstantOp::create(b, value);
  return linalg::FillOp::create(b, scalar, empty(dims, elementType)).getResult(0);
}

/// Element-wise over `dims`: result[i] = body(reads[i]).
Value Lowering::generic(ArrayRef<Read> reads, ArrayRef<DimExpr> dims, Type elementType, Body body) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Read &read : reads) {
    inputs.push_back(read.value);
    maps.push_back(read.map);
  }
  maps.push_back(identity(dims.size()));
  SmallVector<utils::IteratorType> iterators(dims.size(), utils::IteratorType::parallel);
  Value init = empty(dims, elementType);
  auto op = linalg::GenericOp::create(b, init.getType(), inputs, init, maps, iterators,
                                      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
                                        ImplicitLocOpBuilder inner(loc, builder);
                                        linalg::YieldOp::create(inner, body(inner, arguments.drop_back()));
                                      });
  return op.getResult(0);
}

/// Reduction over `axes` of the iteration dims `domain`: body(elements..., accumulator).
Value Lowering::reduce(ArrayRef<Read> reads, ArrayRef<DimExpr> domain, ArrayRef<int64_t> axes, Type elementType, TypedAttr init,
                       Body body) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (const Read &read : reads) {
    inputs.push_back(read.value);
    maps.push_back(read.map);
  }
  SmallVector<utils::IteratorType> iterators(domain.size(), utils::IteratorType::parallel);
  SmallVector<DimExpr> kept;
  SmallVector<AffineExpr> results;
  for (auto [i, dim] : llvm::enumerate(domain)) {
    if (llvm::is_contained(axes, static_cast<int64_t>(i))) {
      iterators[i] = utils::IteratorType::reduction;
      continue;
    }
    kept.push_back(dim);
    results.push_back(b.getAffineDimExpr(i));
  }
  maps.push_back(AffineMap::get(domain.size(), 0, results, b.getContext()));
  Value accumulator = filled(kept, elementType, init);
  auto op = linalg::GenericOp::create(b, accumulator.getType(), inputs, accumulator, maps, iterators,
                                      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
                                        ImplicitLocOpBuilder inner(loc, builder);
                                        linalg::YieldOp::create(inner, body(inner, arguments));
                                      });
  return op.getResult(0);
}

/// numpy's alignment from the right; a dim of 1 is read at 0, unless the result's is 1 as well.
AffineMap Lowering::broadcastMap(ArrayRef<DimExpr> operand, ArrayRef<DimExpr> result) {
  SmallVector<AffineExpr> exprs;
  size_t offset = result.size() - operand.size();
  for (auto [i, dim] : llvm::enumerate(operand)) {
    bool stretched = dim.isConstant(1) && !result[offset + i].isConstant(1);
    exprs.push_back(stretched ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(offset + i));
  }
  return AffineMap::get(result.size(), 0, exprs, b.getContext());
}

/// `count` as f32, inside or outside of a body.
Value Lowering::asFloat(DimExpr count) {
  if (auto value = count.asConstant())
    return arith::ConstantOp::create(b, real(static_cast<double>(*value)));
  Value integer = arith::IndexCastOp::create(b, b.getI64Type(), size(count));
  return arith::SIToFPOp::create(b, b.getF32Type(), integer);
}

Value Lowering::elementwise(Operation *op) {
  ArrayRef<DimExpr> result = dims(op->getResult(0));
  SmallVector<Read> reads;
  SmallVector<std::optional<TypedAttr>> scalars; // per operand: its value, if it is the same everywhere
  for (Value operand : op->getOperands()) {
    DenseElementsAttr constant;
    if (matchPattern(operand, m_Constant(&constant)) && constant.isSplat()) {
      scalars.push_back(cast<TypedAttr>(constant.getSplatValue<Attribute>()));
      continue;
    }
    scalars.push_back(std::nullopt);
    reads.push_back({now(operand), broadcastMap(dims(operand), result)});
  }
  return generic(reads, result, getElementTypeOrSelf(op->getResult(0)), [&](ImplicitLocOpBuilder &inner, ValueRange arguments) {
    SmallVector<Value> operands;
    size_t next = 0;
    for (auto &scalar : scalars)
      operands.push_back(scalar ? Value(arith::ConstantOp::create(inner, *scalar)) : arguments[next++]);
    return emitScalarBody(op, operands, inner);
  });
}

Value copyElement(ImplicitLocOpBuilder &, ValueRange arguments) { return arguments[0]; }

Value Lowering::transpose(graph::TransposeOp op) {
  // Result dim i is operand dim perm[i], so the operand is read by the inverse permutation.
  SmallVector<AffineExpr> exprs(op.getPerm().size());
  for (auto [i, axis] : llvm::enumerate(op.getPerm()))
    exprs[axis] = b.getAffineDimExpr(i);
  AffineMap map = AffineMap::get(exprs.size(), 0, exprs, b.getContext());
  return generic({{now(op.getX()), map}}, dims(op.getY()), op.getType().getElementType(), copyElement);
}

Value Lowering::broadcast(graph::BroadcastOp op) {
  return generic({{now(op.getX()), broadcastMap(dims(op.getX()), dims(op.getY()))}}, dims(op.getY()),
                 op.getType().getElementType(), copyElement);
}

Value Lowering::subview(graph::SubviewOp op) {
  auto fold = [&](ArrayAttr exprs) {
    SmallVector<OpFoldResult> values;
    for (DimExpr expr : graph::dimsOf(exprs))
      values.push_back(expr.asConstant() ? OpFoldResult(b.getIndexAttr(*expr.asConstant())) : OpFoldResult(size(expr)));
    return values;
  };
  SmallVector<OpFoldResult> steps = llvm::map_to_vector(op.getSteps(), [&](int64_t step) { return OpFoldResult(b.getIndexAttr(step)); });
  SmallVector<OpFoldResult> offsets = fold(op.getOffsets()), sizes = fold(op.getSizes());
  for (auto [offset, size] : llvm::zip_equal(offsets, sizes))
    if (isConstantIntValue(size, 0)) // may start at the end, where tensor.extract_slice allows nothing to start
      offset = b.getIndexAttr(0);
  Value slice = tensor::ExtractSliceOp::create(b, now(op.getX()), offsets, sizes, steps);
  return generic({{slice, identity(steps.size())}}, dims(op.getY()), op.getType().getElementType(), copyElement);
}

Value Lowering::fromDims(graph::FromDimsOp op) {
  Type element = op.getType().getElementType();
  SmallVector<Value> elements = llvm::map_to_vector(graph::dimsOf(op.getDims()), [&](DimExpr dim) -> Value {
    if (std::optional<int64_t> number = dim.asConstant())
      return arith::ConstantOp::create(b, b.getIntegerAttr(element, *number));
    return arith::IndexCastOp::create(b, element, size(dim));
  });
  return tensor::FromElementsOp::create(b, op.getType(), elements);
}

/// Iterators: the dims of the result, then k. Null where an operand's batch dim is stretched: those kernels do not broadcast.
Value Lowering::matmul(graph::MatMulOp op) {
  ArrayRef<DimExpr> lhs = dims(op.getLhs()), rhs = dims(op.getRhs()), result = dims(op.getResult());
  if (lhs.size() < 2 || rhs.size() < 2)
    return {};
  size_t rank = result.size();
  auto batchExprs = [&](ArrayRef<DimExpr> operand) -> std::optional<SmallVector<AffineExpr>> {
    SmallVector<AffineExpr> exprs;
    size_t offset = rank - operand.size();
    for (size_t i = 0; i + 2 < operand.size(); ++i) {
      if (operand[i].isConstant(1) && !result[offset + i].isConstant(1))
        return std::nullopt;
      exprs.push_back(b.getAffineDimExpr(offset + i));
    }
    return exprs;
  };
  auto lhsExprs = batchExprs(lhs), rhsExprs = batchExprs(rhs);
  if (!lhsExprs || !rhsExprs)
    return {};
  AffineExpr m = b.getAffineDimExpr(rank - 2), n = b.getAffineDimExpr(rank - 1), k = b.getAffineDimExpr(rank);
  lhsExprs->append({m, k});
  rhsExprs->append({k, n});
  SmallVector<DimExpr> domain(result);
  domain.push_back(lhs.back());
  auto map = [&](ArrayRef<AffineExpr> exprs) { return AffineMap::get(rank + 1, 0, exprs, b.getContext()); };
  return reduce({{now(op.getLhs()), map(*lhsExprs)}, {now(op.getRhs()), map(*rhsExprs)}}, domain, {static_cast<int64_t>(rank)},
                b.getF32Type(), real(0), [](ImplicitLocOpBuilder &inner, ValueRange v) {
                  return arith::AddFOp::create(inner, v[2], arith::MulFOp::create(inner, v[0], v[1]));
                });
}

/// conv(x, w, b) -> conv(x, w) + b, so that the sum fuses like any other epilogue.
Value Lowering::conv(graph::ConvOp op) {
  if (!op.getBias() || !op.getChannelsLast())
    return {};
  ArrayRef<DimExpr> result = dims(op.getY());
  auto plain = cast<graph::ConvOp>(b.clone(*op));
  plain.getXMutable().assign(now(op.getX()));
  plain.getWeightMutable().assign(now(op.getWeight()));
  plain.getBiasMutable().clear();
  Value bias = now(op.getBias());
  return generic({{plain.getY(), identity(result.size())}, {bias, broadcastMap(dims(op.getBias()), result)}}, result,
                 op.getType().getElementType(),
                 [](ImplicitLocOpBuilder &inner, ValueRange v) { return arith::AddFOp::create(inner, v[0], v[1]); });
}

Value Lowering::sumOverLast(Value x, ArrayRef<DimExpr> dims, bool squares) {
  int64_t last = dims.size() - 1;
  return reduce({{x, identity(dims.size())}}, dims, {last}, b.getF32Type(), real(0),
                [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
                  Value term = squares ? Value(arith::MulFOp::create(inner, v[0], v[0])) : v[0];
                  return arith::AddFOp::create(inner, v[1], term);
                });
}

Value Lowering::softmax(Operation *op, int64_t axis, bool logarithm) {
  ArrayRef<DimExpr> domain = dims(op->getResult(0));
  int64_t rank = domain.size();
  if (axis != rank - 1)
    return {};
  Type f32 = b.getF32Type();
  Value x = now(op->getOperand(0));
  AffineMap whole = identity(rank), row = dropLast(rank);
  Value greatest = reduce({{x, whole}}, domain, {axis}, f32, real(-std::numeric_limits<double>::infinity()),
                          [](ImplicitLocOpBuilder &inner, ValueRange v) { return arith::MaximumFOp::create(inner, v[0], v[1]); });
  Value shifted = generic({{x, whole}, {greatest, row}}, domain, f32, [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
    Value difference = arith::SubFOp::create(inner, v[0], v[1]);
    return logarithm ? difference : Value(math::ExpOp::create(inner, difference));
  });
  if (!logarithm) {
    Value sum = sumOverLast(shifted, domain, /*squares=*/false);
    return generic({{shifted, whole}, {sum, row}}, domain, f32,
                   [](ImplicitLocOpBuilder &inner, ValueRange v) { return arith::DivFOp::create(inner, v[0], v[1]); });
  }
  Value sum = reduce({{shifted, whole}}, domain, {axis}, f32, real(0), [](ImplicitLocOpBuilder &inner, ValueRange v) {
    return arith::AddFOp::create(inner, v[1], math::ExpOp::create(inner, v[0]));
  });
  return generic({{shifted, whole}, {sum, row}}, domain, f32, [](ImplicitLocOpBuilder &inner, ValueRange v) {
    return arith::SubFOp::create(inner, v[0], math::LogOp::create(inner, v[1]));
  });
}

Value Lowering::layerNorm(graph::LayerNormOp op) {
  ArrayRef<DimExpr> domain = dims(op.getY());
  int64_t rank = domain.size();
  if (static_cast<int64_t>(op.getAxis()) != rank - 1)
    return {};
  Type f32 = b.getF32Type();
  Value x = now(op.getX()), count = asFloat(domain.back());
  AffineMap whole = identity(rank), row = dropLast(rank);
  Value sum = sumOverLast(x, domain, /*squares=*/false);
  Value centred = generic({{x, whole}, {sum, row}}, domain, f32, [&](ImplicitLocOpBuilder &inner, ValueRange v) {
    return arith::SubFOp::create(inner, v[0], arith::DivFOp::create(inner, v[1], count));
  });
  Value squares = sumOverLast(centred, domain, /*squares=*/true);
  SmallVector<Read> reads = {{centred, whole}, {squares, row}, {now(op.getScale()), broadcastMap(dims(op.getScale()), domain)}};
  if (op.getBias())
    reads.push_back({now(op.getBias()), broadcastMap(dims(op.getBias()), domain)});
  Value epsilon = arith::ConstantOp::create(b, real(op.getEpsilon().convertToDouble()));
  return generic(reads, domain, f32, [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
    Value variance = arith::DivFOp::create(inner, v[1], count);
    Value deviation = math::SqrtOp::create(inner, arith::AddFOp::create(inner, variance, epsilon));
    Value scaled = arith::MulFOp::create(inner, arith::DivFOp::create(inner, v[0], deviation), v[2]);
    return v.size() == 4 ? Value(arith::AddFOp::create(inner, scaled, v[3])) : scaled;
  });
}

Value Lowering::rmsNorm(graph::RmsNormOp op) {
  ArrayRef<DimExpr> domain = dims(op.getY());
  int64_t rank = domain.size();
  if (static_cast<int64_t>(op.getAxis()) != rank - 1)
    return {};
  Value x = now(op.getX()), count = asFloat(domain.back());
  Value squares = sumOverLast(x, domain, /*squares=*/true);
  Value epsilon = arith::ConstantOp::create(b, real(op.getEpsilon().convertToDouble()));
  return generic({{x, identity(rank)}, {squares, dropLast(rank)}, {now(op.getScale()), broadcastMap(dims(op.getScale()), domain)}},
                 domain, b.getF32Type(), [&](ImplicitLocOpBuilder &inner, ValueRange v) {
                   Value mean = arith::DivFOp::create(inner, v[1], count);
                   Value root = math::SqrtOp::create(inner, arith::AddFOp::create(inner, mean, epsilon));
                   return arith::MulFOp::create(inner, arith::DivFOp::create(inner, v[0], root), v[2]);
                 });
}

Value Lowering::reduction(Operation *op, ArrayRef<int64_t> axes, bool keepdims) {
  Value x = op->getOperand(0);
  ArrayRef<DimExpr> domain = dims(x);
  if (axes.empty() || !getElementTypeOrSelf(x).isF32())
    return {};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double init = isa<graph::ReduceMaxOp>(op) ? -infinity : isa<graph::ReduceMinOp>(op) ? infinity : isa<graph::ReduceProdOp>(op) ? 1 : 0;
  Value result = reduce({{now(x), identity(domain.size())}}, domain, axes, b.getF32Type(), real(init),
                        [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
                          return TypeSwitch<Operation *, Value>(op)
                              .Case([&](graph::ReduceMaxOp) { return arith::MaximumFOp::create(inner, v[1], v[0]); })
                              .Case([&](graph::ReduceMinOp) { return arith::MinimumFOp::create(inner, v[1], v[0]); })
                              .Case([&](graph::ReduceProdOp) { return arith::MulFOp::create(inner, v[1], v[0]); })
                              .Default([&](Operation *) { return arith::AddFOp::create(inner, v[1], v[0]); });
                        });
  SmallVector<DimExpr> kept;
  DimExpr count = DimExpr::constant(b.getContext(), 1);
  for (auto [i, dim] : llvm::enumerate(domain)) {
    if (llvm::is_contained(axes, static_cast<int64_t>(i)))
      count = count * dim;
    else
      kept.push_back(dim);
  }
  if (isa<graph::ReduceMeanOp>(op)) {
    Value divisor = asFloat(count);
    result = generic({{result, identity(kept.size())}}, kept, b.getF32Type(), [&](ImplicitLocOpBuilder &inner, ValueRange v) {
      return arith::DivFOp::create(inner, v[0], divisor);
    });
  }
  if (keepdims)
    result = graph::ViewOp::create(b, cast<RankedTensorType>(op->getResult(0).getType()), result,
                                   graph::dimsAttr(b.getContext(), dims(op->getResult(0))));
  return result;
}

Value Lowering::lower(Operation *op) {
  b.setInsertionPoint(op);
  b.setLoc(op->getLoc());
  auto known = [&](Value value) { return isa<RankedTensorType>(value.getType()) && allKnown(dims(value)); };
  if (op->getNumResults() != 1 || !llvm::all_of(op->getOperands(), known) || !known(op->getResult(0)) ||
      !llvm::all_of(op->getOperandTypes(), [](Type type) { return isGeneratedType(getElementTypeOrSelf(type)); }) ||
      !isGeneratedType(getElementTypeOrSelf(op->getResult(0))))
    return {};
  if (hasScalarBody(op))
    return elementwise(op);
  bool isF32 = op->getNumOperands() && getElementTypeOrSelf(op->getOperand(0)).isF32();
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](graph::TransposeOp op) { return transpose(op); })
      .Case([&](graph::BroadcastOp op) { return broadcast(op); })
      .Case([&](graph::SubviewOp op) { return subview(op); })
      .Case([&](graph::FromDimsOp op) { return fromDims(op); })
      .Case([&](graph::MatMulOp op) { return isF32 ? matmul(op) : Value(); })
      .Case([&](graph::ConvOp op) { return isF32 ? conv(op) : Value(); })
      .Case([&](graph::SoftmaxOp op) { return isF32 ? softmax(op, op.getAxis(), false) : Value(); })
      .Case([&](graph::LogSoftmaxOp op) { return isF32 ? softmax(op, op.getAxis(), true) : Value(); })
      .Case([&](graph::LayerNormOp op) { return isF32 ? layerNorm(op) : Value(); })
      .Case([&](graph::RmsNormOp op) { return isF32 ? rmsNorm(op) : Value(); })
      .Case<graph::ReduceSumOp, graph::ReduceMeanOp, graph::ReduceMaxOp, graph::ReduceMinOp, graph::ReduceProdOp>(
          [&](auto op) { return reduction(op, op.getAxes(), op.getKeepdims()); })
      .Default([](Operation *) { return Value(); });
}

struct GraphToLinalgPass : impl::GraphToLinalgPassBase<GraphToLinalgPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    ShapeAnalysis analysis(function);
    if (analysis.failed())
      return signalPassFailure();
    analysis.recordChecks();
    Lowering lowering(function, analysis);
    SmallVector<Operation *> ops;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != function)
        ops.push_back(op);
    });
    SmallVector<Operation *> replaced;
    for (Operation *op : ops) {
      Operation *before = op->getPrevNode();
      Value result = lowering.lower(op);
      for (Operation *made = op->getPrevNode(); made != before; made = made->getPrevNode())
        if (needsKernel(made))
          inheritDevice(op, made);
      if (!result) {
        for (OpOperand &operand : op->getOpOperands())
          operand.set(lowering.now(operand.get()));
        continue;
      }
      lowering.remember(op->getResult(0), result);
      replaced.push_back(op);
    }
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
  }
};

} // namespace
} // namespace llmc
