// The nodes of a graph -> ops in a block, one converter per node.
#include "compiler/Import/GraphImporter.h"

#include "compiler/Import/Converters.h"
#include "compiler/Import/Strings.h"

using namespace mlir;

namespace llmc {

using namespace onnx;

std::string operatorOf(const NodeProto &node) {
  std::string domain(canonicalDomain(node.domain()));
  return (domain.empty() ? "" : domain + ".") + node.op_type();
}

Location GraphImporter::locationOf(std::string_view name) {
  return NameLoc::get(StringAttr::get(&context, name.empty() ? StringRef("model") : StringRef(name)));
}

void GraphImporter::report(std::string_view label, const Twine &reason, bool isOfSizes) {
  problems.push_back({std::string(label), reason.str(), isOfSizes});
}

bool GraphImporter::printProblems(std::string_view model) {
  for (const ImportProblem &problem : problems)
    emitError(locationOf(problem.label)) << problem.reason;
  if (!problems.empty())
    emitError(locationOf(model)) << "the model has " << problems.size() << (problems.size() == 1 ? " problem" : " problems");
  return problems.empty();
}

void GraphImporter::addNodes(ImportState &state, const FlatGraph &graph, GraphScope &scope) {
  for (const TensorProto &initializer : graph.proto->initializer())
    scope.initializers[initializer.name()] = &initializer;
  for (const FlatNode &node : graph.nodes)
    addNode(state, node, scope);
}

void GraphImporter::addNode(ImportState &state, const FlatNode &node, GraphScope &scope) {
  auto poisonOutputs = [&] {
    for (const std::string &output : node.proto->output())
      scope.poisoned.insert(output);
  };
  auto version = node.opsets->find(canonicalDomain(node.proto->domain()));
  std::string name = operatorOf(*node.proto), what = name;
  if (version == node.opsets->end()) {
    report(node.label, what + " is of a domain that the model does not import");
    return poisonOutputs();
  }
  what += " of opset " + std::to_string(version->second);
  const Converter *converter = findConverter(name, version->second);
  if (!converter) {
    report(node.label, what + " is not supported");
    return poisonOutputs();
  }
  SmallVector<Item> inputs;
  for (const std::string &input : node.proto->input()) {
    inputs.push_back(input.empty() ? Item() : valueOf(state, scope, input));
    // What an earlier problem left without a value is not a problem of its own.
    if (!input.empty() && !inputs.back())
      return poisonOutputs();
  }
  auto contextFor = [&](ArrayRef<Item> values) {
    return NodeContext(state, node, version->second, values, [&](const FlatGraph &graph, ArrayRef<Item> captured) {
      return addGraph(state, graph, scope, captured, node.label);
    });
  };
  bool hasFailed = false;
  auto finish = [&](NodeContext &nodeContext) {
    std::string problem;
    SmallVector<Item> results(nodeContext.finish(problem));
    if (!problem.empty() && !hasFailed)
      report(node.label, what + ": " + problem, !StringRef(problem).contains("not supported"));
    hasFailed |= nodeContext.failed();
    return results;
  };
  auto convert = [&](ArrayRef<Item> values) {
    NodeContext nodeContext = contextFor(values);
    converter->convert(nodeContext);
    return finish(nodeContext);
  };
  NodeContext mover = contextFor(inputs);
  std::optional<SmallVector<Item>> moved = moveStrings(mover, name, inputs, convert);
  if (mover.failed())
    finish(mover);
  SmallVector<Item> results = moved ? std::move(*moved) : convert(inputs);
  if (hasFailed)
    return poisonOutputs();
  for (auto [i, output] : llvm::enumerate(node.proto->output())) {
    if (output.empty())
      continue;
    if (i < results.size())
      scope.values[output] = results[i];
    else
      scope.unproduced[output] = node.label + '\0' + what + ": output " + std::to_string(i) + " is not supported";
  }
}

/// Imports a graph that is an attribute of a node, at the builder's place. Values of its outputs; nothing after a problem.
std::optional<SmallVector<Item>> GraphImporter::addGraph(ImportState &state, const FlatGraph &graph, GraphScope &outer,
                                                         ArrayRef<Item> inputs, StringRef label) {
  size_t before = problems.size();
  GraphScope scope{&outer, state.builder.getInsertionBlock(), {}, {}, {}, {}};
  for (auto [input, value] : llvm::zip_equal(graph.proto->input(), inputs))
    scope.values[input.name()] = value;
  addNodes(state, graph, scope);
  SmallVector<Item> outputs;
  for (const ValueInfoProto &output : graph.proto->output()) {
    outputs.push_back(valueOf(state, scope, output.name()));
    if (!outputs.back() && problems.size() == before && !isPoisoned(scope, output.name()))
      report(label, "nothing defines output '" + output.name() + "' of '" + graph.attribute + "'");
  }
  bool isWhole = llvm::all_of(outputs, [](const Item &item) { return static_cast<bool>(item); });
  return problems.size() == before && isWhole ? std::optional(outputs) : std::nullopt;
}

bool GraphImporter::isPoisoned(const GraphScope &scope, const std::string &name) {
  return scope.poisoned.contains(name) || (scope.outer && isPoisoned(*scope.outer, name));
}

Item GraphImporter::valueOf(ImportState &state, GraphScope &scope, const std::string &name) {
  if (auto known = scope.values.find(name); known != scope.values.end())
    return known->second;
  if (auto missing = scope.unproduced.find(name); missing != scope.unproduced.end() && scope.poisoned.insert(name).second) {
    auto [label, reason] = StringRef(missing->second).split('\0');
    report(std::string_view(label), reason);
  }
  if (scope.poisoned.contains(name))
    return {};
  if (auto initializer = scope.initializers.find(name); initializer != scope.initializers.end()) {
    bool isText = initializer->second->data_type() == TensorProto::STRING;
    return isText ? stringsOf(state, scope, *initializer->second) : Item(initializerOf(state, scope, name));
  }
  return scope.outer ? valueOf(state, *scope.outer, name) : Item();
}

Value GraphImporter::initializerOf(ImportState &state, GraphScope &scope, const std::string &name) {
  std::string error;
  ElementsAttr attribute = constantOf(&context, state.model, *scope.initializers[name], name, error);
  if (!attribute) {
    report(name, error);
    scope.poisoned.insert(name);
    return {};
  }
  OpBuilder::InsertionGuard guard(state.builder); // an inner graph may be the first to use it
  state.builder.setInsertionPointToEnd(scope.block);
  auto constant = graph::ConstantOp::create(state.builder, locationOf(name), attribute);
  graph::ShapeInference shapes(&context, std::nullopt, ValueRange());
  (void)constant.inferDims(shapes);
  state.shapes[constant] = shapes.results()[0];
  scope.values[name] = constant.getResult();
  return constant;
}

Item GraphImporter::stringsOf(ImportState &state, GraphScope &scope, const TensorProto &tensor) {
  OpBuilder::InsertionGuard guard(state.builder);
  state.builder.setInsertionPointToEnd(scope.block);
  NodeProto asNode;
  NodeContext node(state, FlatNode{&asNode, nullptr, tensor.name(), {}}, 0, {}, {});
  Item strings = constantStrings(node, tensor);
  std::string problem;
  (void)node.finish(problem);
  if (problem.empty())
    return scope.values[tensor.name()] = strings;
  report(tensor.name(), problem);
  scope.poisoned.insert(tensor.name());
  return {};
}

} // namespace llmc
