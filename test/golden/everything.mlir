// RUN: write-artifact %s x86-64-v2 %t.llmc && llmc-plan %t.llmc --check
// The source of the golden artifact: every structure that the runtime of its format version runs. docs/plan-format.md says how it is made.
#id = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> (0)>

// z = x + c, on the bytes of x if need be.
func.func private @shift(%x: tensor<?xf32> {graph.sizes = array<i64: -1>}, %c: tensor<1xf32> {graph.sizes = array<i64: 1>}, %n: index)
    -> (tensor<?xf32> {graph.sizes = array<i64: -1>, graph.replaces = 0 : i64}) attributes {graph.dispatch} {
  %init = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel"]}
      ins(%x, %c : tensor<?xf32>, tensor<1xf32>) outs(%init : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.addf %a, %b : f32
      linalg.yield %r : f32
  } -> tensor<?xf32>
  return %z : tensor<?xf32>
}

// y = flag ? x + offsets[0] + ... + offsets[steps - 1] + last : 0; a single row is only copied.
plan.entry @main symbols {N = array<i64: 1, 64>} {
  plan.body "row" devices [#plan.device<"cpu", cpu>] guards [#plan.guard<<"N"> eq 1>] priority 1 {
    %x = plan.input 0 "x" : f32 [#graph.expr<"N">, #graph.expr<"4">]
    %steps = plan.input 1 "steps" : i64 [#graph.expr<"2">]
    %flag = plan.input 2 "flag" : i1 []
    %y = plan.output 0 "y" : f32 [#graph.expr<"N">, #graph.expr<"4">]
    plan.copy %x to %y
  }
  plan.body "rows" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"N">, #graph.expr<"4">]
    %steps = plan.input 1 "steps" : i64 [#graph.expr<"2">]
    %flag = plan.input 2 "flag" : i1 []
    %y = plan.output 0 "y" : f32 [#graph.expr<"N">, #graph.expr<"4">]
    %offsets = plan.constant "dense" dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
    %last = plan.constant "dense" dense<0.5> : tensor<1xf32>
    plan.read_scalar %steps at <"8"> as "trips" range [0, 1000]
    plan.check <<"trips"> le 4> "there are four offsets"
    %sum = plan.arena f32 [#graph.expr<"N">, #graph.expr<"4">]
    plan.loop <"trips"> limit 4 carries (%sum) from (%x) iteration "t" frame {n = #graph.expr<"N * 4">} {
      %offset = plan.view %offsets from <"t * 4"> : f32 [#graph.expr<"1">]
      %next = plan.arena f32 [#graph.expr<"n">]
      plan.dispatch @shift(%sum, %offset, %next) writes 1 scalars [#graph.expr<"n">]
      plan.yield %next
    }
    plan.barrier
    plan.if %flag frame {n = #graph.expr<"N * 4">} {
      %all = plan.view %sum from <"0"> : f32 [#graph.expr<"n">]
      plan.dispatch @shift(%all, %last, %all) writes 1 scalars [#graph.expr<"n">]
      plan.copy %all from <"0"> to %y at <"0"> length <"n * 4">
    } else {
      plan.fill %y with 0 of 4
    }
  }
}
