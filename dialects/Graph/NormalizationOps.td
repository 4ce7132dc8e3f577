// Softmax and the norms: named because passes raise them from pieces and kernels do them row by row.
#ifndef LLMC_DIALECTS_GRAPH_NORMALIZATIONOPS_TD
#define LLMC_DIALECTS_GRAPH_NORMALIZATIONOPS_TD

include "dialects/Graph/GraphBase.td"

class Graph_SoftmaxLikeOp<string mnemonic, string what> : Graph_Op<mnemonic> {
  let summary = what;
  let description = "```mlir\n%y = graph." # mnemonic # " %x {axis = 1 : i64} : tensor<2x4xf32> -> tensor<2x4xf32>\n```";
  let arguments = (ins Graph_FloatTensor:$x, I64Attr:$axis);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = "pack.ints.push_back(getAxis());";
  let extraClassDefinition = baseDefinition # [{
    ::llvm::LogicalResult $cppClass::inferShape(Adaptor adaptor, ::llmc::graph::ShapeInference &shapes) {
      return ::llmc::graph::inferAlongAxis(shapes, adaptor.getAxis());
    }
  }];
}
def Graph_SoftmaxOp : Graph_SoftmaxLikeOp<"softmax", "exp(x - max) / sum(exp(x - max)) along one axis">;
def Graph_LogSoftmaxOp : Graph_SoftmaxLikeOp<"log_softmax", "x - max - log(sum(exp(x - max))) along one axis">;

def Graph_LayerNormOp : Graph_Op<"layer_norm"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias over the dims from `axis` on";
  let description = [{
    ```mlir
    %y = graph.layer_norm %x, %s, %b {axis = 1 : i64, epsilon = 1.0e-05 : f64} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale, Optional<Graph_FloatTensor>:$bias, I64Attr:$axis,
                       F64Attr:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x `,` $scale (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.ints.push_back(getAxis());
    pack.floats.push_back(getEpsilon().convertToDouble());
  }];
  let extraClassDefinition = baseDefinition # [{
    ::llvm::LogicalResult $cppClass::inferShape(Adaptor adaptor, ::llmc::graph::ShapeInference &shapes) {
      return ::llmc::graph::inferAlongAxis(shapes, adaptor.getAxis());
    }
  }];
}

def Graph_RmsNormOp : Graph_Op<"rms_norm"> {
  let summary = "x / sqrt(mean(x^2) + epsilon) * scale over the dims from `axis` on";
  let description = [{
    ```mlir
    %y = graph.rms_norm %x, %s {axis = 1 : i64, epsilon = 1.0e-05 : f64} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x `,` $scale attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.ints.push_back(getAxis());
    pack.floats.push_back(getEpsilon().convertToDouble());
  }];
  let extraClassDefinition = baseDefinition # [{
    ::llvm::LogicalResult $cppClass::inferShape(Adaptor adaptor, ::llmc::graph::ShapeInference &shapes) {
      return ::llmc::graph::inferAlongAxis(shapes, adaptor.getAxis());
    }
  }];
}

def Graph_BatchNormOp : Graph_Op<"batch_norm"> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias with one value per channel (dim 1)";
  let description = [{
    ```mlir
    %y = graph.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-05 : f64} : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$scale, Graph_FloatTensor:$bias, Graph_FloatTensor:$mean,
                       Graph_FloatTensor:$variance, F64Attr:$epsilon);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x `,` $scale `,` $bias `,` $mean `,` $variance attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.ints.push_back(0);
    pack.floats.push_back(getEpsilon().convertToDouble());
  }];
}

#endif // LLMC_DIALECTS_GRAPH_NORMALIZATIONOPS_TD
