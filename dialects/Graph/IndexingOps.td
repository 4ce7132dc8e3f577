// Ops that pick, place or order elements by data, and running results along an axis.
#ifndef LLMC_DIALECTS_GRAPH_INDEXINGOPS_TD
#define LLMC_DIALECTS_GRAPH_INDEXINGOPS_TD

include "dialects/Graph/GraphBase.td"
include "dialects/Graph/GraphAttrs.td"

def Graph_GatherElementsOp : Graph_Op<"gather_elements"> {
  let summary = "Elements of `x`, chosen along `axis` by `indices`, which has the shape of the result";
  let description = [{
    Negative indices count from the end; an index outside the dim is an error at run time.
    ```mlir
    %y = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<4x10xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
  let packing = "pack.ints.push_back(getAxis());";
}

def Graph_GatherNDOp : Graph_Op<"gather_nd"> {
  let summary = "Parts of `x` at the tuples in the last dim of `indices`";
  let description = [{
    The first `batch_dims` dims are common to both. Negative indices count from the end; one outside its dim is an error at run time.
    ```mlir
    %y = graph.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<4x5x6xf32>, tensor<3x2xi64>) -> tensor<3x6xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices, I64Attr:$batch_dims);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
  let packing = "pack.ints.push_back(getBatchDims());";
}

def Graph_ReverseSequenceOp : Graph_Op<"reverse_sequence"> {
  let summary = "The first `lengths[b]` elements along `time_axis` in reverse order, for each place b along `batch_axis`";
  let description = [{
    A length that is negative or greater than the dim is an error at run time.
    ```mlir
    %y = graph.reverse_sequence %x, %lengths {batch_axis = 1 : i64, time_axis = 0 : i64} : (tensor<4x5x6xf32>, tensor<5xi64>) -> tensor<4x5x6xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$lengths, I64Attr:$batch_axis, I64Attr:$time_axis);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $lengths attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.ints.push_back(getBatchAxis());
    pack.ints.push_back(getTimeAxis());
  }];
}

class Graph_ScatterOp<string mnemonic, dag extra, code pack> : Graph_Op<mnemonic> {
  let arguments = !con((ins Graph_Tensor:$x, Graph_IndexTensor:$indices, Graph_Tensor:$updates, DefaultValuedAttr<StrAttr, "\"none\"">:$reduction),
                       extra);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
  let packing = "pack.ints.push_back(packedReduction(getReduction()));\n" # pack;
}

def Graph_ScatterElementsOp : Graph_ScatterOp<"scatter_elements", (ins I64Attr:$axis), "pack.ints.push_back(getAxis());"> {
  let summary = "A copy of `x` with elements replaced along `axis`, at `indices`, by `updates`";
  let description = [{
    `reduction` is "none", "add", "mul", "max" or "min": how an update meets what is there. Updates apply in row-major order. Negative
    indices count from the end; one outside the dim is an error at run time.
    ```mlir
    %y = graph.scatter_elements %x, %i, %u {axis = 1 : i64} : (tensor<4x10xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x10xf32>
    ```
  }];
}

def Graph_ScatterNDOp : Graph_ScatterOp<"scatter_nd", (ins), ""> {
  let summary = "A copy of `x` with the parts at the tuples in the last dim of `indices` replaced by `updates`";
  let description = [{
    `reduction` and indices as in `graph.scatter_elements`.
    ```mlir
    %y = graph.scatter_nd %x, %i, %u : (tensor<4x5x6xf32>, tensor<3x2xi64>, tensor<3x6xf32>) -> tensor<4x5x6xf32>
    ```
  }];
}

def Graph_TriluOp : Graph_Op<"trilu"> {
  let summary = "The upper or lower triangle of the last two dims, zero elsewhere";
  let description = [{
    Keeps column >= row + `k` with `upper`, else column <= row + `k`.
    ```mlir
    %y = graph.trilu %x {k = 1 : i64, upper} : tensor<2x4x4xf32> -> tensor<2x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$k, UnitAttr:$upper);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = [{
    pack.ints.push_back(getUpper());
    pack.ints.push_back(getK());
  }];
}

class Graph_CumulativeOp<string mnemonic, string what> : Graph_Op<mnemonic> {
  let summary = what;
  let description = [{
    With `exclusive` an element's own value is left out, with `reverse` the walk begins at the end. Floats accumulate in double.
    ```mlir
    %y = graph.}] # mnemonic # [{ %x {axis = 0 : i64} : tensor<4x5xf32> -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis, UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = [{
    pack.ints.push_back(getAxis());
    pack.ints.push_back(getExclusive());
    pack.ints.push_back(getReverse());
  }];
}
def Graph_CumSumOp : Graph_CumulativeOp<"cum_sum", "Running sums along `axis`">;
def Graph_CumProdOp : Graph_CumulativeOp<"cum_prod", "Running products along `axis`">;

def Graph_TopKOp : Graph_Op<"top_k"> {
  let summary = "The `k` greatest elements along `axis` in descending order, or the least in ascending order, and their indices";
  let description = [{
    Of equal elements the earlier comes first; NaN counts as greater than all.
    ```mlir
    %values, %indices = graph.top_k %x {k = #graph.expr<"3">, axis = 1 : i64, largest} : tensor<4x10xf32> -> tensor<4x3xf32>, tensor<4x3xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_ExprAttr:$k, I64Attr:$axis, UnitAttr:$largest);
  let results = (outs Graph_Tensor:$values, Graph_ShapeTensor:$indices);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($values) `,` type($indices)";
  let packing = [{
    pack.ints.push_back(getAxis());
    pack.ints.push_back(getLargest());
  }];
}

#endif // LLMC_DIALECTS_GRAPH_INDEXINGOPS_TD
