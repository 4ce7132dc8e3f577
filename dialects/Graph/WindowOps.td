// Ops that read a window of their input for each output position.
#ifndef LLMC_DIALECTS_GRAPH_WINDOWOPS_TD
#define LLMC_DIALECTS_GRAPH_WINDOWOPS_TD

include "dialects/Graph/GraphBase.td"

def Graph_ConvOp : Graph_Op<"conv"> {
  let summary = "Convolution (cross-correlation) over 1 to 3 spatial dims";
  let description = [{
    `x` is [N, C, spatial...], or [N, spatial..., C] with `channels_last`, and the result alike; `weight` is always
    [M, C / group, kernel...]. `pads` lists what is added (zeros) before each spatial dim, then after each. Sums run over taps in
    row-major order, within a tap over channels ascending, one fused multiply-add each; the bias comes last.
    With `auto_pad` "same_upper" or "same_lower" `pads` are not read: the result has ceil(size / stride) positions, and what that needs
    is added half before, half after, an odd element after (upper) or before (lower). Only for sizes not known at compile time.
    A `group` of 0 stands for one group per channel.
    ```mlir
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$weight, Optional<Graph_FloatTensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<I64Attr, "1">:$group, OptionalAttr<StrAttr>:$auto_pad, UnitAttr:$channels_last);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x `,` $weight (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.list(getStrides());
    pack.list(getPads());
    pack.list(getDilations());
    pack.ints.push_back(packedAutoPad(getAutoPad()));
    pack.ints.push_back(getGroup());
    pack.ints.push_back(getChannelsLast());
  }];
}

def Graph_ConvTransposeOp : Graph_Op<"conv_transpose"> {
  let summary = "The transpose of a convolution over 1 to 3 spatial dims";
  let description = [{
    Input i adds tap k of the kernel, times itself, to output i * stride + k * dilation - pad. `weight` is [C, M / group, kernel...]. `pads`
    lists what is cut off before each spatial dim, then after each; `output_padding` what is added after each. Sums run over taps in
    row-major order, within a tap over channels ascending, one fused multiply-add each; the bias comes last.
    With `auto_pad` "same_upper" or "same_lower" `pads` are not read: the result has `output_shape` positions, or size * stride, and what
    is too much is cut off half before, half after, an odd element after (upper) or before (lower).
    ```mlir
    %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>,
                                      output_padding = array<i64: 0, 0>, group = 1 : i64}
      : (tensor<1x3x8x8xf32>, tensor<3x4x2x2xf32>) -> tensor<1x4x16x16xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$weight, Optional<Graph_FloatTensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$output_padding, DefaultValuedAttr<I64Attr, "1">:$group, OptionalAttr<StrAttr>:$auto_pad,
                       OptionalAttr<DenseI64ArrayAttr>:$output_shape);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x `,` $weight (`,` $bias^)? attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.list(getStrides());
    pack.list(getPads());
    pack.list(getDilations());
    pack.list(getOutputPadding());
    pack.ints.push_back(packedAutoPad(getAutoPad()));
    pack.ints.push_back(getGroup());
  }];
}

class Graph_PoolOp<string mnemonic, dag extra, code pack> : Graph_Op<mnemonic> {
  let arguments = !con((ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                        DenseI64ArrayAttr:$dilations, UnitAttr:$ceil_mode, OptionalAttr<StrAttr>:$auto_pad, UnitAttr:$channels_last), extra);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = [{
    pack.list(getKernel());
    pack.list(getStrides());
    pack.list(getPads());
    pack.list(getDilations());
    pack.ints.push_back(packedAutoPad(getAutoPad()));
    pack.ints.push_back(getChannelsLast());
  }] # pack;
}

def Graph_MaxPoolOp : Graph_PoolOp<"max_pool", (ins), ""> {
  let summary = "Greatest element of each window";
  let description = [{
    Padding never wins; `auto_pad` as in `graph.conv`. With `ceil_mode` output sizes round up, but no window starts beyond the input and its leading pad.
    ```mlir
    %y = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
                            dilations = array<i64: 1, 1>} : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
    ```
  }];
}

def Graph_MaxPoolWithIndicesOp : Graph_PoolOp<"max_pool_with_indices", (ins UnitAttr:$column_major), "pack.ints.push_back(getColumnMajor());"> {
  let summary = "Greatest element of each window, and its place in the input";
  let description = [{
    As `graph.max_pool`. The place counts all elements of the input in row-major order, or with `column_major` the spatial dims of each
    channel in column-major order; -1 for a window of padding alone.
    ```mlir
    %y, %i = graph.max_pool_with_indices %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
                                             dilations = array<i64: 1, 1>} : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>, tensor<1x4x4x4xi64>
    ```
  }];
  let results = (outs Graph_Tensor:$y, Graph_ShapeTensor:$indices);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y) `,` type($indices)";
}

def Graph_AveragePoolOp : Graph_PoolOp<"average_pool", (ins UnitAttr:$count_include_pad),
                                       "pack.ints.push_back(getCountIncludePad());"> {
  let summary = "Mean of each window";
  let description = [{
    `auto_pad` as in `graph.conv`. The divisor is the number of taps inside the input, or with `count_include_pad` inside the padded input.
    ```mlir
    %y = graph.average_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
                                dilations = array<i64: 1, 1>} : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
    ```
  }];
}

#endif // LLMC_DIALECTS_GRAPH_WINDOWOPS_TD
