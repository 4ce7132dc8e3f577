// A model's nodes as one list: model-local functions inlined, in an order in which every value is defined before it is used.
#pragma once

#include "compiler/Import/onnx.pb.h"

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

/// Version of each domain's operators, by canonical domain name.
using OpsetVersions = std::map<std::string, int64_t, std::less<>>;

struct FlatGraph;

struct FlatNode {
  const onnx::NodeProto *proto;
  const OpsetVersions *opsets;
  /// The node's name, or without one that of its first output; nodes of functions have their callers' before it.
  std::string label;
  /// The graphs among its attributes, in their order.
  std::vector<FlatGraph> graphs;
};

/// The model's graph, or one that is an attribute of a node and may use values of the graphs around it.
struct FlatGraph {
  const onnx::GraphProto *proto; // inputs, outputs and initializers
  std::string attribute;         // its name; empty for the model's graph
  std::vector<FlatNode> nodes;
};

struct FlatModel {
  FlatGraph graph;
  std::vector<FlatNode> calls; // of functions of the model, which are not among the nodes
  // What the nodes point to, as far as it is not the model's.
  std::deque<onnx::NodeProto> ownedNodes;
  std::deque<OpsetVersions> ownedOpsets;
};

/// Receives what is wrong: the label of the node (or the name of the value) and the reason.
using ReportProblem = std::function<void(std::string_view label, std::string_view reason)>;

/// Inlines functions and sorts. Reports recursive functions, values defined twice, undefined values and cycles; the result then
/// holds the nodes that are sound.
FlatModel flattenModel(const onnx::ModelProto &model, const ReportProblem &report);

} // namespace llmc
