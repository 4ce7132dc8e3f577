// RUN: llmc-opt %s --graph-widen-windows --cse | FileCheck %s

// Two convolutions over a line of open length, with what is between them: only the ends are viewed.
// CHECK-LABEL: func @line
// CHECK-SAME: (%[[X:.*]]: tensor<?x2x?xf32> {{.*}}, %[[W:.*]]: tensor<4x2x3xf32>, %[[V:.*]]: tensor<4x4x1xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @line(%x: tensor<?x2x?xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"2">, #graph.expr<"T">]},
                %w: tensor<4x2x3xf32>, %v: tensor<4x4x1xf32>, %b: tensor<4xf32>) -> tensor<?x4x?xf32> {
  // CHECK-DAG: %[[SLOPES:.*]] = graph.constant dense<{{.*}}> : tensor<4x1xf32>
  // CHECK-DAG: %[[X4:.*]] = graph.view %[[X]] {dims = [#graph.expr<"N">, #graph.expr<"2">, #graph.expr<"1">, #graph.expr<"T">]}
  // CHECK-DAG: %[[W4:.*]] = graph.view %[[W]] {{.*}} -> tensor<4x2x1x3xf32>
  // CHECK: %[[C:.*]] = graph.conv %[[X4]], %[[W4]], %[[B]] {dilations = array<i64: 1, 2>, pads = array<i64: 0, 1, 0, 3>, strides = array<i64: 1, 1>} : {{.*}} -> tensor<?x4x1x?xf32>
  // CHECK: %[[S4:.*]] = graph.view %[[SLOPES]] {{.*}} -> tensor<4x1x1xf32>
  // CHECK: %[[P:.*]] = graph.mul %[[C]], %[[S4]] : (tensor<?x4x1x?xf32>, tensor<4x1x1xf32>) -> tensor<?x4x1x?xf32>
  // CHECK: %[[A:.*]] = graph.add %[[P]], %[[C]]
  // CHECK: %[[U:.*]] = graph.subview %[[A]] {offsets = [#graph.expr<"0">, #graph.expr<"0">, #graph.expr<"0">, #graph.expr<"1">], sizes = [#graph.expr<"N">, #graph.expr<"4">, #graph.expr<"1">, #graph.expr<"T + -1">], steps = array<i64: 1, 1, 1, 1>}
  // CHECK: %[[D:.*]] = graph.conv %[[U]], %{{.*}} -> tensor<?x4x1x?xf32>
  // CHECK: %[[Y:.*]] = graph.view %[[D]] {dims = [#graph.expr<"N">, #graph.expr<"4">, #graph.expr<"T + -1">]}
  // CHECK: return %[[Y]]
  %slopes = graph.constant dense<[[0.1], [0.2], [0.3], [0.4]]> : tensor<4x1xf32>
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1>, pads = array<i64: 1, 3>, dilations = array<i64: 2>}
    : (tensor<?x2x?xf32>, tensor<4x2x3xf32>, tensor<4xf32>) -> tensor<?x4x?xf32>
  %1 = graph.mul %0, %slopes : (tensor<?x4x?xf32>, tensor<4x1xf32>) -> tensor<?x4x?xf32>
  %2 = graph.add %1, %0 : (tensor<?x4x?xf32>, tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %3 = graph.subview %2 {offsets = [#graph.expr<"0">, #graph.expr<"0">, #graph.expr<"1">], sizes = [#graph.expr<"N">, #graph.expr<"4">, #graph.expr<"T - 1">],
                         steps = array<i64: 1, 1, 1>} : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
  %4 = graph.conv %3, %v {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
    : (tensor<?x4x?xf32>, tensor<4x4x1xf32>) -> tensor<?x4x?xf32>
  return %4 : tensor<?x4x?xf32>
}

// Pooling, too; a sum with what was not widened takes place where it was.
// CHECK-LABEL: func @pools
func.func @pools(%x: tensor<1x2x9xf32>, %z: tensor<1x2x3xf32>) -> (tensor<1x2x3xf32>, tensor<1x2x3xf32>) {
  // CHECK: %[[M:.*]] = graph.max_pool %{{.*}} {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 3>, pads = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 3>}
  // CHECK: %[[V:.*]] = graph.view %[[M]] {{.*}} -> tensor<1x2x3xf32>
  // CHECK: graph.average_pool %{{.*}} {count_include_pad, {{.*}}kernel = array<i64: 1, 3>{{.*}} -> tensor<1x2x1x3xf32>
  // CHECK: graph.add %[[V]], %arg1 : (tensor<1x2x3xf32>, tensor<1x2x3xf32>)
  %0 = graph.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 3>, pads = array<i64: 1, 0>, dilations = array<i64: 1>} : tensor<1x2x9xf32> -> tensor<1x2x3xf32>
  %1 = graph.average_pool %x {kernel = array<i64: 3>, strides = array<i64: 3>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, count_include_pad} : tensor<1x2x9xf32> -> tensor<1x2x3xf32>
  %2 = graph.add %0, %z : (tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  return %1, %2 : tensor<1x2x3xf32>, tensor<1x2x3xf32>
}

// A number of channels that is not known, and images: left.
// CHECK-LABEL: func @left
// CHECK-NOT: graph.view
func.func @left(%x: tensor<1x?x8xf32>, %w: tensor<4x?x3xf32>, %i: tensor<1x2x8x8xf32>) -> (tensor<1x4x6xf32>, tensor<1x2x4x4xf32>) {
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x?x8xf32>, tensor<4x?x3xf32>) -> tensor<1x4x6xf32>
  %1 = graph.max_pool %i {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x2x8x8xf32> -> tensor<1x2x4x4xf32>
  return %0, %1 : tensor<1x4x6xf32>, tensor<1x2x4x4xf32>
}
