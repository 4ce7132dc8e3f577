// RUN: llmc-opt %s --graph-to-linalg --linalg-fuse-element-wise --split-input-file | FileCheck %s

// CHECK-LABEL: func @chain
func.func @chain(%x: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}, %y: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}) -> tensor<4xf32> {
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK: arith.maximumf
  // CHECK-NOT: linalg.generic
  %s = graph.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = graph.relu %s : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// What two ops read is computed once.
// CHECK-LABEL: func @two_readers
func.func @two_readers(%x: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: math.exp
  // CHECK-NOT: math.exp
  %e = graph.exp %x : tensor<4xf32> -> tensor<4xf32>
  %a = graph.neg %e : tensor<4xf32> -> tensor<4xf32>
  %b = graph.sqrt %e : tensor<4xf32> -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// A matrix product reads through a transpose, and writes through one.
// CHECK: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func @transposes_of_a_product
func.func @transposes_of_a_product(%x: tensor<8x2xf32> {graph.dims = [#graph.expr<"8">, #graph.expr<"2">]}, %w: tensor<8x3xf32> {graph.dims = [#graph.expr<"8">, #graph.expr<"3">]}) -> tensor<3x2xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[LHS]], #{{.*}}, #[[OUT]]]
  // CHECK-NOT: linalg.generic
  %t = graph.transpose %x {perm = array<i64: 1, 0>} : tensor<8x2xf32> -> tensor<2x8xf32>
  %y = graph.matmul %t, %w : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  %z = graph.transpose %y {perm = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  return %z : tensor<3x2xf32>
}

// -----

// What a matrix product multiplies is not computed inside of it.
// CHECK-LABEL: func @operand_is_computed
func.func @operand_is_computed(%x: tensor<2x8xf32> {graph.dims = [#graph.expr<"2">, #graph.expr<"8">]}, %w: tensor<8x3xf32> {graph.dims = [#graph.expr<"8">, #graph.expr<"3">]}) -> tensor<2x3xf32> {
  // CHECK: linalg.generic
  // CHECK: math.exp
  // CHECK: linalg.generic
  // CHECK: arith.mulf
  %e = graph.exp %x : tensor<2x8xf32> -> tensor<2x8xf32>
  %y = graph.matmul %e, %w : (tensor<2x8xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
