// RUN: llmc-opt %s --graph-expand-conv-transpose --cse | FileCheck %s

// CHECK-LABEL: func @blocks
// CHECK-SAME: (%[[X:.*]]: tensor<?x3x?x8xf32> {{.*}}, %[[W:.*]]: tensor<3x4x2x3xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @blocks(%x: tensor<?x3x?x8xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"3">, #graph.expr<"H">, #graph.expr<"8">]},
                  %w: tensor<3x4x2x3xf32>, %b: tensor<4xf32>) -> tensor<?x4x?x24xf32> {
  // CHECK-DAG: %[[L:.*]] = graph.transpose %[[X]] {perm = array<i64: 0, 2, 3, 1>} : tensor<?x3x?x8xf32> -> tensor<?x?x8x3xf32>
  // CHECK-DAG: %[[T:.*]] = graph.transpose %[[W]] {perm = array<i64: 2, 3, 1, 0>} : tensor<3x4x2x3xf32> -> tensor<2x3x4x3xf32>
  // CHECK-DAG: %[[V:.*]] = graph.view %[[T]] {{.*}} -> tensor<24x3x1x1xf32>
  // CHECK-DAG: %[[E:.*]] = graph.broadcast %[[B]] {{.*}} -> tensor<2x3x4xf32>
  // CHECK-DAG: %[[C:.*]] = graph.view %[[E]] {{.*}} -> tensor<24xf32>
  // CHECK: %[[A:.*]] = graph.conv %[[L]], %[[V]], %[[C]] {channels_last{{.*}} -> tensor<?x?x8x24xf32>
  // CHECK: %[[S:.*]] = graph.view %[[A]] {{.*}} -> tensor<?x?x8x2x3x4xf32>
  // CHECK: %[[R:.*]] = graph.transpose %[[S]] {perm = array<i64: 0, 1, 3, 2, 4, 5>} : tensor<?x?x8x2x3x4xf32> -> tensor<?x?x2x8x3x4xf32>
  // CHECK: %[[J:.*]] = graph.view %[[R]] {dims = [#graph.expr<"N">, #graph.expr<"2 * H">, #graph.expr<"24">, #graph.expr<"4">]}
  // CHECK: %[[Y:.*]] = graph.transpose %[[J]] {perm = array<i64: 0, 3, 1, 2>}
  // CHECK: return %[[Y]]
  %y = graph.conv_transpose %x, %w, %b {strides = array<i64: 2, 3>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>,
                                        output_padding = array<i64: 0, 0>, group = 1 : i64}
    : (tensor<?x3x?x8xf32>, tensor<3x4x2x3xf32>, tensor<4xf32>) -> tensor<?x4x?x24xf32>
  return %y : tensor<?x4x?x24xf32>
}

// Windows that overlap, and one that is cut off: left.
// CHECK-LABEL: func @left
// CHECK-COUNT-2: graph.conv_transpose
// CHECK-NOT: graph.conv
func.func @left(%x: tensor<1x3x8x8xf32>, %w: tensor<3x4x3x3xf32>, %v: tensor<3x4x2x2xf32>) -> (tensor<1x4x17x17xf32>, tensor<1x4x15x16xf32>) {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>,
                                    output_padding = array<i64: 0, 0>, group = 1 : i64}
    : (tensor<1x3x8x8xf32>, tensor<3x4x3x3xf32>) -> tensor<1x4x17x17xf32>
  %1 = graph.conv_transpose %x, %v {strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 1, 1>,
                                    output_padding = array<i64: 0, 0>, group = 1 : i64}
    : (tensor<1x3x8x8xf32>, tensor<3x4x2x2xf32>) -> tensor<1x4x15x16xf32>
  return %0, %1 : tensor<1x4x17x17xf32>, tensor<1x4x15x16xf32>
}
