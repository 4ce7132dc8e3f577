#include "test/e2e/node_tests/NodeModel.h"
#include "compiler/Import/OnnxProto.h"
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

void nameDims(ValueInfoProto &input) {
  if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape())
    return;
  TensorShapeProto &shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int d = 0; d < shape.dim_size(); ++d)
    shape.mutable_dim(d)->set_dim_param(input.name() + "_" + std::to_string(d));
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
    std::ranges::for_each(*graph.mutable_input(), nameDims);
    std::ranges::for_each(*graph.mutable_output(), forgetDims);
  }
  for (int i = 0; mode == Mode::Constant && i < graph.input_size(); ++i) {
    TensorProto *tensor = graph.add_initializer();
    fs::path file = folder / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb");
    if (!graph.input(i).type().has_tensor_type() || !readMessage(file, *tensor))
      return {"", "an input is no tensor: not supported as a constant", false};
    tensor->set_name(graph.input(i).name());
  }
  if (mode == Mode::Constant)
    graph.clear_input();
  return {model.SerializeAsString(), "", std::ranges::any_of(graph.node(), drawsNumbers)};
}

} // namespace llmc::test
