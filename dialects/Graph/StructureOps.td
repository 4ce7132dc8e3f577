// What holds a graph together: constants, sizes, and calls of outlined functions.
#ifndef LLMC_DIALECTS_GRAPH_STRUCTUREOPS_TD
#define LLMC_DIALECTS_GRAPH_STRUCTUREOPS_TD

include "dialects/Graph/GraphBase.td"
include "dialects/Graph/GraphAttrs.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Graph_ConstantOp : Op<Graph_Dialect, "constant", [Pure, ConstantLike,
    InferTypeOpAdaptor, DeclareOpInterfaceMethods<Graph_ShapeInferenceOpInterface>]> {
  let summary = "A tensor known at compile time";
  let description = [{
    Small values are dense attributes, weights are resources that view the mapped model file.
    ```mlir
    %c = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Graph_SizeOp : Op<Graph_Dialect, "size", [Pure]> {
  let summary = "The value of a dim expression";
  let description = [{
    Equal expressions are equal ops, so common subexpression elimination leaves one value per distinct size.
    ```mlir
    %n = graph.size #graph.expr<"N * 4">
    ```
  }];
  let arguments = (ins Graph_ExprAttr:$expr);
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict $expr";
  let hasFolder = 1;
}

def Graph_ReadNumbersOp : Op<Graph_Dialect, "read_numbers", [MemoryEffects<[MemWrite]>, AllTypesMatch<["x", "y"]>,
    DeclareOpInterfaceMethods<Graph_ShapeInferenceOpInterface>]> {
  let summary = "A small integer tensor whose elements become symbols at run time";
  let description = [{
    One symbol per element, in row-major order. What comes later in the function may use them in dims: so sizes that depend on data
    are expressions like all others. The function's `graph.symbols` has their ranges.
    ```mlir
    %y = graph.read_numbers %x as ["read.0", "read.1"] : tensor<2xi64>
    ```
  }];
  let arguments = (ins Graph_IndexTensor:$x, StrArrayAttr:$symbols);
  let results = (outs Graph_IndexTensor:$y);
  let assemblyFormat = "$x `as` $symbols attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Graph_DispatchOp : Op<Graph_Dialect, "dispatch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a dispatch function: one launch of one kernel";
  let description = [{
    `sizes` are the values of the callee's index arguments, `dims` the dims of each result. The callee holds linalg on tensors, or
    one op that its reference kernel computes.
    ```mlir
    func.func private @relu(tensor<?x4xf32>, index) -> tensor<?x4xf32>
    %y = graph.dispatch @relu(%x) sizes [#graph.expr<"N">] dims [[#graph.expr<"N">, #graph.expr<"4">]] : (tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Graph_Tensor>:$inputs, ArrayAttr:$sizes, ArrayAttr:$dims);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `sizes` $sizes `dims` $dims attr-dict `:` functional-type($inputs, $results)
  }];
}

#endif // LLMC_DIALECTS_GRAPH_STRUCTUREOPS_TD
