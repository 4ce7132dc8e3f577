// Matrix products.
#ifndef LLMC_DIALECTS_GRAPH_CONTRACTIONOPS_TD
#define LLMC_DIALECTS_GRAPH_CONTRACTIONOPS_TD

include "dialects/Graph/GraphBase.td"

def Graph_MatMulOp : Graph_Op<"matmul"> {
  let summary = "Product of matrices, over batches of them";
  let description = [{
    numpy's matmul: the last two dims are matrices, the dims before them broadcast; an operand of rank 1 is a row (lhs) or column
    (rhs) whose dim of size 1 is dropped from the result. Sums run over k ascending with one fused multiply-add each.
    ```mlir
    %z = graph.matmul %x, %y : (tensor<2x4x8xf32>, tensor<8x3xf32>) -> tensor<2x4x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Graph_DetOp : Graph_Op<"det"> {
  let summary = "Determinants of the matrices in the last two dims";
  let description = [{
    Computed in f64 by elimination with the greatest pivot of each column. `eliminated` is the memory for that: the triangular matrices.
    ```mlir
    %y, %eliminated = graph.det %x : tensor<5x3x3xf32> -> tensor<5xf32>, tensor<5x3x3xf64>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x);
  let results = (outs Graph_FloatTensor:$y, RankedTensorOf<[F64]>:$eliminated);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y) `,` type($eliminated)";
}

#endif // LLMC_DIALECTS_GRAPH_CONTRACTIONOPS_TD
