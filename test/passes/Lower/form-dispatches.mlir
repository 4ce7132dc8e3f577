// RUN: llmc-opt %s --graph-to-linalg --cse --linalg-fuse-element-wise --form-dispatches --split-input-file --verify-diagnostics | FileCheck %s

// A matrix product, its bias and its activation are one launch; equal layers share the function.
// CHECK-LABEL: func.func @layers
// CHECK: graph.dispatch @matmul_0(
// CHECK: graph.dispatch @matmul_0(
// CHECK-NOT: = graph.dispatch
func.func @layers(%x: tensor<?x8xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"8">]}, %w: tensor<8x8xf32> {graph.dims = [#graph.expr<"8">, #graph.expr<"8">]}, %b: tensor<8xf32> {graph.dims = [#graph.expr<"8">]}) -> tensor<?x8xf32> {
  %0 = graph.matmul %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %1 = graph.add %0, %b : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %2 = graph.relu %1 : tensor<?x8xf32> -> tensor<?x8xf32>
  %3 = graph.matmul %2, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %4 = graph.add %3, %b : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %5 = graph.relu %4 : tensor<?x8xf32> -> tensor<?x8xf32>
  return %5 : tensor<?x8xf32>
}
// CHECK: func.func private @matmul_0(%{{.*}}: tensor<?x8xf32> {graph.sizes = array<i64: -1, 8>}, %{{.*}}: tensor<8x8xf32> {graph.sizes = array<i64: 8, 8>}, %{{.*}}: tensor<8xf32> {graph.sizes = array<i64: 8>}, %{{.*}}: index)
// CHECK-SAME: -> (tensor<?x8xf32> {graph.sizes = array<i64: -1, 8>})
// CHECK: arith.mulf
// CHECK: arith.maximumf

// -----

// Softmax is one launch over rows.
// CHECK-LABEL: func.func @softmax
// CHECK: graph.dispatch @rows_0
// CHECK-NOT: = graph.dispatch
func.func @softmax(%x: tensor<2x4xf32> {graph.dims = [#graph.expr<"2">, #graph.expr<"4">]}) -> tensor<2x4xf32> {
  %y = graph.softmax %x {axis = 1 : i64} : tensor<2x4xf32> -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// An op without generated code is alone.
// CHECK-LABEL: func.func @fallback
// CHECK: graph.dispatch @softmax_0
// CHECK: graph.dispatch @elementwise_1
func.func @fallback(%x: tensor<2x4xf32> {graph.dims = [#graph.expr<"2">, #graph.expr<"4">]}) -> tensor<2x4xf32> {
  %y = graph.softmax %x {axis = 0 : i64} : tensor<2x4xf32> -> tensor<2x4xf32>
  %z = graph.relu %y : tensor<2x4xf32> -> tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}

// -----

// A size that depends on data has no expression.
func.func @size_is_data(%x: tensor<24xf32> {graph.dims = [#graph.expr<"24">]}, %target: tensor<2xi64> {graph.dims = [#graph.expr<"2">]}) -> tensor<?x?xf32> {
  // expected-error @+1 {{the size of dim 0 of the result of graph.reshape depends on data: not supported}}
  %y = graph.reshape %x, %target : (tensor<24xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
