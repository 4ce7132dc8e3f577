// RUN: llmc-opt %s --split-input-file --graph-to-plan | FileCheck %s
// Branches and loops become steps with blocks.
func.func private @neg(%x: tensor<?xf32> {graph.sizes = array<i64: -1>}, %n: index) -> (tensor<?xf32> {graph.sizes = array<i64: -1>}) attributes {graph.dispatch}
func.func private @twice(%x: tensor<?xf32> {graph.sizes = array<i64: -1>}, %n: index, %m: index) -> (tensor<?xf32> {graph.sizes = array<i64: -2>}) attributes {graph.dispatch}

// A result whose dims are known is made where it belongs; a value from outside is copied there.
// CHECK-LABEL: plan.entry @same_dims
func.func @same_dims(%c: tensor<i1> {graph.name = "c"}, %x: tensor<?xf32> {graph.dims = [#graph.expr<"N">], graph.name = "x"})
    -> (tensor<?xf32> {graph.name = "y"}) attributes {graph.symbols = {N = array<i64: 0, 64>}} {
  // CHECK: %[[C:.*]] = plan.input 0
  // CHECK: %[[X:.*]] = plan.input 1
  // CHECK: %[[Y:.*]] = plan.output 0
  // CHECK: plan.if %[[C]] frame {N = #graph.expr<"N">} {
  // CHECK-NEXT: plan.dispatch @neg(%[[X]], %[[Y]])
  // CHECK-NEXT: plan.yield
  // CHECK-NEXT: } else {
  // CHECK-NEXT: plan.copy %[[X]] to %[[Y]]
  %y = graph.if %c symbols [] dims [[#graph.expr<"N">]] : (tensor<i1>) -> tensor<?xf32> {
    %u = graph.dispatch @neg(%x) sizes [#graph.expr<"N">] dims [[#graph.expr<"N">]] : (tensor<?xf32>) -> tensor<?xf32>
    graph.yield %u sizes [] : tensor<?xf32>
  } else {
    graph.yield %x sizes [] : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

func.func private @neg(%x: tensor<?xf32> {graph.sizes = array<i64: -1>}, %n: index) -> (tensor<?xf32> {graph.sizes = array<i64: -1>}) attributes {graph.dispatch}
func.func private @twice(%x: tensor<?xf32> {graph.sizes = array<i64: -1>}, %n: index, %m: index) -> (tensor<?xf32> {graph.sizes = array<i64: -2>}) attributes {graph.dispatch}

// Sizes that depend on the branch are given with the results. What is checked in a branch is checked there.
// CHECK-LABEL: plan.entry @other_dims
func.func @other_dims(%c: tensor<i1>, %x: tensor<?xf32> {graph.dims = [#graph.expr<"N">]}) -> tensor<?xf32> attributes {graph.symbols = {N = array<i64: 0, 64>}} {
  // CHECK: %[[X:.*]] = plan.input 1
  // CHECK: %[[R:.*]] = plan.arena f32 [#graph.expr<"rows">]
  // CHECK: plan.if %{{.*}} gives(%[[R]]) symbols ["rows"] frame {N = #graph.expr<"N">} {
  // CHECK-NEXT: %[[U:.*]] = plan.arena f32 [#graph.expr<"2 * N">]
  // CHECK-NEXT: plan.dispatch @twice(%[[X]], %[[U]])
  // CHECK-NEXT: plan.yield %[[U]] sizes [#graph.expr<"2 * N">]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: plan.check <<"N + -4"> eq 0> "four"
  // CHECK-NEXT: plan.yield %[[X]] sizes [#graph.expr<"N">]
  // CHECK: %[[Y:.*]] = plan.output 0 "output0" : f32 [#graph.expr<"rows">]
  // CHECK: plan.copy %[[R]] to %[[Y]]
  %y = graph.if %c symbols ["rows"] dims [[#graph.expr<"rows">]] : (tensor<i1>) -> tensor<?xf32> {
    %u = graph.dispatch @twice(%x) sizes [#graph.expr<"N">, #graph.expr<"2 * N">] dims [[#graph.expr<"2 * N">]] : (tensor<?xf32>) -> tensor<?xf32>
    graph.yield %u sizes [#graph.expr<"2 * N">] : tensor<?xf32>
  } else {
    graph.yield %x sizes [#graph.expr<"N">] {graph.checks = [[#graph.expr<"N">, #graph.expr<"4">, "four"]]} : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

func.func private @neg(%x: tensor<?xf32> {graph.sizes = array<i64: -1>}, %n: index) -> (tensor<?xf32> {graph.sizes = array<i64: -1>}) attributes {graph.dispatch}

// Values that change places: no copy reads what an earlier one has overwritten. What stays the same needs none.
// CHECK-LABEL: plan.entry @changed_places
func.func @changed_places(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[A:.*]] = plan.output 0
  // CHECK: %[[B:.*]] = plan.output 1
  // CHECK: %[[C:.*]] = plan.output 2
  // CHECK: plan.loop <"3"> limit 3 carries(%[[A]], %[[B]], %[[C]]) from(%{{.*}}, %{{.*}}, %{{.*}}) iteration "t" {
  // CHECK-NEXT: %[[OLD_B:.*]] = plan.arena
  // CHECK-NEXT: plan.copy %[[B]] to %[[OLD_B]]
  // CHECK-NEXT: %[[OLD_A:.*]] = plan.arena
  // CHECK-NEXT: plan.copy %[[A]] to %[[OLD_A]]
  // CHECK-NEXT: plan.yield %[[OLD_B]], %[[OLD_A]], %[[C]]
  %r:3 = graph.loop <"3"> limit 3 carries(%x, %y, %z) iteration "t" symbols [] start [] result_symbols []
      argument_dims [[#graph.expr<"4">], [#graph.expr<"4">], [#graph.expr<"4">]] dims [[#graph.expr<"4">], [#graph.expr<"4">], [#graph.expr<"4">]]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    graph.yield %b, %a, %c sizes [] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @twice(%x: tensor<?xf32> {graph.sizes = array<i64: -1>}, %n: index, %m: index) -> (tensor<?xf32> {graph.sizes = array<i64: -2>}) attributes {graph.dispatch}

// A value that grows has its place in the block; what is collected grows.
// CHECK-LABEL: plan.entry @growing
func.func @growing(%x: tensor<?xf32> {graph.dims = [#graph.expr<"N">]}) -> tensor<?xf32> attributes {graph.symbols = {N = array<i64: 1, 64>}} {
  // CHECK: %[[X:.*]] = plan.input 0
  // CHECK: %[[Y:.*]] = plan.arena f32 [#graph.expr<"end">]
  // CHECK: %[[ALL:.*]] = plan.arena f32 [#graph.expr<"3">, #graph.expr<"N">]
  // CHECK: plan.loop <"3"> limit 3 carries(%[[Y]]) from(%[[X]]) collects(%[[ALL]]) iteration "t" frame {N = #graph.expr<"N">} sizes ["s"] from [#graph.expr<"N">] as ["end"] {
  // CHECK-NEXT: %[[V:.*]] = plan.argument 0 : f32 [#graph.expr<"s">]
  // CHECK-NEXT: %[[W:.*]] = plan.arena f32 [#graph.expr<"2 * s">]
  // CHECK-NEXT: plan.dispatch @twice(%[[V]], %[[W]])
  // CHECK-NEXT: plan.yield %[[W]], %[[X]] sizes [#graph.expr<"2 * s">]
  %r:2 = graph.loop <"3"> limit 3 carries(%x) iteration "t" symbols ["s"] start [#graph.expr<"N">] result_symbols ["end"]
      argument_dims [[#graph.expr<"s">]] dims [[#graph.expr<"end">], [#graph.expr<"3">, #graph.expr<"N">]] : (tensor<?xf32>) -> (tensor<?xf32>, tensor<3x?xf32>) {
  ^bb0(%v: tensor<?xf32>):
    %w = graph.dispatch @twice(%v) sizes [#graph.expr<"s">, #graph.expr<"2 * s">] dims [[#graph.expr<"2 * s">]] : (tensor<?xf32>) -> tensor<?xf32>
    graph.yield %w, %x sizes [#graph.expr<"2 * s">] : tensor<?xf32>, tensor<?xf32>
  }
  return %r#0 : tensor<?xf32>
}
