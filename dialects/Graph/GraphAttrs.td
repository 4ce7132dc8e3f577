// Attributes of the graph dialect.
#ifndef LLMC_DIALECTS_GRAPH_GRAPHATTRS_TD
#define LLMC_DIALECTS_GRAPH_GRAPHATTRS_TD

include "dialects/Graph/GraphBase.td"
include "mlir/IR/CommonAttrConstraints.td"

def Graph_ExprAttr : AttrDef<Graph_Dialect, "Expr"> {
  let mnemonic = "expr";
  let summary = "An integer expression over named dims";
  let description = [{
    The uniqued storage of a `DimExpr` (DimExpr.h), which keeps it in a normal form, so equal expressions are the same attribute.
    ```mlir
    #graph.expr<"(H + 1) floordiv 2 * N">
    ```
  }];
  let parameters = (ins "int32_t":$kind, "int64_t":$value, "::mlir::StringAttr":$symbol,
                        ArrayRefParameter<"::mlir::Attribute">:$operands);
  let hasCustomAssemblyFormat = 1;
}

def Graph_Dims : TypedArrayAttrBase<Graph_ExprAttr, "array of dim expressions">;

#endif // LLMC_DIALECTS_GRAPH_GRAPHATTRS_TD
