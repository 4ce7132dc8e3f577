// Vector and scalar accesses to memory, masks, and the loop over lanes with its masked tail.
#include "compiler/Codegen/Cpu/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;

namespace llmc::cpu {
namespace {

std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

bool isBool(Type type) { return type.isInteger(1); }

} // namespace

Lanes KernelBuilder::firstLanes(unsigned count, Value active) {
  if (constantOf(active) == count)
    return allLanes(count);
  auto type = VectorType::get(count, b.getI32Type());
  SmallVector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value lane = arith::ConstantOp::create(b, DenseIntElementsAttr::get(type, numbers));
  Value bound = splat(b.createOrFold<arith::TruncIOp>(b.getI32Type(), active), count);
  return {count, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lane, bound), active};
}

void KernelBuilder::loopOverLanes(Value lower, Value upper, unsigned count,
                                  llvm::function_ref<void(Value, const Lanes &)> body) {
  if (count == 1)
    return loop(lower, upper, 1, [&](Value i) { body(i, allLanes(1)); });
  Value span = sub(upper, lower);
  Value rest = rem(span, index(count)); // a negative span can not come from sizes
  Value fullEnd = sub(upper, rest);
  std::optional<int64_t> staticSpan = constantOf(span);
  if (!staticSpan || *staticSpan >= count)
    loop(lower, fullEnd, count, [&](Value i) { body(i, allLanes(count)); });
  if (std::optional<int64_t> staticRest = constantOf(rest)) {
    if (*staticRest != 0)
      body(fullEnd, firstLanes(count, rest));
    return;
  }
  Value hasRest = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, index(0));
  ifThen(hasRest, [&] { body(fullEnd, firstLanes(count, rest)); });
}

/// Vectors and registers know no sign: a kernel that only moves unsigned integers moves their bits.
static Type withoutSign(Type elementType) {
  return elementType.isUnsignedInteger() ? IntegerType::get(elementType.getContext(), elementType.getIntOrFloatBitWidth()) : elementType;
}

Value KernelBuilder::load(Value pointer, Type elementType, const Lanes &lanes) {
  unsigned alignment = bytesOf(elementType);
  Type inMemory = isBool(elementType) ? b.getI8Type() : withoutSign(elementType);
  auto type = VectorType::get(lanes.count, inMemory);
  Value vector;
  if (lanes.mask) {
    Value zero = zeroVector(inMemory, lanes.count);
    vector = LLVM::MaskedLoadOp::create(b, type, pointer, lanes.mask, zero, alignment);
  } else {
    vector = LLVM::LoadOp::create(b, type, pointer, alignment);
  }
  if (!isBool(elementType))
    return vector;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, vector, zeroVector(inMemory, lanes.count));
}

void KernelBuilder::store(Value vector, Value pointer, const Lanes &lanes) {
  Type elementType = cast<VectorType>(vector.getType()).getElementType();
  unsigned alignment = bytesOf(elementType);
  if (isBool(elementType))
    vector = arith::ExtUIOp::create(b, VectorType::get(lanes.count, b.getI8Type()), vector);
  if (lanes.mask)
    LLVM::MaskedStoreOp::create(b, vector, pointer, lanes.mask, alignment);
  else
    LLVM::StoreOp::create(b, vector, pointer, alignment);
}

Value KernelBuilder::loadStrided(Value pointer, Type elementType, Value stride, const Lanes &lanes) {
  Value vector = zeroVector(elementType, lanes.count);
  Value last = lanes.active ? sub(lanes.active, index(1)) : Value();
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    // Lanes that take no part read what the last active one reads, so no address leaves the tensor.
    Value number = last ? min(index(lane), last) : index(lane);
    Value element = loadScalar(advance(pointer, elementType, mul(number, stride)), elementType);
    vector = vector::InsertOp::create(b, element, vector, static_cast<int64_t>(lane));
  }
  return vector;
}

Value KernelBuilder::loadScalar(Value pointer, Type elementType) {
  if (!isBool(elementType))
    return LLVM::LoadOp::create(b, withoutSign(elementType), pointer, bytesOf(elementType));
  Value byte = LLVM::LoadOp::create(b, b.getI8Type(), pointer, 1);
  Value zero = arith::ConstantIntOp::create(b, 0, 8);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, byte, zero);
}

void KernelBuilder::storeScalar(Value value, Value pointer) {
  unsigned alignment = bytesOf(value.getType());
  if (isBool(value.getType()))
    value = arith::ExtUIOp::create(b, b.getI8Type(), value);
  LLVM::StoreOp::create(b, value, pointer, alignment);
}

Value KernelBuilder::splat(Value scalar, unsigned count) {
  return b.createOrFold<vector::BroadcastOp>(VectorType::get(count, scalar.getType()), scalar);
}

Value KernelBuilder::constantVector(TypedAttr attribute, unsigned count) {
  auto type = VectorType::get(count, attribute.getType());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, attribute));
}

Value KernelBuilder::zeroVector(Type elementType, unsigned count) {
  return constantVector(cast<TypedAttr>(b.getZeroAttr(withoutSign(elementType))), count);
}

} // namespace llmc::cpu
