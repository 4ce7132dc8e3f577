// RUN: llmc-opt %s --pass-pipeline="builtin.module(func.func(assign-devices{devices=cpu=cpu,left=sim:0,right=sim:1 pins=left=act,right=last}))" --split-input-file --verify-diagnostics --mlir-print-local-scope | FileCheck %s
// RUN: llmc-opt %s --pass-pipeline="builtin.module(func.func(assign-devices{devices=left=sim:2}))" --split-input-file --mlir-print-local-scope 2>/dev/null | FileCheck %s --check-prefix=FIRST

// A pin is for each op whose node it matches, also in part; of two pins the later one counts; what no pin names is the host's.
// CHECK-LABEL: func.func @pins
// CHECK-SAME: graph.device = #plan.device<"cpu", cpu>
// CHECK: graph.abs {{.*}} {graph.device = #plan.device<"left", sim>}
// CHECK: graph.relu {{.*}} {graph.device = #plan.device<"right", sim number 1>}
// CHECK: graph.neg
// CHECK-NOT: graph.device

// Without a cpu the host is there all the same, and the first device gets everything.
// FIRST-LABEL: func.func @pins
// FIRST-SAME: graph.device = #plan.device<"cpu", cpu>
// FIRST: graph.abs {{.*}} {graph.device = #plan.device<"left", sim number 2>}
// FIRST: graph.neg {{.*}} {graph.device = #plan.device<"left", sim number 2>}
func.func @pins(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.abs %x : tensor<4xf32> -> tensor<4xf32> loc("block/act.1")
  %b = graph.relu %a : tensor<4xf32> -> tensor<4xf32> loc("last act")
  %c = graph.neg %b : tensor<4xf32> -> tensor<4xf32> loc("end")
  return %c : tensor<4xf32>
}

// -----

// What stands in branches and loops is pinned as the rest.
// CHECK-LABEL: func.func @blocks
// CHECK: graph.if
// CHECK: graph.neg {{.*}} {graph.device = #plan.device<"left", sim>}
// CHECK: graph.abs
// CHECK-NOT: graph.device
func.func @blocks(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.if %c symbols [] dims [[#graph.expr<"4">]] : (tensor<i1>) -> tensor<4xf32> {
    %a = graph.neg %x : tensor<4xf32> -> tensor<4xf32> loc("then act")
    graph.yield %a sizes [] : tensor<4xf32>
  } else {
    %a = graph.abs %x : tensor<4xf32> -> tensor<4xf32> loc("else")
    graph.yield %a sizes [] : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// An op that several nodes were raised to is where any of them is. Constants and views have no device.
// CHECK-LABEL: func.func @raised
// CHECK: graph.constant dense
// CHECK: graph.softmax {{.*}}graph.device = #plan.device<"left", sim>
// CHECK: graph.view
// CHECK-NOT: graph.device
func.func @raised(%x: tensor<4x4xf32>) -> (tensor<16xf32>, tensor<4xf32>) {
  %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> loc("act")
  %a = graph.softmax %x {axis = 1 : i64} : tensor<4x4xf32> -> tensor<4x4xf32> loc(fused["exp", "act", "div"])
  %b = graph.view %a {dims = [#graph.expr<"16">]} : tensor<4x4xf32> -> tensor<16xf32> loc("act")
  return %b, %c : tensor<16xf32>, tensor<4xf32>
}
