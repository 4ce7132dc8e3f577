#include "compiler/Codegen/Cpu/Microkernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmc::cpu {
namespace {

class TileEmitter {
public:
  TileEmitter(ImplicitLocOpBuilder &b, const MicrokernelSpec &spec, const MicrokernelOperands &operands)
      : b(b), spec(spec), operands(operands), element(b.getF32Type()), vector(VectorType::get({spec.lanes}, element)) {}

  SmallVector<Value> emit() {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vector));
    SmallVector<Value> sums(spec.rows * spec.vectors, zero);
    if (!operands.segments)
      return overDepth(operands.rowPointers({}), operands.panel, operands.ahead, sums);
    return loop(operands.segments, 1, sums, [&](Value segment, ValueRange carried) {
      Value first = arith::MulIOp::create(b, segment, operands.depth);
      return overDepth(operands.rowPointers(segment), at(operands.panel, scaled(first, panelColumns)),
                       aheadAt(operands.ahead, first), carried);
    });
  }

private:
  using Body = llvm::function_ref<SmallVector<Value>(Value, ValueRange)>;

  SmallVector<Value> loop(Value count, int64_t step, ValueRange inits, Body body) {
    Value zero = constant(0);
    auto forOp = scf::ForOp::create(
        b, zero, count, constant(step), inits,
        [&](OpBuilder &, Location, Value index, ValueRange carried) { scf::YieldOp::create(b, body(index, carried)); });
    return llvm::to_vector_of<Value>(forOp.getResults());
  }

  SmallVector<Value> overDepth(const SmallVector<Value> &rows, Value panel, Value ahead, ValueRange inits) {
    return loop(operands.depth, 1, inits, [&](Value k, ValueRange carried) {
      SmallVector<Value> sums = llvm::to_vector_of<Value>(carried);
      if (ahead)
        LLVM::Prefetch::create(b, aheadAt(ahead, k), /*rw=*/0, /*hint=*/2, /*cache=*/1);
      accumulate(rows, at(panel, scaled(k, panelColumns)), k, sums);
      return sums;
    });
  }

  Value aheadAt(Value from, Value k) {
    if (!from)
      return {};
    Value bytes = arith::MulIOp::create(b, k, operands.aheadStep);
    return LLVM::GEPOp::create(b, from.getType(), b.getI8Type(), from, ValueRange{bytes});
  }

  /// One rank-1 update: sums += column k of the left operand times row k of the panel.
  void accumulate(ArrayRef<Value> rows, Value panel, Value k, SmallVectorImpl<Value> &sums) {
    SmallVector<Value> columns;
    for (int64_t v = 0; v < spec.vectors; ++v)
      columns.push_back(load(vector, at(panel, constant(v * spec.lanes))));
    Value offset = arith::MulIOp::create(b, k, operands.rowStep);
    for (int64_t r = 0; r < spec.rows; ++r) {
      Value scalar = load(element, at(rows[r], offset));
      Value splat = vector::BroadcastOp::create(b, vector, scalar);
      for (int64_t v = 0; v < spec.vectors; ++v)
        sums[r * spec.vectors + v] = math::FmaOp::create(b, splat, columns[v], sums[r * spec.vectors + v]);
    }
  }

  Value constant(int64_t value) { return arith::ConstantIntOp::create(b, value, 64); }
  Value scaled(Value value, int64_t factor) { return arith::MulIOp::create(b, value, constant(factor)); }
  Value at(Value pointer, Value elements) {
    return LLVM::GEPOp::create(b, pointer.getType(), element, pointer, ValueRange{elements});
  }
  Value load(Type type, Value pointer) { return LLVM::LoadOp::create(b, type, pointer, /*alignment=*/4); }

  ImplicitLocOpBuilder &b;
  const MicrokernelSpec &spec;
  const MicrokernelOperands &operands;
  Type element;
  VectorType vector;
};

} // namespace

SmallVector<Value> emitMicrokernel(ImplicitLocOpBuilder &b, const MicrokernelSpec &spec,
                                   const MicrokernelOperands &operands) {
  return TileEmitter(b, spec, operands).emit();
}

} // namespace llmc::cpu
