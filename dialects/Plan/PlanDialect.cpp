// Registration of the plan dialect; its attributes.
#include "dialects/Plan/Plan.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#include "dialects/Plan/PlanDialect.cpp.inc"
#include "dialects/Plan/PlanEnums.cpp.inc"
#include "dialects/Plan/PlanInterfaces.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/PlanTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Plan/PlanAttrs.cpp.inc"

namespace llmc::plan {

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Plan/PlanTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Plan/PlanAttrs.cpp.inc"
      >();
  registerBodyOps();
  registerBufferOps();
  registerStepOps();
}

LogicalResult ArenaAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t, SpaceEnum, int64_t alignment) {
  if (alignment <= 0 || !llvm::isPowerOf2_64(alignment))
    return emitError() << "alignment " << alignment << " is not a power of two";
  return success();
}

LogicalResult GuardAttr::verify(function_ref<InFlightDiagnostic()> emitError, graph::ExprAttr, CmpEnum cmp, int64_t bound) {
  if (cmp == CmpEnum::Divisible && bound <= 0)
    return emitError() << "nothing is divisible by " << bound;
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t, ArrayAttr wait, ArrayAttr signal) {
  for (ArrayAttr points : {wait, signal})
    if (points && !llvm::all_of(points, llvm::IsaPred<PointAttr>))
      return emitError() << "waits for and signals #plan.point only, got " << points;
  return success();
}

} // namespace llmc::plan
