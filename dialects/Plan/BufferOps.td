// Buffers.
#ifndef LLMC_DIALECTS_PLAN_BUFFEROPS_TD
#define LLMC_DIALECTS_PLAN_BUFFEROPS_TD

include "dialects/Plan/PlanAttrs.td"
include "dialects/Plan/PlanInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

class Plan_BufferOp<string mnemonic, list<Trait> traits = [ParentOneOf<["BodyOp", "IfOp", "LoopOp"]>]>
    : Plan_Op<mnemonic, traits # [Plan_BufferOpInterface]> {
  let results = (outs Plan_Buffer:$buffer);
}

class Plan_BoundaryOp<string mnemonic> : Plan_BufferOp<mnemonic, [HasParent<"BodyOp">]> {
  let arguments = (ins I64Attr:$index, StrAttr:$tensor, TypeAttr:$element, Plan_Dims:$dims);
  let assemblyFormat = "$index $tensor `:` $element $dims attr-dict";
}

def Plan_InputOp : Plan_BoundaryOp<"input"> {
  let summary = "The caller's buffer of an input of the entry";
  let description = [{
    A dim that is just a symbol gives the symbol its value.
    ```mlir
    %in = plan.input 3 "x" : f32 [#graph.expr<"M">, #graph.expr<"4">]
    ```
  }];
}

def Plan_OutputOp : Plan_BoundaryOp<"output"> {
  let summary = "The caller's buffer of an output of the entry";
  let description = [{
    Some step writes it: an output that is an input, a constant or another output is copied.
    ```mlir
    %out = plan.output 1 "z" : f32 [#graph.expr<"N">, #graph.expr<"4">]
    ```
  }];
}

def Plan_StateOp : Plan_BoundaryOp<"state"> {
  let summary = "A buffer that keeps its bytes from run to run of a session";
  let description = [{
    ```mlir
    %cache = plan.state 0 "cache" : f32 [#graph.expr<"16">]
    ```
  }];
}

def Plan_ConstantOp : Plan_BufferOp<"constant"> {
  let summary = "Bytes of the artifact, in the named encoding";
  let description = [{
    The value is the tensor; `dense` stores its bytes as they are, other encodings are layouts that kernels read (Packing.h). It lies in
    the memory of device number `device` of the body, put there once, when the plan is loaded.
    ```mlir
    %w = plan.constant "dense" dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value, StrAttr:$encoding, DefaultValuedAttr<I64Attr, "0">:$device);
  let assemblyFormat = "$encoding (`on` $device^)? $value attr-dict";
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value, "::mlir::StringAttr":$encoding), [{
    build($_builder, $_state, value, encoding, $_builder.getI64IntegerAttr(0));
  }]>];
  let extraClassDeclaration = [{
    ::mlir::Type getElement();
    ::mlir::ArrayAttr getDims();
  }];
}

def Plan_ArenaOp : Plan_BufferOp<"arena"> {
  let summary = "Memory of the run, live from its first to its last use";
  let description = [{
    It lies in arena number `arena` of the body. With `offset` its place there is fixed; without, the runtime places it once the shapes
    are known. A buffer that a step inside a loop or branch shares with the block around it is live for all of that loop or branch.
    ```mlir
    %a = plan.arena f32 [#graph.expr<"4">] at 64
    %b = plan.arena f32 [#graph.expr<"N">]
    ```
  }];
  let arguments = (ins TypeAttr:$element, Plan_Dims:$dims, DefaultValuedAttr<I64Attr, "0">:$arena,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$offset);
  let assemblyFormat = "$element $dims (`in` $arena^)? (`at` $offset^)? attr-dict";
  let builders = [OpBuilder<(ins "::mlir::Type":$element, "::mlir::ArrayAttr":$dims), [{
    build($_builder, $_state, element, dims, /*arena=*/0, ::mlir::IntegerAttr());
  }]>];
}

def Plan_ViewOp : Plan_BufferOp<"view"> {
  let summary = "The bytes of another buffer from `offset` on, as a tensor of other dims";
  let description = [{
    The other buffer may be of a block around this one; offset and dims are of this block's frame.
    ```mlir
    %row = plan.view %x from <"4"> : f32 [#graph.expr<"1">]
    ```
  }];
  let arguments = (ins Plan_Buffer:$parent, Graph_ExprAttr:$offset, TypeAttr:$element, Plan_Dims:$dims);
  let assemblyFormat = "$parent `from` $offset `:` $element $dims attr-dict";
}

def Plan_ArgumentOp : Plan_BufferOp<"argument", [HasParent<"LoopOp">]> {
  let summary = "What value number `index` of those that a loop carries is in this trip";
  let description = [{
    For values whose size changes from trip to trip; the others lie where the loop's `carried` says.
    ```mlir
    %rows = plan.arena f32 [#graph.expr<"length">]
    plan.loop <"3"> limit 3 carries (%rows) from (%x) sizes ["size"] from [#graph.expr<"N">] as ["length"] {
      %row = plan.argument 0 : f32 [#graph.expr<"size">]
      %next = plan.arena f32 [#graph.expr<"size * 2">]
      plan.dispatch @twice(%row, %next) writes 1 scalars [#graph.expr<"size">]
      plan.yield %next sizes [#graph.expr<"size * 2">]
    }
    ```
  }];
  let arguments = (ins I64Attr:$index, TypeAttr:$element, Plan_Dims:$dims);
  let assemblyFormat = "$index `:` $element $dims attr-dict";
}

#endif // LLMC_DIALECTS_PLAN_BUFFEROPS_TD
