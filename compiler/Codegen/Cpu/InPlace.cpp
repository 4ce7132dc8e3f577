// Follows an argument through the dispatch function. The result may take its bytes if element i of the result is the only one that
// element i of the argument goes into: templates read all that a vector of results needs before they store it, store each element once
// (tails are masked, nothing is computed twice), and leave each element to one work item. The row template also reads whole rows, but
// only of the row that it then writes. Kernels state no absence of aliases to LLVM, so what they read stays in front of what they write.
#include "compiler/Codegen/Cpu/InPlace.h"
#include "compiler/Codegen/Cpu/KernelTemplates.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace llmc::cpu {
namespace {

/// The tensors whose element i is computed from element i of an argument, and of no other.
class ElementFlow {
public:
  explicit ElementFlow(bool mayReduceRows) : mayReduceRows(mayReduceRows) {}

  /// Whether `argument` is used in no other way.
  bool follow(Value argument) {
    tensors.insert(argument);
    for (size_t i = 0; i < tensors.size(); ++i)
      if (!llvm::all_of(tensors[i].getUses(), [&](OpOperand &use) { return accepts(use); }))
        return false;
    return true;
  }
  bool reaches(Value tensor) const { return tensors.contains(tensor); }

private:
  bool accepts(OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user)) {
      tensors.insert(user->getResult(0));
      return true;
    }
    if (auto generic = dyn_cast<linalg::GenericOp>(user))
      return acceptsGeneric(generic, use);
    return isa<func::ReturnOp, tensor::DimOp>(user);
  }

  bool acceptsGeneric(linalg::GenericOp op, OpOperand &use) {
    if (op.isDpsInit(&use))
      return !op.payloadUsesValueFromOperand(&use);
    if (!op.getMatchingIndexingMap(&use).isIdentity())
      return false;
    if (op.getNumReductionLoops() != 0)
      return mayReduceRows;
    for (OpResult result : op->getResults()) {
      if (!op.getIndexingMapMatchingResult(result).isIdentity())
        return false;
      tensors.insert(result);
    }
    return true;
  }

  bool mayReduceRows;
  llvm::SetVector<Value> tensors;
};

bool sameWidth(Value a, Value b) {
  return bytesOf(getElementTypeOrSelf(a.getType())) == bytesOf(getElementTypeOrSelf(b.getType()));
}

SmallVector<int64_t> replaceable(func::FuncOp dispatch, Value result, InPlace kind) {
  SmallVector<int64_t> arguments;
  // Of several results of a row kernel, one may be stored before what another is made of is read.
  if (kind == InPlace::Never || (kind == InPlace::Rows && dispatch.getNumResults() != 1))
    return arguments;
  for (BlockArgument argument : dispatch.getArguments())
    if (isa<TensorType>(argument.getType()) && sameWidth(argument, result) &&
        !dispatch.getArgAttr(argument.getArgNumber(), "graph.encoding")) {
      ElementFlow flow(kind == InPlace::Rows);
      if (flow.follow(argument) && flow.reaches(result))
        arguments.push_back(argument.getArgNumber());
    }
  return arguments;
}

} // namespace

void markInPlace(ModuleOp module) {
  Builder b(module.getContext());
  for (auto dispatch : module.getOps<func::FuncOp>()) {
    const KernelTemplate *kernelTemplate = dispatch->hasAttr("graph.dispatch") ? findTemplate(dispatch) : nullptr;
    if (!kernelTemplate)
      continue;
    Operation *terminator = dispatch.getBody().front().getTerminator();
    for (auto [i, result] : llvm::enumerate(terminator->getOperands()))
      if (SmallVector<int64_t> arguments = replaceable(dispatch, result, kernelTemplate->inPlace); !arguments.empty())
        dispatch.setResultAttr(i, "graph.may_replace", b.getDenseI64ArrayAttr(arguments));
  }
}

} // namespace llmc::cpu
