// See BodyEmitter.h. Ops of arith and math are the same on vectors, so each is cloned with vector types; the exceptions are
// constants, index values (i64 here), and what comes from outside the body.
#include "compiler/Codegen/Cpu/BodyEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace llmc::cpu {
namespace {

/// Converts between integer widths, as index_cast does once index is i64.
Value castInteger(KernelBuilder &kb, Value value, VectorType to, bool isSigned) {
  unsigned from = cast<VectorType>(value.getType()).getElementTypeBitWidth(), wanted = to.getElementTypeBitWidth();
  if (from == wanted)
    return value;
  if (from > wanted)
    return arith::TruncIOp::create(kb.b, to, value);
  return isSigned ? Value(arith::ExtSIOp::create(kb.b, to, value)) : Value(arith::ExtUIOp::create(kb.b, to, value));
}

class Emission {
public:
  Emission(KernelBuilder &kb, linalg::GenericOp op, unsigned count, llvm::function_ref<Value(int64_t)> indexOf)
      : kb(kb), block(*op.getBody()), count(count), indexOf(indexOf) {}

  FailureOr<SmallVector<Value>> run(ArrayRef<Value> arguments) {
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
      if (value)
        mapping.map(argument, value);
    for (Operation &op : block.without_terminator())
      if (failed(emit(op)))
        return failure();
    SmallVector<Value> results;
    for (Value yielded : block.getTerminator()->getOperands()) {
      results.push_back(lookup(yielded));
      if (!results.back())
        return failure();
    }
    return results;
  }

private:
  Value lookup(Value value) {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    Value scalar = kb.scalar(value); // from outside the body
    if (!scalar)
      return {};
    Value vector = kb.splat(scalar, count);
    mapping.map(value, vector);
    return vector;
  }

  LogicalResult emit(Operation &op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      TypedAttr value = constant.getValue();
      if (value.getType().isIndex())
        value = kb.b.getI64IntegerAttr(cast<IntegerAttr>(value).getInt());
      mapping.map(constant.getResult(), kb.constantVector(value, count));
      return success();
    }
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(index.getResult(), indexOf(index.getDim()));
      return success();
    }
    if (op.getNumRegions() != 0 || op.getNumResults() != 1 || !isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()))
      return op.emitError("has no vector form in a kernel");
    for (Value operand : op.getOperands())
      if (!lookup(operand))
        return failure();
    VectorType type = lanesOf(op.getResult(0).getType(), count);
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
      mapping.map(op.getResult(0), castInteger(kb, lookup(op.getOperand(0)), type, isa<arith::IndexCastOp>(op)));
      return success();
    }
    Operation *clone = kb.b.clone(op, mapping);
    clone->getResult(0).setType(type);
    mapping.map(op.getResult(0), clone->getResult(0));
    return success();
  }

  KernelBuilder &kb;
  Block &block;
  unsigned count;
  llvm::function_ref<Value(int64_t)> indexOf;
  IRMapping mapping;
};

} // namespace

FailureOr<SmallVector<Value>> emitBody(KernelBuilder &kb, linalg::GenericOp op, ArrayRef<Value> arguments, unsigned count,
                                       llvm::function_ref<Value(int64_t)> indexOf) {
  return Emission(kb, op, count, indexOf).run(arguments);
}

VectorType lanesOf(Type scalar, unsigned count) {
  Type element = scalar.isIndex() ? Type(IntegerType::get(scalar.getContext(), 64)) : scalar;
  return VectorType::get(count, element);
}

unsigned widestBytes(linalg::GenericOp op) {
  unsigned widest = 1;
  auto widen = [&](Type type) {
    unsigned bits = type.isIndex() ? 64 : type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 8;
    widest = std::max(widest, bits / 8);
  };
  for (BlockArgument argument : op.getBody()->getArguments())
    if (!argument.use_empty())
      widen(argument.getType());
  for (Operation &inner : op.getBody()->without_terminator())
    llvm::for_each(inner.getResultTypes(), widen);
  for (Value yielded : op.getBody()->getTerminator()->getOperands())
    widen(yielded.getType());
  return widest;
}

unsigned bodyCycles(linalg::GenericOp op) {
  unsigned cycles = 1;
  for (Operation &inner : op.getBody()->without_terminator()) {
    bool isCheapMath = isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::RoundEvenOp, math::TruncOp,
                           math::CopySignOp>(inner);
    if (isa<math::MathDialect>(inner.getDialect()) && !isCheapMath)
      cycles += 15;
    else if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(inner))
      cycles += 6;
    else
      cycles += 1;
  }
  return cycles;
}

} // namespace llmc::cpu
