// What the text syntax of the .onnxtxt tests can not say: odd dims, large constants, hostile models.
#include "compiler/Import/OnnxImporter.h"

#include "compiler/Import/OnnxProto.h"
#include "test/compiler/Import/ModelFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace llmc {
namespace {

using namespace onnx;

class ImporterTest : public testing::Test {
protected:
  ImporterTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) { errors.push_back(diagnostic.str()); });
  }

  mlir::OwningOpRef<mlir::ModuleOp> import(const ModelProto &proto, const ImportOptions &options = {}) {
    std::string error;
    model = OnnxModel::load(folder.write("model.onnx", proto.SerializeAsString()), error);
    if (!model) {
      errors.push_back(error);
      return nullptr;
    }
    return importOnnx(context, *model, options);
  }

  static graph::Dims argumentDims(mlir::ModuleOp module, unsigned argument) {
    auto function = mlir::cast<mlir::func::FuncOp>(module.getBody()->front());
    return graph::dimsOf(function.getArgAttrOfType<mlir::ArrayAttr>(argument, "graph.dims"));
  }
  graph::DimExpr symbol(llvm::StringRef name) { return graph::DimExpr::symbol(&context, name); }
  graph::DimExpr number(int64_t value) { return graph::DimExpr::constant(&context, value); }

  test::TemporaryFolder folder;
  mlir::MLIRContext context;
  std::unique_ptr<OnnxModel> model;
  std::vector<std::string> errors;
};

TEST_F(ImporterTest, ReadsDimsAsExportersWriteThem) {
  ModelProto proto = test::addModel();
  proto.mutable_graph()->mutable_node(0)->set_input(1, "x");
  auto *shape = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->clear_dim();
  for (const char *name : {"P", "S", "P + S", "P - Q", "batch-size", "3 apples"})
    shape->add_dim()->set_dim_param(name);
  shape->add_dim();
  shape->add_dim()->set_dim_value(-1);
  for (int i = 0; i < 2; ++i) // no name, though it looks like one: the two need not be equal
    shape->add_dim()->set_dim_param("?");
  auto module = import(proto);
  ASSERT_TRUE(module) << testing::PrintToString(errors);
  EXPECT_THAT(argumentDims(*module, 0),
              testing::ElementsAre(symbol("P"), symbol("S"), symbol("P") + symbol("S"), symbol("P - Q"), symbol("batch-size"),
                                   symbol("3 apples"), symbol("x_dim6"), symbol("x_dim7"), symbol("x_dim8"), symbol("x_dim9")));

  ImportOptions options;
  options.dims["P"] = {3, 3};
  options.shapes["x"] = {-1, -1, -1, -1, 2, -1, 5, -1, 7, 8};
  module = import(proto, options);
  ASSERT_TRUE(module) << testing::PrintToString(errors);
  EXPECT_THAT(argumentDims(*module, 0),
              testing::ElementsAre(number(3), symbol("S"), symbol("S") + 3, symbol("P - Q"), number(2), symbol("3 apples"),
                                   number(5), symbol("x_dim7"), number(7), number(8)));
}

TEST_F(ImporterTest, ShapesMustFitExpressions) {
  ModelProto proto = test::addModel();
  proto.mutable_graph()->mutable_node(0)->set_input(1, "x");
  auto *shape = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(1)->set_dim_param("2 * N");
  ImportOptions options;
  options.shapes["x"] = {3, 6};
  EXPECT_TRUE(import(proto, options)) << testing::PrintToString(errors);
  options.shapes["x"] = {3, 7};
  EXPECT_FALSE(import(proto, options));
  EXPECT_THAT(errors, testing::Contains("dim 1 of input 'x' is 6, not 7"));
}

TEST_F(ImporterTest, LargeConstantsViewTheFile) {
  ModelProto proto = test::addModel();
  TensorProto *weight = proto.mutable_graph()->mutable_initializer(0);
  weight->set_dims(0, 300);
  weight->set_raw_data(std::string(300 * 2 * 4, 'x'));
  auto module = import(proto);
  ASSERT_TRUE(module) << testing::PrintToString(errors);
  std::string error;
  auto elements = model->elements(model->proto().graph().initializer(0), error);
  ASSERT_TRUE(elements) << error;
  int constants = 0;
  module->walk([&](graph::ConstantOp constant) {
    auto view = graph::ConstantView::of(constant.getValue());
    ASSERT_TRUE(view);
    EXPECT_EQ(static_cast<const void *>(view->bytes().data()), static_cast<const void *>(elements->bytes.data()));
    ++constants;
  });
  EXPECT_EQ(constants, 1);
}

TEST_F(ImporterTest, ReportsWrongWeights) {
  ModelProto proto = test::addModel();
  proto.mutable_graph()->mutable_initializer(0)->set_dims(0, 3);
  EXPECT_FALSE(import(proto));
  EXPECT_THAT(errors, testing::ElementsAre(testing::HasSubstr("raw_data holds 16 bytes, shape [3, 2] of FLOAT needs 24"),
                                           "the model has 1 problem"));
}

/// A model of several op families, with names long enough to hit.
ModelProto variedModel() {
  ModelProto proto = test::addModel();
  GraphProto *graph = proto.mutable_graph();
  auto add = [&](const char *op, std::initializer_list<const char *> inputs, const char *output) {
    NodeProto *node = graph->add_node();
    node->set_op_type(op);
    for (const char *input : inputs)
      node->add_input(input);
    node->add_output(output);
    return node;
  };
  auto integers = [](AttributeProto *attribute, const char *name, std::initializer_list<int64_t> values) {
    attribute->set_name(name);
    attribute->set_type(AttributeProto::INTS);
    for (int64_t value : values)
      attribute->add_ints(value);
  };
  TensorProto *target = graph->add_initializer();
  target->set_name("t");
  target->set_data_type(TensorProto::INT64);
  target->add_dims(4);
  for (int64_t value : {0, 1, 2, -1})
    target->add_int64_data(value);
  TensorProto *kernel = graph->add_initializer();
  kernel->set_name("k");
  kernel->set_data_type(TensorProto::FLOAT);
  for (int64_t dim : {2, 1, 1, 1})
    kernel->add_dims(dim);
  kernel->set_raw_data("12345678");
  add("Reshape", {"y", "t"}, "r");
  NodeProto *conv = add("Conv", {"r", "k"}, "c");
  integers(conv->add_attribute(), "strides", {2, 1});
  integers(conv->add_attribute(), "pads", {0, 1, 0, 1});
  integers(add("Transpose", {"c"}, "p")->add_attribute(), "perm", {0, 2, 3, 1});
  add("Shape", {"p"}, "s");
  add("Where", {"b", "w", "y"}, "e");
  add("Less", {"y", "w"}, "b");
  add("Softmax", {"p"}, "m");
  return proto;
}

TEST_F(ImporterTest, MutationsNeverFault) {
  const std::string bytes = variedModel().SerializeAsString();
  ASSERT_TRUE(import(variedModel())) << testing::PrintToString(errors);
  const unsigned seed = std::random_device()();
  printf("seed %u\n", seed);
  std::mt19937 random(seed);
  int imported = 0, refused = 0, loaded = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string mutated = bytes;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes)
      mutated[random() % mutated.size()] ^= static_cast<char>(random() % 2 ? 1u << random() % 8 : random());
    std::string error;
    model = OnnxModel::load(folder.write("mutated.onnx", mutated), error);
    if (!model)
      continue;
    ++loaded;
    errors.clear();
    if (importOnnx(context, *model, {})) {
      ++imported;
    } else {
      ++refused;
      EXPECT_FALSE(errors.empty()) << "seed " << seed << ", case " << i;
    }
  }
  printf("%d loaded: %d imported, %d refused\n", loaded, imported, refused);
  EXPECT_GT(imported, 0);
  EXPECT_GT(refused, 0);
}

} // namespace
} // namespace llmc
