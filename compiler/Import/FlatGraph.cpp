// Inlining of model-local functions, and the topological sort.
#include "compiler/Import/FlatGraph.h"

#include "compiler/Import/OnnxProto.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace llmc {
namespace {

using namespace onnx;

using FunctionKey = std::tuple<std::string, std::string, std::string>; // domain, name, overload

template <typename Imports> OpsetVersions opsetsOf(const Imports &imports) {
  OpsetVersions versions;
  for (const OperatorSetIdProto &import : imports)
    versions[std::string(canonicalDomain(import.domain()))] = import.version();
  return versions;
}

/// The names and attributes that a function's body sees: those of one call.
struct Scope {
  std::string prefix; // of inner values and labels
  std::map<std::string, std::string> values;
  std::map<std::string, const AttributeProto *> attributes;
};

class Flattener {
public:
  Flattener(const ModelProto &model, const ReportProblem &report) : model(model), report(report) {
    for (const FunctionProto &function : model.functions())
      functions[{std::string(canonicalDomain(function.domain())), function.name(), function.overload()}] = &function;
  }

  FlatGraph run() {
    const OpsetVersions &opsets = result.ownedOpsets.emplace_back(opsetsOf(model.opset_import()));
    for (const NodeProto &node : model.graph().node())
      addNode(node, opsets, "");
    sort();
    return std::move(result);
  }

private:
  void addNode(const NodeProto &node, const OpsetVersions &opsets, const std::string &prefix) {
    std::string label = prefix + nameOf(node);
    auto function = functions.find({std::string(canonicalDomain(node.domain())), node.op_type(), node.overload()});
    if (function == functions.end())
      result.nodes.push_back({&node, &opsets, std::move(label)});
    else
      inlineCall(node, opsets, *function->second, label);
  }

  static std::string nameOf(const NodeProto &node) {
    if (!node.name().empty())
      return node.name();
    for (const std::string &output : node.output())
      if (!output.empty())
        return output;
    return node.op_type();
  }

  void inlineCall(const NodeProto &call, const OpsetVersions &callerOpsets, const FunctionProto &function, const std::string &label) {
    result.calls.push_back({&call, &callerOpsets, label});
    if (std::ranges::find(stack, &function) != stack.end())
      return report(label, "function " + function.name() + " calls itself");
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size())
      return report(label, "function " + function.name() + " has " + std::to_string(function.input_size()) + " inputs and " +
                               std::to_string(function.output_size()) + " outputs, the call has " +
                               std::to_string(call.input_size()) + " and " + std::to_string(call.output_size()));
    Scope scope{label + "/", {}, {}};
    for (int i = 0; i < function.input_size(); ++i)
      scope.values[function.input(i)] = i < call.input_size() ? call.input(i) : "";
    for (int i = 0; i < function.output_size(); ++i)
      if (i < call.output_size() && !call.output(i).empty())
        scope.values[function.output(i)] = call.output(i);
    if (!bindAttributes(call, function, label, scope))
      return;
    const OpsetVersions &opsets = result.ownedOpsets.emplace_back(opsetsOf(function.opset_import()));
    stack.push_back(&function);
    for (const NodeProto &inner : function.node())
      addNode(instantiate(inner, scope), opsets, scope.prefix);
    stack.pop_back();
  }

  bool bindAttributes(const NodeProto &call, const FunctionProto &function, const std::string &label, Scope &scope) {
    std::set<std::string> known(function.attribute().begin(), function.attribute().end());
    for (const AttributeProto &attribute : function.attribute_proto()) {
      scope.attributes[attribute.name()] = &attribute;
      known.insert(attribute.name());
    }
    for (const AttributeProto &attribute : call.attribute()) {
      if (!known.contains(attribute.name())) {
        report(label, "function " + function.name() + " has no attribute '" + attribute.name() + "'");
        return false;
      }
      scope.attributes[attribute.name()] = &attribute;
    }
    return true;
  }

  /// The body's node with the call's values and attributes in place of the function's.
  const NodeProto &instantiate(const NodeProto &node, const Scope &scope) {
    NodeProto &copy = result.ownedNodes.emplace_back(node);
    auto rename = [&](std::string &name) {
      if (auto known = scope.values.find(name); known != scope.values.end())
        name = known->second;
      else if (!name.empty())
        name = scope.prefix + name;
    };
    std::ranges::for_each(*copy.mutable_input(), rename);
    std::ranges::for_each(*copy.mutable_output(), rename);
    copy.clear_attribute();
    for (const AttributeProto &attribute : node.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *copy.add_attribute() = attribute;
        continue;
      }
      // An attribute that the call leaves out is left out inside too.
      auto given = scope.attributes.find(attribute.ref_attr_name());
      if (given == scope.attributes.end())
        continue;
      AttributeProto *bound = copy.add_attribute();
      *bound = *given->second;
      bound->set_name(attribute.name());
    }
    return copy;
  }

  /// Orders the nodes, keeping theirs where it is legal already.
  void sort() {
    std::set<std::string> given; // values that no node defines
    for (const ValueInfoProto &input : model.graph().input())
      if (!given.insert(input.name()).second)
        report(input.name(), "two inputs have this name");
    for (const TensorProto &initializer : model.graph().initializer())
      given.insert(initializer.name());
    for (const SparseTensorProto &initializer : model.graph().sparse_initializer())
      given.insert(initializer.values().name());

    std::unordered_map<std::string, size_t> producers;
    for (size_t i = 0; i < result.nodes.size(); ++i)
      for (const std::string &output : result.nodes[i].proto->output()) {
        if (output.empty())
          continue;
        auto [known, isNew] = producers.emplace(output, i);
        if (!isNew)
          report(result.nodes[i].label, "defines value '" + output + "', which " + result.nodes[known->second].label +
                                            " defines too");
        else if (given.contains(output))
          report(result.nodes[i].label, "defines value '" + output + "', which is an input or initializer");
      }

    std::vector<size_t> open(result.nodes.size()); // inputs still to be defined
    std::vector<std::vector<size_t>> readers(result.nodes.size());
    for (size_t i = 0; i < result.nodes.size(); ++i)
      for (const std::string &input : result.nodes[i].proto->input()) {
        if (input.empty() || given.contains(input))
          continue;
        auto producer = producers.find(input);
        if (producer == producers.end()) {
          report(result.nodes[i].label, "uses value '" + input + "', which nothing defines");
          continue;
        }
        ++open[i];
        readers[producer->second].push_back(i);
      }
    reorder(open, readers);
  }

  void reorder(std::vector<size_t> &open, const std::vector<std::vector<size_t>> &readers) {
    std::set<size_t> ready;
    for (size_t i = 0; i < open.size(); ++i)
      if (open[i] == 0)
        ready.insert(i);
    std::vector<FlatNode> ordered;
    while (!ready.empty()) {
      size_t next = *ready.begin();
      ready.erase(ready.begin());
      ordered.push_back(result.nodes[next]);
      for (size_t reader : readers[next])
        if (--open[reader] == 0)
          ready.insert(reader);
    }
    if (ordered.size() != result.nodes.size()) {
      size_t first = std::ranges::find_if(open, [](size_t count) { return count != 0; }) - open.begin();
      report(result.nodes[first].label, "the graph has a cycle: " + std::to_string(result.nodes.size() - ordered.size()) +
                                            " nodes wait for each other");
    }
    result.nodes = std::move(ordered);
  }

  const ModelProto &model;
  const ReportProblem &report;
  std::map<FunctionKey, const FunctionProto *> functions;
  std::vector<const FunctionProto *> stack;
  FlatGraph result;
};

} // namespace

FlatGraph flattenModel(const ModelProto &model, const ReportProblem &report) { return Flattener(model, report).run(); }

} // namespace llmc
