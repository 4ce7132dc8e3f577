// The passes that make and refine the plan, in the order of the pipeline.
#ifndef LLMC_PASSES_PLAN_PASSES_TD
#define LLMC_PASSES_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def AssignDevicesPass : Pass<"assign-devices", "::mlir::func::FuncOp"> {
  let summary = "Say which device computes each op";
  let description = [{
    `devices` are NAME=KIND[:N], `pins` NAME=REGEX over the names of ONNX nodes; the last pin that matches a node of an op counts, and
    the first device gets what no pin names. The host has no attribute: inputs and outputs, views, constants and numbers that are read are
    its own, and so is control flow, which can not be pinned elsewhere, unlike the ops inside. Runs when patterns are raised: no op is cut.
    ```mlir
    %y = graph.relu %x : tensor<4xf32> -> tensor<4xf32> loc("act")
    // with devices=cpu=cpu,left=sim:0 pins=left=^act$ becomes
    %y = graph.relu %x {graph.device = #plan.device<"left", sim>} : tensor<4xf32> -> tensor<4xf32> loc("act")
    ```
  }];
  let dependentDialects = ["::llmc::plan::PlanDialect"];
  let options = [ListOption<"devices", "devices", "std::string", "Devices, as llmc --device takes them">,
                 ListOption<"pins", "pins", "std::string", "Pins, as llmc --pin takes them">];
}

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

def InsertTransfersPass : Pass<"insert-transfers", "::llmc::plan::EntryOp"> {
  let summary = "Give each device its memory, and copies of what others computed";
  let description = [{
    A step with a `graph.device` goes to a queue of that device, its results into an arena there. What it reads of another device is
    copied there before the first use, once for all of its steps, however many; constants lie on each device that reads them. Outputs
    are copied back. A copy is on the queue of its target, but for copies to the host, which are on that of their source. What a block
    only reads is copied before its If or Loop; what it writes of buffers around it, and what it yields, is the host's at its end.
    ```mlir
    plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
      %0 = plan.input 0 "x" : f32 [#graph.expr<"4">]
      %1 = plan.output 0 "y" : f32 [#graph.expr<"4">]
      plan.dispatch @relu_0(%0, %1) writes 1 scalars [] {graph.device = #plan.device<"left", sim>}
    }
    // becomes
    plan.body "cpu" devices [#plan.device<"cpu", cpu>, #plan.device<"left", sim>] queues [0, 1]
              arenas [#plan.arena<0, host, align 64>, #plan.arena<1, device, align 64>] {
      %0 = plan.input 0 "x" : f32 [#graph.expr<"4">]
      %1 = plan.output 0 "y" : f32 [#graph.expr<"4">]
      %2 = plan.arena f32 [#graph.expr<"4">] in 1
      plan.copy %0 to %2 on <queue = 1>
      %3 = plan.arena f32 [#graph.expr<"4">] in 1
      plan.dispatch @relu_0(%2, %3) writes 1 scalars [] on <queue = 1>
      plan.copy %3 to %1 on <queue = 1>
    }
    ```
  }];
}

def ScheduleQueuesPass : Pass<"schedule-queues", "::llmc::plan::EntryOp"> {
  let summary = "Order the steps of several queues";
  let description = [{
    Steps are sorted by segments: the level of a step is the number of changes of queue on the longest way to it, and a segment is what
    one queue does at one level. Then a step that touches what a step of another queue touches, one of the two writing, waits for it
    unless other waits make sure of that. Each block by itself: an If or Loop with steps of other queues inside is alone while it runs.
    ```mlir
    plan.dispatch @relu_0(%x, %a) writes 1 scalars []
    plan.copy %a to %b on <queue = 1>
    // becomes
    plan.dispatch @relu_0(%x, %a) writes 1 scalars [] on <signal = [#plan.point<0, 1>]>
    plan.copy %a to %b on <queue = 1, wait = [#plan.point<0, 1>]>
    ```
  }];
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
