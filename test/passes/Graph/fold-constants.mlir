// RUN: llmc-opt %s --graph-fold-constants | FileCheck %s
// RUN: llmc-opt %s --graph-fold-constants=max-bytes=16 | FileCheck %s --check-prefix=SMALL

// CHECK-LABEL: func @sum_of_constants
func.func @sum_of_constants() -> tensor<2xf32> {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = graph.constant dense<10.0> : tensor<f32>
  // CHECK: %[[Z:.*]] = graph.constant dense<[1.100000e+01, 1.200000e+01]> : tensor<2xf32>
  // CHECK: return %[[Z]]
  %z = graph.add %x, %y : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}

// A chain folds to its end, integers divide towards zero.
// CHECK-LABEL: func @chain
func.func @chain() -> tensor<2x1xi64> {
  %x = graph.constant dense<[[-7, 9]]> : tensor<1x2xi64>
  %two = graph.constant dense<2> : tensor<i64>
  %0 = graph.div %x, %two : (tensor<1x2xi64>, tensor<i64>) -> tensor<1x2xi64>
  // CHECK: graph.constant dense<{{\[}}[-3], [4]]> : tensor<2x1xi64>
  // CHECK-NEXT: return
  %1 = graph.transpose %0 {perm = array<i64: 1, 0>} : tensor<1x2xi64> -> tensor<2x1xi64>
  return %1 : tensor<2x1xi64>
}

// CHECK-LABEL: func @operand_is_an_argument
func.func @operand_is_an_argument(%x: tensor<1x1xf32>) -> tensor<1x2xf32> {
  %w = graph.constant dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  // CHECK: graph.matmul
  %y = graph.matmul %x, %w : (tensor<1x1xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// Larger than max-bytes and than the input: the artifact would hold the copies.
// CHECK-LABEL: func @result_larger_than_both_limits
// SMALL-LABEL: func @result_larger_than_both_limits
func.func @result_larger_than_both_limits() -> tensor<2x3xf32> {
  %x = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  // CHECK-NOT: graph.broadcast
  // SMALL: graph.broadcast
  %y = graph.broadcast %x {dims = [#graph.expr<"2">, #graph.expr<"3">]} : tensor<3xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Larger than max-bytes, but no larger than the input: a transposed weight replaces the weight.
// SMALL-LABEL: func @result_no_larger_than_its_input
func.func @result_no_larger_than_its_input() -> tensor<3x2xf32> {
  %x = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  // SMALL: graph.constant dense<{{\[}}[1.000000e+00, 4.000000e+00],
  // SMALL-NOT: graph.transpose
  %y = graph.transpose %x {perm = array<i64: 1, 0>} : tensor<2x3xf32> -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// An index outside of the dim is an error of the model at run time, not of the compiler.
// CHECK-LABEL: func @kernel_refuses
func.func @kernel_refuses() -> tensor<1xf32> {
  %x = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = graph.constant dense<2> : tensor<1xi64>
  // CHECK: graph.gather
  %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// CHECK-LABEL: func @result_shape_is_dynamic
func.func @result_shape_is_dynamic() -> tensor<?xf32> {
  %x = graph.constant dense<1.0> : tensor<1xf32>
  // CHECK: graph.broadcast
  %y = graph.broadcast %x {dims = [#graph.expr<"N">]} : tensor<1xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// Steps without axes: the absent operand keeps its place.
// CHECK-LABEL: func @absent_operand_in_the_middle
func.func @absent_operand_in_the_middle() -> tensor<2xf32> {
  %x = graph.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %start = graph.constant dense<0> : tensor<1xi64>
  %end = graph.constant dense<4> : tensor<1xi64>
  %step = graph.constant dense<2> : tensor<1xi64>
  // CHECK: graph.constant dense<[0.000000e+00, 2.000000e+00]> : tensor<2xf32>
  // CHECK-NEXT: return
  %y = graph.slice %x, %start, %end steps %step
    : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Computing a weight in each run would cost more than the product with it.
// SMALL-LABEL: func @weight_of_a_product
func.func @weight_of_a_product(%x: tensor<1x4xf32>) -> tensor<1x3xf32> {
  %q = graph.constant dense<[[1, -2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]> : tensor<4x3xi8>
  %scale = graph.constant dense<[0.5, 2.0, 1.0]> : tensor<3xf32>
  %f = graph.cast %q to f32 : tensor<4x3xi8> -> tensor<4x3xf32>
  // SMALL: %[[W:.*]] = graph.constant dense<{{\[}}[5.000000e-01, -4.000000e+00, 3.000000e+00],
  // SMALL-NEXT: graph.matmul %arg0, %[[W]]
  %w = graph.mul %f, %scale : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %y = graph.matmul %x, %w : (tensor<1x4xf32>, tensor<4x3xf32>) -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}

// Not where anything else reads it too.
// SMALL-LABEL: func @weight_and_more
func.func @weight_and_more(%x: tensor<1x4xf32>) -> (tensor<1x5xf32>, tensor<4x5xf32>) {
  %q = graph.constant dense<7> : tensor<4x5xi8>
  // SMALL: graph.cast
  %w = graph.cast %q to f32 : tensor<4x5xi8> -> tensor<4x5xf32>
  %y = graph.matmul %x, %w : (tensor<1x4xf32>, tensor<4x5xf32>) -> tensor<1x5xf32>
  return %y, %w : tensor<1x5xf32>, tensor<4x5xf32>
}
