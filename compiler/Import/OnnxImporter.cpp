// The model's graph -> a function: inputs, nodes, outputs.
#include "compiler/Import/OnnxImporter.h"

#include "compiler/Import/Boundary.h"
#include "compiler/Import/Converters.h"
#include "compiler/Import/GraphImporter.h"
#include "compiler/Import/InputDims.h"

using namespace mlir;

namespace llmc {
namespace {

using namespace onnx;

class Importer {
public:
  Importer(MLIRContext &context, const OnnxModel &model, const ImportOptions &options, std::vector<ModelNode> *nodes)
      : context(context), model(model), options(options), proto(model.proto().graph()), builder(&context), dims(&context, options),
        importer(context), nodes(nodes) {}

  OwningOpRef<ModuleOp> run(Fault &fault) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(locationOf(proto.name()));
    builder.setInsertionPointToEnd(module->getBody());
    for (const TensorProto &initializer : proto.initializer())
      scope.initializers[initializer.name()] = &initializer;
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
      BlockState block;
      ImportState state{model, options.maxTrips, builder, dims.ranges(), std::move(argumentShapes), {}, &block, importer.problems};
      noteDeclaredRanks(state);
      addNodes(state);
      addOutputs(state);
    }
    if (!importer.printProblems(proto.name()))
      return nullptr;
    fault = Fault::None;
    return module;
  }

private:
  Location locationOf(std::string_view name) { return importer.locationOf(name); }
  void report(std::string_view label, const Twine &reason) { importer.report(label, reason); }

  bool addInputs() {
    std::string error;
    for (const ValueInfoProto &input : proto.input())
      if (!scope.initializers.contains(input.name()))
        llvm::append_range(inputs, boundaryTensors(input.name(), input.type()));
    for (const ValueInfoProto &input : inputs) {
      elements.push_back(elementTypeOf(&context, input.type().tensor_type().elem_type()));
      if (!dims.add(input, error))
        report(input.name(), error);
      else if (!elements.back())
        report(input.name(), "elements of type " + dataTypeName(input.type().tensor_type().elem_type()) + " are not supported");
    }
    return importer.problems.empty();
  }

  /// To be called when the dims are resolved.
  void createFunction() {
    SmallVector<Type> types;
    for (auto [input, element] : llvm::zip_equal(inputs, elements))
      types.push_back(RankedTensorType::get(graph::staticSizes(dims.dims(input.name())), element));
    function = func::FuncOp::create(builder, locationOf(proto.name()), "main", builder.getFunctionType(types, {}));
    Block *body = function.addEntryBlock();
    for (auto [i, input] : llvm::enumerate(inputs)) {
      BlockArgument argument = body->getArgument(i);
      const graph::Dims &sizes = dims.dims(input.name());
      if (std::string what = whatIsWrongWith(sizes); !what.empty())
        report(input.name(), "the input has " + what);
      argument.setLoc(locationOf(input.name()));
      function.setArgAttr(i, "graph.name", builder.getStringAttr(input.name()));
      function.setArgAttr(i, "graph.dims", graph::dimsAttr(&context, sizes));
      argumentShapes[argument] = {sizes, std::nullopt};
    }
    SmallVector<Value> arguments(body->getArguments());
    ArrayRef<Value> rest(arguments);
    for (const ValueInfoProto &input : proto.input())
      if (!scope.initializers.contains(input.name()))
        scope.values[input.name()] = Item::takeFrom(rest, boundaryForm(&context, input.type()));
    builder.setInsertionPointToEnd(body);
    scope.block = body;
  }

  void noteDeclaredRanks(ImportState &state) {
    auto note = [&](const ValueInfoProto &value) {
      if (value.type().has_tensor_type() && value.type().tensor_type().has_shape())
        state.declaredRanks[value.name()] = value.type().tensor_type().shape().dim_size();
    };
    llvm::for_each(proto.value_info(), note);
    llvm::for_each(proto.output(), note);
  }

  void addNodes(ImportState &state) {
    FlatModel flat = flattenModel(model.proto(), [&](std::string_view label, std::string_view reason) {
      report(label, Twine(StringRef(reason)));
    });
    for (FlatNode &call : flat.calls)
      nameNode(call, /*isCall=*/true);
    nameNodes(flat.graph);
    importer.addNodes(state, flat.graph, scope);
  }

  void nameNodes(FlatGraph &graph) {
    for (FlatNode &node : graph.nodes) {
      nameNode(node, /*isCall=*/false);
      llvm::for_each(node.graphs, [&](FlatGraph &inner) { nameNodes(inner); });
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
      nodes->push_back({node.label, operatorOf(*node.proto), isCall});
  }

  void addOutputs(ImportState &state) {
    SmallVector<Value> results;
    SmallVector<std::string> names;
    for (const ValueInfoProto &output : proto.output()) {
      Item item = importer.valueOf(state, scope, output.name());
      if (item) {
        addOutput(state, output, item, results, names);
      } else if (importer.problems.empty()) {
        report(output.name(), "nothing defines this output");
      }
    }
    if (!importer.problems.empty())
      return;
    NamedAttrList symbols(dims.symbolsAttr());
    for (const std::string &name : state.symbols)
      symbols.set(name, builder.getDenseI64ArrayAttr({state.ranges.of(name).lo, state.ranges.of(name).hi}));
    function->setAttr("graph.symbols", symbols.getDictionary(&context));
    if (!state.block->checks.empty())
      function->setAttr("graph.checks", builder.getArrayAttr(state.block->checks));
    func::ReturnOp::create(builder, locationOf(proto.name()), results);
    function.setType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(results).getTypes()));
    for (auto [i, name] : llvm::enumerate(names))
      function.setResultAttr(i, "graph.name", builder.getStringAttr(name));
  }

  /// The tensors of which the output consists at the boundary, and their names.
  void addOutput(ImportState &state, const ValueInfoProto &output, const Item &item, SmallVector<Value> &results,
                 SmallVector<std::string> &names) {
    NodeProto asNode;
    asNode.set_name(output.name());
    asNode.set_op_type("output");
    asNode.add_output(output.name());
    NodeContext node(state, FlatNode{&asNode, nullptr, output.name(), {}}, 0, {}, {});
    Item given = atBoundary(node, item, output.type());
    std::string problem;
    (void)node.finish(problem);
    if (!problem.empty())
      return report(output.name(), problem);
    int32_t declared = output.type().tensor_type().elem_type();
    if (given.isTensor() && declared != 0 && given.form.element != elementTypeOf(&context, declared)) {
      std::string found;
      llvm::raw_string_ostream(found) << given.form.element;
      report(output.name(), "the output is declared as " + dataTypeName(declared) + ", but holds " + found);
    }
    results.append(given.tensors.begin(), given.tensors.end());
    for (const ValueInfoProto &tensor : boundaryTensors(output.name(), output.type()))
      names.push_back(tensor.name());
  }

  MLIRContext &context;
  const OnnxModel &model;
  const ImportOptions &options;
  const GraphProto &proto;
  OpBuilder builder;
  InputDims dims;
  std::vector<ValueInfoProto> inputs; // tensors of those that have no initializer
  SmallVector<Type> elements;                 // their element types
  func::FuncOp function;
  GraphImporter importer;
  GraphScope scope{nullptr, nullptr, {}, {}, {}, {}};
  llvm::DenseMap<Value, graph::TensorShape> argumentShapes;
  llvm::StringMap<int> labels; // of nodes, with the number of nodes that wanted each
  std::vector<ModelNode> *nodes;
};

} // namespace

static SmallVector<ArrayRef<Converter>> converterFamilies() {
  return {elementwiseConverters(),    contractionConverters(), windowConverters(), reductionConverters(),
          normalizationConverters(), shapeConverters(),       partConverters(),   indexingConverters(),
          constantConverters(),      attentionConverters(),   lossConverters(),   quantizationConverters(),
          einsumConverters(),        signalConverters(),      imageConverters(),  resizeConverters(),
          recurrentConverters(),     microsoftConverters(),   selectionConverters(), controlConverters(),
          listConverters(),           mlConverters(),         trainingConverters(),
          stringConverters()};
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
