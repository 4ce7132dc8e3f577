// RUN: llmc-opt %s --graph-to-plan --split-input-file | FileCheck %s

// The last result is made in the caller's buffer, through a view too; the one between lies in the arena.
// CHECK-LABEL: plan.entry @main symbols {}
// CHECK: plan.body "cpu" devices [#plan.device<"cpu", cpu>]
// CHECK: %[[X:.*]] = plan.input 0 "x" : f32 [#graph.expr<"4">]
// CHECK: %[[Y:.*]] = plan.output 0 "y" : f32 [#graph.expr<"2">, #graph.expr<"2">]
// CHECK: %[[V:.*]] = plan.view %[[Y]] from <"0"> : f32 [#graph.expr<"4">]
// CHECK: %[[A:.*]] = plan.arena f32 [#graph.expr<"4">]
// CHECK: plan.dispatch @k(%[[X]], %[[A]]) writes 1 scalars []
// CHECK: plan.dispatch @k(%[[A]], %[[V]]) writes 1 scalars []
// CHECK-NOT: plan.copy
func.func private @k(%x: tensor<4xf32> {graph.sizes = array<i64: 4>}) -> (tensor<4xf32> {graph.sizes = array<i64: 4>}) attributes {graph.dispatch} {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32> {graph.name = "x", graph.dims = [#graph.expr<"4">]}) -> (tensor<2x2xf32> {graph.name = "y"}) {
  %0 = graph.dispatch @k(%x) sizes [] dims [[#graph.expr<"4">]] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.dispatch @k(%0) sizes [] dims [[#graph.expr<"4">]] : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.view %1 {dims = [#graph.expr<"2">, #graph.expr<"2">]} : tensor<4xf32> -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

// An output that is an input is copied, and a second output of one tensor too.
// CHECK-LABEL: plan.entry @copies
// CHECK: %[[X:.*]] = plan.input 0
// CHECK: %[[A:.*]] = plan.output 0
// CHECK: %[[B:.*]] = plan.output 1
// CHECK: %[[C:.*]] = plan.output 2
// CHECK: plan.dispatch @k(%[[X]], %[[A]])
// CHECK: plan.copy %[[A]] to %[[B]]
// CHECK: plan.copy %[[X]] to %[[C]]
func.func private @k(%x: tensor<4xf32> {graph.sizes = array<i64: 4>}) -> (tensor<4xf32> {graph.sizes = array<i64: 4>}) attributes {graph.dispatch} {
  return %x : tensor<4xf32>
}
func.func @copies(%x: tensor<4xf32> {graph.dims = [#graph.expr<"4">]}) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = graph.dispatch @k(%x) sizes [] dims [[#graph.expr<"4">]] : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %0, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// What shape inference could not prove is checked before all else.
// CHECK-LABEL: plan.entry @checks
// CHECK: plan.check <<"M + (-1 * N)"> eq 0> "rows differ"
// CHECK: plan.copy
func.func @checks(%x: tensor<?xf32> {graph.dims = [#graph.expr<"N">]}, %y: tensor<?xf32> {graph.dims = [#graph.expr<"M">]}) -> tensor<?xf32>
    attributes {graph.checks = [[#graph.expr<"M">, #graph.expr<"N">, "rows differ"]]} {
  return %x : tensor<?xf32>
}
