// The passes over the graph dialect, in the order in which the pipeline first runs them.
#ifndef LLMC_PASSES_GRAPH_PASSES_TD
#define LLMC_PASSES_GRAPH_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferShapesPass : Pass<"graph-infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "Refine result types by symbolic shape inference";
  let description = [{
    Follows dims as `DimExpr`s from the arguments' `graph.dims` through each op's shape rule, and the contents of small integer tensors
    with them. Result types become as static as that allows. An equality that must hold but can not be proven is added to the
    function's `graph.checks`, which the plan tests at run time.
    ```mlir
    func.func @f(%x: tensor<?x4xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"4">]}) -> tensor<?xi64> {
      %s = graph.shape %x {start = 0 : i64, end = 2 : i64} : tensor<?x4xf32> -> tensor<?xi64>
    // becomes
      %s = graph.shape %x {start = 0 : i64, end = 2 : i64} : tensor<?x4xf32> -> tensor<2xi64>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
}

def ResolveShapesPass : Pass<"graph-resolve-shapes", "::mlir::func::FuncOp"> {
  let summary = "Replace shape arithmetic by dim expressions";
  let description = [{
    Ops that take a shape as a tensor become ops that carry it as an attribute, and integer tensors whose contents are known become
    constants or `graph.from_dims`; what computed them is dead then.
    ```mlir
    %y = graph.reshape %x, %s : (tensor<?x4x6xf32>, tensor<2xi64>) -> tensor<?x24xf32>
    // becomes
    %y = graph.view %x {dims = [#graph.expr<"N">, #graph.expr<"24">]} : tensor<?x4x6xf32> -> tensor<?x24xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
}

def FoldConstantsPass : Pass<"graph-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Evaluate ops whose operands are all constant";
  let description = [{
    Asks the reference kernels for the value, so folding and running agree. A result that is larger than both `max-bytes` and the
    op's constants together stays, so that folding does not bloat the artifact.
    ```mlir
    %0 = graph.add %two, %three : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    // becomes
    %0 = graph.constant dense<5.0> : tensor<2xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", /*default=*/"1 << 20",
                        "Largest result worth storing if it is larger than its inputs, in bytes">];
}

#endif // LLMC_PASSES_GRAPH_PASSES_TD
