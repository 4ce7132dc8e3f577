// RUN: llmc-opt %s --pass-pipeline="builtin.module(plan.entry(schedule-queues,plan-memory))" --split-input-file | FileCheck %s

// The copies wait for what they copy, the host for what comes back; its own work comes after what it gives away.
// CHECK-LABEL: plan.entry @there_and_back
// CHECK-SAME: symbols
// CHECK: semaphores 2
// CHECK: plan.dispatch @first({{.*}}) writes 1 scalars [] on <signal = [#plan.point<0, 1>]>
// CHECK: plan.copy {{.*}} on <queue = 1, wait = [#plan.point<0, 1>]>
// CHECK: plan.dispatch @there({{.*}}) writes 1 scalars [] on <queue = 1>
// CHECK: plan.copy {{.*}} on <queue = 1, signal = [#plan.point<1, 1>]>
// CHECK: plan.dispatch @last({{.*}}) writes 1 scalars [] on <wait = [#plan.point<1, 1>]>
plan.entry @there_and_back symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>, #plan.device<"left", sim>] queues [0, 1]
            arenas [#plan.arena<0, host, align 64>, #plan.arena<1, device, align 64>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %a = plan.arena f32 [#graph.expr<"4">]
    %b = plan.arena f32 [#graph.expr<"4">] in 1
    %c = plan.arena f32 [#graph.expr<"4">] in 1
    %d = plan.arena f32 [#graph.expr<"4">]
    plan.dispatch @first(%x, %a) writes 1 scalars []
    plan.copy %a to %b on <queue = 1>
    plan.dispatch @there(%b, %c) writes 1 scalars [] on <queue = 1>
    plan.copy %c to %d on <queue = 1>
    plan.dispatch @last(%a, %d, %y) writes 1 scalars []
  }
}

// -----

// Two chains that take turns: in segments, each device's steps stand together.
// CHECK-LABEL: plan.entry @segments
// CHECK: plan.copy %{{.*}} to %{{.*}} on <queue = 1>
// CHECK: plan.dispatch @l1({{.*}}) writes 1 scalars [] on <queue = 1>
// CHECK: plan.dispatch @l2({{.*}}) writes 1 scalars [] on <queue = 1>
// CHECK: plan.copy {{.*}} on <queue = 1, signal = [#plan.point<0, 1>]>
// CHECK: plan.dispatch @h1({{.*}}) writes 1 scalars []{{$}}
// CHECK: plan.dispatch @h2({{.*}}) writes 1 scalars []{{$}}
// CHECK: plan.dispatch @join({{.*}}) writes 1 scalars [] on <wait = [#plan.point<0, 1>]>
plan.entry @segments symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>, #plan.device<"left", sim>] queues [0, 1]
            arenas [#plan.arena<0, host, align 64>, #plan.arena<1, device, align 64>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %h1 = plan.arena f32 [#graph.expr<"4">]
    plan.dispatch @h1(%x, %h1) writes 1 scalars []
    %l0 = plan.arena f32 [#graph.expr<"4">] in 1
    plan.copy %x to %l0 on <queue = 1>
    %l1 = plan.arena f32 [#graph.expr<"4">] in 1
    plan.dispatch @l1(%l0, %l1) writes 1 scalars [] on <queue = 1>
    %h2 = plan.arena f32 [#graph.expr<"4">]
    plan.dispatch @h2(%h1, %h2) writes 1 scalars []
    %l2 = plan.arena f32 [#graph.expr<"4">] in 1
    plan.dispatch @l2(%l1, %l2) writes 1 scalars [] on <queue = 1>
    %l3 = plan.arena f32 [#graph.expr<"4">]
    plan.copy %l2 to %l3 on <queue = 1>
    plan.dispatch @join(%h2, %l3, %y) writes 1 scalars []
  }
}

// -----

// The host does not wait for the copy of %a, so nothing later may lie on its bytes.
// CHECK-LABEL: plan.entry @memory
// CHECK-DAG: plan.arena f32 [#graph.expr<"16">] at 0
// CHECK-DAG: plan.arena f32 [#graph.expr<"16">] at 64
// CHECK-DAG: plan.arena f32 [#graph.expr<"16">] at 128
plan.entry @memory symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>, #plan.device<"left", sim>] queues [0, 1]
            arenas [#plan.arena<0, host, align 64>, #plan.arena<1, device, align 64>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"16">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"16">]
    %z = plan.output 1 "z" : f32 [#graph.expr<"16">]
    %a = plan.arena f32 [#graph.expr<"16">]
    %b = plan.arena f32 [#graph.expr<"16">]
    %c = plan.arena f32 [#graph.expr<"16">]
    plan.dispatch @k(%x, %a) writes 1 scalars []
    %l = plan.arena f32 [#graph.expr<"16">] in 1
    plan.copy %a to %l on <queue = 1>
    plan.copy %l to %z on <queue = 1>
    plan.dispatch @k(%x, %b) writes 1 scalars []
    plan.dispatch @k(%b, %c) writes 1 scalars []
    plan.dispatch @k(%c, %y) writes 1 scalars []
  }
}

// -----

// A block starts when all queues are empty and ends so: inside of it steps wait for each other, at its borders nobody does.
// CHECK-LABEL: plan.entry @block
// CHECK: semaphores 1
// CHECK: plan.copy %{{.*}} to %[[L:.*]] on <queue = 1>
// CHECK: plan.loop
// CHECK: plan.dispatch @there(%[[L]], %{{.*}}) writes 1 scalars [] on <queue = 1>
// CHECK: plan.copy {{.*}} on <queue = 1, signal = [#plan.point<0, 1>]>
// CHECK: plan.dispatch @here({{.*}}) writes 1 scalars [] on <wait = [#plan.point<0, 1>]>
// CHECK: plan.dispatch @last({{.*}}) writes 1 scalars []{{$}}
plan.entry @block symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>, #plan.device<"left", sim>] queues [0, 1]
            arenas [#plan.arena<0, host, align 64>, #plan.arena<1, device, align 64>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %a = plan.arena f32 [#graph.expr<"4">]
    %l = plan.arena f32 [#graph.expr<"4">] in 1
    plan.copy %x to %l on <queue = 1>
    plan.loop <"3"> limit 8 carries (%a) from (%x) {
      %b = plan.arena f32 [#graph.expr<"4">] in 1
      %c = plan.arena f32 [#graph.expr<"4">]
      %d = plan.arena f32 [#graph.expr<"4">]
      plan.dispatch @there(%l, %b) writes 1 scalars [] on <queue = 1>
      plan.copy %b to %c on <queue = 1>
      plan.dispatch @here(%a, %c, %d) writes 1 scalars []
      plan.yield %d
    }
    plan.dispatch @last(%a, %y) writes 1 scalars []
  }
}
