// Ops whose results have sizes that depend on data: they fill as much of their results as the largest case needs and give the true
// number beside them. A `graph.read_numbers` makes that a symbol, and a `graph.prefix` leaves out the rest.
#ifndef LLMC_DIALECTS_GRAPH_SELECTIONOPS_TD
#define LLMC_DIALECTS_GRAPH_SELECTIONOPS_TD

include "dialects/Graph/GraphBase.td"
include "dialects/Graph/GraphAttrs.td"

def Graph_PrefixOp : Graph_Op<"prefix"> {
  let summary = "The first elements of a tensor, row-major, in the shape `dims`";
  let description = [{
    Costs nothing at run time: the result names the first bytes of `x`.
    ```mlir
    %y = graph.prefix %x {dims = [#graph.expr<"2">, #graph.expr<"n">]} : tensor<24xi64> -> tensor<2x?xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$dims);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}

def Graph_NonZeroOp : Graph_Op<"non_zero"> {
  let summary = "The places of the elements that are not zero, in row-major order, and their number";
  let description = [{
    `places` begins with the rows of a matrix: one row per dim of `x`, one column per element that is not zero.
    ```mlir
    %places, %count = graph.non_zero %x : tensor<3x4xf32> -> tensor<24xi64>, tensor<1xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_ShapeTensor:$places, Graph_ShapeTensor:$count);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($places) `,` type($count)";
}

def Graph_UniqueOp : Graph_Op<"unique"> {
  let summary = "Which slices along `axis` are equal to others";
  let description = [{
    Without `axis` the slices are the elements. The unique slices are `sorted`, or in the order in which they first occur. `first` has
    the place at which each occurs first, `inverse` says for each slice which of the unique ones it is, `counts` how often each occurs.
    `count` is the number of unique slices: so many elements of `first` and `counts` mean something.
    ```mlir
    %first, %inverse, %counts, %count = graph.unique %x {axis = 0 : i64, sorted}
      : tensor<3x4xf32> -> tensor<3xi64>, tensor<3xi64>, tensor<3xi64>, tensor<1xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, OptionalAttr<I64Attr>:$axis, UnitAttr:$sorted);
  let results = (outs Graph_ShapeTensor:$first, Graph_ShapeTensor:$inverse, Graph_ShapeTensor:$counts, Graph_ShapeTensor:$count);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($first) `,` type($inverse) `,` type($counts) `,` type($count)";
  let packing = [{
    pack.ints.push_back(getAxis().value_or(-1));
    pack.ints.push_back(getSorted());
  }];
}

def Graph_NonMaxSuppressionOp : Graph_Op<"non_max_suppression"> {
  let summary = "The best boxes of each batch and class that do not overlap a better one";
  let description = [{
    At most `limit` boxes of a batch and class; a box is left out if its intersection over union with a chosen one is greater than
    `overlap`, or if its score is not greater than `threshold`. `chosen` begins with triples of batch, class and box, `count` is their
    number; `order` is room for the kernel to work in. Boxes are two corners, in any order, or with `centered` centre and size.
    ```mlir
    %chosen, %order, %count = graph.non_max_suppression %boxes, %scores, %limit, %overlap, %threshold
      : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32>) -> (tensor<36xi64>, tensor<6xi64>, tensor<1xi64>)
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32]>:$boxes, RankedTensorOf<[F32]>:$scores, Graph_ShapeTensor:$limit,
                       RankedTensorOf<[F32]>:$overlap, RankedTensorOf<[F32]>:$threshold, UnitAttr:$centered);
  let results = (outs Graph_ShapeTensor:$chosen, Graph_ShapeTensor:$order, Graph_ShapeTensor:$count);
  let assemblyFormat = [{
    $boxes `,` $scores `,` $limit `,` $overlap `,` $threshold attr-dict `:` functional-type(operands, results)
  }];
  let packing = "pack.ints.push_back(getCentered());";
}

def Graph_RangeOp : Graph_Op<"range"> {
  let summary = "start + i * delta for each i below `size`, which is how many there are before `limit`";
  let description = [{
    ```mlir
    %y = graph.range %start, %limit, %delta {size = #graph.expr<"n">} : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$start, Graph_Tensor:$limit, Graph_Tensor:$delta, Graph_ExprAttr:$size);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$start `,` $limit `,` $delta attr-dict `:` functional-type(operands, results)";
}

#endif // LLMC_DIALECTS_GRAPH_SELECTIONOPS_TD
