#include "test/e2e/node_tests/NodeModel.h"
#include "compiler/Import/OnnxProto.h"
#include "tools/common/Tensor.h"
#include <algorithm>
#include <fstream>

namespace llmc::test {
namespace {

using namespace llmc::onnx;
namespace fs = std::filesystem;

template <typename Message> bool readMessage(const fs::path &path, Message &message) {
  std::ifstream file(path, std::ios::binary);
  return file && message.ParseFromIstream(&file);
}

void nameDims(TypeProto &type, const std::string &name) {
  if (type.has_optional_type())
    return nameDims(*type.mutable_optional_type()->mutable_elem_type(), name);
  if (!type.has_tensor_type() || !type.tensor_type().has_shape())
    return;
  TensorShapeProto &shape = *type.mutable_tensor_type()->mutable_shape();
  for (int d = 0; d < shape.dim_size(); ++d)
    shape.mutable_dim(d)->set_dim_param(name + "_" + std::to_string(d));
}

using Bytes = std::span<const std::byte>;

/// An initializer `name` of the tensor in `bytes`, a TensorProto.
void addTensor(GraphProto &graph, const std::string &name, Bytes bytes) {
  TensorProto *tensor = graph.add_initializer();
  tensor->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  tensor->set_name(name);
}

NodeProto *addNode(GraphProto &graph, const std::string &op, const std::string &output) {
  NodeProto *node = graph.add_node();
  node->set_op_type(op);
  node->add_output(output);
  return node;
}

/// Initializers and nodes that make a value of that type, from its message in a file.
void addConstant(GraphProto &graph, const std::string &name, const TypeProto &type, Bytes bytes) {
  if (type.has_tensor_type())
    return addTensor(graph, name, bytes);
  if (type.has_sequence_type()) {
    std::vector<tools::Tensor> elements = tools::parseSequenceProto(bytes, name);
    NodeProto *node = addNode(graph, elements.empty() ? "SequenceEmpty" : "SequenceConstruct", name);
    if (AttributeProto *element = elements.empty() ? node->add_attribute() : nullptr) {
      element->set_name("dtype");
      element->set_type(AttributeProto::INT);
      element->set_i(type.sequence_type().elem_type().tensor_type().elem_type());
    }
    for (const tools::Tensor &element : elements) {
      std::string part = name + "." + std::to_string(node->input_size());
      addTensor(graph, part, tools::formatTensorProto(part, element.type, element.dims, element.data));
      node->add_input(part);
    }
    return;
  }
  NodeProto *node = addNode(graph, "Optional", name);
  if (std::optional<Bytes> held = tools::parseOptionalProto(bytes, name)) {
    node->add_input(name + ".held");
    return addConstant(graph, name + ".held", type.optional_type().elem_type(), *held);
  }
  AttributeProto *attribute = node->add_attribute();
  attribute->set_name("type");
  attribute->set_type(AttributeProto::TYPE_PROTO);
  *attribute->mutable_tp() = type.optional_type().elem_type();
}

void forgetDims(ValueInfoProto &output) {
  if (output.type().has_tensor_type())
    output.mutable_type()->mutable_tensor_type()->clear_shape();
}

bool drawsNumbers(const NodeProto &node) {
  const std::string &op = node.op_type();
  return op == "Bernoulli" || op == "Multinomial" || op.starts_with("Random"); // a Dropout that draws is refused by the run
}

} // namespace

std::optional<Mode> parseMode(const std::string &name) {
  if (name == "static")
    return Mode::Static;
  if (name == "symbolic")
    return Mode::Symbolic;
  if (name == "constant")
    return Mode::Constant;
  return std::nullopt;
}

NodeModel readNodeModel(const fs::path &folder, Mode mode) {
  ModelProto model;
  if (!readMessage(folder / "model.onnx", model))
    return {"", "model.onnx can not be read", false};
  GraphProto &graph = *model.mutable_graph();
  if (mode == Mode::Symbolic) {
    for (ValueInfoProto &input : *graph.mutable_input())
      nameDims(*input.mutable_type(), input.name());
    std::ranges::for_each(*graph.mutable_output(), forgetDims);
  }
  for (int i = 0; mode == Mode::Constant && i < graph.input_size(); ++i) {
    fs::path file = folder / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb");
    addConstant(graph, graph.input(i).name(), graph.input(i).type(), tools::readFile(file.string()));
  }
  if (mode == Mode::Constant)
    graph.clear_input();
  return {model.SerializeAsString(), "", std::ranges::any_of(graph.node(), drawsNumbers)};
}

} // namespace llmc::test
