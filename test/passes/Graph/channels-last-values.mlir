// RUN: llmc-opt %s --graph-fold-constants --canonicalize -o %t.first.mlir
// RUN: llmc-opt %s --graph-channels-last --graph-fold-constants --canonicalize -o %t.last.mlir
// RUN: diff %t.first.mlir %t.last.mlir
// RUN: FileCheck %s < %t.last.mlir
// The layout changes no bit: on constants both forms fold to the same values.

// CHECK-LABEL: func @values
// CHECK-NOT: graph.{{[^c]}}
// CHECK: return
func.func @values() -> (tensor<1x4x1x1xf32>, tensor<1x5x5x3xf32>, tensor<1x3x4xf32>, tensor<1x3x3x4xf32>) {
  %x = graph.constant dense<[[[[-2.0, -3.0, 0.0, -2.5], [3.5, 3.0, 3.5, 2.0], [-1.0, -2.5, 3.5, -4.0]], [[2.0, 2.5, -4.0, 3.0], [0.0, -0.5, -2.5, 1.0], [-4.0, -4.0, -4.0, -4.0]]]]> : tensor<1x2x3x4xf32>
  %w = graph.constant dense<[[[[2.0, -1.0, 2.5], [-4.0, 4.0, -0.5]]], [[[3.0, 3.5, -0.5], [1.5, -0.5, -0.5]]], [[[3.0, 0.5, -4.0], [2.5, -2.5, -1.5]]], [[[0.5, -2.5, 1.0], [4.0, 2.5, 4.0]]]]> : tensor<4x1x2x3xf32>
  %b = graph.constant dense<[-1.0, 0.5, 0.5, 3.5]> : tensor<4xf32>
  %v = graph.constant dense<[[[[4.0]], [[2.0]]], [[[-3.5]], [[3.5]]], [[[-0.5]], [[2.0]]]]> : tensor<3x2x1x1xf32>
  %channel = graph.constant dense<[[[2.5]], [[-1.5]], [[1.5]]]> : tensor<3x1x1xf32>
  %column = graph.constant dense<[[1.5], [-3.0], [3.0]]> : tensor<3x1xf32>
  %gate = graph.constant dense<[[[[4.0]], [[-2.5]], [[-1.5]]]]> : tensor<1x3x1x1xf32>
  %scalar = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1, 2>, pads = array<i64: 1, 0, 0, 1>, dilations = array<i64: 1, 1>, group = 2 : i64}
    : (tensor<1x2x3x4xf32>, tensor<4x1x2x3xf32>, tensor<4xf32>) -> tensor<1x4x3x2xf32>
  %1 = graph.reduce_max %0 {axes = array<i64: 2, 3>, keepdims} : tensor<1x4x3x2xf32> -> tensor<1x4x1x1xf32>
  %2 = graph.conv %x, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x2x3x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x3x4xf32>
  %3 = graph.mul %2, %channel : (tensor<1x3x3x4xf32>, tensor<3x1x1xf32>) -> tensor<1x3x3x4xf32>
  %4 = graph.sub %column, %3 : (tensor<3x1xf32>, tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %5 = graph.max %4, %scalar : (tensor<1x3x3x4xf32>, tensor<f32>) -> tensor<1x3x3x4xf32>
  %6 = graph.less %4, %gate : (tensor<1x3x3x4xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x3x4xi1>
  %7 = graph.where %6, %4, %5 : (tensor<1x3x3x4xi1>, tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %8 = graph.concat %7, %x {axis = 1 : i64} : (tensor<1x3x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x5x3x4xf32>
  %9 = graph.pad %8, %scalar {pads = array<i64: 0, 0, 2, 0, 0, 0, 0, 1>, mode = 0 : i64} : (tensor<1x5x3x4xf32>, tensor<f32>) -> tensor<1x5x5x5xf32>
  %10 = graph.subview %9 {offsets = [#graph.expr<"0">, #graph.expr<"0">, #graph.expr<"0">, #graph.expr<"4">],
                          sizes = [#graph.expr<"1">, #graph.expr<"5">, #graph.expr<"5">, #graph.expr<"3">],
                          steps = array<i64: 1, 1, 1, -2>} : tensor<1x5x5x5xf32> -> tensor<1x5x5x3xf32>
  %11 = graph.max_pool %7 {kernel = array<i64: 2, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 1>, dilations = array<i64: 1, 1>}
    : tensor<1x3x3x4xf32> -> tensor<1x3x3x4xf32>
  %12 = graph.average_pool %11 {kernel = array<i64: 2, 1>, strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : tensor<1x3x3x4xf32> -> tensor<1x3x3x4xf32>
  %13 = graph.reduce_sum %12 {axes = array<i64: 2>} : tensor<1x3x3x4xf32> -> tensor<1x3x4xf32>
  %14 = graph.softmax %12 {axis = 1 : i64} : tensor<1x3x3x4xf32> -> tensor<1x3x3x4xf32>
  return %1, %10, %13, %14 : tensor<1x4x1x1xf32>, tensor<1x5x5x3xf32>, tensor<1x3x4xf32>, tensor<1x3x3x4xf32>
}
