// What passes ask of graph ops instead of knowing their names.
#ifndef LLMC_DIALECTS_GRAPH_GRAPHINTERFACES_TD
#define LLMC_DIALECTS_GRAPH_GRAPHINTERFACES_TD

include "mlir/IR/OpBase.td"

def Graph_ShapeInferenceOpInterface : OpInterface<"ShapeInferenceOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    The one shape rule of an op: element type, dims and, for small integer tensors, contents of each result as `DimExpr`s, from
    those of the operands. Serves type inference, the verifier and the symbolic analysis.
  }];
  let methods = [
    InterfaceMethod<"Appends one result to `shapes` for each result of the op, or reports why the operands do not fit.",
                    "::llvm::LogicalResult", "inferDims", (ins "::llmc::graph::ShapeInference &":$shapes)>
  ];
}

def Graph_ReferenceEvalOpInterface : OpInterface<"ReferenceEvalOpInterface"> {
  let cppNamespace = "::llmc::graph";
  let description = [{
    An op whose meaning is a reference kernel. Constant folding, the tests and the fallback code all call that kernel.
  }];
  let methods = [
    InterfaceMethod<"Name of the kernel behind llmc_ref_: by default the op's mnemonic.", "::llvm::StringRef",
                    "getReferenceKernel", (ins), "", [{ return $_op->getName().stripDialect(); }]>,
    InterfaceMethod<"Appends the op's attributes in the order that its kernel documents.", "void", "packAttributes",
                    (ins "::llmc::graph::PackedAttributes &":$pack)>
  ];
}

#endif // LLMC_DIALECTS_GRAPH_GRAPHINTERFACES_TD
