// Sizes of the dispatch function's values as expressions, and expressions and scalars as code.
#include "compiler/Codegen/Cpu/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using llmc::graph::DimExpr;
using llmc::graph::Dims;

namespace llmc::cpu {
namespace {

/// Number of index arguments before `argument`: the k of its symbol sk.
unsigned scalarNumber(BlockArgument argument) {
  return llvm::count_if(argument.getOwner()->getArguments().take_front(argument.getArgNumber()),
                        [](BlockArgument other) { return other.getType().isIndex(); });
}

std::string symbolName(int64_t scalar) { return "s" + std::to_string(scalar); }

Dims dimsFrom(MLIRContext *context, ArrayRef<int64_t> sizes) {
  return llvm::map_to_vector<4>(sizes, [&](int64_t size) {
    return size >= 0 ? DimExpr::constant(context, size) : DimExpr::symbol(context, symbolName(-size - 1));
  });
}

} // namespace

DimExpr KernelBuilder::exprOf(OpFoldResult index) {
  if (auto attribute = dyn_cast<Attribute>(index))
    return constantExpr(cast<IntegerAttr>(attribute).getInt());
  return exprOf(cast<Value>(index));
}

DimExpr KernelBuilder::exprOf(Value index) {
  APInt constant;
  if (matchPattern(index, m_ConstantInt(&constant)))
    return constantExpr(constant.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(index))
    return argument.getType().isIndex() ? DimExpr::symbol(context(), symbolName(scalarNumber(argument))) : DimExpr();
  Operation *op = index.getDefiningOp();
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto number = dim.getConstantIndex();
    return number ? sizesOf(dim.getSource())[*number] : DimExpr();
  }
  if (op->getNumOperands() != 2)
    return {};
  auto both = [&](auto combine) { return combine(exprOf(op->getOperand(0)), exprOf(op->getOperand(1))); };
  if (isa<arith::AddIOp>(op))
    return both([](DimExpr x, DimExpr y) { return x + y; });
  if (isa<arith::SubIOp>(op))
    return both([](DimExpr x, DimExpr y) { return x - y; });
  if (isa<arith::MulIOp>(op))
    return both([](DimExpr x, DimExpr y) { return x * y; });
  if (isa<arith::DivUIOp, arith::FloorDivSIOp>(op))
    return both([](DimExpr x, DimExpr y) { return x.floorDiv(y); });
  if (isa<arith::CeilDivUIOp, arith::CeilDivSIOp>(op))
    return both([](DimExpr x, DimExpr y) { return x.ceilDiv(y); });
  return {};
}

Dims KernelBuilder::sizesOfArgument(BlockArgument argument) {
  auto function = dispatch; // attributes are read through a non-const handle
  if (auto sizes = function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), "graph.sizes"))
    return dimsFrom(context(), sizes);
  auto type = cast<RankedTensorType>(argument.getType());
  assert(type.hasStaticShape() && "a dynamic argument needs graph.sizes");
  return dimsFrom(context(), type.getShape());
}

Dims KernelBuilder::sizesOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return sizesOfArgument(argument);
  if (type.hasStaticShape())
    return dimsFrom(context(), type.getShape());
  Operation *op = tensor.getDefiningOp();
  auto exprs = [&](ArrayRef<OpFoldResult> sizes) {
    return llvm::map_to_vector<4>(sizes, [&](OpFoldResult size) { return exprOf(size); });
  };
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return exprs(empty.getMixedSizes());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return exprs(expand.getMixedOutputShape());
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return sizesOf(destination.getTiedOpOperand(cast<OpResult>(tensor))->get());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    Dims sizes;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [d, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(d))
        sizes.push_back(exprOf(size));
    return sizes;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    Dims source = sizesOf(collapse.getSrc()), sizes;
    for (ArrayRef<int64_t> group : collapse.getReassociationIndices()) {
      sizes.push_back(constantExpr(1));
      for (int64_t d : group)
        sizes.back() = sizes.back() * source[d];
    }
    return sizes;
  }
  // A root of the graph dialect says its sizes through whoever takes its result.
  for (OpOperand &use : tensor.getUses()) {
    auto function = dispatch;
    if (isa<func::ReturnOp>(use.getOwner()))
      if (auto sizes = function.getResultAttrOfType<DenseI64ArrayAttr>(use.getOperandNumber(), "graph.sizes"))
        return dimsFrom(context(), sizes);
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (generic && generic.getMatchingIndexingMap(&use).isIdentity())
      return sizesOf(generic.getDpsInits().front());
  }
  return Dims(type.getRank());
}

Value KernelBuilder::emitExpr(DimExpr expr) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, value, 64); };
  if (auto value = expr.asConstant())
    return constant(*value);
  if (expr.kind() == DimExpr::Kind::Symbol) {
    unsigned number = 0;
    [[maybe_unused]] bool bad = expr.symbolName().drop_front().getAsInteger(10, number);
    assert(!bad && number < scalars.size() && "sizes are over the kernel's scalars");
    return scalars[number];
  }
  Value total;
  for (DimExpr operand : expr.operands()) {
    Value value = emitExpr(operand);
    if (!total) {
      total = value;
      continue;
    }
    switch (expr.kind()) {
    case DimExpr::Kind::Add:
      total = add(total, value);
      break;
    case DimExpr::Kind::Mul:
      total = mul(total, value);
      break;
    case DimExpr::Kind::FloorDiv:
      total = div(total, value);
      break;
    case DimExpr::Kind::CeilDiv:
      total = div(add(total, sub(value, constant(1))), value);
      break;
    case DimExpr::Kind::Mod:
      total = rem(total, value);
      break;
    case DimExpr::Kind::Min:
      total = min(total, value);
      break;
    case DimExpr::Kind::Max:
      total = max(total, value);
      break;
    case DimExpr::Kind::Constant:
    case DimExpr::Kind::Symbol:
      llvm_unreachable("leaves have no operands");
    }
  }
  return total;
}

Value KernelBuilder::emitScalar(Value value) {
  if (Value emitted = emittedScalars.lookup(value))
    return emitted;
  if (value.getType().isIndex())
    if (DimExpr expr = exprOf(value))
      return emitExpr(expr);
  Operation *op = value.getDefiningOp();
  bool isScalarOp = op && op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
                    llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>);
  if (!isScalarOp) {
    emitError(value.getLoc(), "a scalar of a kernel must come from sizes and constants alone");
    return {};
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(emitScalar(operand));
    if (!operands.back())
      return {};
  }
  // index is i64 here, so casts between the two vanish or change the width.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Type from = operands[0].getType(), to = op->getResult(0).getType();
    if (to.isIndex())
      to = b.getI64Type();
    if (from == to)
      return operands[0];
    if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
      return arith::TruncIOp::create(b, to, operands[0]);
    return isa<arith::IndexCastOp>(op) ? Value(arith::ExtSIOp::create(b, to, operands[0]))
                                       : Value(arith::ExtUIOp::create(b, to, operands[0]));
  }
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  Operation *clone = b.clone(*op, mapping);
  if (clone->getResult(0).getType().isIndex())
    clone->getResult(0).setType(b.getI64Type());
  return clone->getResult(0);
}

} // namespace llmc::cpu
