// Op -> reference kernel: constant folding and the tests go through here.
#include "dialects/Graph/Graph.h"
#include "kernels/abi/kernel_abi.h"
#include "kernels/reference/Registry.h"

using namespace mlir;

namespace llmc::graph {
namespace {

/// A tensor in memory that a kernel may read: aligned, and alive as long as this.
struct Tensor {
  std::vector<std::max_align_t> storage;
  SmallVector<int64_t> dims;
  llmc_tensor descriptor{};

  void describe(RankedTensorType type) {
    dims.assign(type.getShape().begin(), type.getShape().end());
    descriptor.dims = dims.data();
    descriptor.rank = static_cast<int32_t>(dims.size());
    descriptor.dtype = dtypeOf(type.getElementType());
  }
  void allocate(RankedTensorType type) {
    describe(type);
    storage.resize(size(type) / sizeof(std::max_align_t) + 1);
    descriptor.data = storage.data();
  }
  static size_t size(RankedTensorType type) { return type.getNumElements() * elementBytes(type.getElementType()); }
};

/// Largest value that folding may make, in bytes: a guard against absurd models, not a policy (that is the pass's).
constexpr int64_t largestFold = int64_t(1) << 32;

} // namespace

static bool canAllocate(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getRank() <= LLMC_MAX_RANK &&
         dtypeOf(tensor.getElementType()) != LLMC_DTYPE_INVALID && static_cast<int64_t>(Tensor::size(tensor)) <= largestFold;
}

SmallVector<Value> operandsByPlace(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  auto segments = dyn_cast_if_present<DenseI32ArrayAttr>(op->getInherentAttr("operandSegmentSizes").value_or(Attribute()));
  if (segments)
    for (auto [i, size] : llvm::enumerate(segments.asArrayRef()))
      if (size == 0)
        operands.insert(operands.begin() + i, Value());
  return operands;
}

FailureOr<SmallVector<ElementsAttr>> evaluate(ReferenceEvalOpInterface op, ArrayRef<ElementsAttr> operands) {
  llmc_reference_kernel kernel = reference::find(op.getReferenceKernel());
  if (!kernel || !llvm::all_of(op->getResultTypes(), canAllocate))
    return failure();

  SmallVector<Tensor> tensors(operands.size()), results(op->getNumResults());
  SmallVector<llmc_tensor> inputs;
  for (auto [operand, tensor] : llvm::zip(operands, tensors)) {
    if (!operand) {
      inputs.push_back(llmc_tensor{});
      continue;
    }
    std::optional<ConstantView> view = ConstantView::of(operand);
    if (!view || dtypeOf(view->type().getElementType()) == LLMC_DTYPE_INVALID || view->type().getRank() > LLMC_MAX_RANK)
      return failure();
    if (reinterpret_cast<uintptr_t>(view->bytes().data()) % alignof(std::max_align_t) == 0 && view->isView()) {
      tensor.describe(view->type());
      tensor.descriptor.data = const_cast<char *>(view->bytes().data());
    } else {
      tensor.allocate(view->type());
      std::memcpy(tensor.storage.data(), view->bytes().data(), view->bytes().size());
    }
    inputs.push_back(tensor.descriptor);
  }
  SmallVector<llmc_tensor> outputs;
  for (auto [result, type] : llvm::zip_equal(results, op->getResultTypes())) {
    result.allocate(cast<RankedTensorType>(type));
    outputs.push_back(result.descriptor);
  }

  PackedAttributes pack;
  op.packAttributes(pack);
  if (!pack.known)
    return failure();
  llmc_error error{};
  llmc_reference_args args{inputs.data(),
                           outputs.data(),
                           pack.ints.data(),
                           pack.floats.data(),
                           static_cast<int32_t>(inputs.size()),
                           static_cast<int32_t>(outputs.size()),
                           static_cast<int32_t>(pack.ints.size()),
                           static_cast<int32_t>(pack.floats.size()),
                           &error};
  if (kernel(&args) != LLMC_KERNEL_OK)
    return failure();
  SmallVector<ElementsAttr> values;
  for (auto [result, resultType] : llvm::zip_equal(results, op->getResultTypes())) {
    auto type = cast<RankedTensorType>(resultType);
    if (ArrayRef(result.dims) != type.getShape())
      return failure();
    values.push_back(makeConstant(type, ArrayRef(reinterpret_cast<const char *>(result.storage.data()), Tensor::size(type))));
  }
  return values;
}

} // namespace llmc::graph
