// The plan dialect and its types.
#ifndef LLMC_DIALECTS_PLAN_PLANBASE_TD
#define LLMC_DIALECTS_PLAN_PLANBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::llmc::plan";
  let summary = "How a model runs: buffers, launches, copies; one op per instruction of runtime/schema/plan.fbs";
  let description = [{
    A `plan.entry` holds buffers and steps in the order in which one queue runs them. Sizes are `#graph.expr` over the symbols of the
    enclosing block; the writer (compiler/Emit/PlanWriter) turns each op into the table of its name.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::llmc::graph::GraphDialect"];
}

def Plan_Buffer : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A range of bytes: in an arena, of the caller, of a constant, or inside another buffer";
}

#endif // LLMC_DIALECTS_PLAN_PLANBASE_TD
