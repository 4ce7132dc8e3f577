// Models cut short and models with damaged bytes: refused with a reason or read, never a fault. Of worth under the sanitizers.
#include "compiler/Import/OnnxProto.h"

#include "test/compiler/Import/ModelFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace llmc {
namespace {

using namespace onnx;

volatile unsigned char sink; // keeps reads alive

/// Asks for every tensor of the graph, so that ranges are used and not only stored. Returns how many could be read.
int readTensors(const OnnxModel &model, const GraphProto &graph) {
  std::string error;
  int read = 0;
  auto visit = [&](const TensorProto &tensor) {
    auto elements = model.elements(tensor, error);
    if (!elements)
      return;
    for (std::byte byte : elements->bytes)
      sink = std::to_integer<unsigned char>(byte);
    ++read;
  };
  for (const TensorProto &tensor : graph.initializer())
    visit(tensor);
  for (const NodeProto &node : graph.node())
    for (const AttributeProto &attribute : node.attribute()) {
      visit(attribute.t());
      read += readTensors(model, attribute.g());
    }
  return read;
}

/// The Add model with more kinds of tensors.
ModelProto richModel() {
  ModelProto model = test::addModel();
  TensorProto *typed = model.mutable_graph()->add_initializer();
  typed->set_name("typed");
  typed->set_data_type(TensorProto::INT8);
  typed->add_dims(3);
  for (int value : {1, -2, 3})
    typed->add_int32_data(value);
  AttributeProto *attribute = model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute->set_type(AttributeProto::GRAPH);
  TensorProto *inner = attribute->mutable_g()->add_initializer();
  inner->set_data_type(TensorProto::UINT4);
  inner->add_dims(4);
  inner->set_raw_data("ab");
  return model;
}

TEST(HostileModelTest, EveryCutIsRefusedWithAReason) {
  test::TemporaryFolder folder;
  std::string bytes = richModel().SerializeAsString(), error;
  ASSERT_TRUE(OnnxModel::load(folder.write("whole.onnx", bytes), error)) << error;
  for (size_t size = 0; size < bytes.size(); ++size) {
    error.clear();
    EXPECT_FALSE(OnnxModel::load(folder.write("cut.onnx", bytes.substr(0, size)), error)) << "cut to " << size << " bytes";
    EXPECT_THAT(error, testing::HasSubstr("cut.onnx"));
  }
}

TEST(HostileModelTest, MutationsNeverFault) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  printf("seed %u\n", seed);
  std::mt19937 random(seed);
  test::TemporaryFolder folder;
  const std::string bytes = richModel().SerializeAsString();
  int refused = 0, loaded = 0, tensors = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string mutated = bytes;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      size_t at = random() % mutated.size();
      switch (random() % 4) {
      case 0:
        mutated[at] = static_cast<char>(random());
        break;
      case 1:
        mutated[at] ^= static_cast<char>(1u << random() % 8);
        break;
      case 2:
        mutated.insert(at, 1 + random() % 8, static_cast<char>(random()));
        break;
      default:
        mutated.erase(at, 1 + random() % 8);
      }
      if (mutated.empty())
        break;
    }
    std::string error;
    auto model = OnnxModel::load(folder.write("mutated.onnx", mutated), error);
    if (!model) {
      EXPECT_FALSE(error.empty());
      ++refused;
      continue;
    }
    ++loaded;
    tensors += readTensors(*model, model->proto().graph());
  }
  printf("%d refused, %d loaded, %d of their tensors read\n", refused, loaded, tensors);
  EXPECT_GT(refused, 0);
  EXPECT_GT(loaded, 0);
  EXPECT_GT(tensors, 0);
}

} // namespace
} // namespace llmc
