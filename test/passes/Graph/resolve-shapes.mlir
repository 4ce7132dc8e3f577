// RUN: llmc-opt %s --graph-resolve-shapes --split-input-file | FileCheck %s

// CHECK-LABEL: func @reshape_becomes_view
func.func @reshape_becomes_view(%x: tensor<?x4x6xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"4">, #graph.expr<"6">]}) -> tensor<?x24xf32> {
  %target = graph.constant dense<[-1, 24]> : tensor<2xi64>
  // CHECK: graph.view %{{.*}} {dims = [#graph.expr<"N">, #graph.expr<"24">]}
  %y = graph.reshape %x, %target : (tensor<?x4x6xf32>, tensor<2xi64>) -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}

// -----

// A slice that ends at a symbol within its range needs no minimum.
// CHECK-LABEL: func @slice_becomes_subview
func.func @slice_becomes_subview(%x: tensor<?xf32> {graph.dims = [#graph.expr<"S">]}, %table: tensor<512x8xf32>) -> tensor<?x8xf32>
    attributes {graph.symbols = {S = array<i64: 1, 128>}} {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %end = graph.shape %x {start = 0 : i64, end = 1 : i64} : tensor<?xf32> -> tensor<1xi64>
  // CHECK: graph.subview %{{.*}} {offsets = [#graph.expr<"0">, #graph.expr<"0">], sizes = [#graph.expr<"S">, #graph.expr<"8">], steps = array<i64: 1, 1>}
  // CHECK-NOT: graph.slice
  %y = graph.slice %table, %zero, %end : (tensor<512x8xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// The same without a range: the rows there are bound it.
// CHECK-LABEL: func @slice_is_clamped
func.func @slice_is_clamped(%x: tensor<?xf32> {graph.dims = [#graph.expr<"S">]}, %table: tensor<512x8xf32>) -> tensor<?x8xf32> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %end = graph.shape %x {start = 0 : i64, end = 1 : i64} : tensor<?xf32> -> tensor<1xi64>
  // CHECK: sizes = [#graph.expr<"min(S, 512)">, #graph.expr<"8">]
  %y = graph.slice %table, %zero, %end : (tensor<512x8xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// A shape that is read as data stays, as expressions.
// CHECK-LABEL: func @shape_as_data
func.func @shape_as_data(%x: tensor<?x4xf32> {graph.dims = [#graph.expr<"N">, #graph.expr<"4">]}) -> tensor<2xi64> {
  // CHECK: graph.from_dims {dims = [#graph.expr<"N">, #graph.expr<"4">]}
  %s = graph.shape %x {start = 0 : i64, end = 2 : i64} : tensor<?x4xf32> -> tensor<2xi64>
  return %s : tensor<2xi64>
}

// -----

// A target that depends on data is left alone.
// CHECK-LABEL: func @target_is_data
func.func @target_is_data(%x: tensor<24xf32> {graph.dims = [#graph.expr<"24">]}, %target: tensor<2xi64> {graph.dims = [#graph.expr<"2">]}) -> tensor<?x?xf32> {
  // CHECK: graph.reshape
  %y = graph.reshape %x, %target : (tensor<24xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
