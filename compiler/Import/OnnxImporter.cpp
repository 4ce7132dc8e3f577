// Walks the flattened graph: inputs, initializers, one converter per node, outputs.
#include "compiler/Import/OnnxImporter.h"

#include "compiler/Import/Converters.h"
#include "compiler/Import/FlatGraph.h"
#include "compiler/Import/InputDims.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace onnx;

class Importer {
public:
  Importer(MLIRContext &context, const OnnxModel &model, const ImportOptions &options, std::vector<ModelNode> *nodes)
      : context(context), model(model), proto(model.proto().graph()), builder(&context), dims(&context, options), nodes(nodes) {}

  OwningOpRef<ModuleOp> run(Fault &fault) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(locationOf(proto.name()));
    builder.setInsertionPointToEnd(module->getBody());
    for (const TensorProto &initializer : proto.initializer())
      initializers[initializer.name()] = &initializer;
    fault = Fault::Model;
    std::string error;
    bool hasInputs = addInputs();
    if (hasInputs && !dims.resolve(error)) {
      fault = Fault::Options;
      emitError(locationOf(proto.name())) << error;
      return nullptr;
    }
    if (hasInputs) {
      createFunction();
      ImportState state{model, builder, dims.ranges(), std::move(argumentShapes), llvm::DenseMap<Value, Value>(), {}, {}};
      addNodes(state);
      addOutputs(state);
    }
    if (problems == 0) {
      fault = Fault::None;
      return module;
    }
    emitError(locationOf(proto.name())) << "the model has " << problems << (problems == 1 ? " problem" : " problems");
    return nullptr;
  }

private:
  Location locationOf(std::string_view name) {
    return NameLoc::get(StringAttr::get(&context, name.empty() ? StringRef("model") : StringRef(name)));
  }

  void report(std::string_view label, const Twine &reason) {
    emitError(locationOf(label)) << reason;
    ++problems;
  }

  bool addInputs() {
    std::string error;
    for (const ValueInfoProto &input : proto.input()) {
      if (initializers.contains(input.name()))
        continue;
      inputs.push_back(&input);
      elements.push_back(elementTypeOf(&context, input.type().tensor_type().elem_type()));
      if (!dims.add(input, error))
        report(input.name(), error);
      else if (!elements.back())
        report(input.name(), "elements of type " + dataTypeName(input.type().tensor_type().elem_type()) + " are not supported");
    }
    return problems == 0;
  }

  /// To be called when the dims are resolved.
  void createFunction() {
    SmallVector<Type> types;
    for (auto [input, element] : llvm::zip_equal(inputs, elements))
      types.push_back(RankedTensorType::get(graph::staticSizes(dims.dims(input->name())), element));
    function = func::FuncOp::create(builder, locationOf(proto.name()), "main", builder.getFunctionType(types, {}));
    Block *body = function.addEntryBlock();
    for (auto [i, input] : llvm::enumerate(inputs)) {
      BlockArgument argument = body->getArgument(i);
      const graph::Dims &sizes = dims.dims(input->name());
      if (std::string what = whatIsWrongWith(sizes); !what.empty())
        report(input->name(), "the input has " + what);
      argument.setLoc(locationOf(input->name()));
      function.setArgAttr(i, "graph.name", builder.getStringAttr(input->name()));
      function.setArgAttr(i, "graph.dims", graph::dimsAttr(&context, sizes));
      values[input->name()] = argument;
      argumentShapes[argument] = {sizes, std::nullopt};
    }
    builder.setInsertionPointToEnd(body);
  }

  void addNodes(ImportState &state) {
    FlatGraph flat = flattenModel(model.proto(), [&](std::string_view label, std::string_view reason) {
      report(label, Twine(StringRef(reason)));
    });
    for (FlatNode &call : flat.calls)
      nameNode(call, /*isCall=*/true);
    for (FlatNode &node : flat.nodes) {
      nameNode(node, /*isCall=*/false);
      addNode(state, node);
    }
  }

  /// Gives the node a name that no other has: "Relu", "Relu (2)" ...
  void nameNode(FlatNode &node, bool isCall) {
    int &count = labels[node.label];
    for (++count; count > 1; ++count)
      if (std::string label = node.label + " (" + std::to_string(count) + ")"; labels.try_emplace(label, 1).second) {
        node.label = label;
        break;
      }
    if (nodes)
      nodes->push_back({node.label, operatorOf(node), isCall});
  }

  static std::string operatorOf(const FlatNode &node) {
    std::string domain(canonicalDomain(node.proto->domain()));
    return (domain.empty() ? "" : domain + ".") + node.proto->op_type();
  }

  void addNode(ImportState &state, const FlatNode &node) {
    auto poisonOutputs = [&] {
      for (const std::string &output : node.proto->output())
        poisoned.insert(output);
    };
    auto version = node.opsets->find(canonicalDomain(node.proto->domain()));
    std::string name = operatorOf(node), what = name;
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
    SmallVector<Value> inputs;
    for (const std::string &input : node.proto->input()) {
      inputs.push_back(input.empty() ? Value() : valueOf(state, input));
      // What an earlier problem left without a value is not a problem of its own.
      if (!input.empty() && !inputs.back())
        return poisonOutputs();
    }
    NodeContext nodeContext(state, node, version->second, inputs);
    converter->convert(nodeContext);
    std::string problem;
    ArrayRef<Value> results = nodeContext.finish(problem);
    if (!problem.empty()) {
      report(node.label, what + ": " + problem);
      return poisonOutputs();
    }
    for (auto [i, output] : llvm::enumerate(node.proto->output())) {
      if (output.empty())
        continue;
      if (i < results.size())
        values[output] = results[i];
      else
        unproduced[output] = node.label + '\0' + what + ": output " + std::to_string(i) + " is not supported";
    }
  }

  /// The value of that name; null, after a report, if a problem left it without one.
  Value valueOf(ImportState &state, const std::string &name) {
    if (auto known = values.find(name); known != values.end())
      return known->second;
    if (auto missing = unproduced.find(name); missing != unproduced.end() && poisoned.insert(name).second) {
      auto [label, reason] = StringRef(missing->second).split('\0');
      report(std::string_view(label), reason);
    }
    auto initializer = initializers.find(name);
    if (poisoned.contains(name) || initializer == initializers.end())
      return {};
    std::string error;
    ElementsAttr attribute = constantOf(&context, model, *initializer->second, name, error);
    if (!attribute) {
      report(name, error);
      poisoned.insert(name);
      return {};
    }
    auto constant = graph::ConstantOp::create(builder, locationOf(name), attribute);
    graph::ShapeInference shapes(&context, std::nullopt, ValueRange());
    (void)constant.inferDims(shapes);
    state.shapes[constant] = shapes.results()[0];
    return values[name] = constant;
  }

  void addOutputs(ImportState &state) {
    SmallVector<Value> results;
    for (const ValueInfoProto &output : proto.output()) {
      Value value = valueOf(state, output.name());
      if (!value) {
        if (problems == 0)
          report(output.name(), "nothing defines this output");
        continue;
      }
      results.push_back(value);
      int32_t declared = output.type().tensor_type().elem_type();
      Type element = cast<RankedTensorType>(value.getType()).getElementType();
      if (declared != 0 && element != elementTypeOf(&context, declared)) {
        std::string found;
        llvm::raw_string_ostream(found) << element;
        report(output.name(), "the output is declared as " + dataTypeName(declared) + ", but holds " + found);
      }
    }
    if (problems != 0)
      return;
    NamedAttrList symbols(dims.symbolsAttr());
    for (const std::string &name : state.readSymbols)
      symbols.set(name, builder.getDenseI64ArrayAttr({state.ranges.of(name).lo, state.ranges.of(name).hi}));
    function->setAttr("graph.symbols", symbols.getDictionary(&context));
    if (!state.checks.empty())
      function->setAttr("graph.checks", builder.getArrayAttr(state.checks));
    func::ReturnOp::create(builder, locationOf(proto.name()), results);
    function.setType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(results).getTypes()));
    for (auto [i, output] : llvm::enumerate(proto.output()))
      function.setResultAttr(i, "graph.name", builder.getStringAttr(output.name()));
  }

  MLIRContext &context;
  const OnnxModel &model;
  const GraphProto &proto;
  OpBuilder builder;
  InputDims dims;
  SmallVector<const ValueInfoProto *> inputs; // without those that have an initializer
  SmallVector<Type> elements;                 // their element types
  func::FuncOp function;
  int problems = 0;
  llvm::StringMap<const TensorProto *> initializers;
  llvm::StringMap<Value> values;
  llvm::DenseMap<Value, graph::TensorShape> argumentShapes;
  /// Values whose node had a problem.
  llvm::StringSet<> poisoned;
  /// Outputs that their converter does not make: label and reason, wrong only if something reads them.
  llvm::StringMap<std::string> unproduced;
  llvm::StringMap<int> labels; // of nodes, with the number of nodes that wanted each
  std::vector<ModelNode> *nodes;
};

} // namespace

static SmallVector<ArrayRef<Converter>> converterFamilies() {
  return {elementwiseConverters(),    contractionConverters(), windowConverters(), reductionConverters(),
          normalizationConverters(), shapeConverters(),       partConverters(),   indexingConverters(),
          constantConverters(),      attentionConverters(),   lossConverters(),   quantizationConverters(),
          einsumConverters(),        signalConverters(),      imageConverters(),  resizeConverters(),
          recurrentConverters(),     microsoftConverters()};
}

const Converter *findConverter(StringRef op, int64_t version) {
  for (ArrayRef<Converter> family : converterFamilies())
    for (const Converter &converter : family)
      if (converter.op == op && version >= converter.first && version <= converter.last)
        return &converter;
  return nullptr;
}

std::vector<OperatorVersions> supportedOperators() {
  std::map<StringRef, OperatorVersions> operators; // an operator may have a converter for each range of versions
  for (ArrayRef<Converter> family : converterFamilies())
    for (const Converter &converter : family) {
      auto [known, isNew] = operators.try_emplace(converter.op, OperatorVersions{converter.op.str(), converter.first, converter.last});
      known->second.first = std::min(known->second.first, converter.first);
      known->second.last = std::max(known->second.last, converter.last);
    }
  std::vector<OperatorVersions> result;
  for (auto &[name, versions] : operators)
    result.push_back(versions);
  return result;
}

OwningOpRef<ModuleOp> importOnnx(MLIRContext &context, const OnnxModel &model, const ImportOptions &options, Fault *fault,
                                 std::vector<ModelNode> *nodes) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  Fault ignored;
  return Importer(context, model, options, nodes).run(fault ? *fault : ignored);
}

} // namespace llmc
