// The passes that make and refine the plan, in the order of the pipeline.
#ifndef LLMC_PASSES_PLAN_PASSES_TD
#define LLMC_PASSES_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def GraphToPlanPass : Pass<"graph-to-plan", "::mlir::ModuleOp"> {
  let summary = "Turn the function of dispatches into an entry of buffers and steps";
  let description = [{
    Each tensor becomes a buffer: of the caller where it is an input or output, a view where it is a `graph.view`, else in the arena.
    An output that is an input, a constant or another output gets a copy.
    ```mlir
    func.func @main(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
      %y = graph.dispatch @relu_0(%x) sizes [] dims [[#graph.expr<"4">]] : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    // becomes
    plan.entry @main symbols {} {
      plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
        %0 = plan.input 0 "x" : f32 [#graph.expr<"4">]
        %1 = plan.output 0 "y" : f32 [#graph.expr<"4">]
        plan.dispatch @relu_0(%0, %1) writes 1 scalars []
      }
    }
    ```
  }];
  let dependentDialects = ["::llmc::plan::PlanDialect"];
}

def PlanInPlacePass : Pass<"plan-in-place", "::mlir::ModuleOp"> {
  let summary = "Write results over inputs that die";
  let description = [{
    A result whose kernel allows it (`graph.may_replace` on the result of the dispatch function) becomes a view of an input, if both lie
    in the same arena, have equal sizes, fixed or symbolic, and no later step uses the input. Buffers of the caller and constants stay
    as they are. A kernel takes the same input at all steps: the one that most of them can take, which `graph.replaces` then names.
    ```mlir
    plan.entry @main symbols {} {
      plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
        %0 = plan.input 0 "x" : f32 [#graph.expr<"4">]
        %1 = plan.output 0 "y" : f32 [#graph.expr<"4">]
        %2 = plan.arena f32 [#graph.expr<"4">]
        %3 = plan.arena f32 [#graph.expr<"4">]
        plan.dispatch @relu_0(%0, %2) writes 1 scalars []
        plan.dispatch @relu_0(%2, %3) writes 1 scalars []
        plan.dispatch @relu_0(%3, %1) writes 1 scalars []
      }
    }
    // becomes
    plan.entry @main symbols {} {
      plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
        %0 = plan.input 0 "x" : f32 [#graph.expr<"4">]
        %1 = plan.output 0 "y" : f32 [#graph.expr<"4">]
        %2 = plan.arena f32 [#graph.expr<"4">]
        %3 = plan.view %2 from <"0"> : f32 [#graph.expr<"4">]
        plan.dispatch @relu_0(%0, %2) writes 1 scalars []
        plan.dispatch @relu_0(%2, %3) writes 1 scalars []
        plan.dispatch @relu_0(%3, %1) writes 1 scalars []
      }
    }
    ```
  }];
  let dependentDialects = ["::llmc::plan::PlanDialect"];
}

def PlanMemoryPass : Pass<"plan-memory", "::llmc::plan::EntryOp"> {
  let summary = "Place buffers of static size in the arena";
  let description = [{
    If every arena buffer of a body has a static size, each gets an offset such that no two live at once overlap; the body's attributes
    `arena_peak` and `arena_bound` then hold the peak and its lower bound (the most bytes live at once), summed over its arenas.
    Otherwise the runtime runs the same planner for each new shape. A buffer used inside a loop or branch, but not of it, is live for
    all of that loop or branch.
    ```mlir
    %1 = plan.arena f32 [#graph.expr<"4">]
    // becomes
    %1 = plan.arena f32 [#graph.expr<"4">] at 0
    ```
  }];
}

#endif // LLMC_PASSES_PLAN_PASSES_TD
