// Ops with regions: what runs depends on data. A region reads values of the blocks around it as they are.
#ifndef LLMC_DIALECTS_GRAPH_CONTROLOPS_TD
#define LLMC_DIALECTS_GRAPH_CONTROLOPS_TD

include "dialects/Graph/GraphBase.td"
include "dialects/Graph/GraphAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Graph_IfOp : Op<Graph_Dialect, "if", [MemoryEffects<[MemWrite]>, SingleBlock, NoRegionArguments,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["areTypesCompatible"]>]> {
  let summary = "The results of one of two blocks";
  let description = [{
    `dims` are those of the results. Where they depend on the branch they name a symbol that the op defines: `symbols`, for each of
    which both blocks yield a size.
    ```mlir
    %one = graph.constant dense<1.0> : tensor<1x4xf32>
    %two = graph.constant dense<2.0> : tensor<2x4xf32>
    %yes = graph.constant dense<true> : tensor<i1>
    %y = graph.if %yes symbols ["rows"] dims [[#graph.expr<"rows">, #graph.expr<"4">]] : (tensor<i1>) -> tensor<?x4xf32> {
      graph.yield %one sizes [#graph.expr<"1">] : tensor<1x4xf32>
    } else {
      graph.yield %two sizes [#graph.expr<"2">] : tensor<2x4xf32>
    }
    ```
  }];
  let arguments = (ins Graph_BoolTensor:$condition, StrArrayAttr:$symbols, ArrayAttr:$dims);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$then_block, SizedRegion<1>:$else_block);
  let assemblyFormat = [{
    $condition `symbols` $symbols `dims` $dims attr-dict `:` functional-type($condition, $results) $then_block `else` $else_block
  }];
  let hasRegionVerifier = 1;
}

def Graph_LoopOp : Op<Graph_Dialect, "loop", [MemoryEffects<[MemWrite]>, SingleBlock,
    DeclareOpInterfaceMethods<RegionBranchOpInterface, ["areTypesCompatible", "getEntrySuccessorOperands"]>]> {
  let summary = "Runs a block again and again";
  let description = [{
    `trips` times, and, if it is `conditional`, only while the first value that it carries is true. `limit` bounds the trips of a loop
    whose number of trips is not known at compile time. The block gets the values carried so far, and yields the next ones; after them
    what each trip adds to the results that collect, along a new first dim. The symbol `iteration` counts the trips from 0.

    Sizes may change from trip to trip. The block knows such a size as one of `symbols`; it is `start` before the first trip, and what
    the block yields for it after each; as one of `result_symbols` it is what it was in the end. `argument_dims` are the dims of the
    block's arguments, `dims` those of the results.
    ```mlir
    %one = graph.constant dense<1.0> : tensor<1xf32>
    %all:2 = graph.loop <"8"> limit 8 carries(%one) iteration "t" symbols ["s"] start [#graph.expr<"1">] result_symbols ["end"]
        argument_dims [[#graph.expr<"s">]] dims [[#graph.expr<"end">], [#graph.expr<"8">, #graph.expr<"1">]]
        : (tensor<1xf32>) -> (tensor<?xf32>, tensor<8x1xf32>) {
    ^bb0(%v: tensor<?xf32>):
      %next = graph.concat %v, %one {axis = 0 : i64} : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
      graph.yield %next, %one sizes [#graph.expr<"s + 1">] : tensor<?xf32>, tensor<1xf32>
    }
    ```
  }];
  let arguments = (ins Graph_ExprAttr:$trips, ConfinedAttr<I64Attr, [IntNonNegative]>:$limit, UnitAttr:$conditional,
                       Variadic<Graph_Tensor>:$inits, StrAttr:$iteration, StrArrayAttr:$symbols, Graph_Dims:$start,
                       StrArrayAttr:$result_symbols, ArrayAttr:$argument_dims, ArrayAttr:$dims);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $trips `limit` $limit (`conditional` $conditional^)? `carries` `(` $inits `)` `iteration` $iteration `symbols` $symbols
    `start` $start `result_symbols` $result_symbols `argument_dims` $argument_dims `dims` $dims attr-dict
    `:` functional-type($inits, $results) $body
  }];
  let extraClassDeclaration = [{
    /// Results that collect what each trip adds; the others are what is carried.
    ::mlir::ResultRange getCollected() { return getResults().drop_front(getInits().size()); }
  }];
  let hasRegionVerifier = 1;
}

def Graph_YieldOp : Op<Graph_Dialect, "yield", [ParentOneOf<["IfOp", "LoopOp"]>, Terminator, Pure,
    DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "Ends a block with its results, and the value of each size that depends on it";
  let description = [{
    ```mlir
    %one = graph.constant dense<1.0> : tensor<2xf32>
    %two = graph.constant dense<2.0> : tensor<2xf32>
    %yes = graph.constant dense<true> : tensor<i1>
    %y = graph.if %yes symbols [] dims [[#graph.expr<"2">]] : (tensor<i1>) -> tensor<2xf32> {
      graph.yield %one sizes [] : tensor<2xf32>
    } else {
      graph.yield %two sizes [] : tensor<2xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$values, Graph_Dims:$sizes);
  let assemblyFormat = "($values^)? `sizes` $sizes attr-dict (`:` type($values)^)?";
}

#endif // LLMC_DIALECTS_GRAPH_CONTROLOPS_TD
