// The plan dialect, its types and base op class.
#ifndef LLMC_DIALECTS_PLAN_PLANBASE_TD
#define LLMC_DIALECTS_PLAN_PLANBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::llmc::plan";
  let summary = "How a model runs: buffers, launches, copies; one op per instruction of runtime/schema/plan.fbs";
  let description = [{
    A `plan.entry` holds one or more `plan.body`, each a way to run it: buffers, and steps in the order in which they start. Regions of
    `plan.if` and `plan.loop` are blocks of the plan, each with a frame: the symbols that its sizes, `#graph.expr`, are made of. A frame
    sees its own symbols only; buffers of the blocks around it are simply used. The writer (compiler/Emit/PlanWriter) turns each op into
    the table of its name.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::llmc::graph::GraphDialect"];
  let extraClassDeclaration = [{
    void registerBodyOps();
    void registerBufferOps();
    void registerStepOps();
  }];
}

def Plan_Buffer : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A range of bytes: in an arena, of the caller, of a constant, or inside another buffer";
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

#endif // LLMC_DIALECTS_PLAN_PLANBASE_TD
