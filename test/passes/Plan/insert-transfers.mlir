// RUN: llmc-opt %s --pass-pipeline="builtin.module(plan.entry(insert-transfers))" --split-input-file | FileCheck %s

// Nothing changes where all is the host's.
// CHECK-LABEL: plan.entry @one
// CHECK: plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
// CHECK-NOT: plan.copy
// CHECK: plan.dispatch @k(%0, %1) writes 1 scalars []{{$}}
plan.entry @one symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    plan.dispatch @k(%x, %y) writes 1 scalars []
  }
}

// -----

// One copy for both readers, constants where they are read, and the output copied back.
// CHECK-LABEL: plan.entry @readers
// CHECK: devices [#plan.device<"cpu", cpu>, #plan.device<"left", sim>] queues [0, 1]
// CHECK-SAME: arenas [#plan.arena<0, host, align 64>, #plan.arena<1, device, align 64>]
// CHECK: %[[X:.*]] = plan.input
// CHECK: %[[Y:.*]] = plan.output
// CHECK: %[[C:.*]] = plan.constant "dense" on 1 dense<2.000000e+00>
// CHECK: %[[A:.*]] = plan.arena f32 [#graph.expr<"4">]{{$}}
// CHECK: plan.dispatch @k(%[[X]], %[[A]]) writes 1 scalars []{{$}}
// CHECK: plan.copy %[[A]] to %[[B:.*]] on <queue = 1>
// CHECK: plan.dispatch @two(%[[B]], %[[C]], %[[D:.*]]) writes 1 scalars [] on <queue = 1>
// CHECK-NOT: plan.copy
// CHECK: plan.dispatch @two(%[[B]], %[[D]], %[[E:.*]]) writes 1 scalars [] on <queue = 1>
// CHECK: plan.copy %[[E]] to %[[Y]] on <queue = 1>
plan.entry @readers symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %c = plan.constant "dense" dense<2.0> : tensor<4xf32>
    %a = plan.arena f32 [#graph.expr<"4">]
    plan.dispatch @k(%x, %a) writes 1 scalars []
    %d = plan.arena f32 [#graph.expr<"4">]
    plan.dispatch @two(%a, %c, %d) writes 1 scalars [] {graph.device = #plan.device<"left", sim>}
    plan.dispatch @two(%a, %d, %y) writes 1 scalars [] {graph.device = #plan.device<"left", sim>}
  }
}

// -----

// From one device to another: on the queue of the target. A view is copied with all it is a view of, and made there again.
// CHECK-LABEL: plan.entry @views
// CHECK: plan.copy %{{.*}} to %[[L:.*]] on <queue = 1>
// CHECK: plan.dispatch @k(%[[L]], %[[A:.*]]) writes 1 scalars [] on <queue = 1>
// CHECK: %[[R:.*]] = plan.arena f32 [#graph.expr<"2">, #graph.expr<"2">] in 2
// CHECK: plan.copy %[[A]] to %[[R]] on <queue = 2>
// CHECK: %[[V:.*]] = plan.view %[[R]] from <"0">
// CHECK: plan.dispatch @k(%[[V]], %{{.*}}) writes 1 scalars [] on <queue = 2>
plan.entry @views symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %a = plan.arena f32 [#graph.expr<"2">, #graph.expr<"2">]
    %v = plan.view %a from <"0"> : f32 [#graph.expr<"4">]
    plan.dispatch @k(%x, %a) writes 1 scalars [] {graph.device = #plan.device<"left", sim>}
    plan.dispatch @k(%v, %y) writes 1 scalars [] {graph.device = #plan.device<"right", sim number 1>}
  }
}

// -----

// What control flow and reads of numbers use comes to the host.
// CHECK-LABEL: plan.entry @control
// CHECK: plan.dispatch @k({{.*}}, %[[N:.*]]) writes 1 scalars [] on <queue = 1>
// CHECK: plan.copy %[[N]] to %[[H:.*]] on <queue = 1>
// CHECK: plan.read_scalar %[[H]] as "n"
// CHECK: plan.copy %{{.*}} to %[[B:.*]] on <queue = 1>
// CHECK: plan.if
// CHECK: plan.copy %[[B]] to
plan.entry @control symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %flag = plan.input 1 "flag" : i1 []
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %n = plan.arena i64 []
    %a = plan.arena f32 [#graph.expr<"4">]
    plan.dispatch @k(%x, %n) writes 1 scalars [] {graph.device = #plan.device<"left", sim>}
    plan.read_scalar %n as "n" range [0, 4]
    plan.dispatch @k(%x, %a) writes 1 scalars [] {graph.device = #plan.device<"left", sim>}
    plan.if %flag {
      plan.copy %a to %y
    } else {
      plan.fill %y with 0 of 4
    }
  }
}

// -----

// What a block reads comes to the device before the block is entered, results go back by its end; sizes reach the frame.
// CHECK-LABEL: plan.entry @branch
// CHECK: %[[X:.*]] = plan.input 0
// CHECK: %[[Y:.*]] = plan.output 0
// CHECK: %[[C:.*]] = plan.constant "dense" on 1
// CHECK-NOT: plan.constant "dense" on 1
// CHECK: %[[L:.*]] = plan.arena f32 [#graph.expr<"N">] in 1
// CHECK: plan.copy %[[X]] to %[[L]] on <queue = 1>
// CHECK: plan.if %{{.*}} frame {N = #graph.expr<"N">} {
// CHECK: %[[T:.*]] = plan.arena f32 [#graph.expr<"N">] in 1
// CHECK: plan.dispatch @two(%[[L]], %[[C]], %[[T]]) writes 1 scalars [] on <queue = 1>
// CHECK: plan.copy %[[T]] to %[[Y]] on <queue = 1>
// CHECK: plan.yield
// CHECK: } else {
// CHECK: %[[E:.*]] = plan.arena f32 [#graph.expr<"N">] in 1
// CHECK: plan.dispatch @two(%[[L]], %[[C]], %[[E]]) writes 1 scalars [] on <queue = 1>
// CHECK: plan.copy %[[E]] to %[[Y]] on <queue = 1>
plan.entry @branch symbols {N = array<i64: 1, 8>} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
    %flag = plan.input 1 "flag" : i1 []
    %y = plan.output 0 "y" : f32 [#graph.expr<"N">]
    %c = plan.constant "dense" dense<2.0> : tensor<4xf32>
    plan.if %flag {
      plan.dispatch @two(%x, %c, %y) writes 1 scalars [] {graph.device = #plan.device<"left", sim>}
    } else {
      plan.dispatch @two(%x, %c, %y) writes 1 scalars [] {graph.device = #plan.device<"left", sim>}
    }
  }
}

// -----

// A carried value is the host's between trips: it comes to the device in each, while what stays the same comes once.
// CHECK-LABEL: plan.entry @loop
// CHECK: %[[X:.*]] = plan.input 0
// CHECK: %[[A:.*]] = plan.arena f32 [#graph.expr<"4">]{{$}}
// CHECK: %[[K:.*]] = plan.arena f32 [#graph.expr<"4">] in 1
// CHECK: plan.copy %[[X]] to %[[K]] on <queue = 1>
// CHECK: plan.loop
// CHECK: plan.copy %[[A]] to %[[L:.*]] on <queue = 1>
// CHECK-NEXT: plan.dispatch @two(%[[L]], %[[K]], %[[N:.*]]) writes 1 scalars [] on <queue = 1>
// CHECK-NEXT: %[[B:.*]] = plan.arena f32 [#graph.expr<"4">]{{$}}
// CHECK-NEXT: plan.copy %[[N]] to %[[B]] on <queue = 1>
// CHECK-NEXT: plan.yield %[[B]]
plan.entry @loop symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %a = plan.arena f32 [#graph.expr<"4">]
    plan.loop <"3"> limit 8 carries (%a) from (%x) {
      %n = plan.arena f32 [#graph.expr<"4">]
      plan.dispatch @two(%a, %x, %n) writes 1 scalars [] {graph.device = #plan.device<"left", sim>}
      plan.yield %n
    }
    plan.copy %a to %y
  }
}
