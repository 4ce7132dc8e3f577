// RUN: llmc-opt %s --graph-push-gathers | FileCheck %s

// Scales may be one per row, one per column or one for all.
// CHECK-LABEL: func @scaled_table
func.func @scaled_table(%i: tensor<2x?xi64>) -> tensor<2x?x3xf32> {
  // CHECK-DAG: %[[T:.*]] = graph.constant dense<7> : tensor<8x3xi8>
  %t = graph.constant dense<7> : tensor<8x3xi8>
  // CHECK-DAG: %[[R:.*]] = graph.constant dense<2.000000e+00> : tensor<8x1xf32>
  %rows = graph.constant dense<2.0> : tensor<8x1xf32>
  // CHECK-DAG: %[[C:.*]] = graph.constant dense<3.000000e+00> : tensor<1x3xf32>
  %columns = graph.constant dense<3.0> : tensor<1x3xf32>
  // CHECK-DAG: %[[A:.*]] = graph.constant dense<5.000000e+00> : tensor<f32>
  %all = graph.constant dense<5.0> : tensor<f32>
  // CHECK: %[[G:.*]] = graph.gather %[[T]], %arg0 {axis = 0 : i64} : (tensor<8x3xi8>, tensor<2x?xi64>) -> tensor<2x?x3xi8>
  // CHECK: %[[F:.*]] = graph.cast %[[G]] to f32 : tensor<2x?x3xi8> -> tensor<2x?x3xf32>
  %f = graph.cast %t to f32 : tensor<8x3xi8> -> tensor<8x3xf32>
  // CHECK: %[[S:.*]] = graph.gather %[[R]], %arg0 {axis = 0 : i64} : (tensor<8x1xf32>, tensor<2x?xi64>) -> tensor<2x?x1xf32>
  // CHECK: graph.mul %[[F]], %[[S]] : (tensor<2x?x3xf32>, tensor<2x?x1xf32>) -> tensor<2x?x3xf32>
  %0 = graph.mul %f, %rows : (tensor<8x3xf32>, tensor<8x1xf32>) -> tensor<8x3xf32>
  // CHECK: %[[V:.*]] = graph.view %[[C]] {dims = [#graph.expr<"3">]} : tensor<1x3xf32> -> tensor<3xf32>
  // CHECK: graph.add {{.*}}, %[[V]] : (tensor<2x?x3xf32>, tensor<3xf32>) -> tensor<2x?x3xf32>
  %1 = graph.add %0, %columns : (tensor<8x3xf32>, tensor<1x3xf32>) -> tensor<8x3xf32>
  // CHECK: graph.sub {{.*}}, %[[A]] : (tensor<2x?x3xf32>, tensor<f32>) -> tensor<2x?x3xf32>
  %2 = graph.sub %1, %all : (tensor<8x3xf32>, tensor<f32>) -> tensor<8x3xf32>
  %y = graph.gather %2, %i {axis = 0 : i64} : (tensor<8x3xf32>, tensor<2x?xi64>) -> tensor<2x?x3xf32>
  return %y : tensor<2x?x3xf32>
}

// What others read is computed anyway; along another dim each row would be read in pieces; a table that varies may be small.
// CHECK-LABEL: func @stays
func.func @stays(%i: tensor<2xi64>, %x: tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<4x3xf32>, tensor<4x2xf32>, tensor<2x3xf32>) {
  %t = graph.constant dense<7> : tensor<4x3xi8>
  // CHECK: %[[F:.*]] = graph.cast
  // CHECK-NEXT: graph.gather %[[F]]
  %f = graph.cast %t to f32 : tensor<4x3xi8> -> tensor<4x3xf32>
  %y = graph.gather %f, %i {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  // CHECK: %[[N:.*]] = graph.neg
  // CHECK-NEXT: graph.gather %[[N]]
  %n = graph.neg %t : tensor<4x3xi8> -> tensor<4x3xi8>
  %c = graph.gather %n, %i {axis = 1 : i64} : (tensor<4x3xi8>, tensor<2xi64>) -> tensor<4x2xi8>
  %d = graph.cast %c to f32 : tensor<4x2xi8> -> tensor<4x2xf32>
  // CHECK: %[[R:.*]] = graph.relu %arg1
  // CHECK-NEXT: graph.gather %[[R]]
  %r = graph.relu %x : tensor<4x3xf32> -> tensor<4x3xf32>
  %z = graph.gather %r, %i {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return %y, %f, %d, %z : tensor<2x3xf32>, tensor<4x3xf32>, tensor<4x2xf32>, tensor<2x3xf32>
}
