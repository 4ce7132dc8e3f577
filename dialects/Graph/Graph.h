// The graph dialect: the only header of it that other folders include.
#ifndef LLMC_DIALECTS_GRAPH_GRAPH_H
#define LLMC_DIALECTS_GRAPH_GRAPH_H

#include "dialects/Graph/ConstantView.h"
#include "dialects/Graph/DimExpr.h"
#include "dialects/Graph/ShapeInference.h"
#include "dialects/Graph/SourceNames.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace llmc::graph {

/// An op's attributes as its reference kernel reads them. `known` turns false if one is not a number at compile time.
struct PackedAttributes {
  llvm::SmallVector<int64_t> ints;
  llvm::SmallVector<double> floats;
  bool known = true;
  void list(llvm::ArrayRef<int64_t> values) {
    ints.push_back(values.size());
    ints.append(values.begin(), values.end());
  }
};

/// As kernels/reference/Window.h numbers it: 0 for none, 1 for "same_upper", 2 for "same_lower".
inline int64_t packedAutoPad(std::optional<llvm::StringRef> autoPad) {
  return !autoPad ? 0 : *autoPad == "same_upper" ? 1 : 2;
}

/// The trait of ops that compute each element of the result from the elements of their operands, which broadcast, at its place.
template <typename Op> class Elementwise : public mlir::OpTrait::TraitBase<Op, Elementwise> {};

} // namespace llmc::graph

#include "dialects/Graph/GraphDialect.h.inc"
#include "dialects/Graph/GraphInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/ElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/ContractionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/WindowOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/ReductionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/NormalizationOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/ShapeOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/IndexingOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/StructureOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/ImageOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/RecurrentOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/SelectionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/ControlOps.h.inc"

namespace llmc::graph {

/// The operands by the places that kernels know them by: null where an optional one is absent.
llvm::SmallVector<mlir::Value> operandsByPlace(mlir::Operation *op);

/// Values of the results of `op` for constant operands, absent ones null: calls the reference kernel. Fails if a result type is
/// not static, an operand is not constant, or the kernel refuses.
mlir::FailureOr<llvm::SmallVector<mlir::ElementsAttr>> evaluate(ReferenceEvalOpInterface op, llvm::ArrayRef<mlir::ElementsAttr> operands);

/// Names of the symbols that an op defines for what comes after it in its block.
llvm::SmallVector<llvm::StringRef> definedSymbols(mlir::Operation *op);

/// The element type's number in kernels/abi/kernel_abi.h, 0 if it has none.
int32_t dtypeOf(mlir::Type elementType);

} // namespace llmc::graph

#endif // LLMC_DIALECTS_GRAPH_GRAPH_H
