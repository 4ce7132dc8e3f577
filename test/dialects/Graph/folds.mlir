// RUN: llmc-opt %s --canonicalize | FileCheck %s

// x + (-0.0), x - 0.0, x * 1.0 and x / 1.0 are x, to the bit.
// CHECK-LABEL: func @neutral_elements
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
func.func @neutral_elements(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %minus_zero = graph.constant dense<-0.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.add %x, %minus_zero : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %1 = graph.sub %0, %zero : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = graph.mul %1, %one : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %3 = graph.div %2, %one : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: return %[[X]]
  return %3 : tensor<2x4xf32>
}

// -0.0 + 0.0 is 0.0.
// CHECK-LABEL: func @sum_with_plus_zero
func.func @sum_with_plus_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  // CHECK: graph.add
  %0 = graph.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @integer_sum_with_zero
// CHECK-SAME: (%[[X:.*]]: tensor<4xi64>)
func.func @integer_sum_with_zero(%x: tensor<4xi64>) -> tensor<4xi64> {
  %zero = graph.constant dense<0> : tensor<i64>
  %0 = graph.add %x, %zero : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  // CHECK: return %[[X]]
  return %0 : tensor<4xi64>
}

// The neutral operand broadcasts: the shape changes.
// CHECK-LABEL: func @neutral_element_of_a_larger_shape
func.func @neutral_element_of_a_larger_shape(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  %one = graph.constant dense<1.0> : tensor<2x4xf32>
  // CHECK: graph.mul
  %0 = graph.mul %x, %one : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func @cast_to_the_same_type
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @cast_to_the_same_type(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.cast %x to f32 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: return %[[X]]
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @neutral_elements_on_the_left
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
func.func @neutral_elements_on_the_left(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %minus_zero = graph.constant dense<-0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %0 = graph.add %minus_zero, %x : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = graph.mul %one, %0 : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: return %[[X]]
  return %1 : tensor<2x4xf32>
}

// 0 - x and 1 / x are something else.
// CHECK-LABEL: func @no_neutral_element_on_the_left
func.func @no_neutral_element_on_the_left(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  // CHECK: graph.sub
  %0 = graph.sub %zero, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: graph.div
  %1 = graph.div %one, %0 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A cast that loses nothing is no step of its own.
// CHECK-LABEL: func @lossless_inner_casts
// CHECK-SAME: (%[[X:.*]]: tensor<4xf16>, %[[I:.*]]: tensor<4xi8>, %[[B:.*]]: tensor<4xi1>)
func.func @lossless_inner_casts(%x: tensor<4xf16>, %i: tensor<4xi8>, %b: tensor<4xi1>)
    -> (tensor<4xf16>, tensor<4xi64>, tensor<4xf32>) {
  %0 = graph.cast %x to f32 : tensor<4xf16> -> tensor<4xf32>
  %1 = graph.cast %0 to f16 : tensor<4xf32> -> tensor<4xf16>
  // CHECK: %[[J:.*]] = graph.cast %[[I]] to i64
  %2 = graph.cast %i to i32 : tensor<4xi8> -> tensor<4xi32>
  %3 = graph.cast %2 to i64 : tensor<4xi32> -> tensor<4xi64>
  // CHECK: %[[F:.*]] = graph.cast %[[B]] to f32
  %4 = graph.cast %b to ui8 : tensor<4xi1> -> tensor<4xui8>
  %5 = graph.cast %4 to f32 : tensor<4xui8> -> tensor<4xf32>
  // CHECK: return %[[X]], %[[J]], %[[F]]
  return %1, %3, %5 : tensor<4xf16>, tensor<4xi64>, tensor<4xf32>
}

// f32 rounds an i32, ui8 wraps an i8, bool forgets all but zero, bf16 has a short mantissa; from f32, -1 saturates to a ui8 of 0.
// CHECK-LABEL: func @lossy_inner_casts
func.func @lossy_inner_casts(%i: tensor<4xi32>, %s: tensor<4xi8>, %x: tensor<4xf16>)
    -> (tensor<4xi32>, tensor<4xi64>, tensor<4xi8>, tensor<4xf16>, tensor<4xui8>) {
  // CHECK-COUNT-10: graph.cast
  %0 = graph.cast %i to f32 : tensor<4xi32> -> tensor<4xf32>
  %1 = graph.cast %0 to i32 : tensor<4xf32> -> tensor<4xi32>
  %2 = graph.cast %s to ui8 : tensor<4xi8> -> tensor<4xui8>
  %3 = graph.cast %2 to i64 : tensor<4xui8> -> tensor<4xi64>
  %4 = graph.cast %s to i1 : tensor<4xi8> -> tensor<4xi1>
  %5 = graph.cast %4 to i8 : tensor<4xi1> -> tensor<4xi8>
  %6 = graph.cast %x to bf16 : tensor<4xf16> -> tensor<4xbf16>
  %7 = graph.cast %6 to f16 : tensor<4xbf16> -> tensor<4xf16>
  %8 = graph.cast %s to f32 : tensor<4xi8> -> tensor<4xf32>
  %9 = graph.cast %8 to ui8 : tensor<4xf32> -> tensor<4xui8>
  return %1, %3, %5, %7, %9 : tensor<4xi32>, tensor<4xi64>, tensor<4xi8>, tensor<4xf16>, tensor<4xui8>
}

// CHECK-LABEL: func @views_merge
// CHECK-SAME: (%[[X:.*]]: tensor<2x6xf32>)
func.func @views_merge(%x: tensor<2x6xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[Y:.*]] = graph.view %[[X]] {{.*}} : tensor<2x6xf32> -> tensor<4x3xf32>
  %0 = graph.view %x {dims = [#graph.expr<"12">]} : tensor<2x6xf32> -> tensor<12xf32>
  %1 = graph.view %0 {dims = [#graph.expr<"4">, #graph.expr<"3">]} : tensor<12xf32> -> tensor<4x3xf32>
  // CHECK: return %[[Y]]
  return %1 : tensor<4x3xf32>
}

// There and back again.
// CHECK-LABEL: func @views_cancel
// CHECK-SAME: (%[[X:.*]]: tensor<2x6xf32>)
func.func @views_cancel(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %0 = graph.view %x {dims = [#graph.expr<"12">]} : tensor<2x6xf32> -> tensor<12xf32>
  %1 = graph.view %0 {dims = [#graph.expr<"2">, #graph.expr<"6">]} : tensor<12xf32> -> tensor<2x6xf32>
  // CHECK: return %[[X]]
  return %1 : tensor<2x6xf32>
}

// Two dynamic sizes could trade places in a view of equal type.
// CHECK-LABEL: func @view_of_two_dynamic_dims
func.func @view_of_two_dynamic_dims(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  // CHECK: graph.view
  %0 = graph.view %x {dims = [#graph.expr<"M">, #graph.expr<"N">]} : tensor<?x?xf32> -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func @transposes_merge
func.func @transposes_merge(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  // Dim 0 of the result is dim 1 of the middle, which is dim 2 of %x.
  // CHECK: graph.transpose %{{.*}} {perm = array<i64: 2, 0, 1>} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  // CHECK-NOT: graph.transpose
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0, 2>} : tensor<2x4x3xf32> -> tensor<4x2x3xf32>
  return %1 : tensor<4x2x3xf32>
}

// CHECK-LABEL: func @transposes_cancel
// CHECK-SAME: (%[[X:.*]]: tensor<2x?x4xf32>)
func.func @transposes_cancel(%x: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %0 = graph.transpose %x {perm = array<i64: 1, 2, 0>} : tensor<2x?x4xf32> -> tensor<?x4x2xf32>
  %1 = graph.transpose %0 {perm = array<i64: 2, 0, 1>} : tensor<?x4x2xf32> -> tensor<2x?x4xf32>
  // CHECK: return %[[X]]
  return %1 : tensor<2x?x4xf32>
}

// CHECK-LABEL: func @moves_of_everything_to_its_place
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
func.func @moves_of_everything_to_its_place(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = graph.subview %x {offsets = [#graph.expr<"0">, #graph.expr<"0">], sizes = [#graph.expr<"2">, #graph.expr<"4">],
                         steps = array<i64: 1, 1>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %1 = graph.broadcast %0 {dims = [#graph.expr<"2">, #graph.expr<"4">]} : tensor<2x4xf32> -> tensor<2x4xf32>
  %2 = graph.concat %1 {axis = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: return %[[X]]
  return %2 : tensor<2x4xf32>
}

// Reversal reads all of x, too.
// CHECK-LABEL: func @reversal
func.func @reversal(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.subview
  %0 = graph.subview %x {offsets = [#graph.expr<"3">], sizes = [#graph.expr<"4">], steps = array<i64: -1>} : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func @sizes_that_are_numbers
func.func @sizes_that_are_numbers() -> (tensor<2xi64>, index) {
  // CHECK-DAG: %[[S:.*]] = graph.constant dense<[3, 4]> : tensor<2xi64>
  // CHECK-DAG: %[[N:.*]] = arith.constant 12 : index
  %0 = graph.from_dims {dims = [#graph.expr<"3">, #graph.expr<"4">]} : tensor<2xi64>
  %1 = graph.size #graph.expr<"3 * 4">
  // CHECK: return %[[S]], %[[N]]
  return %0, %1 : tensor<2xi64>, index
}
