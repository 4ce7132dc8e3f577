// RUN: llmc-opt %s --graph-raise-gelu | FileCheck %s

// x / sqrt(2), then x * (erf + 1), then * 0.5: what PyTorch's exporter writes.
// CHECK-LABEL: func @half_last
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>)
func.func @half_last(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %1 = graph.erf %0 : tensor<?x4xf32> -> tensor<?x4xf32>
  %2 = graph.add %1, %one : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %3 = graph.mul %x, %2 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %4 = graph.mul %3, %half : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.gelu %[[X]] : tensor<?x4xf32> -> tensor<?x4xf32>
  // CHECK-NEXT: return %[[Y]]
  return %4 : tensor<?x4xf32>
}

// 0.5 * x first; the constants are one-element tensors on the left; x times 1 / sqrt(2).
// CHECK-LABEL: func @half_first
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @half_first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %root = graph.constant dense<0.707106769> : tensor<1xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %half = graph.constant dense<0.5> : tensor<1xf32>
  %h = graph.mul %half, %x : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.mul %root, %x : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.erf %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.add %one, %1 : (tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.mul %2, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: graph.gelu %[[X]] :
  // CHECK-NEXT: return
  return %3 : tensor<4xf32>
}

// x * (0.5 * (1 + erf)), with the half as a division by two.
// CHECK-LABEL: func @half_of_the_sum
// CHECK-SAME: (%[[X:.*]]: tensor<4xf16>)
func.func @half_of_the_sum(%x: tensor<4xf16>) -> tensor<4xf16> {
  %root = graph.constant dense<1.4140625> : tensor<f16>
  %one = graph.constant dense<1.0> : tensor<f16>
  %two = graph.constant dense<2.0> : tensor<f16>
  %0 = graph.div %x, %root : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %1 = graph.erf %0 : tensor<4xf16> -> tensor<4xf16>
  %2 = graph.add %1, %one : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %3 = graph.div %2, %two : (tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  %4 = graph.mul %x, %3 : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  // CHECK-NEXT: graph.gelu %[[X]] :
  // CHECK-NEXT: return
  return %4 : tensor<4xf16>
}

// x^3 as a power; 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
// CHECK-LABEL: func @tanh_form_with_a_power
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @tanh_form_with_a_power(%x: tensor<4xf32>) -> tensor<4xf32> {
  %three = graph.constant dense<3.0> : tensor<f32>
  %k = graph.constant dense<0.044715> : tensor<f32>
  %s = graph.constant dense<0.797884583> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %h = graph.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = graph.pow %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.mul %0, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.add %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.mul %2, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.tanh %3 : tensor<4xf32> -> tensor<4xf32>
  %5 = graph.add %4, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %6 = graph.mul %h, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: graph.gelu %[[X]] {tanh_form} :
  // CHECK-NEXT: return
  return %6 : tensor<4xf32>
}

// x * sqrt(2 / pi) * (1 + 0.044715 * x * x): x factored out of the sum.
// CHECK-LABEL: func @tanh_form_factored
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @tanh_form_factored(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = graph.constant dense<0.044715> : tensor<f32>
  %s = graph.constant dense<0.797884583> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.mul %x, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.mul %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.mul %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.mul %3, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.tanh %4 : tensor<4xf32> -> tensor<4xf32>
  %6 = graph.add %one, %5 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = graph.mul %x, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %8 = graph.mul %half, %7 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: graph.gelu %[[X]] {tanh_form} :
  // CHECK-NEXT: return
  return %8 : tensor<4xf32>
}

// Another function, and a common one.
// CHECK-LABEL: func @sigmoid_approximation
func.func @sigmoid_approximation(%x: tensor<4xf32>) -> tensor<4xf32> {
  %k = graph.constant dense<1.702> : tensor<f32>
  %0 = graph.mul %x, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.sigmoid %0 : tensor<4xf32> -> tensor<4xf32>
  // CHECK: graph.mul
  // CHECK: graph.sigmoid
  // CHECK: graph.mul
  %2 = graph.mul %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Without the half it is twice a GELU.
// CHECK-LABEL: func @half_is_missing
func.func @half_is_missing(%x: tensor<4xf32>) -> tensor<4xf32> {
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: graph.erf
  %1 = graph.erf %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// 1.4 is not the square root of two.
// CHECK-LABEL: func @another_scale
func.func @another_scale(%x: tensor<4xf32>) -> tensor<4xf32> {
  %root = graph.constant dense<1.4> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: graph.erf
  %1 = graph.erf %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.mul %3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// The factor multiplies y, erf reads x.
// CHECK-LABEL: func @two_inputs
func.func @two_inputs(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: graph.erf
  %1 = graph.erf %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.mul %y, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.mul %3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// The error function is an output, too: raising would compute it twice.
// CHECK-LABEL: func @inner_value_is_used
func.func @inner_value_is_used(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.erf %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NOT: graph.gelu
  // CHECK: return
  %4 = graph.mul %3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %4, %1 : tensor<4xf32>, tensor<4xf32>
}

// The half adds a dim.
// CHECK-LABEL: func @result_has_a_higher_rank
func.func @result_has_a_higher_rank(%x: tensor<4xf32>) -> tensor<1x4xf32> {
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<1x1xf32>
  %0 = graph.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: graph.erf
  %1 = graph.erf %0 : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = graph.mul %x, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.mul %3, %half : (tensor<4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
  return %4 : tensor<1x4xf32>
}
