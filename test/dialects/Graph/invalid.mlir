// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @inner_sizes_differ(%x: tensor<2x4xf32>, %y: tensor<3x5xf32>) {
  // expected-error @+2 {{columns of lhs and rows of rhs differ: 4 and 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %z = graph.matmul %x, %y : (tensor<2x4xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

func.func @matmul_of_a_scalar(%x: tensor<f32>, %y: tensor<3x5xf32>) {
  // expected-error @+2 {{multiplies a scalar: ranks are 0 and 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %z = graph.matmul %x, %y : (tensor<f32>, tensor<3x5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @dims_do_not_broadcast(%x: tensor<2x4xf32>, %y: tensor<3xf32>) {
  // expected-error @+2 {{dims do not broadcast: 4 and 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %z = graph.add %x, %y : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @element_types_differ(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @+2 {{element types differ: f32 and f64}}
  // expected-error @+1 {{failed to infer returned types}}
  %z = graph.add %x, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @printed_type_contradicts_inference(%x: tensor<?x4xf32>) {
  // expected-error @+2 {{are incompatible with return type(s) of operation}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.relu %x : tensor<?x4xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @logic_of_floats(%x: tensor<4xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of 1-bit signless integer values}}
  %y = graph.not %x : tensor<4xf32> -> tensor<4xi1>
  return
}

// -----

func.func @window_exceeds_input(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) {
  // expected-error @+2 {{window of 3 (dilation 2) exceeds the padded input of 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 2>}
    : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x1x1xf32>
  return
}

// -----

func.func @groups_do_not_divide(%x: tensor<1x6x4x4xf32>, %w: tensor<4x2x1x1xf32>) {
  // expected-error @+2 {{4 output channels do not divide into 3 groups}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 3 : i64}
    : (tensor<1x6x4x4xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @channels_differ(%x: tensor<1x6x4x4xf32>, %w: tensor<4x5x1x1xf32>) {
  // expected-error @+2 {{input channels and group * weight channels differ: 6 and 5}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
    : (tensor<1x6x4x4xf32>, tensor<4x5x1x1xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @too_few_pads(%x: tensor<1x1x4x4xf32>) {
  // expected-error @+2 {{expects 2 strides and dilations and 4 pads}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1, 1>}
    : tensor<1x1x4x4xf32> -> tensor<1x1x3x3xf32>
  return
}

// -----

func.func @not_a_permutation(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{perm is not a permutation}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.transpose %x {perm = array<i64: 0, 0>} : tensor<2x4xf32> -> tensor<2x2xf32>
  return
}

// -----

func.func @axes_descend(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{axes are not ascending}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.reduce_sum %x {axes = array<i64: 1, 0>} : tensor<2x4xf32> -> tensor<f32>
  return
}

// -----

func.func @axis_beyond_rank(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{axis 2 of a tensor of rank 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.softmax %x {axis = 2 : i64} : tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @view_changes_the_number_of_elements(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{8 elements viewed as 9}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.view %x {dims = [#graph.expr<"9">]} : tensor<2x4xf32> -> tensor<9xf32>
  return
}

// -----

func.func @squeeze_of_a_large_dim(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{dim 1 to drop is not 1: 4 and 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.squeeze %x {axes = array<i64: 1>} : tensor<2x4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @concat_of_different_dims(%x: tensor<2x4xf32>, %y: tensor<2x5xf32>) {
  // expected-error @+2 {{dim 1 of operand 1 differs: 4 and 5}}
  // expected-error @+1 {{failed to infer returned types}}
  %z = graph.concat %x, %y {axis = 0 : i64} : (tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @call_of_nothing(%x: tensor<4xf32>) {
  // expected-error @+1 {{calls @missing, which is not a function}}
  %y = graph.dispatch @missing(%x) sizes [] dims [[#graph.expr<"4">]] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{invalid dim expression: expected an expression}}
func.func private @broken_expression(tensor<?xf32> {graph.dims = [#graph.expr<"N + ">]})

// -----

func.func @indices_of_another_rank(%x: tensor<2x4xf32>, %i: tensor<3xi64>) {
  // expected-error @+2 {{indices of rank 1 for a tensor of rank 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.gather_elements %x, %i {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @tuples_too_long(%x: tensor<2x4xf32>, %i: tensor<3x3xi64>) {
  // expected-error @+2 {{index tuples of 3 elements for 2 dims}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<2x4xf32>, tensor<3x3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @unknown_reduction(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @+2 {{unknown reduction 'mean'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = "mean"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @more_than_there_are(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{the first 5 of 4 elements}}
  // expected-error @+1 {{failed to infer returned types}}
  %v, %i = graph.top_k %x {k = #graph.expr<"5">, axis = 1 : i64} : tensor<2x4xf32> -> tensor<2x5xf32>, tensor<2x5xi64>
  return
}

// -----

func.func @unknown_resize_mode(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{unknown mode 'area'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.resize %x {dims = [#graph.expr<"2">, #graph.expr<"8">], axes = array<i64: 1>, mode = "area"} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @scales_of_other_axes(%x: tensor<2x4xf32>, %s: tensor<2xf32>) {
  // expected-error @+2 {{the number of elements of scales: 2 and 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.resize %x scales %s {dims = [#graph.expr<"2">, #graph.expr<"8">], axes = array<i64: 1>, mode = "linear"} : (tensor<2x4xf32>, tensor<2xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @dim_that_is_not_resized(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{dim 0 is not resized: 3 and 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.resize %x {dims = [#graph.expr<"3">, #graph.expr<"8">], axes = array<i64: 1>, mode = "linear"} : (tensor<2x4xf32>) -> tensor<3x8xf32>
  return
}

// -----

func.func @region_that_is_missing(%x: tensor<2x4xf32>) {
  // expected-error @+2 {{tf_crop_and_resize needs a region of interest}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.resize %x {dims = [#graph.expr<"2">, #graph.expr<"8">], coordinates = "tf_crop_and_resize", axes = array<i64: 1>, mode = "linear"} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @channels_that_do_not_divide(%x: tensor<1x3x4xf32>, %w: tensor<3x1x2xf32>) {
  // expected-error @+2 {{3 input channels do not divide into 2 groups}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>, group = 2 : i64} : (tensor<1x3x4xf32>, tensor<3x1x2xf32>) -> tensor<1x2x5xf32>
  return
}

// -----

func.func @pads_that_leave_nothing(%x: tensor<1x1x1xf32>, %w: tensor<1x1x2xf32>) {
  // expected-error @+2 {{the result has -2 positions along spatial dim 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 2, 2>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x1x1xf32>, tensor<1x1x2xf32>) -> tensor<1x1x0xf32>
  return
}

// -----

func.func @unknown_direction(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @+2 {{unknown direction 'back'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %h = graph.rnn %x, %w, %r {direction = "back", activations = ["Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @unknown_activation(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @+2 {{unknown activation 'Gelu'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %h = graph.rnn %x, %w, %r {direction = "forward", activations = ["Gelu"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @activations_of_two_directions(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @+2 {{expects 2 activations, alphas and betas}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %h = graph.rnn %x, %w, %r {direction = "bidirectional", activations = ["Tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @weight_of_other_gates(%x: tensor<5x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) {
  // expected-error @+2 {{dims of weight do not fit: 4 and 12}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %h = graph.gru %x, %w, %r {direction = "forward", activations = ["Sigmoid", "Tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} : (tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>) -> (tensor<5x1x2x4xf32>, tensor<1x2x4xf32>)
  return
}

// -----

func.func @places_of_other_dims(%x: tensor<1x3x8x8xf32>, %g: tensor<1x5x6x3xf32>) {
  // expected-error @+2 {{the places of the grid have other dims: 3 and 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.grid_sample %x, %g {mode = "linear", padding = "zeros"} : (tensor<1x3x8x8xf32>, tensor<1x5x6x3xf32>) -> tensor<1x3x5x6xf32>
  return
}

// -----

func.func @interpolated_integers(%x: tensor<1x3x8xi32>, %g: tensor<1x5x1xf32>) {
  // expected-error @+2 {{interpolation of other than floats is not supported}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.grid_sample %x, %g {mode = "linear", padding = "zeros"} : (tensor<1x3x8xi32>, tensor<1x5x1xf32>) -> tensor<1x3x5xi32>
  return
}

// -----

func.func @unknown_padding(%x: tensor<1x3x8xf32>, %g: tensor<1x5x1xf32>) {
  // expected-error @+2 {{unknown padding 'wrap'}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.grid_sample %x, %g {mode = "linear", padding = "wrap"} : (tensor<1x3x8xf32>, tensor<1x5x1xf32>) -> tensor<1x3x5xf32>
  return
}

// -----

func.func @regions_of_five_numbers(%x: tensor<1x3x8x8xf32>, %r: tensor<7x5xf32>, %i: tensor<7xi64>) {
  // expected-error @+2 {{the numbers of a region: 5 and 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.roi_align %x, %r, %i {height = 1 : i64, width = 1 : i64, samples = 2 : i64, scale = 1.0 : f64} : (tensor<1x3x8x8xf32>, tensor<7x5xf32>, tensor<7xi64>) -> tensor<7x3x1x1xf32>
  return
}

// -----

func.func @pictures_of_no_pixels(%x: tensor<1x3x8x8xf32>, %r: tensor<7x5xf32>) {
  // expected-error @+2 {{pictures of 0 x 2 pixels}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.max_roi_pool %x, %r {height = 0 : i64, width = 2 : i64, scale = 1.0 : f64} : (tensor<1x3x8x8xf32>, tensor<7x5xf32>) -> tensor<7x3x0x2xf32>
  return
}

// -----

func.func @moves_of_other_taps(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x2x2xf32>, %o: tensor<1x6x7x7xf32>) {
  // expected-error @+2 {{dims of operand 2 do not fit: 6 and 8}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.deform_conv %x, %w, %o {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, offset_group = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x2x2xf32>, tensor<1x6x7x7xf32>) -> tensor<1x4x7x7xf32>
  return
}

// -----

func.func @block_of_other_dims(%x: tensor<1x12x4xf32>, %b: tensor<1xi64>) {
  // expected-error @+2 {{the number of elements of block: 1 and 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.col2im %x, %b {dims = [#graph.expr<"1">, #graph.expr<"3">, #graph.expr<"4">, #graph.expr<"4">], strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x12x4xf32>, tensor<1xi64>) -> tensor<1x3x4x4xf32>
  return
}

// -----

func.func @indices_of_other_elements(%x: tensor<1x3x4xf32>, %i: tensor<1x3x5xi64>) {
  // expected-error @+2 {{dims of x and indices differ: 4 and 5}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.max_unpool %x, %i {dims = [#graph.expr<"1">, #graph.expr<"3">, #graph.expr<"8">], kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>} : (tensor<1x3x4xf32>, tensor<1x3x5xi64>) -> tensor<1x3x8xf32>
  return
}

// -----

func.func @one_axis_for_both(%x: tensor<4x5xf32>, %l: tensor<4xi64>) {
  // expected-error @+2 {{axis 0 is both that of the batch and that of time}}
  // expected-error @+1 {{failed to infer returned types}}
  %y = graph.reverse_sequence %x, %l {batch_axis = 0 : i64, time_axis = 0 : i64} : (tensor<4x5xf32>, tensor<4xi64>) -> tensor<4x5xf32>
  return
}

// -----

func.func @matrix_that_is_not_square(%x: tensor<5x3x4xf32>) {
  // expected-error @+2 {{a matrix is not square: 3 and 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %y, %e = graph.det %x : tensor<5x3x4xf32> -> tensor<5xf32>, tensor<5x3x4xf64>
  return
}

// -----

func.func @bits_of_two_widths(%x: tensor<4xf32>) -> tensor<4xi16> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects an element type of 32 bits, got one of 16}}
  %y = graph.bit_cast %x to i16 : tensor<4xf32> -> tensor<4xi16>
  return %y : tensor<4xi16>
}

// -----

func.func @heads_not_shared(%q: tensor<1x5x9xf32>, %k: tensor<1x5x6xf32>, %v: tensor<1x5x6xf32>) -> tensor<1x5x9xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{3 query heads for 2 heads}}
  %y, %state = graph.linear_attention %q, %k, %v {query_heads = 3 : i64, heads = 2 : i64, scale = 0.0 : f64}
    : (tensor<1x5x9xf32>, tensor<1x5x6xf32>, tensor<1x5x6xf32>) -> (tensor<1x5x9xf32>, tensor<1x2x3x3xf32>)
  return %y : tensor<1x5x9xf32>
}

// -----

func.func @group_per_channel_of_two(%x: tensor<1x4x8xf32>, %w: tensor<4x2x3xf32>) -> tensor<1x4x6xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{one group per channel, and channels of a weight: 2 and 1}}
  %y = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 0 : i64}
    : (tensor<1x4x8xf32>, tensor<4x2x3xf32>) -> tensor<1x4x6xf32>
  return %y : tensor<1x4x6xf32>
}

// -----

func.func @output_shape_without_auto_pad(%x: tensor<1x1x4xf32>, %w: tensor<1x1x2xf32>) -> tensor<1x1x5xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expects auto_pad and 1 sizes for output_shape}}
  %y = graph.conv_transpose %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>,
                                    output_shape = array<i64: 5>} : (tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> tensor<1x1x5xf32>
  return %y : tensor<1x1x5xf32>
}
