// The passes from the graph dialect to dispatch functions, in the order of the pipeline.
#ifndef LLMC_PASSES_LOWER_PASSES_TD
#define LLMC_PASSES_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def GraphToLinalgPass : Pass<"graph-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lower graph ops to linalg on tensors";
  let description = [{
    Element-wise ops, reductions, norms, matrix products and moves become `linalg.generic`, so that fusion needs to know structure alone.
    Convolution, pooling and gather stay: their kernels have templates. So does what has no generated code; its reference kernel runs.
    Dynamic sizes are `graph.size` ops.
    ```mlir
    %y = graph.relu %x : tensor<?x4xf32> -> tensor<?x4xf32>
    // becomes
    %n = graph.size #graph.expr<"N">
    %init = tensor.empty(%n) : tensor<?x4xf32>
    %y = linalg.generic {...} ins(%x : tensor<?x4xf32>) outs(%init : tensor<?x4xf32>) { ... arith.maximumf ... }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::llmc::graph::GraphDialect"];
}

def FuseElementwisePass : Pass<"linalg-fuse-element-wise", "::mlir::func::FuncOp"> {
  let summary = "Fuse element-wise producers into their only consumer";
  let description = [{
    A producer of one use joins its consumer; transposes and broadcasts join every consumer that can read through them. Operands of matrix
    products take only transposes: their kernels read, and do not compute, what they multiply.
    ```mlir
    %a = linalg.generic ... { arith.addf }
    %b = linalg.generic ... ins(%a) { arith.maximumf }
    // becomes
    %b = linalg.generic ... { arith.addf arith.maximumf }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::affine::AffineDialect"];
}

def FormDispatchesPass : Pass<"form-dispatches", "::mlir::ModuleOp"> {
  let summary = "Group ops into dispatches and outline each as a function";
  let description = [{
    A dispatch is what one kernel computes: a convolution, pooling or matrix product with the element-wise op that follows; a row group, which is
    reductions and element-wise ops over the same leading dims; an element-wise op; or one op for its reference kernel. Equal functions are
    kept once. docs/architecture.md has the form of a dispatch function.
    ```mlir
    %y = linalg.generic ... ins(%x) ...
    // becomes
    %y = graph.dispatch @relu_0(%x) sizes [#graph.expr<"N">] dims [[#graph.expr<"N">, #graph.expr<"4">]] : (tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let dependentDialects = ["::llmc::graph::GraphDialect"];
  let options = [Option<"fuse", "fuse", "bool", /*default=*/"true", "Let one kernel compute several ops">];
}

#endif // LLMC_PASSES_LOWER_PASSES_TD
