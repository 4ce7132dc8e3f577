// RUN: llmc-opt %s --graph-to-linalg --split-input-file | FileCheck %s

// CHECK-LABEL: func @element_wise
func.func @element_wise(%x: tensor<?x4xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"4">]}, %b: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}) -> tensor<?x4xf32> {
  // CHECK: %[[N:.*]] = graph.size <"N">
  // CHECK: tensor.empty(%[[N]])
  // CHECK: linalg.generic
  // CHECK: arith.addf
  %y = graph.add %x, %b : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// A dim of 1 is read at 0; a splat constant is a number in the body, not an operand.
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (0, d1)>
// CHECK-LABEL: func @broadcast_and_splat
func.func @broadcast_and_splat(%x: tensor<1x4xf32> {graph.dims = [#graph.expr<"1">, #graph.expr<"4">]}, %y: tensor<3x4xf32> {graph.dims = [#graph.expr<"3">, #graph.expr<"4">]}) -> tensor<3x4xf32> {
  %two = graph.constant dense<2.0> : tensor<1xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[ROW]],
  %s = graph.add %x, %y : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  // CHECK: linalg.generic {{.*}} ins(%{{[0-9a-z]+}} : tensor<3x4xf32>)
  // CHECK: arith.constant 2.0
  %z = graph.mul %s, %two : (tensor<3x4xf32>, tensor<1xf32>) -> tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}

// -----

// The bias of a convolution becomes an epilogue.
// CHECK-LABEL: func @bias_is_split_off
func.func @bias_is_split_off(%x: tensor<1x8x8x3xf32> {graph.dims = [#graph.expr<"1">, #graph.expr<"8">, #graph.expr<"8">, #graph.expr<"3">]}) -> tensor<1x8x8x4xf32> {
  %w = graph.constant dense<1.0> : tensor<4x3x1x1xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  // CHECK: %[[CONV:.*]] = graph.conv %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {
  // CHECK: linalg.generic {{.*}} ins(%[[CONV]],
  %y = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, channels_last}
    : (tensor<1x8x8x3xf32>, tensor<4x3x1x1xf32>, tensor<4xf32>) -> tensor<1x8x8x4xf32>
  return %y : tensor<1x8x8x4xf32>
}

// -----

// Softmax along another axis than the last has no generated code.
// CHECK-LABEL: func @softmax_elsewhere
func.func @softmax_elsewhere(%x: tensor<2x4xf32> {graph.dims = [#graph.expr<"2">, #graph.expr<"4">]}) -> tensor<2x4xf32> {
  // CHECK: graph.softmax
  %y = graph.softmax %x {axis = 0 : i64} : tensor<2x4xf32> -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
