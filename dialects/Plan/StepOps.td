// Steps.
#ifndef LLMC_DIALECTS_PLAN_STEPOPS_TD
#define LLMC_DIALECTS_PLAN_STEPOPS_TD

include "dialects/Plan/PlanAttrs.td"
include "dialects/Plan/PlanInterfaces.td"

/// `args` are followed by the schedule, which `format` need not print.
class Plan_StepOp<string mnemonic, dag args, string format, list<Trait> traits = []>
    : Plan_Op<mnemonic, traits # [ParentOneOf<["BodyOp", "IfOp", "LoopOp"]>, Plan_StepOpInterface]> {
  let arguments = !con(args, (ins OptionalAttr<Plan_ScheduleAttr>:$schedule));
  let assemblyFormat = format # " (`on` $schedule^)? attr-dict";
}

def Plan_DispatchOp : Plan_StepOp<"dispatch",
    (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_Buffer>:$buffers, I64Attr:$written, Plan_Dims:$scalars),
    "$kernel `(` $buffers `)` `writes` $written `scalars` $scalars"> {
  let summary = "Launches a kernel";
  let description = [{
    The buffers are the kernel's bindings, inputs first; `written` of them, the last ones, are written.
    ```mlir
    plan.dispatch @relu_0(%x, %y) writes 1 scalars [#graph.expr<"N">]
    ```
  }];
  let extraClassDeclaration = [{
    ::mlir::OperandRange inputs() { return getBuffers().drop_back(getWritten()); }
    ::mlir::OperandRange outputs() { return getBuffers().take_back(getWritten()); }
    /// Whether it writes where it reads.
    bool isInPlace();
  }];
  let hasVerifier = 1;
}

def Plan_CopyOp : Plan_StepOp<"copy",
    (ins Plan_Buffer:$source, Plan_Buffer:$target, OptionalAttr<Graph_ExprAttr>:$source_offset,
         OptionalAttr<Graph_ExprAttr>:$target_offset, OptionalAttr<Graph_ExprAttr>:$length),
    "$source (`from` $source_offset^)? `to` $target (`at` $target_offset^)? (`length` $length^)?"> {
  let summary = "Copies bytes";
  let description = [{
    `length` bytes, or all of `source`; offsets in bytes, 0 if absent.
    ```mlir
    plan.copy %x to %y
    plan.copy %x from <"4"> to %y at <"0"> length <"N * 4 - 4">
    ```
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "::mlir::Value":$target), [{
    build($_builder, $_state, source, target, nullptr, nullptr, nullptr, nullptr);
  }]>];
  let hasVerifier = 1;
}

def Plan_FillOp : Plan_StepOp<"fill", (ins Plan_Buffer:$target, I64Attr:$pattern, I64Attr:$bytes), "$target `with` $pattern `of` $bytes"> {
  let summary = "Repeats the low `bytes` bytes of `pattern`, 1, 2, 4 or 8, through a buffer";
  let description = [{
    ```mlir
    plan.fill %y with 1065353216 of 4
    ```
  }];
  let hasVerifier = 1;
}

def Plan_IfOp : Plan_StepOp<"if",
    (ins Plan_Buffer:$condition, Variadic<Plan_Buffer>:$given, DefaultValuedAttr<StrArrayAttr, "{}">:$symbols,
         DefaultValuedAttr<DictionaryAttr, "{}">:$frame),
    [{$condition (`gives` `(` $given^ `)`)? (`symbols` $symbols^)? (`frame` $frame^)? $then_block (`else` $else_block^)?}],
    [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments]> {
  let summary = "Runs one of two blocks, by the first byte of a buffer";
  let description = [{
    `frame` gives the symbols of both blocks their values, as expressions of the block around them. After the block, the buffers that
    are `given` get the bytes of those that it yields. What comes later may use `symbols`, whose values the block yields too: so sizes
    may depend on the branch.
    ```mlir
    %rows = plan.arena f32 [#graph.expr<"rows">]
    plan.if %flag gives (%rows) symbols ["rows"] frame {n = #graph.expr<"N">} {
      %all = plan.view %x from <"0"> : f32 [#graph.expr<"n">]
      plan.yield %all sizes [#graph.expr<"n">]
    } else {
      %none = plan.view %x from <"0"> : f32 [#graph.expr<"0">]
      plan.yield %none sizes [#graph.expr<"0">]
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$then_block, MaxSizedRegion<1>:$else_block);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Plan_LoopOp : Plan_StepOp<"loop",
    (ins Graph_ExprAttr:$trips, ConfinedAttr<I64Attr, [IntNonNegative]>:$limit, Optional<Plan_Buffer>:$condition,
         Variadic<Plan_Buffer>:$inits, Variadic<Plan_Buffer>:$carried, Variadic<Plan_Buffer>:$collected,
         OptionalAttr<StrAttr>:$iteration, DefaultValuedAttr<DictionaryAttr, "{}">:$frame,
         DefaultValuedAttr<StrArrayAttr, "{}">:$symbols, DefaultValuedAttr<Plan_Dims, "{}">:$start,
         DefaultValuedAttr<StrArrayAttr, "{}">:$result_symbols),
    [{$trips `limit` $limit (`while` $condition^)? (`carries` `(` $carried^ `)` `from` `(` $inits `)`)?
      (`collects` `(` $collected^ `)`)? (`iteration` $iteration^)? (`frame` $frame^)?
      (`sizes` $symbols^ `from` $start `as` $result_symbols)? $block}],
    [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments, AttrSizedOperandSegments]> {
  let summary = "Runs a block again and again";
  let description = [{
    `trips` times, which must not exceed `limit`, and only while the first byte of `condition` is not 0, read before each trip. Each
    buffer in `carried` gets the bytes of its init before the first trip, and those that the block yields for it after each trip. `frame`
    gives the block's symbols their values, as expressions of the block around it; `iteration` names one that counts the trips.
    ```mlir
    %start = plan.arena f32 [#graph.expr<"1">]
    %sum = plan.arena f32 [#graph.expr<"1">]
    plan.fill %start with 0 of 4
    plan.loop <"N"> limit 64 carries (%sum) from (%start) iteration "t" frame {width = #graph.expr<"1">} {
      %row = plan.view %x from <"t * 4"> : f32 [#graph.expr<"width">]
      %next = plan.arena f32 [#graph.expr<"width">]
      plan.dispatch @add(%sum, %row, %next) writes 1 scalars []
      plan.yield %next
    }
    ```
    Sizes that change from trip to trip are carried too: each of `symbols` has the value of its expression in `sizes ... from` in the
    first trip and that which the block yields in the next, and as a symbol of the block around it, after `as`, the last one. A carried
    value of such a size has a place of its own in the block, a `plan.argument`, from which `carried` gets its bytes in the end. To each
    buffer in `collected`, empty at first, the bytes that the block yields for it are appended after each trip.
    ```mlir
    %rows = plan.arena f32 [#graph.expr<"length">]
    %sums = plan.arena f32 [#graph.expr<"trips">]
    plan.loop <"N"> limit 64 carries (%rows) from (%x) collects (%sums) iteration "t"
        sizes ["size", "n"] from [#graph.expr<"N">, #graph.expr<"0">] as ["length", "trips"] {
      %row = plan.argument 0 : f32 [#graph.expr<"size">]
      %next = plan.arena f32 [#graph.expr<"size + 1">]
      %sum = plan.arena f32 [#graph.expr<"1">]
      plan.dispatch @grow(%row, %next, %sum) writes 2 scalars [#graph.expr<"size">]
      plan.yield %next, %sum sizes [#graph.expr<"size + 1">, #graph.expr<"t + 1">]
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$block);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Plan_YieldOp : Plan_Op<"yield", [ParentOneOf<["IfOp", "LoopOp"]>, Terminator]> {
  let summary = "Ends a block with the buffers and sizes that it gives: for a loop, what it carries and then what it collects";
  let description = [{
    ```mlir
    %at = plan.arena f32 [#graph.expr<"N">]
    plan.loop <"2"> limit 2 carries (%at) from (%x) {
      plan.yield %at
    }
    ```
  }];
  let arguments = (ins Variadic<Plan_Buffer>:$values, DefaultValuedAttr<Plan_Dims, "{}">:$sizes);
  let assemblyFormat = "($values^)? (`sizes` $sizes^)? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* nothing to carry */ }]>];
}

def Plan_ReadScalarOp : Plan_StepOp<"read_scalar",
    (ins Plan_Buffer:$source, OptionalAttr<Graph_ExprAttr>:$offset, StrAttr:$symbol, DenseI64ArrayAttr:$range),
    "$source (`at` $offset^)? `as` $symbol `range` $range"> {
  let summary = "Defines a symbol by an i32 or i64 of a buffer, at a byte offset, 0 if absent";
  let description = [{
    What comes later in this block may use the symbol. The run fails if the value is outside of the range.
    ```mlir
    plan.read_scalar %count as "kept" range [0, 64]
    %kept = plan.arena f32 [#graph.expr<"kept">]
    ```
  }];
  let hasVerifier = 1;
}

def Plan_CheckOp : Plan_StepOp<"check", (ins Plan_GuardAttr:$guard, StrAttr:$message), "$guard $message"> {
  let summary = "Fails the run unless a condition on sizes holds";
  let description = [{
    ```mlir
    plan.check <<"N"> divisible_by 2> "rows come in pairs"
    ```
  }];
}

def Plan_BarrierOp : Plan_StepOp<"barrier", (ins), ""> {
  let summary = "Later steps of the queue start when earlier ones have ended";
  let description = [{
    ```mlir
    plan.barrier
    ```
  }];
}

#endif // LLMC_DIALECTS_PLAN_STEPOPS_TD
