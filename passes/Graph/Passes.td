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

def FoldBatchNormPass : Pass<"graph-fold-batch-norm", "::mlir::func::FuncOp"> {
  let summary = "Fold batch norms with constant parameters into convolutions";
  let description = [{
    A convolution with constant weight that only the norm reads takes the norm's factor into its weight and the rest into its bias.
    Any other batch norm with constant parameters becomes a product and a sum per channel. New constants are computed in double
    and rounded once; a norm whose constants would not be finite stays.
    ```mlir
    %y = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
      : (tensor<1x2x8xf32>, tensor<4x2x1xf32>) -> tensor<1x4x8xf32>
    %z = graph.batch_norm %y, %scale, %bias, %mean, %variance {epsilon = 1.0e-05 : f64}
      : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
    // becomes
    %z = graph.conv %x, %scaled, %shifted {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
      : (tensor<1x2x8xf32>, tensor<4x2x1xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
}

#endif // LLMC_PASSES_GRAPH_PASSES_TD
