// The fallback: a dispatch function of one graph op calls the op's reference kernel, which the linker takes from the bitcode of the
// reference library. One work item does it all.
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "dialects/Graph/Graph.h"
#include "kernels/abi/kernel_abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cstddef>

using namespace mlir;

namespace llmc::cpu {
namespace {

/// The one op of the function that computes; slices and reshapes of arguments may stand before it.
Operation *soleOp(func::FuncOp dispatch) {
  Operation *sole = nullptr;
  for (Operation &op : dispatch.getBody().front().without_terminator()) {
    if (!isa<graph::ReferenceEvalOpInterface>(op))
      continue;
    if (sole)
      return nullptr;
    sole = &op;
  }
  return sole;
}

class ReferenceKernel {
public:
  ReferenceKernel(KernelBuilder &kb, graph::ReferenceEvalOpInterface op) : kb(kb), op(op) {}

  LogicalResult emit() {
    graph::PackedAttributes pack;
    op.packAttributes(pack);
    if (!pack.known)
      return op.emitError("has an attribute that is not a number at compile time: not supported by its reference kernel");
    SmallVector<std::optional<View>> inputs, outputs;
    for (Value operand : graph::operandsByPlace(op)) {
      inputs.emplace_back();
      if (!operand)
        continue;
      FailureOr<View> view = kb.viewOf(operand);
      if (failed(view))
        return failure();
      inputs.back() = *view;
    }
    auto dispatch = kb.dispatch;
    for (unsigned i = 0; i < dispatch.getNumResults(); ++i) {
      if (kb.computedResult(i).getDefiningOp() != op.getOperation())
        return op.emitError("must be the only op of a reference kernel");
      outputs.push_back(kb.resultView(cast<OpResult>(kb.computedResult(i)).getResultNumber()));
    }
    for (const std::optional<View> &view : llvm::concat<std::optional<View>>(inputs, outputs))
      if (view && (graph::dtypeOf(view->elementType) == LLMC_DTYPE_INVALID || view->sizes.size() > LLMC_MAX_RANK))
        return op.emitError("has an operand of a type or rank that kernels do not know");

    Value arguments = allocate(sizeof(llmc_reference_args));
    setPointer(arguments, offsetof(llmc_reference_args, inputs), describe(inputs));
    setPointer(arguments, offsetof(llmc_reference_args, outputs), describe(outputs));
    setPointer(arguments, offsetof(llmc_reference_args, ints), table("ints", ArrayRef<int64_t>(pack.ints)));
    setPointer(arguments, offsetof(llmc_reference_args, floats), table("floats", ArrayRef<double>(pack.floats)));
    setInt32(arguments, offsetof(llmc_reference_args, num_inputs), inputs.size());
    setInt32(arguments, offsetof(llmc_reference_args, num_outputs), outputs.size());
    setInt32(arguments, offsetof(llmc_reference_args, num_ints), pack.ints.size());
    setInt32(arguments, offsetof(llmc_reference_args, num_floats), pack.floats.size());
    setPointer(arguments, offsetof(llmc_reference_args, error), kb.errorRecord());
    kb.finish(call(arguments));
    return success();
  }

private:
  Value allocate(int64_t bytes) {
    auto pointer = LLVM::LLVMPointerType::get(kb.context());
    return LLVM::AllocaOp::create(kb.b, pointer, kb.b.getI8Type(), kb.index(std::max<int64_t>(bytes, 1)), 8);
  }
  Value member(Value base, int64_t offset) { return kb.advance(base, kb.b.getI8Type(), offset); }
  void setPointer(Value base, int64_t offset, Value pointer) { LLVM::StoreOp::create(kb.b, pointer, member(base, offset)); }
  void setInt32(Value base, int64_t offset, int64_t value) {
    kb.storeScalar(arith::ConstantIntOp::create(kb.b, value, 32), member(base, offset));
  }

  /// An array of llmc_tensor; of an absent one only the type is read.
  Value describe(ArrayRef<std::optional<View>> views) {
    Value tensors = allocate(sizeof(llmc_tensor) * views.size());
    for (auto [i, view] : llvm::enumerate(views)) {
      Value tensor = member(tensors, sizeof(llmc_tensor) * i);
      setInt32(tensor, offsetof(llmc_tensor, dtype), view ? graph::dtypeOf(view->elementType) : int32_t(LLMC_DTYPE_INVALID));
      if (!view)
        continue;
      Value data = kb.advance(view->base, view->elementType, kb.index(view->offset));
      setPointer(tensor, offsetof(llmc_tensor, data), data);
      setPointer(tensor, offsetof(llmc_tensor, dims), array(view->sizes));
      setPointer(tensor, offsetof(llmc_tensor, strides), array(view->strides));
      setInt32(tensor, offsetof(llmc_tensor, rank), view->sizes.size());
    }
    return tensors;
  }

  Value array(ArrayRef<graph::DimExpr> values) {
    Value numbers = allocate(sizeof(int64_t) * values.size());
    for (auto [i, value] : llvm::enumerate(values))
      kb.storeScalar(kb.index(value), kb.advance(numbers, kb.b.getI64Type(), static_cast<int64_t>(i)));
    return numbers;
  }

  /// A constant table in the image.
  template <typename Number> Value table(StringRef kind, ArrayRef<Number> numbers) {
    auto pointer = LLVM::LLVMPointerType::get(kb.context());
    if (numbers.empty())
      return LLVM::ZeroOp::create(kb.b, pointer);
    Type element = std::is_same_v<Number, double> ? Type(kb.b.getF64Type()) : Type(kb.b.getI64Type());
    auto values = DenseElementsAttr::get(RankedTensorType::get(numbers.size(), element), numbers);
    LLVM::GlobalOp global;
    {
      OpBuilder::InsertionGuard guard(kb.b);
      kb.b.setInsertionPoint(kb.kernel);
      std::string name = (kb.kernel.getName() + "." + kind).str();
      global = LLVM::GlobalOp::create(kb.b, LLVM::LLVMArrayType::get(element, numbers.size()), /*isConstant=*/true,
                                      LLVM::Linkage::Internal, name, values, /*alignment=*/8);
    }
    return LLVM::AddressOfOp::create(kb.b, global);
  }

  Value call(Value arguments) {
    std::string name = ("llmc_ref_" + op.getReferenceKernel()).str();
    auto module = kb.kernel->getParentOfType<ModuleOp>();
    auto type = LLVM::LLVMFunctionType::get(kb.b.getI32Type(), {LLVM::LLVMPointerType::get(kb.context())});
    if (!module.lookupSymbol(name)) {
      OpBuilder::InsertionGuard guard(kb.b);
      kb.b.setInsertionPointToStart(module.getBody());
      LLVM::LLVMFuncOp::create(kb.b, name, type);
    }
    return LLVM::CallOp::create(kb.b, type, name, arguments).getResult();
  }

  KernelBuilder &kb;
  graph::ReferenceEvalOpInterface op;
};

} // namespace

bool isReference(func::FuncOp dispatch) { return soleOp(dispatch) != nullptr; }

LogicalResult emitReference(KernelBuilder &kb) {
  return ReferenceKernel(kb, cast<graph::ReferenceEvalOpInterface>(soleOp(kb.dispatch))).emit();
}

} // namespace llmc::cpu
