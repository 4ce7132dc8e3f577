// RUN: llmc-opt %s --pass-pipeline="builtin.module(plan.entry(plan-memory))" --split-input-file | FileCheck %s

// The first and the third buffer are never live at once: they share bytes.
// CHECK-LABEL: plan.entry @chain
// CHECK: plan.arena f32 [#graph.expr<"16">] at 0
// CHECK: plan.arena f32 [#graph.expr<"16">] at 64
// CHECK: plan.arena f32 [#graph.expr<"16">] at 0
// CHECK: {arena_bound = 128 : i64, arena_peak = 128 : i64}
plan.entry @chain symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"16">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"16">]
    %a = plan.arena f32 [#graph.expr<"16">]
    %b = plan.arena f32 [#graph.expr<"16">]
    %c = plan.arena f32 [#graph.expr<"16">]
    plan.dispatch @k(%x, %a) writes 1 scalars []
    plan.dispatch @k(%a, %b) writes 1 scalars []
    plan.dispatch @k(%b, %c) writes 1 scalars []
    plan.dispatch @k(%c, %y) writes 1 scalars []
  }
}

// -----

// A size that is not known leaves all to the runtime.
// CHECK-LABEL: plan.entry @symbolic
// CHECK: plan.arena f32 [#graph.expr<"N">]{{$}}
// CHECK-NOT: peak
plan.entry @symbolic symbols {N = array<i64: 0, 8>} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
    %y = plan.output 0 "y" : f32 [#graph.expr<"N">]
    %a = plan.arena f32 [#graph.expr<"N">]
    plan.dispatch @k(%x, %a) writes 1 scalars [#graph.expr<"N">]
    plan.dispatch @k(%a, %y) writes 1 scalars [#graph.expr<"N">]
  }
}

// -----

// The loop comes back to %table: nothing inside takes its place, though its only use comes first. The two buffers of the block itself
// are live one after the other.
// CHECK-LABEL: plan.entry @loop_comes_back
// CHECK: plan.arena f32 [#graph.expr<"16">] at 0
// CHECK: plan.loop
// CHECK: plan.arena f32 [#graph.expr<"16">] at 64
// CHECK: plan.arena f32 [#graph.expr<"16">] at 128
// CHECK: plan.arena f32 [#graph.expr<"16">] at 64
// CHECK: {arena_bound = 192 : i64, arena_peak = 192 : i64}
plan.entry @loop_comes_back symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : f32 [#graph.expr<"16">]
    %table = plan.arena f32 [#graph.expr<"16">]
    plan.fill %table with 0 of 4
    plan.loop <"4"> limit 4 {
      %a = plan.arena f32 [#graph.expr<"16">]
      %b = plan.arena f32 [#graph.expr<"16">]
      %c = plan.arena f32 [#graph.expr<"16">]
      plan.dispatch @k(%table, %a) writes 1 scalars []
      plan.dispatch @k(%a, %b) writes 1 scalars []
      plan.dispatch @k(%b, %c) writes 1 scalars []
      plan.copy %c to %y
    }
  }
}

// -----

// A carried value is live from before the first trip to the end of the loop; what is yielded, to the end of the trip. The init is free
// once the loop has begun.
// CHECK-LABEL: plan.entry @carried
// CHECK: %[[INIT:.*]] = plan.arena f32 [#graph.expr<"16">] at [[FREE:.*]]
// CHECK: %[[SUM:.*]] = plan.arena f32 [#graph.expr<"16">] at {{.*}}
// CHECK: plan.loop
// CHECK: plan.arena f32 [#graph.expr<"16">] at [[FREE]]
// CHECK: {arena_bound = 128 : i64, arena_peak = 128 : i64}
plan.entry @carried symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : f32 [#graph.expr<"16">]
    %init = plan.arena f32 [#graph.expr<"16">]
    %sum = plan.arena f32 [#graph.expr<"16">]
    plan.fill %init with 0 of 4
    plan.loop <"4"> limit 4 carries (%sum) from (%init) {
      %next = plan.arena f32 [#graph.expr<"16">]
      plan.dispatch @k(%sum, %next) writes 1 scalars []
      plan.yield %next
    }
    plan.copy %sum to %y
  }
}

// -----

// Each arena and each body by itself.
// CHECK-LABEL: plan.entry @arenas
// CHECK: plan.arena f32 [#graph.expr<"16">] at 0
// CHECK: plan.arena f32 [#graph.expr<"16">] in 1 at 0
// CHECK: {arena_bound = 128 : i64, arena_peak = 128 : i64}
// CHECK: plan.arena f32 [#graph.expr<"1">] at 0
// CHECK: {arena_bound = 4 : i64, arena_peak = 4 : i64}
plan.entry @arenas symbols {} {
  plan.body "two" devices [#plan.device<"cpu", cpu>] arenas [#plan.arena<0, host, align 64>, #plan.arena<0, host_pinned, align 64>] {
    %a = plan.arena f32 [#graph.expr<"16">]
    %b = plan.arena f32 [#graph.expr<"16">] in 1
    plan.fill %a with 0 of 4
    plan.copy %a to %b
  }
  plan.body "one" devices [#plan.device<"cpu", cpu>] {
    %a = plan.arena f32 [#graph.expr<"1">]
    plan.fill %a with 0 of 4
  }
}
