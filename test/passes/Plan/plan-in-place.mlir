// RUN: llmc-opt %s --plan-in-place --split-input-file | FileCheck %s

// A chain of steps keeps its bytes from the first result on. Sizes may be symbolic.
// CHECK: func.func private @k{{.*}}graph.replaces = 0 : i64
// CHECK-LABEL: plan.entry @chain
// CHECK: %[[A:.*]] = plan.arena f32 [#graph.expr<"N">]
// CHECK: %[[B:.*]] = plan.view %[[A]] from <"0"> : f32 [#graph.expr<"N">]
// CHECK: %[[C:.*]] = plan.view %[[A]] from <"0"> : i32 [#graph.expr<"N">]
// CHECK: plan.dispatch @k(%{{.*}}, %[[A]])
// CHECK: plan.dispatch @k(%[[A]], %[[B]])
// CHECK: plan.dispatch @k(%[[B]], %[[C]])
func.func private @k(%x: tensor<?xf32>) -> (tensor<?xf32> {graph.may_replace = array<i64: 0>}) attributes {graph.dispatch}
plan.entry @chain symbols {N = array<i64: 0, 8>} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"N">]
    %a = plan.arena f32 [#graph.expr<"N">]
    %b = plan.arena f32 [#graph.expr<"N">]
    %c = plan.arena i32 [#graph.expr<"N">]
    plan.dispatch @k(%x, %a) writes 1 scalars []
    plan.dispatch @k(%a, %b) writes 1 scalars []
    plan.dispatch @k(%b, %c) writes 1 scalars []
    plan.dispatch @k(%c, %y) writes 1 scalars []
  }
}

// -----

// What a later step reads stays, through a view of it too.
// CHECK: func.func private @k
// CHECK-NOT: graph.replaces
// CHECK-LABEL: plan.entry @used_later
// CHECK-COUNT-2: plan.arena
func.func private @k(%x: tensor<4xf32>) -> (tensor<4xf32> {graph.may_replace = array<i64: 0>}) attributes {graph.dispatch}
plan.entry @used_later symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %a = plan.arena f32 [#graph.expr<"4">]
    %v = plan.view %a from <"8"> : f32 [#graph.expr<"2">]
    %b = plan.arena f32 [#graph.expr<"4">]
    plan.dispatch @k(%x, %a) writes 1 scalars []
    plan.dispatch @k(%a, %b) writes 1 scalars []
    plan.copy %b to %y
    plan.copy %v to %y
  }
}

// -----

// Buffers of the caller, read or written, and constants stay as they are.
// CHECK: func.func private @k
// CHECK-NOT: graph.replaces
// CHECK-LABEL: plan.entry @callers_buffers
// CHECK-COUNT-3: plan.arena
// CHECK-NOT: plan.view
func.func private @k(%x: tensor<4xf32>) -> (tensor<4xf32> {graph.may_replace = array<i64: 0>}) attributes {graph.dispatch}
plan.entry @callers_buffers symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %z = plan.output 1 "z" : f32 [#graph.expr<"4">]
    %w = plan.constant "dense" dense<1.0> : tensor<4xf32>
    %a = plan.arena f32 [#graph.expr<"4">]
    %b = plan.arena f32 [#graph.expr<"4">]
    %c = plan.arena f32 [#graph.expr<"4">]
    plan.dispatch @k(%x, %a) writes 1 scalars []
    plan.dispatch @k(%w, %b) writes 1 scalars []
    plan.dispatch @k(%a, %y) writes 1 scalars []
    plan.dispatch @k(%y, %c) writes 1 scalars []
    plan.dispatch @k(%c, %z) writes 1 scalars []
    plan.copy %b to %y
  }
}

// -----

// Other sizes, such as those of an operand that is broadcast, and results that are not one with the input.
// CHECK: func.func private @k
// CHECK-NOT: graph.replaces
// CHECK-LABEL: plan.entry @sizes
// CHECK-COUNT-2: plan.arena
func.func private @k(%x: tensor<?xf32>) -> (tensor<4xf32> {graph.may_replace = array<i64: 0>}) attributes {graph.dispatch}
plan.entry @sizes symbols {N = array<i64: 1, 4>} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %a = plan.arena f32 [#graph.expr<"N">]
    %b = plan.arena f32 [#graph.expr<"4">]
    plan.copy %x to %a
    plan.dispatch @k(%a, %b) writes 1 scalars []
    plan.copy %b to %y
  }
}

// -----

// Two bindings on the same bytes, one of which is read in some other way: not even if the kernel may replace both.
// CHECK: func.func private @add
// CHECK-NOT: graph.replaces
// CHECK-LABEL: plan.entry @equal_inputs
// CHECK-COUNT-2: plan.arena
func.func private @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32> {graph.may_replace = array<i64: 0, 1>})
    attributes {graph.dispatch}
plan.entry @equal_inputs symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %a = plan.arena f32 [#graph.expr<"4">]
    %b = plan.arena f32 [#graph.expr<"4">]
    plan.copy %x to %a
    plan.dispatch @add(%a, %a, %b) writes 1 scalars []
    plan.copy %b to %y
  }
}

// -----

// Steps share a kernel: it replaces the input that most of them can give up, the second. The step whose second input lives on, and the
// first of two results that want the same bytes, keep theirs.
// CHECK: func.func private @add{{.*}}graph.replaces = 1 : i64
// CHECK: func.func private @two{{.*}}graph.replaces = 0 : i64{{.*}}graph.replaces = 0 : i64
// CHECK-LABEL: plan.entry @votes
// CHECK: %[[R:.*]] = plan.arena
// CHECK: %[[A:.*]] = plan.arena
// CHECK: %[[B:.*]] = plan.view %[[A]]
// CHECK: %[[C:.*]] = plan.view %[[A]]
// CHECK: %[[D:.*]] = plan.arena
// CHECK: %[[P:.*]] = plan.view %[[D]]
// CHECK: %[[Q:.*]] = plan.arena
func.func private @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32> {graph.may_replace = array<i64: 0, 1>})
    attributes {graph.dispatch}
func.func private @two(%x: tensor<4xf32>)
    -> (tensor<4xf32> {graph.may_replace = array<i64: 0>}, tensor<4xf32> {graph.may_replace = array<i64: 0>}) attributes {graph.dispatch}
plan.entry @votes symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %r = plan.arena f32 [#graph.expr<"4">]
    %a = plan.arena f32 [#graph.expr<"4">]
    %b = plan.arena f32 [#graph.expr<"4">]
    %c = plan.arena f32 [#graph.expr<"4">]
    %d = plan.arena f32 [#graph.expr<"4">]
    %p = plan.arena f32 [#graph.expr<"4">]
    %q = plan.arena f32 [#graph.expr<"4">]
    plan.copy %x to %r
    plan.copy %x to %a
    plan.dispatch @add(%x, %a, %b) writes 1 scalars []
    plan.dispatch @add(%r, %b, %c) writes 1 scalars []
    plan.dispatch @add(%c, %r, %d) writes 1 scalars []
    plan.dispatch @two(%d, %p, %q) writes 2 scalars []
    plan.dispatch @add(%p, %q, %y) writes 1 scalars []
    plan.copy %r to %y
  }
}

// -----

// Inside a loop: what the block itself makes can be replaced; what it finds there again on the next trip can not.
// CHECK-LABEL: plan.entry @loop
// CHECK: plan.loop
// CHECK: %[[A:.*]] = plan.arena
// CHECK: %[[B:.*]] = plan.view %[[A]]
// CHECK: plan.dispatch @k(%{{.*}}, %[[A]])
// CHECK: plan.dispatch @k(%[[A]], %[[B]])
func.func private @k(%x: tensor<4xf32>) -> (tensor<4xf32> {graph.may_replace = array<i64: 0>}) attributes {graph.dispatch}
plan.entry @loop symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %table = plan.arena f32 [#graph.expr<"4">]
    plan.fill %table with 0 of 4
    plan.loop <"4"> limit 4 {
      %a = plan.arena f32 [#graph.expr<"4">]
      %b = plan.arena f32 [#graph.expr<"4">]
      plan.dispatch @k(%table, %a) writes 1 scalars []
      plan.dispatch @k(%a, %b) writes 1 scalars []
      plan.copy %b to %y
    }
  }
}
