// The graph dialect, the base class of its ops and their type constraints.
#ifndef LLMC_DIALECTS_GRAPH_GRAPHBASE_TD
#define LLMC_DIALECTS_GRAPH_GRAPHBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/Properties.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Graph/GraphInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::llmc::graph";
  let summary = "What a model computes: value semantics, ONNX meaning, no device, no memory";
  let description = [{
    Every op has one meaning, that of the newest ONNX version of it; the importer translates older versions. Dims are static or
    `?` in types; what is known of a `?` is a `DimExpr` (see `graph-infer-shapes`). Function arguments name their dims with the
    attribute `graph.dims`, an array of `#graph.expr`, and the function gives the ranges of the symbols in `graph.symbols`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{
    void registerElementwiseOps();
    void registerContractionOps();
    void registerWindowOps();
    void registerReductionOps();
    void registerNormalizationOps();
    void registerShapeOps();
    void registerIndexingOps();
    void registerStructureOps();
    void registerImageOps();
    void registerRecurrentOps();
    void registerSelectionOps();
    void registerControlOps();
  }];
}

def Graph_Element : AnyTypeOf<[F32, F64, F16, BF16, I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;
def Graph_Tensor : RankedTensorOf<[Graph_Element]>;
def Graph_FloatTensor : RankedTensorOf<[F32, F64, F16, BF16]>;
def Graph_BoolTensor : RankedTensorOf<[I1]>;
def Graph_IntegerTensor : RankedTensorOf<[I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;
def Graph_IndexTensor : RankedTensorOf<[I32, I64]>;
def Graph_ShapeTensor : RankedTensorOf<[I64]>;

def Graph_Elementwise : NativeOpTrait<"Elementwise"> {
  let cppNamespace = "::llmc::graph";
}

// An op that gives its result types by `inferShape`, its one shape rule, and its value by the reference kernel of its name.
class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, !listconcat(traits, [
        Pure,
        DeclareOpInterfaceMethods<InferTypeOpInterface>,
        DeclareOpInterfaceMethods<Graph_ShapeInferenceOpInterface>,
        DeclareOpInterfaceMethods<Graph_ReferenceEvalOpInterface>])> {
  // C++ statements that append to `ints` and `floats`; the order is the one the reference kernel documents.
  code packing = "";
  code baseDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange lhs, ::mlir::TypeRange rhs);
    static ::llvm::LogicalResult inferShape(Adaptor adaptor, ::llmc::graph::ShapeInference &shapes);
  }];
  code baseDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context, std::optional<::mlir::Location> loc,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes, ::mlir::OpaqueProperties properties,
        ::mlir::RegionRange regions, ::llvm::SmallVectorImpl<::mlir::Type> &results) {
      ::llmc::graph::ShapeInference shapes(context, loc, operands);
      Adaptor adaptor(operands, attributes, properties, regions);
      if (failed(inferShape(adaptor, shapes)))
        return ::mlir::failure();
      shapes.appendTypes(results);
      return ::mlir::success();
    }
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange lhs, ::mlir::TypeRange rhs) {
      return ::llmc::graph::areCompatibleTypes(lhs, rhs);
    }
    ::llvm::LogicalResult $cppClass::inferDims(::llmc::graph::ShapeInference &shapes) {
      return inferShape(Adaptor(*this), shapes);
    }
    void $cppClass::packAttributes(::llmc::graph::PackedAttributes &pack) {
  }] # packing # [{
    }
  }];
  let extraClassDeclaration = baseDeclaration;
  let extraClassDefinition = baseDefinition;
}

#endif // LLMC_DIALECTS_GRAPH_GRAPHBASE_TD
