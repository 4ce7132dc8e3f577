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
    op's constants together stays, so that folding does not bloat the artifact; but what becomes the weight of matrix products or
    convolutions folds at any size, since computing it in each run would cost more than the product.
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

def PushGathersPass : Pass<"graph-push-gathers", "::mlir::func::FuncOp"> {
  let summary = "Gather rows of constants before computing on them";
  let description = [{
    Where rows are gathered from a table that is computed element by element from constants, as from embeddings stored as integers with
    scales, only the rows that are needed are computed.
    ```mlir
    %f = graph.cast %table to f32 : tensor<30522x384xi8> -> tensor<30522x384xf32>
    %y = graph.gather %f, %i {axis = 0 : i64} : (tensor<30522x384xf32>, tensor<4xi64>) -> tensor<4x384xf32>
    // becomes
    %g = graph.gather %table, %i {axis = 0 : i64} : (tensor<30522x384xi8>, tensor<4xi64>) -> tensor<4x384xi8>
    %y = graph.cast %g to f32 : tensor<4x384xi8> -> tensor<4x384xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
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

def RaiseGeluPass : Pass<"graph-raise-gelu", "::mlir::func::FuncOp"> {
  let summary = "Recognise GELU, exact and in its tanh form";
  let description = [{
    `0.5 * x * (1 + erf(x / sqrt(2)))` and `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))` are products: their factors
    are compared as a set, so any order and association matches. Values inside that something else reads keep the pieces as they are.
    `x * sigmoid(1.702 * x)` is another function and stays.
    ```mlir
    %s = graph.div %x, %sqrt_two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %e = graph.erf %s : tensor<4xf32> -> tensor<4xf32>
    %a = graph.add %e, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %m = graph.mul %x, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = graph.mul %m, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // becomes
    %y = graph.gelu %x : tensor<4xf32> -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
}

def RaiseNormsPass : Pass<"graph-raise-norms", "::mlir::func::FuncOp"> {
  let summary = "Recognise layer norm and RMS norm over trailing dims";
  let description = [{
    Matches `x / sqrt(mean(x^2) + epsilon)` with the square as a power or a product and the division as one, as a product with a
    reciprocal or as a power; where x is `v - mean(v)` over the same dims it is a layer norm of v. A product and, for the layer norm,
    a sum with operands of the shape of those dims become scale and bias. The dims must be static.
    ```mlir
    %d = graph.sub %x, %mean : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    %q = graph.mul %d, %d : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %v = graph.reduce_mean %q {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
    %e = graph.add %v, %epsilon : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
    %s = graph.sqrt %e : tensor<2x1xf32> -> tensor<2x1xf32>
    %n = graph.div %d, %s : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    %w = graph.mul %n, %scale : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %y = graph.add %w, %bias : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    // becomes, where %mean is the mean of %x
    %y = graph.layer_norm %x, %scale, %bias {axis = 1 : i64, epsilon = 1.0e-05 : f64}
      : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
}

def RaiseSoftmaxPass : Pass<"graph-raise-softmax", "::mlir::func::FuncOp"> {
  let summary = "Recognise softmax and its logarithm";
  let description = [{
    `e / sum(e)` with `e = exp(x - max(x))` is a softmax, `d - log(sum(exp(d)))` with `d = x - max(x)` its logarithm, if maximum and
    sum go along one and the same dim. Without the maximum the pieces stay: they overflow where a softmax does not.
    ```mlir
    %d = graph.sub %x, %max : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    %e = graph.exp %d : tensor<2x4xf32> -> tensor<2x4xf32>
    %s = graph.reduce_sum %e {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
    %y = graph.div %e, %s : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    // becomes, where %max is the maximum of %x
    %y = graph.softmax %x {axis = 1 : i64} : tensor<2x4xf32> -> tensor<2x4xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
}

def ExpandConvTransposePass : Pass<"graph-expand-conv-transpose", "::mlir::func::FuncOp"> {
  let summary = "Turn transposed convolutions whose windows do not overlap into convolutions";
  let description = [{
    Where the strides are the size of the kernel and nothing is cut off or added, each element of a transposed convolution over images
    becomes a block of the result: a convolution of size 1 with channels last computes all elements of the block, and they are put side
    by side. Sums run in the same order.
    ```mlir
    %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>,
                                      output_padding = array<i64: 0, 0>, group = 1 : i64}
      : (tensor<1x3x8x8xf32>, tensor<3x4x2x2xf32>) -> tensor<1x4x16x16xf32>
    // becomes
    %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x3x8x8xf32> -> tensor<1x8x8x3xf32>
    %1 = graph.transpose %w {perm = array<i64: 2, 3, 1, 0>} : tensor<3x4x2x2xf32> -> tensor<2x2x4x3xf32>
    %2 = graph.view %1 {dims = [#graph.expr<"16">, #graph.expr<"3">, #graph.expr<"1">, #graph.expr<"1">]} : tensor<2x2x4x3xf32> -> tensor<16x3x1x1xf32>
    %3 = graph.conv %0, %2 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, channels_last}
      : (tensor<1x8x8x3xf32>, tensor<16x3x1x1xf32>) -> tensor<1x8x8x16xf32>
    %4 = graph.view %3 {dims = [#graph.expr<"1">, #graph.expr<"8">, #graph.expr<"8">, #graph.expr<"2">, #graph.expr<"2">, #graph.expr<"4">]}
      : tensor<1x8x8x16xf32> -> tensor<1x8x8x2x2x4xf32>
    %5 = graph.transpose %4 {perm = array<i64: 0, 1, 3, 2, 4, 5>} : tensor<1x8x8x2x2x4xf32> -> tensor<1x8x2x8x2x4xf32>
    %6 = graph.view %5 {dims = [#graph.expr<"1">, #graph.expr<"16">, #graph.expr<"16">, #graph.expr<"4">]} : tensor<1x8x2x8x2x4xf32> -> tensor<1x16x16x4xf32>
    %y = graph.transpose %6 {perm = array<i64: 0, 3, 1, 2>} : tensor<1x16x16x4xf32> -> tensor<1x4x16x16xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
}

def WidenWindowsPass : Pass<"graph-widen-windows", "::mlir::func::FuncOp"> {
  let summary = "Convolve and pool lines as images of one row";
  let description = [{
    Convolutions and poolings over one spatial dim with a static number of channels become such over two, between views that add and
    drop a dim of size 1. The views that drop it move down through subviews and element-wise ops whose other operands are constant,
    scalar or widened too, until they meet one that adds it.
    ```mlir
    %y = graph.conv %x, %w {strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>}
      : (tensor<1x2x8xf32>, tensor<4x2x3xf32>) -> tensor<1x4x4xf32>
    // becomes
    %0 = graph.view %x {dims = [#graph.expr<"1">, #graph.expr<"2">, #graph.expr<"1">, #graph.expr<"8">]} : tensor<1x2x8xf32> -> tensor<1x2x1x8xf32>
    %1 = graph.view %w {dims = [#graph.expr<"4">, #graph.expr<"2">, #graph.expr<"1">, #graph.expr<"3">]} : tensor<4x2x3xf32> -> tensor<4x2x1x3xf32>
    %2 = graph.conv %0, %1 {strides = array<i64: 1, 2>, pads = array<i64: 0, 1, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x2x1x8xf32>, tensor<4x2x1x3xf32>) -> tensor<1x4x1x4xf32>
    %y = graph.view %2 {dims = [#graph.expr<"1">, #graph.expr<"4">, #graph.expr<"4">]} : tensor<1x4x1x4xf32> -> tensor<1x4x4xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
}

def ChannelsLastPass : Pass<"graph-channels-last", "::mlir::func::FuncOp"> {
  let summary = "Convolve and pool images with channels last";
  let description = [{
    Convolutions and poolings over two spatial dims with a static number of channels read and write [N, H, W, C], between transposes.
    The transposes back then move down: through element-wise ops whose other operands are constant (and permuted), scalar or
    transposed, too; through reductions, softmax, concatenation, padding, broadcasts and subviews; until they meet their inverse. A
    transpose that moves dims of size 1 alone becomes a view. On a usual classifier one transpose is left, at the input.
    ```mlir
    %0 = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
                            dilations = array<i64: 1, 1>} : tensor<1x3x8x8xf32> -> tensor<1x3x4x4xf32>
    %1 = graph.reduce_mean %0 {axes = array<i64: 2, 3>} : tensor<1x3x4x4xf32> -> tensor<1x3xf32>
    // becomes
    %t = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : tensor<1x3x8x8xf32> -> tensor<1x8x8x3xf32>
    %0 = graph.max_pool %t {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
                            dilations = array<i64: 1, 1>, channels_last} : tensor<1x8x8x3xf32> -> tensor<1x4x4x3xf32>
    %1 = graph.reduce_mean %0 {axes = array<i64: 1, 2>} : tensor<1x4x4x3xf32> -> tensor<1x3xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
}

#endif // LLMC_PASSES_GRAPH_PASSES_TD
