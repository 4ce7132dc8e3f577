// Models and folders for the tests of the ONNX reader.
#pragma once

#include "compiler/Import/onnx.pb.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace llmc::test {

/// A folder that is removed with all it holds.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "llmc-XXXXXX").string();
    root = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(root); }

  std::string path(std::string_view name) const { return (root / name).string(); }

  std::string write(std::string_view name, std::string_view content) const {
    std::filesystem::create_directories((root / name).parent_path());
    // A new file each time: overwriting one makes some file systems wait for the disk.
    std::filesystem::remove(root / name);
    std::ofstream(root / name, std::ios::binary) << content;
    return path(name);
  }

private:
  std::filesystem::path root;
};

/// y = Add(x, w) with w = raw float32 [2, 2]. Its last field is opset_import, so every cut misses something that is needed.
inline onnx::ModelProto addModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  onnx::OperatorSetIdProto *opset = model.add_opset_import();
  opset->set_domain("");
  opset->set_version(17);
  onnx::GraphProto *graph = model.mutable_graph();
  graph->set_name("add");
  onnx::NodeProto *node = graph->add_node();
  node->set_op_type("Add");
  node->set_name("sum");
  node->add_input("x");
  node->add_input("w");
  node->add_output("y");
  onnx::TensorProto *weight = graph->add_initializer();
  weight->set_name("w");
  weight->set_data_type(onnx::TensorProto::FLOAT);
  weight->add_dims(2);
  weight->add_dims(2);
  const float values[] = {1, 2, 3, 4};
  weight->set_raw_data(values, sizeof values);
  for (onnx::ValueInfoProto *value : {graph->add_input(), graph->add_output()}) {
    auto *type = value->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape()->add_dim()->set_dim_param("N");
    type->mutable_shape()->add_dim()->set_dim_value(2);
  }
  graph->mutable_input(0)->set_name("x");
  graph->mutable_output(0)->set_name("y");
  return model;
}

} // namespace llmc::test
