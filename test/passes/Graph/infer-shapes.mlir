// RUN: llmc-opt %s --graph-infer-shapes --split-input-file --verify-diagnostics | FileCheck %s

// Dims follow their names; what is static becomes static.
// CHECK-LABEL: func @shape_is_followed
func.func @shape_is_followed(%x: tensor<?x4xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"4">]}) -> tensor<?x?xf32> {
  // CHECK: graph.shape {{.*}} -> tensor<2xi64>
  %s = graph.shape %x {start = 0 : i64, end = 2 : i64} : tensor<?x4xf32> -> tensor<?xi64>
  // CHECK: graph.transpose {{.*}} -> tensor<4x?xf32>
  %t = graph.transpose %x {perm = array<i64: 1, 0>} : tensor<?x4xf32> -> tensor<?x?xf32>
  // CHECK: return {{.*}} : tensor<4x?xf32>
  return %t : tensor<?x?xf32>
}

// -----

// The target shape is computed from dims: its contents are followed.
// CHECK-LABEL: func @target_from_dims
func.func @target_from_dims(%x: tensor<?x4x6xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"4">, #graph.expr<"6">]}) -> tensor<?x?xf32> {
  %all = graph.shape %x {start = 0 : i64, end = 1 : i64} : tensor<?x4x6xf32> -> tensor<1xi64>
  %rest = graph.constant dense<-1> : tensor<1xi64>
  %target = graph.concat %all, %rest {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
  // CHECK: graph.reshape {{.*}} -> tensor<?x24xf32>
  %y = graph.reshape %x, %target : (tensor<?x4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// Two different symbols must be equal at run time; the function says so.
// CHECK-LABEL: func @symbols_that_must_agree
// CHECK-SAME: graph.checks = {{\[\[}}#graph.expr<"N">, #graph.expr<"M">, "{{.*}}needs N = M; stretching a dim that only the run shows to be 1 is not supported"]]
func.func @symbols_that_must_agree(%x: tensor<?xf32> {graph.dims = [#graph.expr<"N">]}, %y: tensor<?xf32> {graph.dims = [#graph.expr<"M">]}) -> tensor<?xf32> {
  %z = graph.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

// One symbol in both: nothing to check.
// CHECK-LABEL: func @same_symbol
// CHECK-NOT: graph.checks
func.func @same_symbol(%x: tensor<?xf32> {graph.dims = [#graph.expr<"N">]}, %y: tensor<?xf32> {graph.dims = [#graph.expr<"N">]}) -> tensor<?xf32> {
  %z = graph.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

// Sizes that can never be equal are the model's fault.
func.func @sizes_that_differ(%x: tensor<?xf32> {graph.dims = [#graph.expr<"N">]}, %y: tensor<?xf32> {graph.dims = [#graph.expr<"N + 2">]}) -> tensor<?xf32> {
  // expected-error @+1 {{dims do not broadcast: N and N + 2}}
  %z = graph.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// -----

// SAME padding: as many positions as strides fit.
// CHECK-LABEL: func @same_padding
func.func @same_padding(%x: tensor<1x3x8x?xf32> {graph.dims = [#graph.expr<"1">, #graph.expr<"3">, #graph.expr<"8">, #graph.expr<"W">]}, %w: tensor<4x3x3x3xf32>) -> tensor<2xi64> {
  %y = graph.conv %x, %w {auto_pad = "same_upper", strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x3x8x?xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x?x?xf32>
  // CHECK: graph.conv {{.*}} -> tensor<1x4x4x?xf32>
  %s = graph.shape %y {start = 2 : i64, end = 4 : i64} : tensor<1x4x?x?xf32> -> tensor<2xi64>
  return %s : tensor<2xi64>
}

// -----

// CHECK-LABEL: func @transposed_convolution
func.func @transposed_convolution(%x: tensor<?x3x?xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"3">, #graph.expr<"W">]}, %w: tensor<3x4x2xf32>) -> tensor<3xi64> {
  %y = graph.conv_transpose %x, %w {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 1>}
    : (tensor<?x3x?xf32>, tensor<3x4x2xf32>) -> tensor<?x?x?xf32>
  // CHECK: graph.conv_transpose {{.*}} -> tensor<?x4x?xf32>
  %s = graph.shape %y {start = 0 : i64, end = 3 : i64} : tensor<?x?x?xf32> -> tensor<3xi64>
  return %s : tensor<3xi64>
}

// -----

// Both layers agree on the batch, which the state only claims to have.
// CHECK-LABEL: func @layer
// CHECK-SAME: graph.checks = {{.*}}(gru) needs M = N
func.func @layer(%x: tensor<?x?x3xf32> {graph.dims = [#graph.expr<"S">, #graph.expr<"N">, #graph.expr<"3">]}, %w: tensor<1x12x3xf32>,
                 %r: tensor<1x12x4xf32>, %h: tensor<1x?x4xf32> {graph.dims = [#graph.expr<"1">, #graph.expr<"M">, #graph.expr<"4">]})
    -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>) {
  %y, %last = graph.gru %x, %w, %r initial_h %h {direction = "forward", activations = ["Sigmoid", "Tanh"], alphas = array<f64: 0.0, 0.0>,
                                                 betas = array<f64: 0.0, 0.0>}
    : (tensor<?x?x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>, tensor<1x?x4xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  // CHECK: return {{.*}} : tensor<?x1x?x4xf32>, tensor<1x?x4xf32>
  return %y, %last : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>
}

// -----

// CHECK-LABEL: func @sampled_image
func.func @sampled_image(%x: tensor<?x3x?x8xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"3">, #graph.expr<"H">, #graph.expr<"8">]},
                         %g: tensor<?x?x6x2xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"P">, #graph.expr<"6">, #graph.expr<"2">]},
                         %r: tensor<?x5xf32> {graph.dims = [#graph.expr<"R">, #graph.expr<"5">]}) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) {
  %y = graph.grid_sample %x, %g {mode = "linear", padding = "zeros"} : (tensor<?x3x?x8xf32>, tensor<?x?x6x2xf32>) -> tensor<?x?x?x?xf32>
  %z = graph.max_roi_pool %x, %r {height = 2 : i64, width = 1 : i64, scale = 1.0 : f64} : (tensor<?x3x?x8xf32>, tensor<?x5xf32>) -> tensor<?x?x?x?xf32>
  // CHECK: return {{.*}} : tensor<?x3x?x6xf32>, tensor<?x3x2x1xf32>
  return %y, %z : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
}

// -----

func.func @unknown_auto_pad(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32> {
  // expected-error @+2 {{unknown auto_pad 'same'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.conv %x, %w {auto_pad = "same", strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  return %y : tensor<1x4x4x4xf32>
}
