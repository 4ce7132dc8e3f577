// RUN: llmc-opt %s --graph-channels-last --cse | FileCheck %s

// CHECK-LABEL: func @conv_with_bias
// CHECK-SAME: (%[[X:.*]]: tensor<?x3x8x8xf32>, %[[W:.*]]: tensor<4x3x3x3xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @conv_with_bias(%x: tensor<?x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<?x4x4x4xf32> {
  // CHECK: %[[T:.*]] = graph.transpose %[[X]] {perm = array<i64: 0, 2, 3, 1>} : tensor<?x3x8x8xf32> -> tensor<?x8x8x3xf32>
  // CHECK: %[[C:.*]] = graph.conv %[[T]], %[[W]], %[[B]] {channels_last, dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 1, 2>, strides = array<i64: 2, 2>}
  // CHECK-SAME: -> tensor<?x4x4x4xf32>
  // CHECK: %[[Y:.*]] = graph.transpose %[[C]] {perm = array<i64: 0, 3, 1, 2>}
  // CHECK: return %[[Y]]
  %y = graph.conv %x, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 2>, dilations = array<i64: 1, 1>}
    : (tensor<?x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<?x4x4x4xf32>
  return %y : tensor<?x4x4x4xf32>
}

// A residual block and a head: one transpose at the input, none after it.
// CHECK-LABEL: func @classifier
func.func @classifier(%x: tensor<?x4x8x8xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"4">, #graph.expr<"8">, #graph.expr<"8">]},
                      %w: tensor<4x4x3x3xf32>) -> tensor<?x4xf32> {
  // CHECK: graph.transpose
  // CHECK-NOT: graph.transpose
  // CHECK: %[[P:.*]] = graph.max_pool {{.*}}channels_last
  // CHECK: %[[C:.*]] = graph.conv %[[P]], {{.*}}channels_last
  // CHECK: %[[R:.*]] = graph.relu %[[C]]
  // CHECK: %[[D:.*]] = graph.conv %[[R]], {{.*}}channels_last
  // CHECK: %[[S:.*]] = graph.add %[[D]], %[[P]] : (tensor<?x8x8x4xf32>, tensor<?x8x8x4xf32>)
  // CHECK: %[[A:.*]] = graph.average_pool %[[S]] {{.*}}channels_last{{.*}}count_include_pad
  // CHECK: %[[M:.*]] = graph.reduce_mean %[[A]] {axes = array<i64: 1, 2>, keepdims} : tensor<?x8x8x4xf32> -> tensor<?x1x1x4xf32>
  // CHECK: %[[V:.*]] = graph.view %[[M]] {{.*}} : tensor<?x1x1x4xf32> -> tensor<?x4x1x1xf32>
  // CHECK: graph.view %[[V]] {{.*}} -> tensor<?x4xf32>
  // CHECK-NOT: graph.transpose
  // CHECK: return
  %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
                          dilations = array<i64: 1, 1>} : tensor<?x4x8x8xf32> -> tensor<?x4x8x8xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
    : (tensor<?x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<?x4x8x8xf32>
  %2 = graph.relu %1 : tensor<?x4x8x8xf32> -> tensor<?x4x8x8xf32>
  %3 = graph.conv %2, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
    : (tensor<?x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<?x4x8x8xf32>
  %4 = graph.add %3, %0 : (tensor<?x4x8x8xf32>, tensor<?x4x8x8xf32>) -> tensor<?x4x8x8xf32>
  %5 = graph.average_pool %4 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>,
                              dilations = array<i64: 1, 1>, count_include_pad} : tensor<?x4x8x8xf32> -> tensor<?x4x8x8xf32>
  %6 = graph.reduce_mean %5 {axes = array<i64: 2, 3>, keepdims} : tensor<?x4x8x8xf32> -> tensor<?x4x1x1xf32>
  %7 = graph.view %6 {dims = [#graph.expr<"N">, #graph.expr<"4">]} : tensor<?x4x1x1xf32> -> tensor<?x4xf32>
  return %7 : tensor<?x4xf32>
}

// What is left of the last transpose moves dims of size 1 alone.
// CHECK-LABEL: func @view_at_the_end
func.func @view_at_the_end(%x: tensor<?x4x8x8xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"4">, #graph.expr<"8">, #graph.expr<"8">]},
                           %w: tensor<5x4x8x8xf32>) -> tensor<?x5x1x1xf32> {
  // CHECK: graph.transpose
  // CHECK: %[[C:.*]] = graph.conv
  // CHECK: graph.view %[[C]] {dims = [#graph.expr<"N">, #graph.expr<"5">, #graph.expr<"1">, #graph.expr<"1">]} : tensor<?x1x1x5xf32> -> tensor<?x5x1x1xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<?x4x8x8xf32>, tensor<5x4x8x8xf32>) -> tensor<?x5x1x1xf32>
  return %0 : tensor<?x5x1x1xf32>
}

// Constants are permuted, one-element ones stay, lower ranks get leading ones.
// CHECK-LABEL: func @constant_operands
func.func @constant_operands(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %channel = graph.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %row = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %scalar = graph.constant dense<3.0> : tensor<f32>
  // CHECK-DAG: %[[SCALAR:.*]] = graph.constant dense<3.000000e+00>
  // CHECK-DAG: %[[CHANNEL:.*]] = graph.constant dense<{{.*}}> : tensor<2x1x1xf32>
  // CHECK-DAG: %[[ROW:.*]] = graph.constant dense<{{.*}}> : tensor<4xf32>
  // CHECK: %[[P:.*]] = graph.max_pool
  // CHECK: %[[MUL:.*]] = graph.mul %[[SCALAR]], %[[P]]
  // CHECK: %[[V:.*]] = graph.view %[[CHANNEL]] {{.*}} : tensor<2x1x1xf32> -> tensor<1x2x1x1xf32>
  // CHECK: %[[LAST:.*]] = graph.view %[[V]] {{.*}} : tensor<1x2x1x1xf32> -> tensor<1x1x1x2xf32>
  // CHECK: %[[ADD:.*]] = graph.add %[[MUL]], %[[LAST]] : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: %[[W:.*]] = graph.view %[[ROW]] {{.*}} : tensor<4xf32> -> tensor<1x1x1x4xf32>
  // CHECK: %[[COLUMN:.*]] = graph.view %[[W]] {{.*}} : tensor<1x1x1x4xf32> -> tensor<1x1x4x1xf32>
  // CHECK: %[[SUB:.*]] = graph.sub %[[ADD]], %[[COLUMN]] : (tensor<1x4x4x2xf32>, tensor<1x1x4x1xf32>) -> tensor<1x4x4x2xf32>
  // CHECK: graph.transpose %[[SUB]]
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %1 = graph.mul %scalar, %0 : (tensor<f32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.add %1, %channel : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = graph.sub %2, %row : (tensor<1x2x4x4xf32>, tensor<4xf32>) -> tensor<1x2x4x4xf32>
  return %3 : tensor<1x2x4x4xf32>
}

// A gate of shape [N, C, 1, 1] (squeeze and excite) moves for nothing; so does `where` with its condition.
// CHECK-LABEL: func @operands_that_move_for_nothing
func.func @operands_that_move_for_nothing(%x: tensor<1x2x4x4xf32>, %gate: tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  // CHECK: %[[P:.*]] = graph.max_pool
  // CHECK: %[[G:.*]] = graph.view %{{.*}} : tensor<1x2x1x1xf32> -> tensor<1x1x1x2xf32>
  // CHECK: %[[M:.*]] = graph.mul %[[P]], %[[G]]
  // CHECK: %[[L:.*]] = graph.less %[[M]], %{{.*}} : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x4x2xi1>
  // CHECK: %[[W:.*]] = graph.where %[[L]], %{{.*}}, %[[M]]
  // CHECK: graph.transpose %[[W]]
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %1 = graph.mul %0, %gate : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.less %1, %zero : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xi1>
  %3 = graph.where %2, %zero, %1 : (tensor<1x2x4x4xi1>, tensor<f32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %3 : tensor<1x2x4x4xf32>
}

// The transpose that the convolution needs of %x serves the sum, too.
// CHECK-LABEL: func @operand_transposed_elsewhere
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x4x4xf32>
func.func @operand_transposed_elsewhere(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: %[[T:.*]] = graph.transpose %[[X]]
  // CHECK: %[[C:.*]] = graph.conv %[[T]]
  // CHECK: %[[A:.*]] = graph.add %[[C]], %[[T]]
  // CHECK: graph.transpose %[[A]]
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.add %0, %x : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}

// Axes that drop: of [N, H, W, C] without the channel [N, H, W] is left in order, without H a permutation of what stays.
// CHECK-LABEL: func @reductions_that_drop_dims
func.func @reductions_that_drop_dims(%x: tensor<1x2x3x4xf32>)
    -> (tensor<1x2xf32>, tensor<1x3x4xf32>, tensor<1x2x4xf32>, tensor<1x1x3x4xf32>) {
  // CHECK: %[[P:.*]] = graph.max_pool
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<1x2x3x4xf32> -> tensor<1x2x3x4xf32>
  // CHECK: %[[A:.*]] = graph.reduce_sum %[[P]] {axes = array<i64: 1, 2>} : tensor<1x3x4x2xf32> -> tensor<1x2xf32>
  %1 = graph.reduce_sum %0 {axes = array<i64: 2, 3>} : tensor<1x2x3x4xf32> -> tensor<1x2xf32>
  // CHECK: %[[B:.*]] = graph.reduce_max %[[P]] {axes = array<i64: 3>} : tensor<1x3x4x2xf32> -> tensor<1x3x4xf32>
  %2 = graph.reduce_max %0 {axes = array<i64: 1>} : tensor<1x2x3x4xf32> -> tensor<1x3x4xf32>
  // CHECK: %[[C:.*]] = graph.reduce_mean %[[P]] {axes = array<i64: 1>} : tensor<1x3x4x2xf32> -> tensor<1x4x2xf32>
  // CHECK: %[[CT:.*]] = graph.transpose %[[C]] {perm = array<i64: 0, 2, 1>} : tensor<1x4x2xf32> -> tensor<1x2x4xf32>
  %3 = graph.reduce_mean %0 {axes = array<i64: 2>} : tensor<1x2x3x4xf32> -> tensor<1x2x4xf32>
  // CHECK: %[[D:.*]] = graph.reduce_min %[[P]] {axes = array<i64: 3>, keepdims} : tensor<1x3x4x2xf32> -> tensor<1x3x4x1xf32>
  // CHECK: %[[DV:.*]] = graph.view %[[D]] {{.*}} : tensor<1x3x4x1xf32> -> tensor<1x1x3x4xf32>
  %4 = graph.reduce_min %0 {axes = array<i64: 1>, keepdims} : tensor<1x2x3x4xf32> -> tensor<1x1x3x4xf32>
  // CHECK: return %[[A]], %[[B]], %[[CT]], %[[DV]]
  return %1, %2, %3, %4 : tensor<1x2xf32>, tensor<1x3x4xf32>, tensor<1x2x4xf32>, tensor<1x1x3x4xf32>
}

// Attributes by dim are permuted.
// CHECK-LABEL: func @attributes_by_dim
func.func @attributes_by_dim(%x: tensor<1x2x3x4xf32>) -> (tensor<1x2x5x7xf32>, tensor<6x2x3x4xf32>, tensor<1x1x3x2xf32>, tensor<1x2x3x4xf32>) {
  // CHECK: %[[P:.*]] = graph.max_pool
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<1x2x3x4xf32> -> tensor<1x2x3x4xf32>
  // CHECK: graph.pad %[[P]] {mode = 0 : i64, pads = array<i64: 0, 1, 0, 0, 0, 1, 3, 0>} : (tensor<1x3x4x2xf32>) -> tensor<1x5x7x2xf32>
  %1 = graph.pad %0 {pads = array<i64: 0, 0, 1, 0, 0, 0, 1, 3>, mode = 0 : i64} : (tensor<1x2x3x4xf32>) -> tensor<1x2x5x7xf32>
  // CHECK: graph.broadcast %[[P]] {dims = [#graph.expr<"6">, #graph.expr<"3">, #graph.expr<"4">, #graph.expr<"2">]}
  %2 = graph.broadcast %0 {dims = [#graph.expr<"6">, #graph.expr<"2">, #graph.expr<"3">, #graph.expr<"4">]}
    : tensor<1x2x3x4xf32> -> tensor<6x2x3x4xf32>
  // CHECK: graph.subview %[[P]] {offsets = [#graph.expr<"0">, #graph.expr<"0">, #graph.expr<"3">, #graph.expr<"1">],
  // CHECK-SAME: sizes = [#graph.expr<"1">, #graph.expr<"3">, #graph.expr<"2">, #graph.expr<"1">], steps = array<i64: 1, 1, -2, 1>}
  %3 = graph.subview %0 {offsets = [#graph.expr<"0">, #graph.expr<"1">, #graph.expr<"0">, #graph.expr<"3">],
                         sizes = [#graph.expr<"1">, #graph.expr<"1">, #graph.expr<"3">, #graph.expr<"2">],
                         steps = array<i64: 1, 1, 1, -2>} : tensor<1x2x3x4xf32> -> tensor<1x1x3x2xf32>
  // CHECK: graph.softmax %[[P]] {axis = 3 : i64}
  %4 = graph.softmax %0 {axis = 1 : i64} : tensor<1x2x3x4xf32> -> tensor<1x2x3x4xf32>
  return %1, %2, %3, %4 : tensor<1x2x5x7xf32>, tensor<6x2x3x4xf32>, tensor<1x1x3x2xf32>, tensor<1x2x3x4xf32>
}

// CHECK-LABEL: func @concat_of_channels
func.func @concat_of_channels(%x: tensor<1x2x3x4xf32>) -> tensor<1x5x3x4xf32> {
  %c = graph.constant dense<1.0> : tensor<1x1x3x4xf32>
  // CHECK: %[[C:.*]] = graph.constant
  // CHECK: %[[P:.*]] = graph.max_pool
  // CHECK: %[[Q:.*]] = graph.average_pool
  // CHECK: %[[V:.*]] = graph.view %[[C]] {{.*}} -> tensor<1x3x4x1xf32>
  // CHECK: graph.concat %[[P]], %[[V]], %[[Q]] {axis = 3 : i64} {{.*}} -> tensor<1x3x4x5xf32>
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<1x2x3x4xf32> -> tensor<1x2x3x4xf32>
  %1 = graph.average_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<1x2x3x4xf32> -> tensor<1x2x3x4xf32>
  %2 = graph.concat %0, %c, %1 {axis = 1 : i64} : (tensor<1x2x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x5x3x4xf32>
  return %2 : tensor<1x5x3x4xf32>
}

// Patches of a picture as a sequence: the transpose that follows cancels.
// CHECK-LABEL: func @join_of_spatial_dims
func.func @join_of_spatial_dims(%x: tensor<?x2x3x4xf32>) -> tensor<?x12x2xf32> {
  // CHECK: %[[P:.*]] = graph.max_pool
  // CHECK-NEXT: %[[V:.*]] = graph.view %[[P]] {dims = [#graph.expr<"N">, #graph.expr<"12">, #graph.expr<"2">]} : tensor<?x3x4x2xf32> -> tensor<?x12x2xf32>
  // CHECK-NEXT: return %[[V]]
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<?x2x3x4xf32> -> tensor<?x2x3x4xf32>
  %1 = graph.view %0 {dims = [#graph.expr<"N">, #graph.expr<"2">, #graph.expr<"12">]} : tensor<?x2x3x4xf32> -> tensor<?x2x12xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 1>} : tensor<?x2x12xf32> -> tensor<?x12x2xf32>
  return %2 : tensor<?x12x2xf32>
}

// Channels join a spatial dim: their elements are not in that order with channels last.
// CHECK-LABEL: func @join_of_channels_and_rows
func.func @join_of_channels_and_rows(%x: tensor<?x2x3x4xf32>) -> tensor<?x6x4xf32> {
  // CHECK: graph.transpose %{{.*}} {perm = array<i64: 0, 3, 1, 2>}
  // CHECK-NEXT: graph.view
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<?x2x3x4xf32> -> tensor<?x2x3x4xf32>
  %1 = graph.view %0 {dims = [#graph.expr<"N">, #graph.expr<"6">, #graph.expr<"4">]} : tensor<?x2x3x4xf32> -> tensor<?x6x4xf32>
  return %1 : tensor<?x6x4xf32>
}

// The other operand would need a transpose of its own: nothing is gained.
// CHECK-LABEL: func @other_operand_is_not_free
func.func @other_operand_is_not_free(%x: tensor<1x2x4x4xf32>, %y: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: %[[P:.*]] = graph.max_pool
  // CHECK: %[[T:.*]] = graph.transpose %[[P]]
  // CHECK: %[[A:.*]] = graph.add %[[T]], %arg1
  // CHECK: return %[[A]]
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %1 = graph.add %0, %y : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}

// The result has more dims than the transposed operand.
// CHECK-LABEL: func @result_of_higher_rank
func.func @result_of_higher_rank(%x: tensor<1x2x4x4xf32>) -> tensor<1x1x2x4x4xf32> {
  %c = graph.constant dense<2.0> : tensor<1x1x1x1x4xf32>
  // CHECK: %[[T:.*]] = graph.transpose %{{.*}} {perm = array<i64: 0, 3, 1, 2>}
  // CHECK: graph.mul %[[T]]
  %0 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %1 = graph.mul %0, %c : (tensor<1x2x4x4xf32>, tensor<1x1x1x1x4xf32>) -> tensor<1x1x2x4x4xf32>
  return %1 : tensor<1x1x2x4x4xf32>
}

// CHECK-LABEL: func @not_images
func.func @not_images(%x: tensor<1x2x4xf32>, %w: tensor<2x2x1xf32>, %y: tensor<1x?x4x4xf32>) -> (tensor<1x2x4xf32>, tensor<1x?x4x4xf32>) {
  // CHECK-NOT: channels_last
  // CHECK: return
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
    : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  %1 = graph.max_pool %y {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
                          dilations = array<i64: 1, 1>} : tensor<1x?x4x4xf32> -> tensor<1x?x4x4xf32>
  return %0, %1 : tensor<1x2x4xf32>, tensor<1x?x4x4xf32>
}

// The transposes of attention heads are not ours to move.
// CHECK-LABEL: func @another_permutation
func.func @another_permutation(%x: tensor<1x8x2x4xf32>) -> tensor<1x2x8x4xf32> {
  // CHECK: graph.transpose %arg0
  // CHECK-NEXT: graph.tanh
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : tensor<1x8x2x4xf32> -> tensor<1x2x8x4xf32>
  %1 = graph.tanh %0 : tensor<1x2x8x4xf32> -> tensor<1x2x8x4xf32>
  return %1 : tensor<1x2x8x4xf32>
}
