// Registration of the graph dialect.
#include "dialects/Graph/Graph.h"
#include "kernels/abi/kernel_abi.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/Graph/GraphDialect.cpp.inc"
#include "dialects/Graph/GraphInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.cpp.inc"

namespace llmc::graph {

void GraphDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Graph/GraphAttrs.cpp.inc"
      >();
  registerElementwiseOps();
  registerContractionOps();
  registerWindowOps();
  registerReductionOps();
  registerNormalizationOps();
  registerShapeOps();
  registerIndexingOps();
  registerStructureOps();
  registerImageOps();
  registerRecurrentOps();
  registerSelectionOps();
  registerControlOps();
}

Operation *GraphDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  if (auto elements = dyn_cast<ElementsAttr>(value); elements && elements.getType() == type)
    return ConstantOp::create(builder, loc, elements);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

int32_t dtypeOf(Type type) {
  if (type.isF32()) return LLMC_F32;
  if (type.isF64()) return LLMC_F64;
  if (type.isF16()) return LLMC_F16;
  if (type.isBF16()) return LLMC_BF16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return LLMC_DTYPE_INVALID;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1: return LLMC_BOOL;
  case 8: return isUnsigned ? LLMC_U8 : LLMC_I8;
  case 16: return isUnsigned ? LLMC_U16 : LLMC_I16;
  case 32: return isUnsigned ? LLMC_U32 : LLMC_I32;
  case 64: return isUnsigned ? LLMC_U64 : LLMC_I64;
  default: return LLMC_DTYPE_INVALID;
  }
}

} // namespace llmc::graph
