#include "compiler/Codegen/Cpu/IndirectRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using llmc::graph::DimExpr;

namespace llmc::cpu {

int64_t IndirectRows::tableBytes(const GemmStrategy &strategy) const {
  return llvm::alignTo(window.taps() * strategy.blockRows * sizeof(void *), 64);
}

int64_t IndirectRows::zeroBytes() const { return llvm::alignTo(channels * sizeof(float), 64); }

DimExpr IndirectRows::scratchBytes(const GemmStrategy &strategy) {
  return kb.constantExpr(tableBytes(strategy) + zeroBytes());
}

void IndirectRows::prepareKernel(Value scratch, const GemmStrategy &strategy) {
  blockRows = strategy.blockRows;
  table = scratch;
  zeros = kb.advance(scratch, kb.b.getI8Type(), kb.index(tableBytes(strategy)));
  unsigned count = kb.level.lanes(4);
  Value zero = kb.zeroVector(kb.b.getF32Type(), count);
  kb.loop(kb.index(0), kb.index(zeroBytes() / sizeof(float)), count,
          [&](Value i) { kb.store(zero, kb.advance(zeros, kb.b.getF32Type(), i), kb.allLanes(count)); });
}

void IndirectRows::prepareBlock(const Nest &nest, unsigned rowLoop, ArrayRef<Value> indices, Value first, Value last) {
  llvm::DenseMap<unsigned, Value> outer;
  for (unsigned loop = 0; loop + 1 < nest.loops.size(); ++loop)
    if (loop != rowLoop)
      nest.coordinates(loop, indices[loop], outer);
  kb.loop(first, last, 1, [&](Value row) {
    llvm::DenseMap<unsigned, Value> at = outer;
    nest.coordinates(rowLoop, row, at);
    Value offset = kb.add(kb.index(input.offset), kb.mul(at[0], kb.index(input.strides[0])));
    if (groupLoop)
      offset = kb.add(offset, kb.mul(at[*groupLoop], kb.index(channels)));
    SmallVector<Value> origins;
    for (unsigned d = 0; d < window.rank(); ++d) {
      origins.push_back(window.origin(kb, d, at[d + 1]));
      offset = kb.add(offset, kb.mul(origins[d], kb.index(input.strides[d + 1])));
    }
    Value pointer = kb.advance(input.base, kb.b.getF32Type(), offset);
    Value entry = kb.advance(table, kb.b.getI64Type(), kb.sub(row, first));
    fillTaps(0, arith::ConstantIntOp::create(kb.b, 1, 1), pointer, entry, origins);
  });
}

/// Loops over the taps of dims `d` and beyond, whose first tap is at `pointer` and whose first table entry is `entry`.
void IndirectRows::fillTaps(unsigned d, Value isInside, Value pointer, Value entry, ArrayRef<Value> origins) {
  if (d == window.rank()) {
    LLVM::StoreOp::create(kb.b, arith::SelectOp::create(kb.b, isInside, pointer, zeros), entry);
    return;
  }
  int64_t inner = blockRows; // table entries from one tap of this dim to the next
  for (unsigned other = d + 1; other < window.rank(); ++other)
    inner *= window.kernel[other];
  kb.loop(kb.index(0), kb.index(window.kernel[d]), 1, [&](Value tap) {
    Value step = kb.mul(tap, kb.index(window.dilations[d]));
    // Unsigned, so that a negative coordinate is too large.
    Value inside =
        arith::CmpIOp::create(kb.b, arith::CmpIPredicate::ult, kb.add(origins[d], step), kb.index(input.sizes[d + 1]));
    fillTaps(d + 1, arith::AndIOp::create(kb.b, isInside, inside),
             kb.advance(pointer, kb.b.getF32Type(), kb.mul(step, kb.index(input.strides[d + 1]))),
             kb.advance(entry, kb.b.getI64Type(), kb.mul(tap, kb.index(inner))), origins);
  });
}

SmallVector<Value> IndirectRows::pointers(Value row, int64_t count, Value segment) {
  Value first = kb.advance(table, kb.b.getI64Type(), kb.add(kb.mul(segment, kb.index(blockRows)), row));
  SmallVector<Value> result;
  for (int64_t r = 0; r < count; ++r)
    result.push_back(LLVM::LoadOp::create(kb.b, table.getType(), kb.advance(first, kb.b.getI64Type(), r)));
  return result;
}

} // namespace llmc::cpu
