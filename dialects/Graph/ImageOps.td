// Ops that sample images at computed places.
#ifndef LLMC_DIALECTS_GRAPH_IMAGEOPS_TD
#define LLMC_DIALECTS_GRAPH_IMAGEOPS_TD

include "dialects/Graph/GraphBase.td"
include "dialects/Graph/GraphAttrs.td"

def Graph_ResizeOp : Graph_Op<"resize", [AttrSizedOperandSegments]> {
  let summary = "Another number of samples along `axes`, by interpolation";
  let description = [{
    `dims` is the shape of the result. `scales` and `roi` (all starts, then all ends) have entries for each of `axes`; without `scales` the
    scale of a dim is its new size over its old one. The modes have ONNX's names and meaning. `nearest` is also "grow_floor_shrink_ceil", as
    in opset 10. Places are computed in f32, or in f64 for f64; integers round to even and saturate.
    ```mlir
    %y = graph.resize %x scales %s {dims = [#graph.expr<"1">, #graph.expr<"3">, #graph.expr<"2 * H">, #graph.expr<"8">], axes = array<i64: 2, 3>,
                                    mode = "nearest", coordinates = "asymmetric", nearest = "floor"}
      : (tensor<1x3x?x4xf32>, tensor<2xf32>) -> tensor<1x3x?x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Optional<Graph_FloatTensor>:$scales, Optional<Graph_FloatTensor>:$roi, Graph_Dims:$dims,
                       DenseI64ArrayAttr:$axes, StrAttr:$mode, DefaultValuedAttr<StrAttr, "\"half_pixel\"">:$coordinates,
                       DefaultValuedAttr<StrAttr, "\"round_prefer_floor\"">:$nearest, DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coeff,
                       DefaultValuedAttr<F64Attr, "0.0">:$extrapolation_value, UnitAttr:$exclude_outside, UnitAttr:$antialias);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x (`scales` $scales^)? (`roi` $roi^)? attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.list(getAxes());
    pack.ints.push_back(packedMode(getMode()));
    pack.ints.push_back(packedCoordinates(getCoordinates()));
    pack.ints.push_back(packedNearest(getNearest()));
    pack.ints.push_back(getExcludeOutside());
    pack.ints.push_back(getAntialias());
    pack.floats.push_back(getCubicCoeff().convertToDouble());
    pack.floats.push_back(getExtrapolationValue().convertToDouble());
  }];
}

def Graph_GridSampleOp : Graph_Op<"grid_sample"> {
  let summary = "Samples of `x` at the places that `grid` names, -1 and 1 being the borders";
  let description = [{
    `x` is [N, C, spatial...] with 1 to 3 spatial dims, `grid` [N, places..., spatial rank], the last dim first. `mode` is "nearest" (ties to
    even), "linear" or "cubic" (coefficient -0.75), `padding` "zeros", "border" or "reflection". Without `align_corners` the borders are
    those of the outer samples, else their centres. Places are computed in f32, or in f64 for f64.
    ```mlir
    %y = graph.grid_sample %x, %grid {mode = "linear", padding = "zeros"} : (tensor<1x3x8x8xf32>, tensor<1x5x6x2xf32>) -> tensor<1x3x5x6xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_FloatTensor:$grid, StrAttr:$mode, StrAttr:$padding, UnitAttr:$align_corners);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $grid attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.ints.push_back(packedMode(getMode()));
    pack.ints.push_back(packedPadding(getPadding()));
    pack.ints.push_back(getAlignCorners());
  }];
}

def Graph_RoiAlignOp : Graph_Op<"roi_align"> {
  let summary = "Regions of images as pictures of one size, each pixel the mean or maximum of interpolated samples";
  let description = [{
    `rois` is [regions, 4]: x1, y1, x2, y2, times `scale`; `images` names the image of each. With `half_pixel` regions move by half a pixel,
    else they are at least a pixel large. `samples` per pixel and dim, or, if 0, as many as a pixel is high or wide, rounded up. The maximum
    is over the four weighted neighbours of all samples, as ONNX has it.
    ```mlir
    %y = graph.roi_align %x, %rois, %images {height = 5 : i64, width = 6 : i64, samples = 2 : i64, scale = 0.5 : f64, half_pixel}
      : (tensor<1x3x8x8xf32>, tensor<7x4xf32>, tensor<7xi64>) -> tensor<7x3x5x6xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$rois, Graph_ShapeTensor:$images, I64Attr:$height, I64Attr:$width,
                       I64Attr:$samples, F64Attr:$scale, UnitAttr:$half_pixel, UnitAttr:$maximum);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x `,` $rois `,` $images attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.ints.push_back(getSamples());
    pack.ints.push_back(getHalfPixel());
    pack.ints.push_back(getMaximum());
    pack.floats.push_back(getScale().convertToDouble());
  }];
}

def Graph_MaxRoiPoolOp : Graph_Op<"max_roi_pool"> {
  let summary = "The greatest elements of the cells of regions of images";
  let description = [{
    `rois` is [regions, 5]: image, x1, y1, x2, y2, of which the latter times `scale` are rounded. Empty cells give 0.
    ```mlir
    %y = graph.max_roi_pool %x, %rois {height = 2 : i64, width = 2 : i64, scale = 1.0 : f64}
      : (tensor<1x3x8x8xf32>, tensor<7x5xf32>) -> tensor<7x3x2x2xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$rois, I64Attr:$height, I64Attr:$width, F64Attr:$scale);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x `,` $rois attr-dict `:` functional-type(operands, results)";
  let packing = "pack.floats.push_back(getScale().convertToDouble());";
}

def Graph_DeformConvOp : Graph_Op<"deform_conv", [AttrSizedOperandSegments]> {
  let summary = "Convolution of images whose taps are moved by `offset`, interpolated, and weighted by `mask`";
  let description = [{
    As `graph.conv` for rank 4. `offset` is [N, offset_group * taps * 2, H, W] (rows, then columns of each tap), `mask` [N, offset_group *
    taps, H, W]. Beyond the input is zero.
    ```mlir
    %y = graph.deform_conv %x, %w, %offset {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>,
                                            group = 1 : i64, offset_group = 1 : i64}
      : (tensor<1x3x8x8xf32>, tensor<4x3x2x2xf32>, tensor<1x8x7x7xf32>) -> tensor<1x4x7x7xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$x, Graph_FloatTensor:$weight, Graph_FloatTensor:$offset, Optional<Graph_FloatTensor>:$bias,
                       Optional<Graph_FloatTensor>:$mask, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       I64Attr:$group, I64Attr:$offset_group);
  let results = (outs Graph_FloatTensor:$y);
  let assemblyFormat = "$x `,` $weight `,` $offset (`bias` $bias^)? (`mask` $mask^)? attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.list(getStrides());
    pack.list(getPads());
    pack.list(getDilations());
    pack.ints.push_back(getGroup());
    pack.ints.push_back(getOffsetGroup());
  }];
}

def Graph_Col2ImOp : Graph_Op<"col2im"> {
  let summary = "Sums of blocks at their places in an image";
  let description = [{
    `x` is [N, C * taps of a block, blocks], `block` the sizes of a block; blocks lie as the windows of a convolution do. `dims` is the
    shape of the result, [N, C, spatial...].
    ```mlir
    %y = graph.col2im %x, %block {dims = [#graph.expr<"1">, #graph.expr<"3">, #graph.expr<"4">, #graph.expr<"4">], strides = array<i64: 2, 2>,
                                  pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : (tensor<1x12x4xf32>, tensor<2xi64>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_ShapeTensor:$block, Graph_Dims:$dims, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $block attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.list(getStrides());
    pack.list(getPads());
    pack.list(getDilations());
  }];
}

def Graph_MaxUnpoolOp : Graph_Op<"max_unpool"> {
  let summary = "Elements put back at the places that `graph.max_pool_with_indices` gave, zeros elsewhere";
  let description = [{
    `indices` count in the shape that the window's input has at least, which may be smaller than the result's, `dims`.
    ```mlir
    %y = graph.max_unpool %x, %i {dims = [#graph.expr<"1">, #graph.expr<"3">, #graph.expr<"8">, #graph.expr<"8">], kernel = array<i64: 2, 2>,
                                  strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>}
      : (tensor<1x3x4x4xf32>, tensor<1x3x4x4xi64>) -> tensor<1x3x8x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_ShapeTensor:$indices, Graph_Dims:$dims, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $indices attr-dict `:` functional-type(operands, results)";
  let packing = [{
    pack.list(getKernel());
    pack.list(getStrides());
    pack.list(getPads());
  }];
}

#endif // LLMC_DIALECTS_GRAPH_IMAGEOPS_TD
