// Reductions along axes.
#ifndef LLMC_DIALECTS_GRAPH_REDUCTIONOPS_TD
#define LLMC_DIALECTS_GRAPH_REDUCTIONOPS_TD

include "dialects/Graph/GraphBase.td"

class Graph_ReduceOp<string mnemonic, string what> : Graph_Op<mnemonic> {
  let summary = what;
  let description = "`axes` are non-negative, ascending and without repeats; none means that nothing is reduced.\n" #
      "```mlir\n%y = graph." # mnemonic #
      " %x {axes = array<i64: 1>, keepdims} : tensor<2x4xf32> -> tensor<2x1xf32>\n```";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes, UnitAttr:$keepdims);
  let results = (outs Graph_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = [{
    pack.list(getAxes());
    pack.ints.push_back(getKeepdims());
  }];
  let extraClassDefinition = baseDefinition # [{
    ::llvm::LogicalResult $cppClass::inferShape(Adaptor adaptor, ::llmc::graph::ShapeInference &shapes) {
      return ::llmc::graph::inferReduce(shapes, adaptor.getAxes(), adaptor.getKeepdims());
    }
  }];
}

def Graph_ReduceSumOp : Graph_ReduceOp<"reduce_sum", "Sum; integers wrap">;
def Graph_ReduceMeanOp : Graph_ReduceOp<"reduce_mean", "Arithmetic mean">;
def Graph_ReduceMaxOp : Graph_ReduceOp<"reduce_max", "Greatest element; NaN if any is NaN; the least value of the type for none">;
def Graph_ReduceMinOp : Graph_ReduceOp<"reduce_min", "Smallest element; NaN if any is NaN; the greatest value of the type for none">;
def Graph_ReduceProdOp : Graph_ReduceOp<"reduce_prod", "Product; integers wrap">;

class Graph_ArgOp<string mnemonic, string what> : Graph_Op<mnemonic> {
  let summary = what;
  let description = "Of equals the first wins, with `select_last` the last.\n" #
      "```mlir\n%y = graph." # mnemonic # " %x {axis = 1 : i64, keepdims} : tensor<2x4xf32> -> tensor<2x1xi64>\n```";
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis, UnitAttr:$keepdims, UnitAttr:$select_last);
  let results = (outs Graph_ShapeTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let packing = [{
    pack.ints.push_back(getAxis());
    pack.ints.push_back(getKeepdims());
    pack.ints.push_back(getSelectLast());
  }];
  let extraClassDefinition = baseDefinition # [{
    ::llvm::LogicalResult $cppClass::inferShape(Adaptor adaptor, ::llmc::graph::ShapeInference &shapes) {
      return ::llmc::graph::inferArg(shapes, adaptor.getAxis(), adaptor.getKeepdims());
    }
  }];
}
def Graph_ArgMaxOp : Graph_ArgOp<"arg_max", "Index of the greatest element along an axis">;
def Graph_ArgMinOp : Graph_ArgOp<"arg_min", "Index of the smallest element along an axis">;

#endif // LLMC_DIALECTS_GRAPH_REDUCTIONOPS_TD
