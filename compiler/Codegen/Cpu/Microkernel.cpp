#include "compiler/Codegen/Cpu/Microkernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmc::cpu {
namespace {

class TileEmitter {
public:
  TileEmitter(ImplicitLocOpBuilder &b, const MicrokernelSpec &spec, const MicrokernelOperands &operands)
      : b(b), spec(spec), operands(operands), element(b.getF32Type()),
        vector(VectorType::get({spec.lanes}, element)) {}

  SmallVector<Value> emit() {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vector));
    SmallVector<Value> sums(spec.rows * spec.vectors, zero);
    if (!operands.segments)
      return overDepth(operands.rowPointers({}), operands.panel, sums);
    return loop(operands.segments, 1, sums, [&](Value segment, ValueRange carried) {
      Value first = arith::MulIOp::create(b, segment, operands.depth);
      return overDepth(operands.rowPointers(segment), at(operands.panel, scaled(first, panelColumns)), carried);
    });
  }

private:
  using Body = llvm::function_ref<SmallVector<Value>(Value, ValueRange)>;

  SmallVector<Value> loop(Value count, int64_t step, ValueRange inits, Body body) {
    Value zero = constant(0);
    auto forOp = scf::ForOp::create(b, zero, count, constant(step), inits,
                                    [&](OpBuilder &, Location, Value index, ValueRange carried) {
                                      scf::YieldOp::create(b, body(index, carried));
                                    });
    return llvm::to_vector_of<Value>(forOp.getResults());
  }

  SmallVector<Value> overDepth(const SmallVector<Value> &rows, Value panel, ValueRange inits) {
    return loop(operands.depth, spec.unroll, inits, [&](Value k, ValueRange carried) {
      SmallVector<Value> sums = llvm::to_vector_of<Value>(carried);
      for (int64_t step = 0; step < spec.unroll; ++step)
        accumulate(rows, at(panel, scaled(k, panelColumns)), k, step, sums);
      return sums;
    });
  }

  /// One rank-1 update: sums += column k of the left operand times row k of the panel.
  void accumulate(ArrayRef<Value> rows, Value panel, Value k, int64_t step, SmallVectorImpl<Value> &sums) {
    SmallVector<Value> columns;
    for (int64_t v = 0; v < spec.vectors; ++v)
      columns.push_back(load(vector, at(panel, constant(step * panelColumns + v * spec.lanes))));
    Value kStep = step ? arith::AddIOp::create(b, k, constant(step)).getResult() : k;
    Value offset = arith::MulIOp::create(b, kStep, operands.rowStep);
    for (int64_t r = 0; r < spec.rows; ++r) {
      Value scalar = load(element, at(rows[r], offset));
      Value splat = vector::BroadcastOp::create(b, vector, scalar);
      for (int64_t v = 0; v < spec.vectors; ++v)
        sums[r * spec.vectors + v] = vector::FMAOp::create(b, splat, columns[v], sums[r * spec.vectors + v]);
    }
  }

  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 64);
  }
  Value scaled(Value value, int64_t factor) {
    return arith::MulIOp::create(b, value, constant(factor));
  }
  Value at(Value pointer, Value elements) {
    return LLVM::GEPOp::create(b, pointer.getType(), element, pointer, ValueRange{elements});
  }
  Value load(Type type, Value pointer) {
    return LLVM::LoadOp::create(b, type, pointer, /*alignment=*/4);
  }

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
