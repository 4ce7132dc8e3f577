// What bodies run on and how steps are ordered. Enumerators have the values of runtime/schema/plan.fbs.
#ifndef LLMC_DIALECTS_PLAN_PLANATTRS_TD
#define LLMC_DIALECTS_PLAN_PLANATTRS_TD

include "dialects/Plan/PlanBase.td"
include "dialects/Graph/GraphAttrs.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"

class Plan_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::llmc::plan";
  let genSpecializedAttr = 0;
}
def Plan_DeviceKind : Plan_Enum<"DeviceKindEnum", "kind of device", [
    I32EnumAttrCase<"Cpu", 1, "cpu">, I32EnumAttrCase<"Cuda", 2, "cuda">, I32EnumAttrCase<"Sim", 3, "sim">]>;
def Plan_Space : Plan_Enum<"SpaceEnum", "kind of memory", [
    I32EnumAttrCase<"Host", 1, "host">, I32EnumAttrCase<"HostPinned", 2, "host_pinned">, I32EnumAttrCase<"Device", 3, "device">]>;
def Plan_Cmp : Plan_Enum<"CmpEnum", "comparison", [
    I32EnumAttrCase<"Eq", 1, "eq">, I32EnumAttrCase<"Le", 2, "le">, I32EnumAttrCase<"Ge", 3, "ge">,
    I32EnumAttrCase<"Divisible", 4, "divisible_by">]>;

class Plan_Attr<string name, string mnemonicText> : AttrDef<Plan_Dialect, name> {
  let mnemonic = mnemonicText;
}

def Plan_DeviceAttr : Plan_Attr<"Device", "device"> {
  let summary = "A device: its name in the plan, its kind, which one of that kind, bytes of memory that it must have";
  let parameters = (ins StringRefParameter<>:$name, EnumParameter<Plan_DeviceKind>:$kind,
                        DefaultValuedParameter<"int64_t", "0">:$ordinal, DefaultValuedParameter<"int64_t", "0">:$min_memory);
  let assemblyFormat = "`<` $name `,` $kind (`number` $ordinal^)? (`,` `memory` $min_memory^)? `>`";
}

def Plan_ArenaAttr : Plan_Attr<"Arena", "arena"> {
  let summary = "Memory of a run, on device number `device` of the body";
  let parameters = (ins "int64_t":$device, EnumParameter<Plan_Space>:$space, "int64_t":$alignment);
  let assemblyFormat = "`<` $device `,` $space `,` `align` $alignment `>`";
  let genVerifyDecl = 1;
}

def Plan_GuardAttr : Plan_Attr<"Guard", "guard"> {
  let summary = "A condition on sizes: an expression compared with a number";
  let parameters = (ins "::llmc::graph::ExprAttr":$expr, EnumParameter<Plan_Cmp>:$cmp, "int64_t":$bound);
  let assemblyFormat = "`<` $expr $cmp $bound `>`";
  let genVerifyDecl = 1;
}

def Plan_PointAttr : Plan_Attr<"Point", "point"> {
  let summary = "The moment at which a semaphore of the body reaches a value";
  let parameters = (ins "int64_t":$semaphore, "int64_t":$value);
  let assemblyFormat = "`<` $semaphore `,` $value `>`";
}

def Plan_ScheduleAttr : Plan_Attr<"Schedule", "schedule"> {
  let summary = "The queue that a step runs on, the points that it waits for and those that it signals when it is done";
  let parameters = (ins DefaultValuedParameter<"int64_t", "0">:$queue, OptionalParameter<"::mlir::ArrayAttr">:$wait,
                        OptionalParameter<"::mlir::ArrayAttr">:$signal);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_Dims : TypedArrayAttrBase<Graph_ExprAttr, "array of dim expressions">;
def Plan_Devices : TypedArrayAttrBase<Plan_DeviceAttr, "array of devices">;
def Plan_Guards : TypedArrayAttrBase<Plan_GuardAttr, "array of guards">;
def Plan_Arenas : TypedArrayAttrBase<Plan_ArenaAttr, "array of arenas">;

#endif // LLMC_DIALECTS_PLAN_PLANATTRS_TD
