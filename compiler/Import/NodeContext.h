// What a converter sees of the node it translates, and how it builds ops.
//
// The first problem ends a node's translation: it is remembered, values become null, and everything done with null values does
// nothing. So converters read as if nothing could fail. A converter must consume each attribute and each input of its node; what it
// leaves is a problem, since ignoring it would give wrong answers.
#pragma once

#include "compiler/Import/FlatGraph.h"
#include "compiler/Import/Item.h"
#include "compiler/Import/OnnxProto.h"
#include "dialects/Graph/Graph.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include <functional>
#include <memory>

namespace llmc {

/// What belongs to one block of the function, and is forgotten with it.
struct BlockState {
  BlockState *outer = nullptr;
  llvm::DenseMap<mlir::Value, mlir::Value> reads; // a value -> it with its elements as symbols
  llvm::SmallVector<mlir::Attribute> checks;      // as in `graph.checks`
  llvm::DenseSet<mlir::Attribute> sizes;          // of the checks that a size is not negative

  /// The value with its elements as symbols, read in this block or one around it; null if there is none.
  mlir::Value readOf(mlir::Value value) const {
    mlir::Value read = reads.lookup(value);
    return read || !outer ? read : outer->readOf(value);
  }
};

/// What is wrong with a model.
struct ImportProblem {
  std::string label; // of the node or value
  std::string reason;
  bool isOfSizes; // a rule that the operator has for its inputs, with these sizes or values, was broken: wrong only if the node runs
};

/// State of an import that nodes share.
struct ImportState {
  const OnnxModel &model;
  int64_t maxTrips; // of loops
  mlir::OpBuilder &builder;
  graph::DimRanges ranges;
  llvm::DenseMap<mlir::Value, graph::TensorShape> shapes;
  llvm::SmallVector<std::string> symbols; // that ops define, in order
  BlockState *block;
  llvm::SmallVectorImpl<ImportProblem> &problems; // reported so far
  llvm::StringMap<int64_t> declaredRanks = {};          // of values, by name
  llvm::DenseSet<mlir::Attribute> broadcastSizes = {}; // that two dims of different symbols broadcast to

  /// A symbol that no dim of the model and no op has.
  graph::DimExpr newSymbol(llvm::StringRef stem, graph::DimRange range);
  /// Whether an op since symbol number `first` defines a symbol of `expr`.
  bool isNewerThan(size_t first, graph::DimExpr expr) const;
  /// Forgets the symbols from number `first` on.
  void dropSymbols(size_t first);
};

/// Imports a graph at the builder's place: the values of its outputs, or nothing after a report.
using ImportGraph =
    std::function<std::optional<llvm::SmallVector<Item>>(const FlatGraph &, llvm::ArrayRef<Item> inputs)>;

/// A block under construction, with the values that it gives.
struct InnerBlock {
  std::unique_ptr<mlir::Region> region;
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::Attribute> checks;
};

/// "f32" and so on for a TensorProto.DataType; null if the graph dialect has no such elements.
mlir::Type elementTypeOf(mlir::MLIRContext *context, int32_t dataType);

/// The constant that a tensor of the model is, under `name` in the printed form. Null, and `error` says why, if its data is wrong or its type not supported.
mlir::ElementsAttr constantOf(mlir::MLIRContext *context, const OnnxModel &model, const onnx::TensorProto &tensor,
                              llvm::StringRef name, std::string &error);

class NodeContext {
public:
  NodeContext(ImportState &state, const FlatNode &node, int64_t version, llvm::ArrayRef<Item> inputs, ImportGraph importGraph);

  /// The opset version that gives the node its meaning.
  const int64_t version;
  mlir::MLIRContext *context() const { return state.builder.getContext(); }

  // Attributes. Each call consumes the attribute.
  int64_t intAttribute(llvm::StringRef name, int64_t absent);
  std::optional<int64_t> intAttribute(llvm::StringRef name);
  double floatAttribute(llvm::StringRef name, double absent);
  std::string stringAttribute(llvm::StringRef name, llvm::StringRef absent);
  std::optional<llvm::SmallVector<int64_t>> intsAttribute(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> floatsAttribute(llvm::StringRef name);
  std::optional<llvm::SmallVector<std::string>> stringsAttribute(llvm::StringRef name);
  /// Of any type. Null if absent.
  const onnx::AttributeProto *attribute(llvm::StringRef name);
  /// The one attribute of a node whose attributes exclude each other. Null unless there is exactly one.
  const onnx::AttributeProto *onlyAttribute();
  /// For attributes that say nothing about the result.
  void ignoreAttribute(llvm::StringRef name) { attribute(name); }

  // Attributes that are graphs. Their problems have been reported when these give nothing.
  /// Null, and a problem, unless it is there and takes `inputs` inputs.
  const FlatGraph *graphAttribute(llvm::StringRef name, size_t inputs);
  /// Runs a graph here, whatever happens: the values of its outputs.
  std::optional<llvm::SmallVector<Item>> run(const FlatGraph &graph, llvm::ArrayRef<Item> inputs);
  /// After a `run` that gave nothing: what was reported since problem number `first` is taken back, and the first of it given, if a
  /// run that does not come there does not meet it. Else nothing, and the node has failed.
  std::optional<ImportProblem> takeBackProblem(size_t first);
  /// A block of its own, of what `build` makes in it; nothing if `build` gives nothing.
  using BuildBlock = llvm::function_ref<std::optional<llvm::SmallVector<mlir::Value>>(mlir::Block &)>;
  std::optional<InnerBlock> innerBlock(BuildBlock build);

  // Inputs. Each call consumes the input.
  size_t numInputs() const { return inputs.size(); }
  bool hasInput(size_t i) const { return i < inputs.size() && given[i]; }
  /// Null, and a problem, if absent or no tensor.
  mlir::Value input(size_t i);
  /// An input that may be no tensor. Null, and a problem, if absent.
  Item item(size_t i);
  /// Null if absent.
  mlir::Value optionalInput(size_t i) { return hasInput(i) ? input(i) : mlir::Value(); }
  /// An integer input whose elements are known, be it at run time: as it is, or read there. Null if absent; null, and a problem, if
  /// their number is neither known nor follows from what the model declares, which is then `claimed`.
  mlir::Value numbersInput(size_t i, std::optional<int64_t> claimed = std::nullopt);
  /// A list whose length is known: as it is, or of the `claimed` length, which each run checks. Else as for numbers.
  mlir::Value listInput(size_t i, std::optional<int64_t> claimed);
  /// Whether an input is a list, and only the run shows how long it is.
  bool isOpenList(size_t i) const;
  /// Its elements.
  std::optional<graph::Dims> numbers(size_t i);
  /// The elements of an integer input that must be `count` in number.
  std::optional<graph::Dims> numbers(size_t i, int64_t count) { return numbersOf(list(i, count)); }
  /// An input as a list of `count` elements; where only the run shows how many it has, each run checks that. Null if absent.
  mlir::Value list(size_t i, int64_t count);
  /// The elements of any integer value whose number is known, read at run time where they are not known before. Nothing else.
  std::optional<graph::Dims> numbersOf(mlir::Value value, graph::DimRange range = {INT64_MIN, INT64_MAX});
  /// The one element of an i64 tensor, read at run time if need be.
  graph::DimExpr readNumber(mlir::Value value, graph::DimRange range);
  /// Whether the elements of an input are numbers at compile time; false if absent.
  bool isConstantInput(size_t i) const;
  /// The integers of an input that must be known at compile time. Nothing if absent, or a problem.
  std::optional<llvm::SmallVector<int64_t>> constantInput(size_t i);
  size_t numOutputs() const { return proto.output_size(); }
  bool hasOutput(size_t i) const { return i < numOutputs() && !proto.output(i).empty(); }
  /// The rank that the model says an output has: a claim, which the converter that relies on it has each run check.
  std::optional<int64_t> declaredRank(size_t output) const;

  // Facts about values; harmless for null ones.
  int64_t rank(mlir::Value value) const;
  mlir::Type elementType(mlir::Value value) const;
  /// Dims as far as they are known; an unknown one is a null expression.
  graph::Dims dims(mlir::Value value) const;
  std::optional<graph::Dims> contents(mlir::Value value) const;
  /// The elements, if all are numbers at compile time.
  std::optional<llvm::SmallVector<int64_t>> knownIntegers(mlir::Value value) const;
  /// Dims of which all must be known: else a problem that names `purpose`.
  std::optional<graph::Dims> knownDims(mlir::Value value, llvm::StringRef purpose);
  graph::DimExpr number(int64_t value) const { return graph::DimExpr::constant(context(), value); }
  /// An axis counted from the end if negative, checked against the rank.
  int64_t axis(int64_t axis, int64_t rank);
  /// The same for a list: sorted, and without repeats.
  llvm::SmallVector<int64_t> axes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  // Building. `create` infers the types; a rule that the operands break is a problem of the node. An op on small constants is
  // evaluated at once: the result is a constant.
  template <typename Op>
  mlir::Value create(mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return createAll<Op>(operands, attributes).front();
  }
  /// All results of an op that has several; null values after a problem.
  template <typename Op>
  llvm::SmallVector<mlir::Value> createAll(mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// For ops with several optional operands: those that are there, and in `attributes` which these are.
  llvm::SmallVector<mlir::Value> present(llvm::ArrayRef<mlir::Value> operands, llvm::SmallVectorImpl<mlir::NamedAttribute> &attributes);
  mlir::Value constant(mlir::ElementsAttr value);
  /// A tensor of an attribute.
  mlir::Value constant(const onnx::TensorProto &tensor);
  /// A scalar of the element type of `like`.
  mlir::Value scalar(mlir::Value like, double value);
  mlir::Value scalar(mlir::Type elementType, double value);
  /// A one-dimensional i64 constant.
  mlir::Value indices(llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value);
  mlir::NamedAttribute named(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute named(llvm::StringRef name, double value);
  mlir::NamedAttribute named(llvm::StringRef name, llvm::ArrayRef<int64_t> values);
  mlir::NamedAttribute named(llvm::StringRef name, llvm::ArrayRef<graph::DimExpr> values);
  mlir::NamedAttribute named(llvm::StringRef name, graph::DimExpr value);
  mlir::NamedAttribute named(llvm::StringRef name, llvm::StringRef value);
  mlir::NamedAttribute flag(llvm::StringRef name);

  // What ops with blocks are built with.
  ImportState &shared() { return state; }
  mlir::Location loc() const { return location; }

  void result(Item item) { results.push_back(std::move(item)); }
  /// Has each run fail, with `what`, unless lhs equals rhs; a problem if they differ for sure.
  void require(graph::DimExpr lhs, graph::DimExpr rhs, const llvm::Twine &what);
  /// Records the first problem.
  void fail(const llvm::Twine &reason);
  bool failed() const { return isAbandoned || !problem.empty(); }

  /// The results in order, as many as the converter gave; `problem` if something was wrong or is left over.
  llvm::ArrayRef<Item> finish(std::string &problem);

  /// The value itself, or read at run time; null if the number of its elements is not known.
  mlir::Value withNumbers(mlir::Value value, graph::DimRange range = {INT64_MIN, INT64_MAX});

private:
  void requireSizes(llvm::ArrayRef<graph::DimExpr> dims);
  mlir::Value readNumbers(mlir::Value value, graph::DimRange range);
  graph::ShapeInference inferenceFor(mlir::ValueRange operands) const;
  llvm::SmallVector<mlir::Value> insert(mlir::OperationState &operation, const graph::ShapeInference &shapes);
  /// Of all results, or nothing.
  llvm::SmallVector<mlir::ElementsAttr> smallConstants(mlir::Operation *op) const;

  ImportState &state;
  const FlatNode &node;
  ImportGraph importGraph;
  const onnx::NodeProto &proto;
  mlir::Location location;
  llvm::SmallVector<Item> inputs;
  llvm::SmallVector<bool> given, consumed;
  llvm::StringSet<> consumedAttributes;
  llvm::SmallVector<Item> results;
  std::string problem;
  bool isAbandoned = false; // because of a problem that has been reported
};

/// Why no tensor has these dims, as far as they are known: a negative size, or too many elements. Empty if one may have them.
std::string whatIsWrongWith(llvm::ArrayRef<graph::DimExpr> dims);

/// Runs `body` and returns the first error that it emits; empty if none.
std::string captureErrors(mlir::MLIRContext *context, llvm::function_ref<void()> body);

llvm::SmallVector<mlir::Value> stretched(NodeContext &node, mlir::ValueRange operands, int64_t own);

template <typename Op>
llvm::SmallVector<mlir::Value> NodeContext::createAll(mlir::ValueRange given, llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  constexpr size_t most = 8; // results of any op
  llvm::SmallVector<mlir::Value> values(given);
  if constexpr (Op::template hasTrait<graph::Elementwise>())
    values = stretched(*this, given, /*own=*/0);
  mlir::ValueRange operands = values;
  if (failed() || llvm::is_contained(operands, mlir::Value()))
    return llvm::SmallVector<mlir::Value>(most);
  graph::ShapeInference shapes = inferenceFor(operands);
  mlir::OperationState operation(location, Op::getOperationName());
  operation.addOperands(operands);
  mlir::DictionaryAttr dictionary = state.builder.getDictionaryAttr(attributes);
  auto &properties = operation.getOrAddProperties<typename Op::Properties>();
  std::string error = captureErrors(context(), [&] {
    auto emit = [&] { return mlir::emitError(location); };
    if (mlir::succeeded(Op::setPropertiesFromAttr(properties, dictionary, emit)))
      (void)Op::inferShape(typename Op::Adaptor(operands, dictionary, properties, {}), shapes);
  });
  if (!error.empty()) {
    fail(error);
    return llvm::SmallVector<mlir::Value>(most);
  }
  return insert(operation, shapes);
}

} // namespace llmc
