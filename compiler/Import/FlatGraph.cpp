// Inlining of model-local functions, and the topological sort of each graph.
#include "compiler/Import/FlatGraph.h"

#include "compiler/Import/OnnxProto.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

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

constexpr size_t mostCalls = 100'000;

class Flattener {
public:
  Flattener(const ModelProto &model, const ReportProblem &report) : model(model), report(report) {
    for (const FunctionProto &function : model.functions())
      functions[{std::string(canonicalDomain(function.domain())), function.name(), function.overload()}] = &function;
  }

  FlatModel run() {
    const OpsetVersions &opsets = result.ownedOpsets.emplace_back(opsetsOf(model.opset_import()));
    result.graph = flatten(model.graph(), opsets, "");
    if (hasTooMany) { // half a graph would only give more problems
      result.graph.nodes.clear();
      result.calls.clear();
      return std::move(result);
    }
    sort(result.graph, nullptr);
    return std::move(result);
  }

private:
  /// Names of the values of a graph, and of those around it.
  struct Names {
    std::set<std::string> own;
    const Names *outer;
    bool contains(const std::string &name) const { return own.contains(name) || (outer && outer->contains(name)); }
  };
  using NameSet = std::set<std::string>;

  FlatGraph flatten(const GraphProto &graph, const OpsetVersions &opsets, const std::string &prefix) {
    FlatGraph flat{&graph, "", {}};
    for (const NodeProto &node : graph.node())
      addNode(flat.nodes, node, opsets, prefix);
    return flat;
  }

  void addNode(std::vector<FlatNode> &nodes, const NodeProto &node, const OpsetVersions &opsets, const std::string &prefix) {
    std::string label = labelOf(node, prefix);
    auto function = functions.find({std::string(canonicalDomain(node.domain())), node.op_type(), node.overload()});
    if (function != functions.end())
      return inlineCall(nodes, node, opsets, *function->second, label);
    FlatNode flat{&node, &opsets, std::move(label), {}};
    for (const AttributeProto &attribute : node.attribute())
      if (attribute.has_g()) {
        flat.graphs.push_back(flatten(attribute.g(), opsets, prefix));
        flat.graphs.back().attribute = attribute.name();
      }
    nodes.push_back(std::move(flat));
  }

  /// The node's name, or that of its first output, which has the prefix already.
  static std::string labelOf(const NodeProto &node, const std::string &prefix) {
    if (!node.name().empty())
      return prefix + node.name();
    for (const std::string &output : node.output())
      if (!output.empty())
        return output;
    return prefix + node.op_type();
  }

  void inlineCall(std::vector<FlatNode> &nodes, const NodeProto &call, const OpsetVersions &callerOpsets, const FunctionProto &function,
                  const std::string &label) {
    if (result.calls.size() == mostCalls)
      return reportTooMany(label);
    result.calls.push_back({&call, &callerOpsets, label, {}});
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
      if (!hasTooMany)
        addNode(nodes, instantiate(inner, scope), opsets, scope.prefix);
    stack.pop_back();
  }

  /// Functions that call each other twice and again make as many calls as they like from a small file.
  void reportTooMany(const std::string &label) {
    if (!std::exchange(hasTooMany, true))
      report(label, "with this one there are more than " + std::to_string(mostCalls) + " calls of functions");
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
    substitute(copy, scope);
    return copy;
  }

  static void substitute(NodeProto &node, const Scope &scope) {
    auto rename = [&](std::string &name) { renameValue(name, scope); };
    std::ranges::for_each(*node.mutable_input(), rename);
    std::ranges::for_each(*node.mutable_output(), rename);
    NodeProto before = node;
    node.clear_attribute();
    for (const AttributeProto &attribute : before.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *node.add_attribute() = attribute;
      } else if (auto given = scope.attributes.find(attribute.ref_attr_name()); given != scope.attributes.end()) {
        // An attribute that the call leaves out is left out inside too.
        AttributeProto *bound = node.add_attribute();
        *bound = *given->second;
        bound->set_name(attribute.name());
        continue; // a graph that the call gives has the caller's names
      }
      if (attribute.has_g())
        substitute(*node.mutable_attribute(node.attribute_size() - 1)->mutable_g(), scope);
    }
  }

  static void renameValue(std::string &name, const Scope &scope) {
    if (auto known = scope.values.find(name); known != scope.values.end())
      name = known->second;
    else if (!name.empty())
      name = scope.prefix + name;
  }

  /// A graph inside of a function's node. Its own values get the prefix too, so a name that hides one of the function's still does.
  static void substitute(GraphProto &graph, Scope scope) {
    auto hide = [&](const std::string &name) {
      if (scope.values.contains(name))
        scope.values[name] = scope.prefix + "inner/" + name;
    };
    for (const ValueInfoProto &input : graph.input())
      hide(input.name());
    for (const TensorProto &initializer : graph.initializer())
      hide(initializer.name());
    for (const NodeProto &node : graph.node())
      std::ranges::for_each(node.output(), hide);
    for (auto *values : {graph.mutable_input(), graph.mutable_output()})
      for (ValueInfoProto &value : *values)
        renameValue(*value.mutable_name(), scope);
    for (TensorProto &initializer : *graph.mutable_initializer())
      renameValue(*initializer.mutable_name(), scope);
    for (NodeProto &node : *graph.mutable_node())
      substitute(node, scope);
  }

  /// Names that a graph uses but does not define.
  static NameSet captures(const FlatGraph &graph) {
    NameSet used, defined = givenNames(graph);
    for (const FlatNode &node : graph.nodes) {
      used.merge(uses(node));
      defined.insert(node.proto->output().begin(), node.proto->output().end());
    }
    for (const ValueInfoProto &output : graph.proto->output())
      used.insert(output.name());
    std::erase_if(used, [&](const std::string &name) { return defined.contains(name); });
    return used;
  }

  static NameSet uses(const FlatNode &node) {
    NameSet used(node.proto->input().begin(), node.proto->input().end());
    for (const FlatGraph &graph : node.graphs)
      used.merge(captures(graph));
    used.erase("");
    return used;
  }

  /// Values that no node defines.
  static NameSet givenNames(const FlatGraph &graph) {
    NameSet given;
    for (const ValueInfoProto &input : graph.proto->input())
      given.insert(input.name());
    for (const TensorProto &initializer : graph.proto->initializer())
      given.insert(initializer.name());
    for (const SparseTensorProto &initializer : graph.proto->sparse_initializer())
      given.insert(initializer.values().name());
    return given;
  }

  template <typename Values> void refuseRepeats(const Values &values, std::string_view what) {
    NameSet seen;
    for (const auto &value : values)
      if (!seen.insert(value.name()).second)
        report(value.name(), "two " + std::string(what) + " have this name");
  }

  /// Orders the nodes, keeping theirs where it is legal already; first those of the graphs inside.
  void sort(FlatGraph &graph, const Names *outer) {
    refuseRepeats(graph.proto->input(), "inputs");
    refuseRepeats(graph.proto->initializer(), "initializers");
    if (!outer)
      refuseRepeats(graph.proto->output(), "outputs");
    const NameSet given = givenNames(graph);
    std::unordered_map<std::string, size_t> producers;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      for (const std::string &output : graph.nodes[i].proto->output()) {
        if (output.empty())
          continue;
        auto [known, isNew] = producers.emplace(output, i);
        if (!isNew)
          report(graph.nodes[i].label, "defines value '" + output + "', which " + graph.nodes[known->second].label +
                                           " defines too");
        else if (given.contains(output))
          report(graph.nodes[i].label, "defines value '" + output + "', which is an input or initializer");
      }

    Names names{given, outer};
    for (const auto &[name, producer] : producers)
      names.own.insert(name);
    std::vector<size_t> open(graph.nodes.size()); // values still to be defined
    std::vector<std::vector<size_t>> readers(graph.nodes.size());
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (FlatGraph &inner : graph.nodes[i].graphs)
        sort(inner, &names);
      for (const std::string &value : uses(graph.nodes[i])) {
        auto producer = producers.find(value);
        if (producer != producers.end()) {
          ++open[i];
          readers[producer->second].push_back(i);
        } else if (!names.contains(value) && isInput(graph.nodes[i], value)) {
          report(graph.nodes[i].label, "uses value '" + value + "', which nothing defines"); // of captures the inner node tells
        }
      }
    }
    reorder(graph, open, readers);
  }

  static bool isInput(const FlatNode &node, const std::string &value) {
    return std::ranges::find(node.proto->input(), value) != node.proto->input().end();
  }

  void reorder(FlatGraph &graph, std::vector<size_t> &open, const std::vector<std::vector<size_t>> &readers) {
    std::set<size_t> ready;
    for (size_t i = 0; i < open.size(); ++i)
      if (open[i] == 0)
        ready.insert(i);
    std::vector<FlatNode> ordered;
    while (!ready.empty()) {
      size_t next = *ready.begin();
      ready.erase(ready.begin());
      ordered.push_back(std::move(graph.nodes[next]));
      for (size_t reader : readers[next])
        if (--open[reader] == 0)
          ready.insert(reader);
    }
    if (ordered.size() != graph.nodes.size()) {
      size_t first = std::ranges::find_if(open, [](size_t count) { return count != 0; }) - open.begin();
      report(graph.nodes[first].label, "the graph has a cycle: " + std::to_string(graph.nodes.size() - ordered.size()) +
                                           " nodes wait for each other");
    }
    graph.nodes = std::move(ordered);
  }

  const ModelProto &model;
  const ReportProblem &report;
  std::map<FunctionKey, const FunctionProto *> functions;
  std::vector<const FunctionProto *> stack;
  bool hasTooMany = false;
  FlatModel result;
};

} // namespace

FlatModel flattenModel(const ModelProto &model, const ReportProblem &report) { return Flattener(model, report).run(); }

} // namespace llmc
