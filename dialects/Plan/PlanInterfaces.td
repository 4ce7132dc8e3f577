// What all buffers, and all steps, have in common.
#ifndef LLMC_DIALECTS_PLAN_PLANINTERFACES_TD
#define LLMC_DIALECTS_PLAN_PLANINTERFACES_TD

include "mlir/IR/OpBase.td"

def Plan_BufferOpInterface : OpInterface<"BufferOpInterface"> {
  let cppNamespace = "::llmc::plan";
  let description = "An op that defines one buffer, as a tensor of its element type and dims.";
  let methods = [InterfaceMethod<"", "::mlir::Type", "getElement">, InterfaceMethod<"", "::mlir::ArrayAttr", "getDims">];
}

def Plan_StepOpInterface : OpInterface<"StepOpInterface"> {
  let cppNamespace = "::llmc::plan";
  let description = "An op that runs. No schedule: on queue 0, after the step before it.";
  let methods = [InterfaceMethod<"", "::llmc::plan::ScheduleAttr", "getScheduleAttr">];
}

#endif // LLMC_DIALECTS_PLAN_PLANINTERFACES_TD
