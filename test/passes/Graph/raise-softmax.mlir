// RUN: llmc-opt %s --graph-raise-softmax | FileCheck %s

// CHECK-LABEL: func @softmax
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>)
func.func @softmax(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %m = graph.reduce_max %x {axes = array<i64: 1>, keepdims} : tensor<?x4xf32> -> tensor<?x1xf32>
  %d = graph.sub %x, %m : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  %e = graph.exp %d : tensor<?x4xf32> -> tensor<?x4xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 1>, keepdims} : tensor<?x4xf32> -> tensor<?x1xf32>
  %y = graph.div %e, %s : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = graph.softmax %[[X]] {axis = 1 : i64}
  // CHECK-NEXT: return %[[Y]]
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: func @softmax_by_a_reciprocal
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
func.func @softmax_by_a_reciprocal(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %m = graph.reduce_max %x {axes = array<i64: 0>, keepdims} : tensor<2x4xf32> -> tensor<1x4xf32>
  %d = graph.sub %x, %m : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %e = graph.exp %d : tensor<2x4xf32> -> tensor<2x4xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 0>, keepdims} : tensor<2x4xf32> -> tensor<1x4xf32>
  %r = graph.reciprocal %s : tensor<1x4xf32> -> tensor<1x4xf32>
  // CHECK-NEXT: graph.softmax %[[X]] {axis = 0 : i64}
  // CHECK-NEXT: return
  %y = graph.mul %r, %e : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func @log_softmax
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>)
func.func @log_softmax(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %m = graph.reduce_max %x {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  %d = graph.sub %x, %m : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %e = graph.exp %d : tensor<2x4xf32> -> tensor<2x4xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  %l = graph.log %s : tensor<2x1xf32> -> tensor<2x1xf32>
  // CHECK-NEXT: graph.log_softmax %[[X]] {axis = 1 : i64}
  // CHECK-NEXT: return
  %y = graph.sub %d, %l : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// exp(100) is infinite in f32, its softmax is not.
// CHECK-LABEL: func @without_the_maximum
func.func @without_the_maximum(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = graph.exp %x : tensor<2x4xf32> -> tensor<2x4xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  // CHECK: graph.div
  %y = graph.div %e, %s : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK-LABEL: func @axes_differ
func.func @axes_differ(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = graph.reduce_max %x {axes = array<i64: 0>, keepdims} : tensor<4x4xf32> -> tensor<1x4xf32>
  %d = graph.sub %x, %m : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %e = graph.exp %d : tensor<4x4xf32> -> tensor<4x4xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 1>, keepdims} : tensor<4x4xf32> -> tensor<4x1xf32>
  // CHECK: graph.div
  %y = graph.div %e, %s : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// Without keepdims a square input would be divided along the wrong dim.
// CHECK-LABEL: func @sum_drops_its_dim
func.func @sum_drops_its_dim(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = graph.reduce_max %x {axes = array<i64: 1>, keepdims} : tensor<4x4xf32> -> tensor<4x1xf32>
  %d = graph.sub %x, %m : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %e = graph.exp %d : tensor<4x4xf32> -> tensor<4x4xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 1>} : tensor<4x4xf32> -> tensor<4xf32>
  // CHECK: graph.div
  %y = graph.div %e, %s : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// CHECK-LABEL: func @exponential_is_used
func.func @exponential_is_used(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %m = graph.reduce_max %x {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  %d = graph.sub %x, %m : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %e = graph.exp %d : tensor<2x4xf32> -> tensor<2x4xf32>
  %s = graph.reduce_sum %e {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>
  // CHECK: graph.div
  %y = graph.div %e, %s : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %y, %e : tensor<2x4xf32>, tensor<2x4xf32>
}
