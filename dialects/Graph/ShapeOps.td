// Ops that move elements or speak about shapes. Those that take sizes as tensors are what importers make; once the sizes are
// known as expressions, `graph-resolve-shapes` turns them into view, broadcast and subview, which carry them as attributes.
#ifndef LLMC_DIALECTS_GRAPH_SHAPEOPS_TD
#define LLMC_DIALECTS_GRAPH_SHAPEOPS_TD

include "dialects/Graph/GraphBase.td"
include "dialects/Graph/GraphAttrs.td"

def Graph_ShapeOp : Graph_Op<"shape"> {
  let summary = "The dims of a tensor, or those of start <= i < end, as a tensor";
  let description = [{
    ```mlir
    %s = graph.shape %x {start = 0 : i64, end = 2 : i64} : tensor<2x4x?xf32> -> tensor<2xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$start, I64Attr:$end);
  let results = (outs Graph_ShapeTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = [{
    pack.ints.push_back(getStart());
    pack.ints.push_back(getEnd());
  }];
}

def Graph_ReshapeOp : Graph_Op<"reshape"> {
  let summary = "The same elements, row-major, in another shape";
  let description = [{
    In `shape` a -1 (at most one) is what is left over; a 0 keeps the dim of `x` at its place, unless `allow_zero`.
    ```mlir
    %y = graph.reshape %x, %s : (tensor<2x6xf32>, tensor<2xi64>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_ShapeTensor:$shape, UnitAttr:$allow_zero);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $shape attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = baseDeclaration # "::llvm::StringRef getReferenceKernel() { return \"reshape\"; }";
}

def Graph_SqueezeOp : Graph_Op<"squeeze"> {
  let summary = "Drops dims of size 1";
  let description = [{
    `axes` are non-negative and ascending.
    ```mlir
    %y = graph.squeeze %x {axes = array<i64: 1>} : tensor<2x1x4xf32> -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let extraClassDeclaration = baseDeclaration # "::llvm::StringRef getReferenceKernel() { return \"reshape\"; }";
}

def Graph_UnsqueezeOp : Graph_Op<"unsqueeze"> {
  let summary = "Inserts dims of size 1";
  let description = [{
    `axes` are places in the result, non-negative and ascending.
    ```mlir
    %y = graph.unsqueeze %x {axes = array<i64: 1>} : tensor<2x4xf32> -> tensor<2x1x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let extraClassDeclaration = baseDeclaration # "::llvm::StringRef getReferenceKernel() { return \"reshape\"; }";
}

def Graph_FlattenOp : Graph_Op<"flatten"> {
  let summary = "Joins the dims before `axis` into one, and those from it on into another";
  let description = [{
    ```mlir
    %y = graph.flatten %x {axis = 1 : i64} : tensor<2x3x4xf32> -> tensor<2x12xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let extraClassDeclaration = baseDeclaration # "::llvm::StringRef getReferenceKernel() { return \"reshape\"; }";
}

def Graph_ViewOp : Graph_Op<"view"> {
  let summary = "The same elements, row-major, in the shape `dims`";
  let description = [{
    Costs nothing at run time: the result names the bytes of `x`.
    ```mlir
    %y = graph.view %x {dims = [#graph.expr<"N * 4">, #graph.expr<"6">]} : tensor<?x4x6xf32> -> tensor<?x6xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$dims);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let extraClassDeclaration = baseDeclaration # "::llvm::StringRef getReferenceKernel() { return \"reshape\"; }";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_ExpandOp : Graph_Op<"expand"> {
  let summary = "Broadcasts to the shape that numpy gives `x` and a tensor of dims `shape`";
  let description = [{
    ```mlir
    %y = graph.expand %x, %s : (tensor<1x4xf32>, tensor<2xi64>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_ShapeTensor:$shape);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $shape attr-dict `:` functional-type(operands, results)";
}

def Graph_BroadcastOp : Graph_Op<"broadcast"> {
  let summary = "Broadcasts to the shape `dims`";
  let description = [{
    ```mlir
    %y = graph.broadcast %x {dims = [#graph.expr<"N">, #graph.expr<"4">]} : tensor<1x4xf32> -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$dims);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let extraClassDeclaration = baseDeclaration # "::llvm::StringRef getReferenceKernel() { return \"expand\"; }";
  let hasFolder = 1;
}

def Graph_TransposeOp : Graph_Op<"transpose"> {
  let summary = "Dim i of the result is dim perm[i] of the operand";
  let description = [{
    ```mlir
    %y = graph.transpose %x {perm = array<i64: 1, 0>} : tensor<2x4xf32> -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$perm);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = "pack.list(getPerm());";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_ConcatOp : Graph_Op<"concat"> {
  let summary = "Joins tensors along an axis";
  let description = [{
    ```mlir
    %z = graph.concat %x, %y {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$inputs attr-dict `:` functional-type(operands, results)";
  let packing = "pack.ints.push_back(getAxis());";
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_Op<"slice", [AttrSizedOperandSegments]> {
  let summary = "Part of a tensor, given by tensors of starts, ends, axes and steps";
  let description = [{
    ONNX's rules: negative places count from the end, places beyond a dim are clamped, steps may be negative. Without `axes` the
    first dims are meant, without `steps` each is 1.
    ```mlir
    %y = graph.slice %x, %starts, %ends : (tensor<4x4xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$starts, Graph_IndexTensor:$ends, Optional<Graph_IndexTensor>:$axes,
                       Optional<Graph_IndexTensor>:$steps);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = [{
    $x `,` $starts `,` $ends (`axes` $axes^)? (`steps` $steps^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = baseDeclaration # "::llvm::StringRef getReferenceKernel() { return \"slice_dynamic\"; }";
}

def Graph_SubviewOp : Graph_Op<"subview"> {
  let summary = "Elements offsets[i] + k * steps[i], 0 <= k < sizes[i], of each dim i";
  let description = [{
    ```mlir
    %y = graph.subview %x {offsets = [#graph.expr<"0">, #graph.expr<"1">], sizes = [#graph.expr<"S">, #graph.expr<"2">], steps = array<i64: 1, 1>}
      : tensor<?x4xf32> -> tensor<?x2xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Dims:$offsets, Graph_Dims:$sizes, DenseI64ArrayAttr:$steps);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = "packSubview(*this, pack);";
  let extraClassDeclaration = baseDeclaration # "::llvm::StringRef getReferenceKernel() { return \"slice\"; }";
  let hasFolder = 1;
}

def Graph_GatherOp : Graph_Op<"gather"> {
  let summary = "Slices of `x` along `axis`, chosen by `indices`";
  let description = [{
    Negative indices count from the end; an index outside the dim is an error at run time.
    ```mlir
    %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
  let packing = "pack.ints.push_back(getAxis());";
}

def Graph_PadOp : Graph_Op<"pad"> {
  let summary = "Adds elements before and after each dim; negative pads remove them";
  let description = [{
    `pads` lists all dims' leading, then all dims' trailing counts. Modes: 0 constant (`value`, or zero), 1 reflect, 2 edge, 3 wrap.
    ```mlir
    %y = graph.pad %x {pads = array<i64: 0, 1, 0, 1>, mode = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Optional<Graph_Tensor>:$value, DenseI64ArrayAttr:$pads, I64Attr:$mode);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x (`,` $value^)? attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.list(getPads());
    pack.ints.push_back(getMode());
  }];
}

def Graph_FromDimsOp : Graph_Op<"from_dims"> {
  let summary = "A one-dimensional tensor of dim expressions";
  let description = [{
    What is left of shape arithmetic whose result is read as data.
    ```mlir
    %s = graph.from_dims {dims = [#graph.expr<"N">, #graph.expr<"4">]} : tensor<2xi64>
    ```
  }];
  let arguments = (ins Graph_Dims:$dims);
  let results = (outs Graph_ShapeTensor:$y);
  let assemblyFormat = "attr-dict `:` type($y)";
  let hasFolder = 1;
}

#endif // LLMC_DIALECTS_GRAPH_SHAPEOPS_TD
