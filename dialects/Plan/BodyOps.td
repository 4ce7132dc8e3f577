// Entries and the bodies that run them.
#ifndef LLMC_DIALECTS_PLAN_BODYOPS_TD
#define LLMC_DIALECTS_PLAN_BODYOPS_TD

include "dialects/Plan/PlanAttrs.td"
include "mlir/IR/SymbolInterfaces.td"

def Plan_EntryOp : Plan_Op<"entry", [Symbol, NoTerminator, SingleBlock, IsolatedFromAbove, NoRegionArguments]> {
  let summary = "An entry point: the ways to run it";
  let description = [{
    `symbols` gives the range of each symbol that a dim of an input names. All bodies have the same inputs, outputs and states.
    ```mlir
    plan.entry @main symbols {N = array<i64: 1, 8>} {
      plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
        %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
        %y = plan.output 0 "y" : f32 [#graph.expr<"N">]
        plan.dispatch @relu_0(%x, %y) writes 1 scalars [#graph.expr<"N">]
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DictionaryAttr:$symbols);
  let regions = (region SizedRegion<1>:$bodies);
  let assemblyFormat = "$sym_name `symbols` $symbols $bodies attr-dict";
  let hasRegionVerifier = 1;
}

def Plan_BodyOp : Plan_Op<"body", [HasParent<"EntryOp">, NoTerminator, SingleBlock, IsolatedFromAbove, NoRegionArguments]> {
  let summary = "One way to run an entry: buffers, and steps in order";
  let description = [{
    The runtime takes the first body, by falling `priority`, whose devices exist and whose `guards` hold. `queues` names the device of
    each queue, as an index into `devices`; the first is the host's, a CPU, which has inputs and outputs in its memory. Without `arenas`
    there is one, in host memory of the first device, aligned to 64 bytes.
    The pass `plan-memory` leaves `arena_peak` and `arena_bound`, in bytes.
    ```mlir
    plan.entry @main symbols {N = array<i64: 1, 64>} {
      plan.body "few" devices [#plan.device<"cpu", cpu>] guards [#plan.guard<<"N"> le 8>] priority 1 {
        %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
        %y = plan.output 0 "y" : f32 [#graph.expr<"N">]
        plan.copy %x to %y
      }
      plan.body "many" devices [#plan.device<"cpu", cpu>, #plan.device<"gpu", cuda, memory 1048576>] queues [0, 1] semaphores 2
                       arenas [#plan.arena<0, host_pinned, align 64>, #plan.arena<1, device, align 256>] {
        %x = plan.input 0 "x" : f32 [#graph.expr<"N">]
        %y = plan.output 0 "y" : f32 [#graph.expr<"N">]
        %g = plan.arena f32 [#graph.expr<"N">] in 1
        plan.copy %x to %g on <queue = 1>
        plan.copy %g to %y on <queue = 1, signal = [#plan.point<0, 1>]>
        plan.barrier on <wait = [#plan.point<0, 1>]>
      }
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Plan_Devices:$devices, OptionalAttr<Plan_Guards>:$guards,
                       DefaultValuedAttr<I64Attr, "0">:$priority, DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$queues,
                       DefaultValuedAttr<I64Attr, "0">:$semaphores, OptionalAttr<Plan_Arenas>:$arenas,
                       OptionalAttr<I64Attr>:$arena_peak, OptionalAttr<I64Attr>:$arena_bound);
  let regions = (region SizedRegion<1>:$steps);
  let assemblyFormat = [{
    $name `devices` $devices (`guards` $guards^)? (`priority` $priority^)? (`queues` $queues^)? (`semaphores` $semaphores^)?
    (`arenas` $arenas^)? $steps attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "DeviceAttr":$device)>];
  let extraClassDeclaration = [{
    /// The arenas, with the one that is meant where none are given.
    ::llvm::SmallVector<ArenaAttr> arenaList();
    /// The device, as an index into `devices`, that has the bytes of `buffer`.
    int64_t deviceOf(::mlir::Value buffer);
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // LLMC_DIALECTS_PLAN_BODYOPS_TD
