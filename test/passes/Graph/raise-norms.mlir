// RUN: llmc-opt %s --graph-raise-norms | FileCheck %s

// As PyTorch's exporter writes it: the square as a power, scale and bias last.
// CHECK-LABEL: func @layer_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x4xf32>, %[[S:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @layer_norm(%x: tensor<?x?x4xf32>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<?x?x4xf32> {
  %two = graph.constant dense<2.0> : tensor<f32>
  %epsilon = graph.constant dense<1.250000e-01> : tensor<f32>
  %mean = graph.reduce_mean %x {axes = array<i64: 2>, keepdims} : tensor<?x?x4xf32> -> tensor<?x?x1xf32>
  %d = graph.sub %x, %mean : (tensor<?x?x4xf32>, tensor<?x?x1xf32>) -> tensor<?x?x4xf32>
  %q = graph.pow %d, %two : (tensor<?x?x4xf32>, tensor<f32>) -> tensor<?x?x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 2>, keepdims} : tensor<?x?x4xf32> -> tensor<?x?x1xf32>
  %e = graph.add %v, %epsilon : (tensor<?x?x1xf32>, tensor<f32>) -> tensor<?x?x1xf32>
  %s = graph.sqrt %e : tensor<?x?x1xf32> -> tensor<?x?x1xf32>
  %n = graph.div %d, %s : (tensor<?x?x4xf32>, tensor<?x?x1xf32>) -> tensor<?x?x4xf32>
  %w = graph.mul %n, %scale : (tensor<?x?x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  %y = graph.add %w, %bias : (tensor<?x?x4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.layer_norm %[[X]], %[[S]], %[[B]] {axis = 2 : i64, epsilon = 1.250000e-01 : f64}
  // CHECK-NEXT: return %[[Y]]
  return %y : tensor<?x?x4xf32>
}

// Over two dims, the square as a product, a product with the reciprocal of the root, operands the other way round.
// CHECK-LABEL: func @layer_norm_by_a_reciprocal
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[S:.*]]: tensor<3x4xf32>, %[[B:.*]]: tensor<3x4xf32>)
func.func @layer_norm_by_a_reciprocal(%x: tensor<2x3x4xf32>, %scale: tensor<3x4xf32>, %bias: tensor<3x4xf32>) -> tensor<2x3x4xf32> {
  %epsilon = graph.constant dense<1.250000e-01> : tensor<1xf32>
  %mean = graph.reduce_mean %x {axes = array<i64: 1, 2>, keepdims} : tensor<2x3x4xf32> -> tensor<2x1x1xf32>
  %d = graph.sub %x, %mean : (tensor<2x3x4xf32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32>
  %q = graph.mul %d, %d : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1, 2>, keepdims} : tensor<2x3x4xf32> -> tensor<2x1x1xf32>
  %e = graph.add %epsilon, %v : (tensor<1xf32>, tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %s = graph.sqrt %e : tensor<2x1x1xf32> -> tensor<2x1x1xf32>
  %r = graph.reciprocal %s : tensor<2x1x1xf32> -> tensor<2x1x1xf32>
  %n = graph.mul %r, %d : (tensor<2x1x1xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %w = graph.mul %scale, %n : (tensor<3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %y = graph.add %bias, %w : (tensor<3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK-NEXT: graph.layer_norm %[[X]], %[[S]], %[[B]] {axis = 1 : i64, epsilon = 1.250000e-01 : f64}
  // CHECK-NEXT: return
  return %y : tensor<2x3x4xf32>
}

// Without scale and bias: a scale of ones.
// CHECK-LABEL: func @layer_norm_alone
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
func.func @layer_norm_alone(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %epsilon = graph.constant dense<1.250000e-01> : tensor<f32>
  %mean = graph.reduce_mean %x {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  %d = graph.sub %x, %mean : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %q = graph.mul %d, %d : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  %e = graph.add %v, %epsilon : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %s = graph.sqrt %e : tensor<2x1xf32> -> tensor<2x1xf32>
  // CHECK: %[[ONES:.*]] = graph.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK: graph.layer_norm %[[X]], %[[ONES]] {axis
  // CHECK-NEXT: return
  %n = graph.div %d, %s : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %n : tensor<2x4xf32>
}

// CHECK-LABEL: func @rms_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>, %[[S:.*]]: tensor<4xf32>)
func.func @rms_norm(%x: tensor<?x4xf32>, %scale: tensor<4xf32>) -> tensor<?x4xf32> {
  %two = graph.constant dense<2.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %epsilon = graph.constant dense<1.250000e-01> : tensor<f32>
  %q = graph.pow %x, %two : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>, keepdims} : tensor<?x4xf32> -> tensor<?x1xf32>
  %e = graph.add %v, %epsilon : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %s = graph.sqrt %e : tensor<?x1xf32> -> tensor<?x1xf32>
  %r = graph.div %one, %s : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %n = graph.mul %x, %r : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: graph.rms_norm %[[X]], %[[S]] {axis = 1 : i64, epsilon = 1.250000e-01 : f64}
  // CHECK-NEXT: return
  %y = graph.mul %scale, %n : (tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// x^-0.5 of the mean.
// CHECK-LABEL: func @rms_norm_by_a_power
func.func @rms_norm_by_a_power(%x: tensor<?x4xf32>, %scale: tensor<4xf32>) -> tensor<?x4xf32> {
  %power = graph.constant dense<-0.5> : tensor<f32>
  %epsilon = graph.constant dense<1.250000e-01> : tensor<f32>
  %q = graph.mul %x, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>, keepdims} : tensor<?x4xf32> -> tensor<?x1xf32>
  %e = graph.add %v, %epsilon : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %r = graph.pow %e, %power : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %n = graph.mul %x, %r : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: graph.rms_norm
  // CHECK-NEXT: return
  %y = graph.mul %n, %scale : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// The centred value is an output: what is left to name is the RMS norm of it.
// CHECK-LABEL: func @centred_value_is_used
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>, %[[S:.*]]: tensor<4xf32>)
func.func @centred_value_is_used(%x: tensor<2x4xf32>, %scale: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %epsilon = graph.constant dense<1.250000e-01> : tensor<f32>
  %mean = graph.reduce_mean %x {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  // CHECK: %[[D:.*]] = graph.sub
  %d = graph.sub %x, %mean : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %q = graph.mul %d, %d : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  %e = graph.add %v, %epsilon : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %s = graph.sqrt %e : tensor<2x1xf32> -> tensor<2x1xf32>
  %n = graph.div %d, %s : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: graph.rms_norm %[[D]], %[[S]]
  %y = graph.mul %n, %scale : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %y, %d : tensor<2x4xf32>, tensor<2x4xf32>
}

// The variance is an output.
// CHECK-LABEL: func @variance_is_used
func.func @variance_is_used(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>) {
  %epsilon = graph.constant dense<1.250000e-01> : tensor<f32>
  %q = graph.mul %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  %e = graph.add %v, %epsilon : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %s = graph.sqrt %e : tensor<2x1xf32> -> tensor<2x1xf32>
  // CHECK: graph.div
  %n = graph.div %x, %s : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %n, %v : tensor<2x4xf32>, tensor<2x1xf32>
}

// A norm over leading dims is none of ours.
// CHECK-LABEL: func @leading_dims
func.func @leading_dims(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %epsilon = graph.constant dense<1.250000e-01> : tensor<f32>
  %q = graph.mul %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 0>, keepdims} : tensor<2x4xf32> -> tensor<1x4xf32>
  %e = graph.add %v, %epsilon : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %s = graph.sqrt %e : tensor<1x4xf32> -> tensor<1x4xf32>
  // CHECK: graph.div
  %n = graph.div %x, %s : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  return %n : tensor<2x4xf32>
}

// Mean and variance over different dims: the RMS norm of the centred value is right, a layer norm would not be.
// CHECK-LABEL: func @axes_differ
func.func @axes_differ(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %epsilon = graph.constant dense<1.250000e-01> : tensor<f32>
  %mean = graph.reduce_mean %x {axes = array<i64: 1, 2>, keepdims} : tensor<2x3x4xf32> -> tensor<2x1x1xf32>
  // CHECK: %[[D:.*]] = graph.sub
  %d = graph.sub %x, %mean : (tensor<2x3x4xf32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32>
  %q = graph.mul %d, %d : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 2>, keepdims} : tensor<2x3x4xf32> -> tensor<2x3x1xf32>
  %e = graph.add %v, %epsilon : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x1xf32>
  %s = graph.sqrt %e : tensor<2x3x1xf32> -> tensor<2x3x1xf32>
  // CHECK: graph.rms_norm %[[D]], {{.*}} {axis = 2
  %n = graph.div %d, %s : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  return %n : tensor<2x3x4xf32>
}

// A scale per row and a sum with another tensor are no scale and bias of the norm.
// CHECK-LABEL: func @operands_of_other_shapes
func.func @operands_of_other_shapes(%x: tensor<2x4xf32>, %rows: tensor<2x1xf32>, %other: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %epsilon = graph.constant dense<1.250000e-01> : tensor<f32>
  %q = graph.mul %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %v = graph.reduce_mean %q {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  %e = graph.add %v, %epsilon : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %s = graph.sqrt %e : tensor<2x1xf32> -> tensor<2x1xf32>
  // CHECK: graph.rms_norm
  // CHECK-NEXT: graph.mul
  // CHECK-NEXT: graph.add
  %n = graph.div %x, %s : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %w = graph.mul %n, %rows : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %y = graph.add %w, %other : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
