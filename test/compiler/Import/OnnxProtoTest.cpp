// Files that are models, and files that are not: what loads, and what is said about the rest.
#include "compiler/Import/OnnxProto.h"

#include "test/compiler/Import/ModelFile.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc {
namespace {

using namespace onnx;
using testing::HasSubstr;

class OnnxProtoTest : public testing::Test {
protected:
  std::unique_ptr<OnnxModel> load(const ModelProto &proto) {
    return OnnxModel::load(folder.write("model.onnx", proto.SerializeAsString()), error);
  }
  std::string errorOf(const ModelProto &proto) { return load(proto) ? "" : error; }
  std::string errorOfBytes(std::string_view bytes) {
    return OnnxModel::load(folder.write("model.onnx", bytes), error) ? "" : error;
  }

  test::TemporaryFolder folder;
  std::string error;
};

std::vector<float> floats(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST_F(OnnxProtoTest, LoadsAModelAndItsWeights) {
  auto model = load(test::addModel());
  ASSERT_TRUE(model) << error;
  EXPECT_EQ(model->proto().graph().node(0).op_type(), "Add");
  EXPECT_EQ(model->opset("ai.onnx"), 17);
  EXPECT_EQ(model->opset("com.microsoft"), 0);
  auto weight = model->elements(model->proto().graph().initializer(0), error);
  ASSERT_TRUE(weight) << error;
  EXPECT_THAT(floats(weight->bytes), testing::ElementsAre(1, 2, 3, 4));
}

TEST_F(OnnxProtoTest, WeightsOutliveTheModel) {
  auto model = load(test::addModel());
  ASSERT_TRUE(model) << error;
  auto weight = model->elements(model->proto().graph().initializer(0), error);
  model.reset();
  EXPECT_THAT(floats(weight->bytes), testing::ElementsAre(1, 2, 3, 4));
}

// A tensor may lie in an attribute, in a subgraph, in a function and in a sparse tensor.
TEST_F(OnnxProtoTest, FindsRawDataEverywhere) {
  auto tensor = [](TensorProto *t, float value) {
    t->set_data_type(TensorProto::FLOAT);
    t->set_raw_data(&value, sizeof value);
  };
  ModelProto proto = test::addModel();
  NodeProto *node = proto.mutable_graph()->add_node();
  tensor(node->add_attribute()->mutable_t(), 1);
  tensor(node->add_attribute()->add_tensors(), 2);
  GraphProto *branch = node->add_attribute()->mutable_g();
  tensor(branch->add_initializer(), 3);
  tensor(branch->add_node()->add_attribute()->add_graphs()->add_initializer(), 4);
  tensor(proto.mutable_graph()->add_sparse_initializer()->mutable_values(), 5);
  tensor(node->add_attribute()->mutable_sparse_tensor()->mutable_indices(), 6);
  tensor(node->add_attribute()->add_sparse_tensors()->mutable_values(), 7);
  FunctionProto *function = proto.add_functions();
  tensor(function->add_node()->add_attribute()->mutable_t(), 8);
  tensor(function->add_attribute_proto()->mutable_t(), 9);
  tensor(proto.add_training_info()->mutable_algorithm()->add_initializer(), 10);
  tensor(proto.mutable_training_info(0)->mutable_initialization()->add_initializer(), 11);

  auto model = load(proto);
  ASSERT_TRUE(model) << error;
  const ModelProto &read = model->proto();
  const NodeProto &loaded = read.graph().node(1);
  const TensorProto *tensors[] = {&loaded.attribute(0).t(),
                                  &loaded.attribute(1).tensors(0),
                                  &loaded.attribute(2).g().initializer(0),
                                  &loaded.attribute(2).g().node(0).attribute(0).graphs(0).initializer(0),
                                  &read.graph().sparse_initializer(0).values(),
                                  &loaded.attribute(3).sparse_tensor().indices(),
                                  &loaded.attribute(4).sparse_tensors(0).values(),
                                  &read.functions(0).node(0).attribute(0).t(),
                                  &read.functions(0).attribute_proto(0).t(),
                                  &read.training_info(0).algorithm().initializer(0),
                                  &read.training_info(0).initialization().initializer(0)};
  for (size_t i = 0; i < std::size(tensors); ++i) {
    auto elements = model->elements(*tensors[i], error);
    ASSERT_TRUE(elements) << error;
    EXPECT_THAT(floats(elements->bytes), testing::ElementsAre(i + 1));
  }
}

TEST_F(OnnxProtoTest, SaysWhatAFileIsNot) {
  EXPECT_FALSE(OnnxModel::load(folder.path("none.onnx"), error));
  EXPECT_THAT(error, HasSubstr("none.onnx\": no such file"));
  EXPECT_FALSE(OnnxModel::load(folder.path(""), error));
  EXPECT_THAT(error, HasSubstr("is a folder, expected a file"));
  EXPECT_THAT(errorOfBytes(""), HasSubstr("is empty"));
  EXPECT_THAT(errorOfBytes("hello, this is text\n"), HasSubstr("not an ONNX model"));
  EXPECT_THAT(errorOfBytes(std::string_view("\0\0\0\0", 4)), HasSubstr("not an ONNX model"));
  EXPECT_THAT(errorOfBytes("\x89PNG\r\n\x1a\n"), HasSubstr("not an ONNX model"));
}

TEST_F(OnnxProtoTest, ChecksTheIrVersion) {
  ModelProto proto = test::addModel();
  for (int64_t version : {2, 15}) {
    proto.set_ir_version(version);
    EXPECT_THAT(errorOf(proto), HasSubstr("IR version " + std::to_string(version) + " is not supported, expected 3 to 14"));
  }
  for (int64_t version : {3, 14}) {
    proto.set_ir_version(version);
    EXPECT_EQ(errorOf(proto), "");
  }
  proto.clear_ir_version();
  EXPECT_THAT(errorOf(proto), HasSubstr("no IR version"));
}

TEST_F(OnnxProtoTest, ChecksTheOperatorSets) {
  ModelProto proto = test::addModel();
  proto.mutable_opset_import(0)->set_version(29);
  EXPECT_THAT(errorOf(proto), HasSubstr("the model imports opset 29, expected 1 to 28"));
  proto.mutable_opset_import(0)->set_version(17);
  OperatorSetIdProto *again = proto.add_opset_import();
  again->set_domain("ai.onnx");
  again->set_version(17);
  EXPECT_EQ(errorOf(proto), "");
  again->set_version(18);
  EXPECT_THAT(errorOf(proto), HasSubstr("imports versions 17 and 18 of the default domain"));
  proto.clear_opset_import();
  EXPECT_THAT(errorOf(proto), HasSubstr("imports no operator set"));
}

TEST_F(OnnxProtoTest, ChecksTheOperatorSetsOfFunctions) {
  ModelProto proto = test::addModel();
  FunctionProto *function = proto.add_functions();
  function->set_name("f");
  function->add_opset_import()->set_version(40);
  EXPECT_THAT(errorOf(proto), HasSubstr("function \"f\" imports opset 40"));
}

TEST_F(OnnxProtoTest, NeedsAGraph) {
  ModelProto proto = test::addModel();
  proto.clear_graph();
  EXPECT_THAT(errorOf(proto), HasSubstr("has no graph"));
}

TEST_F(OnnxProtoTest, LimitsNesting) {
  ModelProto proto = test::addModel();
  GraphProto *graph = proto.mutable_graph();
  for (int i = 0; i < 40; ++i)
    graph = graph->add_node()->add_attribute()->mutable_g();
  EXPECT_THAT(errorOf(proto), HasSubstr("nest deeper than 100 levels"));
}

// The file is a hole but for its structure: 3 GiB that exist nowhere, found behind protobuf's limit of 2 GiB.
TEST_F(OnnxProtoTest, ReadsAModelAboveTwoGiB) {
  constexpr uint64_t size = 3ull << 30;
  auto varint = [](uint64_t value) {
    std::string text;
    for (; value >= 0x80; value >>= 7)
      text += static_cast<char>(value | 0x80);
    return text + static_cast<char>(value);
  };
  std::string tensor = "\x08" + varint(size) + "\x10\x02" + "\x42\x01w" + "\x4a" + varint(size); // dims, UINT8, name, raw_data
  std::string graph = "\x2a" + varint(tensor.size() + size) + tensor;
  std::string head = "\x08\x08\x3a" + varint(graph.size() + size) + graph;
  std::string path = folder.write("large.onnx", head);
  std::filesystem::resize_file(path, head.size() + size);
  std::ofstream(path, std::ios::binary | std::ios::app) << "\x42\x02\x10\x11"; // opset 17

  auto model = OnnxModel::load(path, error);
  ASSERT_TRUE(model) << error;
  auto elements = model->elements(model->proto().graph().initializer(0), error);
  ASSERT_TRUE(elements) << error;
  EXPECT_EQ(elements->bytes.size(), size);
  EXPECT_EQ(elements->bytes.back(), std::byte(0));
}

} // namespace
} // namespace llmc
