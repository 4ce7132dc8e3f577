// RUN: llmc-opt %s | llmc-opt | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s
// What examples.test can not cover: optional operands, attributes that are off by default, unusual ranks and element types.

// CHECK-LABEL: func @result_types_may_know_more_than_inference
func.func @result_types_may_know_more_than_inference(%x: tensor<?x4xf32>) -> tensor<8x4xf32> {
  // CHECK: graph.relu %{{.*}} : tensor<?x4xf32> -> tensor<8x4xf32>
  %y = graph.relu %x : tensor<?x4xf32> -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: func @optional_operands
func.func @optional_operands(%x: tensor<1x4x8xf32>, %w: tensor<4x4x1xf32>, %b: tensor<4xf32>, %c: tensor<f32>,
                             %i: tensor<1xi64>, %s: tensor<8xf32>) {
  // CHECK: graph.conv %{{.*}}, %{{.*}}, %{{.*}} {{{.*}}} : (tensor<1x4x8xf32>, tensor<4x4x1xf32>, tensor<4xf32>)
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
    : (tensor<1x4x8xf32>, tensor<4x4x1xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
  // CHECK: graph.pad %{{.*}}, %{{.*}} {{{.*}}} : (tensor<1x4x8xf32>, tensor<f32>) -> tensor<1x4x9xf32>
  %1 = graph.pad %x, %c {pads = array<i64: 0, 0, 0, 0, 0, 1>, mode = 0 : i64} : (tensor<1x4x8xf32>, tensor<f32>) -> tensor<1x4x9xf32>
  // CHECK: graph.slice %{{.*}}, %{{.*}}, %{{.*}} steps %{{.*}} :
  %2 = graph.slice %x, %i, %i steps %i : (tensor<1x4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x4x8xf32>
  // CHECK: graph.slice %{{.*}}, %{{.*}}, %{{.*}} axes %{{.*}} :
  %3 = graph.slice %x, %i, %i axes %i : (tensor<1x4x8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x?x?xf32>
  // CHECK: graph.layer_norm %{{.*}}, %{{.*}} {axis = 2 : i64
  %4 = graph.layer_norm %x, %s {axis = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<1x4x8xf32>, tensor<8xf32>) -> tensor<1x4x8xf32>
  return
}

// CHECK-LABEL: func @any_of_several_optional_operands
func.func @any_of_several_optional_operands(%x: tensor<5x2x3xf32>, %w: tensor<2x16x3xf32>, %r: tensor<2x16x4xf32>, %l: tensor<2xi32>,
                                            %c: tensor<2x2x4xf32>, %image: tensor<1x8xf32>, %roi: tensor<2xf32>) {
  // CHECK: graph.lstm %{{.*}}, %{{.*}}, %{{.*}} lengths %{{.*}} initial_c %{{.*}} {{{.*}}clip = 3.0{{.*}}, input_forget}
  %y, %h, %last = graph.lstm %x, %w, %r lengths %l initial_c %c
    {direction = "bidirectional", activations = ["Sigmoid", "Tanh", "Tanh", "Relu", "Relu", "Relu"], alphas = array<f64: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0>,
     betas = array<f64: 0.0, 0.0, 0.0, 0.0, 0.0, 0.0>, clip = 3.0 : f64, input_forget}
    : (tensor<5x2x3xf32>, tensor<2x16x3xf32>, tensor<2x16x4xf32>, tensor<2xi32>, tensor<2x2x4xf32>)
      -> (tensor<5x2x2x4xf32>, tensor<2x2x4xf32>, tensor<2x2x4xf32>)
  // CHECK: graph.resize %{{.*}} roi %{{.*}} {{{.*}}exclude_outside{{.*}}}
  %z = graph.resize %image roi %roi {dims = [#graph.expr<"1">, #graph.expr<"4">], axes = array<i64: 1>, mode = "cubic",
                                     coordinates = "tf_crop_and_resize", exclude_outside} : (tensor<1x8xf32>, tensor<2xf32>) -> tensor<1x4xf32>
  return
}

// CHECK-LABEL: func @unit_attributes
func.func @unit_attributes(%x: tensor<1x8x8x4xf32>, %w: tensor<4x1x3x3xf32>, %s: tensor<2xi64>) {
  // CHECK: graph.conv {{.*}}channels_last{{.*}}group = 4
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 4 : i64,
                          channels_last} : (tensor<1x8x8x4xf32>, tensor<4x1x3x3xf32>) -> tensor<1x8x8x4xf32>
  // CHECK: graph.average_pool {{.*}}ceil_mode, channels_last, count_include_pad
  %1 = graph.average_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
                              dilations = array<i64: 1, 1>, ceil_mode, channels_last, count_include_pad}
    : tensor<1x8x8x4xf32> -> tensor<1x4x4x4xf32>
  // CHECK: graph.gelu %{{.*}} {tanh_form}
  %2 = graph.gelu %x {tanh_form} : tensor<1x8x8x4xf32> -> tensor<1x8x8x4xf32>
  // CHECK: graph.reshape %{{.*}} {allow_zero}
  %3 = graph.reshape %x, %s {allow_zero} : (tensor<1x8x8x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: func @ranks_and_element_types
func.func @ranks_and_element_types(%scalar: tensor<f16>, %bytes: tensor<0x3xui8>, %flags: tensor<2xi1>, %bf: tensor<2xbf16>) {
  // CHECK: graph.exp %{{.*}} : tensor<f16> -> tensor<f16>
  %0 = graph.exp %scalar : tensor<f16> -> tensor<f16>
  // CHECK: graph.add {{.*}} : (tensor<0x3xui8>, tensor<0x3xui8>) -> tensor<0x3xui8>
  %1 = graph.add %bytes, %bytes : (tensor<0x3xui8>, tensor<0x3xui8>) -> tensor<0x3xui8>
  // CHECK: graph.where {{.*}} : (tensor<2xi1>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  %2 = graph.where %flags, %bf, %bf : (tensor<2xi1>, tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  // CHECK: graph.reduce_sum %{{.*}} {axes = array<i64>} : tensor<2xbf16> -> tensor<2xbf16>
  %3 = graph.reduce_sum %bf {axes = array<i64>} : tensor<2xbf16> -> tensor<2xbf16>
  return
}

// A vector times a matrix is a vector, a product of vectors a scalar.
// CHECK-LABEL: func @products_of_rank_one
func.func @products_of_rank_one(%v: tensor<8xf32>, %m: tensor<5x8x3xf32>) {
  // CHECK: (tensor<8xf32>, tensor<5x8x3xf32>) -> tensor<5x3xf32>
  %0 = graph.matmul %v, %m : (tensor<8xf32>, tensor<5x8x3xf32>) -> tensor<5x3xf32>
  // CHECK: (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %1 = graph.matmul %v, %v : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  return
}

// A weight lies behind a resource handle.
// CHECK-LABEL: func @resource
func.func @resource() {
  // CHECK: graph.constant dense_resource<weight> : tensor<2xf32>
  %0 = graph.constant dense_resource<weight> : tensor<2xf32>
  return
}

{-#
  dialect_resources: {
    builtin: { weight: "0x040000000000803f00000040" }
  }
#-}
