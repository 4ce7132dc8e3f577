// RUN: llmc-opt %s --pass-pipeline="builtin.module(plan.entry(plan-memory))" --split-input-file | FileCheck %s

// The first and the third buffer are never live at once: they share bytes.
// CHECK-LABEL: plan.entry @chain
// CHECK: plan.arena f32 [#graph.expr<"16">] at 0
// CHECK: plan.arena f32 [#graph.expr<"16">] at 64
// CHECK: plan.arena f32 [#graph.expr<"16">] at 0
// CHECK: plan.arena = {bound = 128 : i64, peak = 128 : i64}
plan.entry @chain symbols {} {
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

// -----

// A size that is not known leaves all to the runtime.
// CHECK-LABEL: plan.entry @symbolic
// CHECK: plan.arena f32 [#graph.expr<"N">]{{$}}
// CHECK-NOT: peak
plan.entry @symbolic symbols {N = array<i64: 0, 8>} {
  %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
  %y = plan.output 0 "y" : f32 [#graph.expr<"N">]
  %a = plan.arena f32 [#graph.expr<"N">]
  plan.dispatch @k(%x, %a) writes 1 scalars [#graph.expr<"N">]
  plan.dispatch @k(%a, %y) writes 1 scalars [#graph.expr<"N">]
}
