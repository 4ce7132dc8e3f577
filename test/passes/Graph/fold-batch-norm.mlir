// RUN: llmc-opt %s --graph-fold-batch-norm | FileCheck %s

// factor = scale / sqrt(variance + epsilon) = [2 / 2, 6 / 2] = [1, 3]; bias' = bias + factor * (0 - mean) = [1 - 1 * 5, 2 - 3 * 0.5]
// CHECK-LABEL: func @conv_without_bias
// CHECK-SAME: (%[[X:.*]]: tensor<1x1x4xf32>)
func.func @conv_without_bias(%x: tensor<1x1x4xf32>) -> tensor<1x2x3xf32> {
  %w = graph.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %scale = graph.constant dense<[2.0, 6.0]> : tensor<2xf32>
  %bias = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %mean = graph.constant dense<[5.0, 0.5]> : tensor<2xf32>
  %variance = graph.constant dense<[3.75, 3.75]> : tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}[1.000000e+00, 2.000000e+00]], {{\[}}[9.000000e+00, 1.200000e+01]]]>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<[-4.000000e+00, 5.000000e-01]>
  // CHECK: %[[Y:.*]] = graph.conv %[[X]], %[[W]], %[[B]] {{.*}}strides = array<i64: 1>
  // CHECK: return %[[Y]]
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
    : (tensor<1x1x4xf32>, tensor<2x1x2xf32>) -> tensor<1x2x3xf32>
  %1 = graph.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = 0.25 : f64}
    : (tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x3xf32>
  return %1 : tensor<1x2x3xf32>
}

// The bias of the convolution is scaled, too: 3 * 7 + (2 - 3 * 0.5) = 21.5. Depthwise: the factor goes by output channel.
// CHECK-LABEL: func @depthwise_conv_with_bias
func.func @depthwise_conv_with_bias(%x: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {
  %w = graph.constant dense<[[[1.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %b = graph.constant dense<[0.0, 7.0]> : tensor<2xf32>
  %scale = graph.constant dense<[2.0, 6.0]> : tensor<2xf32>
  %bias = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %mean = graph.constant dense<[5.0, 0.5]> : tensor<2xf32>
  %variance = graph.constant dense<[3.75, 3.75]> : tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}[1.000000e+00]], {{\[}}[9.000000e+00]]]>
  // CHECK-DAG: %[[B:.*]] = graph.constant dense<[-4.000000e+00, 2.150000e+01]>
  // CHECK: graph.conv %{{.*}}, %[[W]], %[[B]] {{.*}}group = 2
  // CHECK-NOT: graph.batch_norm
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 2 : i64}
    : (tensor<?x2x4xf32>, tensor<2x1x1xf32>, tensor<2xf32>) -> tensor<?x2x4xf32>
  %1 = graph.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = 0.25 : f64}
    : (tensor<?x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x4xf32>
  return %1 : tensor<?x2x4xf32>
}

// Something else reads the convolution: it stays, and the norm is a product and a sum.
// CHECK-LABEL: func @conv_with_two_uses
func.func @conv_with_two_uses(%x: tensor<1x1x4x4xf32>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = graph.constant dense<2.0> : tensor<1x1x1x1xf32>
  %scale = graph.constant dense<6.0> : tensor<1xf32>
  %bias = graph.constant dense<2.0> : tensor<1xf32>
  %mean = graph.constant dense<0.5> : tensor<1xf32>
  %variance = graph.constant dense<3.75> : tensor<1xf32>
  // CHECK-DAG: %[[W:.*]] = graph.constant dense<2.000000e+00> : tensor<1x1x1x1xf32>
  // CHECK-DAG: %[[FACTOR:.*]] = graph.constant dense<3.000000e+00> : tensor<1x1x1xf32>
  // CHECK-DAG: %[[OFFSET:.*]] = graph.constant dense<5.000000e-01> : tensor<1x1x1xf32>
  // CHECK: %[[C:.*]] = graph.conv %{{.*}}, %[[W]] {
  // CHECK: %[[P:.*]] = graph.mul %[[C]], %[[FACTOR]]
  // CHECK: %[[S:.*]] = graph.add %[[P]], %[[OFFSET]]
  // CHECK: return %[[C]], %[[S]]
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %1 = graph.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = 0.25 : f64}
    : (tensor<1x1x4x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  return %0, %1 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// The channel of a batch norm is dim 1, that of this convolution the last: they are not the same.
// CHECK-LABEL: func @channels_last_conv
func.func @channels_last_conv(%x: tensor<1x2x1xf32>) -> tensor<1x2x2xf32> {
  %w = graph.constant dense<1.0> : tensor<2x1x1xf32>
  %one = graph.constant dense<1.0> : tensor<2xf32>
  // CHECK: graph.conv
  // CHECK: graph.mul
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, channels_last}
    : (tensor<1x2x1xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2xf32>
  %1 = graph.batch_norm %0, %one, %one, %one, %one {epsilon = 0.25 : f64}
    : (tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32>
  return %1 : tensor<1x2x2xf32>
}

// CHECK-LABEL: func @weight_is_an_argument
func.func @weight_is_an_argument(%x: tensor<1x1x4xf32>, %w: tensor<2x1x1xf32>) -> tensor<1x2x4xf32> {
  %one = graph.constant dense<1.0> : tensor<2xf32>
  // CHECK: graph.conv %{{.*}}, %arg1 {
  // CHECK: graph.mul
  // CHECK: graph.add
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
    : (tensor<1x1x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4xf32>
  %1 = graph.batch_norm %0, %one, %one, %one, %one {epsilon = 3.0 : f64}
    : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  return %1 : tensor<1x2x4xf32>
}

// CHECK-LABEL: func @parameter_is_an_argument
func.func @parameter_is_an_argument(%x: tensor<1x2x4xf32>, %mean: tensor<2xf32>) -> tensor<1x2x4xf32> {
  %one = graph.constant dense<1.0> : tensor<2xf32>
  // CHECK: graph.batch_norm
  %1 = graph.batch_norm %x, %one, %one, %mean, %one {epsilon = 0.0 : f64}
    : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  return %1 : tensor<1x2x4xf32>
}

// 1 / sqrt(0) is no number to fold.
// CHECK-LABEL: func @factor_is_not_finite
func.func @factor_is_not_finite(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %zero = graph.constant dense<0.0> : tensor<1xf32>
  // CHECK: graph.batch_norm
  %1 = graph.batch_norm %x, %one, %one, %one, %zero {epsilon = 0.0 : f64}
    : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  return %1 : tensor<1x1x4xf32>
}

// 1e30 * 1e10 is beyond f32: the weight stays, the norm does not.
// CHECK-LABEL: func @scaled_weight_is_not_finite
func.func @scaled_weight_is_not_finite(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %w = graph.constant dense<1.0e30> : tensor<1x1x1xf32>
  %scale = graph.constant dense<1.0e10> : tensor<1xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  // CHECK: graph.conv
  // CHECK: graph.mul
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
    : (tensor<1x1x4xf32>, tensor<1x1x1xf32>) -> tensor<1x1x4xf32>
  %1 = graph.batch_norm %0, %scale, %one, %one, %one {epsilon = 0.0 : f64}
    : (tensor<1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x4xf32>
  return %1 : tensor<1x1x4xf32>
}
