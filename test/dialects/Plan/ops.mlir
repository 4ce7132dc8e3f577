// RUN: llmc-opt %s | llmc-opt | FileCheck %s
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | FileCheck %s
// What examples.test can not cover: clauses left out, all clauses at once, nested blocks.

// CHECK-LABEL: plan.entry @resources symbols {N = array<i64: 1, 64>}
plan.entry @resources symbols {N = array<i64: 1, 64>} {
  // What is as by default is not printed.
  // CHECK: plan.body "plain" devices [#plan.device<"cpu", cpu>] {
  plan.body "plain" devices [#plan.device<"cpu", cpu>] priority 0 queues [0] semaphores 0 {
    %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
    // CHECK: plan.arena f32 [#graph.expr<"N">]{{$}}
    %a = plan.arena f32 [#graph.expr<"N">] in 0
  }
  // CHECK: plan.body "rich" devices [#plan.device<"cpu", cpu>, #plan.device<"gpu", cuda, memory 4096>]
  // CHECK-SAME: guards [#plan.guard<<"N"> le 8>, #plan.guard<<"N + 1"> divisible_by 2>] priority -1 queues [0, 1, 1] semaphores 2
  // CHECK-SAME: arenas [#plan.arena<0, host_pinned, align 64>, #plan.arena<1, device, align 256>] {
  plan.body "rich" devices [#plan.device<"cpu", cpu>, #plan.device<"gpu", cuda, memory 4096>]
                   guards [#plan.guard<<"N"> le 8>, #plan.guard<<"N + 1"> divisible_by 2>] priority -1 queues [0, 1, 1] semaphores 2
                   arenas [#plan.arena<0, host_pinned, align 64>, #plan.arena<1, device, align 256>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
    // CHECK: %[[A:.*]] = plan.arena f32 [#graph.expr<"N">] in 1 at 256
    %a = plan.arena f32 [#graph.expr<"N">] in 1 at 256
    // CHECK: plan.copy %{{.*}} to %[[A]] length <"4"> on <queue = 2, wait = [#plan.point<0, 1>], signal = [#plan.point<1, 3>, #plan.point<0, 2>]>
    plan.copy %x to %a length <"4"> on <queue = 2, wait = [#plan.point<0, 1>], signal = [#plan.point<1, 3>, #plan.point<0, 2>]>
    // CHECK: plan.barrier on <signal = [#plan.point<0, 1>]>
    plan.barrier on <signal = [#plan.point<0, 1>]>
  }
}

// A loop in a branch, on a buffer of the outermost block.
// CHECK-LABEL: plan.entry @blocks
plan.entry @blocks symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %flag = plan.input 0 "flag" : i1 []
    %n = plan.input 1 "n" : i64 [#graph.expr<"2">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"8">]
    // CHECK: plan.read_scalar %{{.*}} at <"8"> as "count" range [0, 8]
    plan.read_scalar %n at <"8"> as "count" range [0, 8]
    // CHECK: plan.if %[[FLAG:.*]] frame {k = #graph.expr<"count">} {
    plan.if %flag frame {k = #graph.expr<"count">} {
      // CHECK: plan.loop <"k"> limit 8 while %[[FLAG]] iteration "t" {
      plan.loop <"k"> limit 8 while %flag iteration "t" {
        %at = plan.view %y from <"t * 4"> : f32 [#graph.expr<"1">]
        // CHECK: plan.fill %{{.*}} with -1 of 4
        plan.fill %at with -1 of 4
        // CHECK-NEXT: plan.yield
      }
      // CHECK: } else {
    } else {
      // CHECK: plan.check <<"k"> ge 0> "k is a count"
      plan.check <<"k"> ge 0> "k is a count"
    }
    // CHECK: plan.if %[[FLAG]] {
    // CHECK-NOT: else
    plan.if %flag {
    }
  }
}
