// Buffers and steps.
#ifndef LLMC_DIALECTS_PLAN_PLANOPS_TD
#define LLMC_DIALECTS_PLAN_PLANOPS_TD

include "dialects/Plan/PlanBase.td"
include "dialects/Graph/GraphAttrs.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dims : TypedArrayAttrBase<Graph_ExprAttr, "array of dim expressions">;

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_EntryOp : Plan_Op<"entry", [Symbol, NoTerminator, SingleBlock, IsolatedFromAbove, NoRegionArguments]> {
  let summary = "An entry point: buffers and steps";
  let description = [{
    `symbols` gives each symbol's range; where a symbol comes from is found from the input buffers' dims.
    ```mlir
    plan.entry @main symbols {N = array<i64: 1, 8>} {
      %0 = plan.input 0 "x" : f32 [#graph.expr<"N">]
      %1 = plan.output 0 "y" : f32 [#graph.expr<"N">]
      plan.dispatch @relu_0(%0, %1) scalars [#graph.expr<"N">]
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DictionaryAttr:$symbols);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `symbols` $symbols $body attr-dict";
}

class Plan_BoundaryOp<string mnemonic, string what> : Plan_Op<mnemonic> {
  let summary = "The caller's buffer of " # what;
  let arguments = (ins I64Attr:$index, StrAttr:$tensor, TypeAttr:$element, Plan_Dims:$dims);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "$index $tensor `:` $element $dims attr-dict";
}
def Plan_InputOp : Plan_BoundaryOp<"input", "an input of the entry">;
def Plan_OutputOp : Plan_BoundaryOp<"output", "an output of the entry">;

def Plan_ConstantOp : Plan_Op<"constant"> {
  let summary = "Bytes of the artifact, in the named encoding";
  let arguments = (ins ElementsAttr:$value, StrAttr:$encoding);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "$encoding $value attr-dict";
}

def Plan_ArenaOp : Plan_Op<"arena"> {
  let summary = "Memory of the run, live from its first to its last use";
  let description = [{
    With `offset` its place in the arena is fixed; without, the runtime places it once the shapes are known.
  }];
  let arguments = (ins TypeAttr:$element, Plan_Dims:$dims, OptionalAttr<I64Attr>:$offset);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "$element $dims (`at` $offset^)? attr-dict";
}

def Plan_ViewOp : Plan_Op<"view"> {
  let summary = "The bytes of another buffer from `offset` on, as a tensor of other dims";
  let arguments = (ins Plan_Buffer:$parent, Graph_ExprAttr:$offset, TypeAttr:$element, Plan_Dims:$dims);
  let results = (outs Plan_Buffer:$buffer);
  let assemblyFormat = "$parent `from` $offset `:` $element $dims attr-dict";
}

def Plan_DispatchOp : Plan_Op<"dispatch"> {
  let summary = "Launches a kernel";
  let description = [{
    The buffers are the kernel's bindings, inputs first; `written` of them, the last ones, are written.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_Buffer>:$buffers, I64Attr:$written, Plan_Dims:$scalars);
  let assemblyFormat = "$kernel `(` $buffers `)` `writes` $written `scalars` $scalars attr-dict";
}

def Plan_CopyOp : Plan_Op<"copy"> {
  let summary = "Copies all of `source` to the start of `target`";
  let arguments = (ins Plan_Buffer:$source, Plan_Buffer:$target);
  let assemblyFormat = "$source `to` $target attr-dict";
}

def Plan_CheckOp : Plan_Op<"check"> {
  let summary = "Fails the run unless two sizes are equal";
  let arguments = (ins Graph_ExprAttr:$lhs, Graph_ExprAttr:$rhs, StrAttr:$message);
  let assemblyFormat = "$lhs `equals` $rhs $message attr-dict";
}

#endif // LLMC_DIALECTS_PLAN_PLANOPS_TD
