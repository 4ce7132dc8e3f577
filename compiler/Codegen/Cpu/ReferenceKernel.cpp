// The fallback: a dispatch function of one graph op calls the op's reference kernel, which the linker takes from the bitcode of the
// reference library. One work item does it all; or one each row, for an op that can refuse single rows of a batch.
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "dialects/Graph/Graph.h"
#include "kernels/abi/kernel_abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <cstddef>

using namespace mlir;

namespace llmc::cpu {
namespace {

using graph::Dims;

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

    Value arguments = allocate(sizeof(llmc_reference_args)), inputTable = describe(inputs), outputTable = describe(outputs);
    setPointer(arguments, offsetof(llmc_reference_args, inputs), inputTable);
    setPointer(arguments, offsetof(llmc_reference_args, outputs), outputTable);
    setPointer(arguments, offsetof(llmc_reference_args, ints), table("ints", ArrayRef<int64_t>(pack.ints)));
    setPointer(arguments, offsetof(llmc_reference_args, floats), table("floats", ArrayRef<double>(pack.floats)));
    setInt32(arguments, offsetof(llmc_reference_args, num_inputs), inputs.size());
    setInt32(arguments, offsetof(llmc_reference_args, num_outputs), outputs.size());
    setInt32(arguments, offsetof(llmc_reference_args, num_ints), pack.ints.size());
    setInt32(arguments, offsetof(llmc_reference_args, num_floats), pack.floats.size());
    setPointer(arguments, offsetof(llmc_reference_args, error), kb.errorRecord());
    if (isRowWise())
      emitRows(arguments, inputs, inputTable, *outputs.front(), outputTable);
    else
      kb.finish(call(arguments));
    return success();
  }

private:
  /// Whether rows are along the first axis of all that has rows.
  bool isRowWise() {
    auto axes = op->getAttrOfType<DenseI64ArrayAttr>("graph.rows");
    return axes && axes[0] == 0 && llvm::all_of(axes.asArrayRef(), [](int64_t axis) { return axis <= 0; });
  }

  void emitRows(Value arguments, ArrayRef<std::optional<View>> inputs, Value inputTable, const View &output, Value outputTable) {
    auto axes = op->getAttrOfType<DenseI64ArrayAttr>("graph.rows");
    kb.cost.grid = kb.cost.rows = output.sizes[0];
    kb.cost.grain = grainFor(output.strides[0] * 20 + 200);
    Value status = allocate(sizeof(int32_t)), none = int32(LLMC_KERNEL_OK);
    kb.storeScalar(none, status);
    for (auto [i, view] : llvm::enumerate(inputs))
      if (axes[1 + i] == 0)
        describeOneRow(*view, inputTable, i);
    describeOneRow(output, outputTable, 0);
    kb.loop(kb.begin(), kb.end(), 1, [&](Value row) {
      kb.ifThen(isEqual(kb.loadScalar(status, kb.b.getI32Type()), none), [&] {
        for (auto [i, view] : llvm::enumerate(inputs))
          if (axes[1 + i] == 0)
            pointToRow(*view, inputTable, i, row);
        pointToRow(output, outputTable, 0, row);
        Value code = call(arguments);
        Value bad = arith::CmpIOp::create(kb.b, arith::CmpIPredicate::ne, code, none);
        kb.ifThen(bad, [&] { kb.refuseRow(row, code, [&] { clearRow(output, row); }, [&] { kb.storeScalar(code, status); }); });
      });
    });
    kb.finish(kb.loadScalar(status, kb.b.getI32Type()));
  }

  void describeOneRow(const View &view, Value table, size_t index) {
    Dims sizes(view.sizes);
    sizes[0] = kb.constantExpr(1);
    setPointer(member(table, sizeof(llmc_tensor) * index), offsetof(llmc_tensor, dims), array(sizes));
  }

  Value startOfRow(const View &view, Value row) {
    return kb.advance(view.base, view.elementType, kb.add(kb.index(view.offset), kb.mul(row, kb.index(view.strides[0]))));
  }
  void pointToRow(const View &view, Value table, size_t index, Value row) {
    setPointer(member(table, sizeof(llmc_tensor) * index), offsetof(llmc_tensor, data), startOfRow(view, row));
  }

  /// Results are dense, so a row of them is one stretch.
  void clearRow(const View &output, Value row) {
    Value start = startOfRow(output, row), zero = arith::ConstantIntOp::create(kb.b, 0, 8);
    Value bytes = kb.index(output.strides[0] * output.elementBytes());
    kb.loop(kb.index(0), bytes, 1, [&](Value i) { kb.storeScalar(zero, member(start, i)); });
  }

  Value int32(int64_t value) { return arith::ConstantIntOp::create(kb.b, value, 32); }
  Value isEqual(Value lhs, Value rhs) { return arith::CmpIOp::create(kb.b, arith::CmpIPredicate::eq, lhs, rhs); }

  Value allocate(int64_t bytes) {
    auto pointer = LLVM::LLVMPointerType::get(kb.context());
    return LLVM::AllocaOp::create(kb.b, pointer, kb.b.getI8Type(), kb.index(std::max<int64_t>(bytes, 1)), 8);
  }
  Value member(Value base, int64_t offset) { return kb.advance(base, kb.b.getI8Type(), offset); }
  Value member(Value base, Value offset) { return kb.advance(base, kb.b.getI8Type(), offset); }
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
