// The kernel's frame (ABI entry, scalars, pointers), arithmetic and loops.
#include "compiler/Codegen/Cpu/KernelBuilder.h"

#include "dialects/Graph/Graph.h"
#include "kernels/abi/kernel_abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cstddef>

using namespace mlir;
using llmc::graph::DimExpr;

namespace llmc::cpu {

unsigned bytesOf(Type elementType) { return std::max(1u, elementType.getIntOrFloatBitWidth() / 8); }

unsigned View::elementBytes() const { return bytesOf(elementType); }

template <typename Emit> Value KernelBuilder::atEntry(Emit &&emit) {
  OpBuilder::InsertionGuard guard(b);
  Block &entry = kernel.getBody().front();
  if (entryEnd)
    b.setInsertionPointAfter(entryEnd);
  else
    b.setInsertionPointToStart(&entry);
  Value value = emit();
  // What was emitted may have folded to something earlier; the entry then ends where it did, or after the last new op.
  Block::iterator next = b.getInsertionPoint();
  entryEnd = next == entry.begin() ? nullptr : &*std::prev(next);
  return value;
}

KernelBuilder::KernelBuilder(func::FuncOp dispatch, ModuleOp target, const CpuLevel &level)
    : b(dispatch.getLoc(), dispatch.getContext()), level(level), dispatch(dispatch) {
  b.setInsertionPointToEnd(target.getBody());
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  kernel = func::FuncOp::create(b, dispatch.getName(), b.getFunctionType({pointer, i64, i64, pointer}, {b.getI32Type()}));
  b.setInsertionPointToStart(kernel.addEntryBlock());
  cost = {constantExpr(1), constantExpr(0), constantExpr(1)};

  auto member = [&](int64_t byteOffset) {
    return LLVM::LoadOp::create(b, pointer, advance(kernel.getArgument(0), b.getI8Type(), byteOffset));
  };
  Value pointerTable = member(offsetof(llmc_args, pointers));
  Value scalarTable = member(offsetof(llmc_args, scalars));
  auto nextPointer = [&]() -> Value {
    return LLVM::LoadOp::create(b, pointer, advance(pointerTable, i64, static_cast<int64_t>(pointers.size())));
  };
  for (Type type : dispatch.getArgumentTypes()) {
    if (type.isIndex())
      scalars.push_back(LLVM::LoadOp::create(b, i64, advance(scalarTable, i64, static_cast<int64_t>(scalars.size()))));
    else
      pointers.push_back(nextPointer());
  }
  for (unsigned i = 0; i < dispatch.getNumResults(); ++i)
    pointers.push_back(nextPointer());
  if (!b.getInsertionBlock()->empty())
    entryEnd = &b.getInsertionBlock()->back();
}

Value KernelBuilder::argumentsMember(int64_t offset) {
  return atEntry([&]() -> Value {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    return LLVM::LoadOp::create(b, pointer, advance(kernel.getArgument(0), b.getI8Type(), offset));
  });
}

Value KernelBuilder::errorRecord() { return argumentsMember(offsetof(llmc_args, error)); }

void KernelBuilder::refuseRow(Value row, Value code, llvm::function_ref<void()> marked, llvm::function_ref<void()> failed) {
  Value marks = argumentsMember(offsetof(llmc_args, row_status));
  Value none = LLVM::ZeroOp::create(b, marks.getType());
  auto branch = scf::IfOp::create(b, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, marks, none), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  storeScalar(code, advance(marks, b.getI32Type(), row));
  marked();
  b.setInsertionPointToStart(branch.elseBlock());
  failed();
}

void KernelBuilder::finish(Value status) {
  if (!status)
    status = arith::ConstantIntOp::create(b, LLMC_KERNEL_OK, 32);
  func::ReturnOp::create(b, status);
}

Value KernelBuilder::index(DimExpr expr) {
  assert(expr && "a size must be known");
  Value &value = emittedExprs[expr.attribute()];
  if (value)
    return value;
  Value emitted = atEntry([&] { return emitExpr(expr); });
  return emittedExprs[expr.attribute()] = emitted;
}

Value KernelBuilder::scalar(Value value) {
  if (Value emitted = emittedScalars.lookup(value))
    return emitted;
  Value emitted = atEntry([&] { return emitScalar(value); });
  return emittedScalars[value] = emitted;
}

Value KernelBuilder::add(Value lhs, Value rhs) { return b.createOrFold<arith::AddIOp>(lhs, rhs); }
Value KernelBuilder::sub(Value lhs, Value rhs) { return b.createOrFold<arith::SubIOp>(lhs, rhs); }
Value KernelBuilder::mul(Value lhs, Value rhs) { return b.createOrFold<arith::MulIOp>(lhs, rhs); }
Value KernelBuilder::div(Value lhs, Value rhs) { return b.createOrFold<arith::DivUIOp>(lhs, rhs); }
Value KernelBuilder::rem(Value lhs, Value rhs) { return b.createOrFold<arith::RemUIOp>(lhs, rhs); }
Value KernelBuilder::min(Value lhs, Value rhs) { return b.createOrFold<arith::MinSIOp>(lhs, rhs); }
Value KernelBuilder::max(Value lhs, Value rhs) { return b.createOrFold<arith::MaxSIOp>(lhs, rhs); }

SmallVector<Value> KernelBuilder::delinearize(Value linear, ArrayRef<DimExpr> sizes) {
  SmallVector<Value> coordinates(sizes.size());
  for (size_t d = sizes.size(); d-- > 1;) {
    coordinates[d] = rem(linear, index(sizes[d]));
    linear = div(linear, index(sizes[d]));
  }
  if (!sizes.empty())
    coordinates[0] = linear;
  return coordinates;
}

void KernelBuilder::loop(Value lower, Value upper, int64_t step, Body body) {
  loop(lower, upper, step, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

SmallVector<Value> KernelBuilder::loop(Value lower, Value upper, int64_t step, ValueRange carried, CarryingBody body) {
  auto loop = scf::ForOp::create(b, lower, upper, index(step), carried,
                                 [&](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

void KernelBuilder::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

} // namespace llmc::cpu
