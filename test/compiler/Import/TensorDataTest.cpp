// The elements of tensors: every typed field, external files, and what does not fit together.
#include "compiler/Import/OnnxProto.h"

#include "test/compiler/Import/ModelFile.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace llmc {
namespace {

using namespace onnx;
using testing::HasSubstr;

class TensorDataTest : public testing::Test {
protected:
  TensorDataTest() : proto(test::addModel()), tensor(*proto.mutable_graph()->mutable_initializer(0)) {
    tensor.Clear();
    tensor.set_name("w");
  }

  void set(int32_t type, std::initializer_list<int64_t> dims) {
    tensor.set_data_type(type);
    tensor.clear_dims();
    for (int64_t dim : dims)
      tensor.add_dims(dim);
  }

  void setExternal(const std::string &location, const std::string &offset = "", const std::string &length = "") {
    tensor.set_data_location(TensorProto::EXTERNAL);
    tensor.clear_external_data();
    for (auto [key, value] : {std::pair("location", location), std::pair("offset", offset), std::pair("length", length)})
      if (!value.empty()) {
        StringStringEntryProto *entry = tensor.add_external_data();
        entry->set_key(key);
        entry->set_value(value);
      }
  }

  /// The elements as T, after a round trip through a file; empty on an error.
  template <typename T = uint8_t> std::vector<T> read() {
    error.clear();
    model = OnnxModel::load(folder.write("models/model.onnx", proto.SerializeAsString()), error);
    if (!model)
      return {};
    auto elements = model->elements(model->proto().graph().initializer(0), error);
    if (!elements)
      return {};
    std::vector<T> values(elements->bytes.size() / sizeof(T));
    if (!values.empty())
      std::memcpy(values.data(), elements->bytes.data(), elements->bytes.size());
    return values;
  }
  std::string readError() {
    read();
    return error;
  }

  test::TemporaryFolder folder;
  ModelProto proto;
  TensorProto &tensor;
  std::unique_ptr<OnnxModel> model;
  std::string error;
};

TEST_F(TensorDataTest, DecodesWideFields) {
  set(TensorProto::FLOAT, {2});
  tensor.add_float_data(1.5f);
  tensor.add_float_data(-2);
  EXPECT_THAT(read<float>(), testing::ElementsAre(1.5f, -2)) << error;
  set(TensorProto::COMPLEX64, {});
  EXPECT_THAT(read<float>(), testing::ElementsAre(1.5f, -2)) << error;
  tensor.clear_float_data();
  set(TensorProto::INT64, {1});
  tensor.add_int64_data(-5);
  EXPECT_THAT(read<int64_t>(), testing::ElementsAre(-5)) << error;
  tensor.clear_int64_data();
  set(TensorProto::DOUBLE, {});
  tensor.add_double_data(0.25);
  EXPECT_THAT(read<double>(), testing::ElementsAre(0.25)) << error;
  tensor.clear_double_data();
  set(TensorProto::UINT64, {1});
  tensor.add_uint64_data(UINT64_MAX);
  EXPECT_THAT(read<uint64_t>(), testing::ElementsAre(UINT64_MAX)) << error;
  set(TensorProto::UINT32, {1});
  EXPECT_THAT(readError(), HasSubstr("out of range for UINT32"));
  tensor.set_uint64_data(0, UINT32_MAX);
  EXPECT_THAT(read<uint32_t>(), testing::ElementsAre(UINT32_MAX)) << error;
}

TEST_F(TensorDataTest, NarrowsInt32Data) {
  tensor.add_int32_data(-1);
  tensor.add_int32_data(1);
  set(TensorProto::INT32, {2});
  EXPECT_THAT(read<int32_t>(), testing::ElementsAre(-1, 1)) << error;
  set(TensorProto::INT16, {2});
  EXPECT_THAT(read<int16_t>(), testing::ElementsAre(-1, 1)) << error;
  set(TensorProto::INT8, {2});
  EXPECT_THAT(read<int8_t>(), testing::ElementsAre(-1, 1)) << error;
  for (int32_t type : {TensorProto::UINT8, TensorProto::BOOL, TensorProto::FLOAT16, TensorProto::FLOAT8E5M2}) {
    set(type, {2});
    EXPECT_THAT(readError(), HasSubstr("int32_data[0] is -1, out of range for " + dataTypeName(type)));
  }
  tensor.set_int32_data(0, 0x3c00);
  for (int32_t type : {TensorProto::FLOAT16, TensorProto::BFLOAT16, TensorProto::UINT16}) {
    set(type, {2});
    EXPECT_THAT(read<uint16_t>(), testing::ElementsAre(0x3c00, 1)) << error;
  }
  tensor.set_int32_data(0, 0);
  set(TensorProto::BOOL, {2});
  EXPECT_THAT(read(), testing::ElementsAre(0, 1)) << error;
}

TEST_F(TensorDataTest, KeepsSmallElementsPacked) {
  tensor.add_int32_data(0x21);
  tensor.add_int32_data(0x03);
  set(TensorProto::INT4, {3});
  EXPECT_THAT(read(), testing::ElementsAre(0x21, 0x03)) << error;
  set(TensorProto::UINT2, {5});
  EXPECT_THAT(read(), testing::ElementsAre(0x21, 0x03)) << error;
  set(TensorProto::INT4, {5});
  EXPECT_THAT(readError(), HasSubstr("int32_data holds 2 values, shape [5] of INT4 needs 3"));
  tensor.clear_int32_data();
  tensor.set_raw_data("\x21\x03");
  set(TensorProto::FLOAT4E2M1, {4});
  EXPECT_THAT(read(), testing::ElementsAre(0x21, 0x03)) << error;
}

TEST_F(TensorDataTest, PacksSixBitElements) {
  set(TensorProto::FLOAT6E2M3, {5});
  for (int32_t value : {0x01, 0x3f, 0x20, 0x15, 0x2a})
    tensor.add_int32_data(value);
  // 000001, 111111, 100000, 010101 from the lowest bit on; then 101010.
  EXPECT_THAT(read(), testing::ElementsAre(0xc1, 0x0f, 0x56, 0x2a)) << error;
  tensor.set_int32_data(2, 64);
  EXPECT_THAT(readError(), HasSubstr("int32_data[2] is 64, out of range for FLOAT6E2M3"));
}

TEST_F(TensorDataTest, ComparesDimsWithElements) {
  set(TensorProto::FLOAT, {2, 3});
  tensor.add_float_data(1);
  EXPECT_THAT(readError(), HasSubstr("tensor \"w\": float_data holds 1 values, shape [2, 3] of FLOAT needs 6"));
  tensor.clear_float_data();
  tensor.set_raw_data("12345678");
  EXPECT_THAT(readError(), HasSubstr("raw_data holds 8 bytes, shape [2, 3] of FLOAT needs 24"));
  set(TensorProto::FLOAT, {-2, -1});
  EXPECT_THAT(readError(), HasSubstr("shape [-2, -1] has a negative dim"));
  set(TensorProto::FLOAT, {1ll << 40, 1ll << 40});
  EXPECT_THAT(readError(), HasSubstr("too many elements"));
  set(TensorProto::FLOAT, {1ll << 61});
  EXPECT_THAT(readError(), HasSubstr("too many elements"));
  set(TensorProto::FLOAT, {1ll << 40, 1ll << 40, 0});
  EXPECT_THAT(readError(), HasSubstr("needs 0"));
  tensor.set_raw_data("");
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(error, "");
}

TEST_F(TensorDataTest, RefusesWhatItCanNotPlace) {
  set(TensorProto::FLOAT, {1});
  tensor.set_raw_data("1234");
  tensor.add_float_data(1);
  EXPECT_THAT(readError(), HasSubstr("its elements lie in 2 places, expected one"));
  tensor.clear_float_data();
  tensor.mutable_segment()->set_begin(0);
  EXPECT_THAT(readError(), HasSubstr("segments"));
  tensor.clear_segment();
  for (int32_t type : {0, 29, int(TensorProto::STRING)}) {
    set(type, {1});
    EXPECT_THAT(readError(), HasSubstr(dataTypeName(type) + " is no numeric element type"));
  }
}

TEST_F(TensorDataTest, ReadsStrings) {
  set(TensorProto::STRING, {2});
  tensor.add_string_data("one");
  tensor.add_string_data("");
  read();
  auto strings = model->strings(model->proto().graph().initializer(0), error);
  ASSERT_TRUE(strings) << error;
  EXPECT_THAT(*strings, testing::ElementsAre("one", ""));
  set(TensorProto::STRING, {3});
  read();
  EXPECT_FALSE(model->strings(model->proto().graph().initializer(0), error));
  EXPECT_THAT(error, HasSubstr("string_data holds 2 values, shape [3] needs 3"));
}

TEST_F(TensorDataTest, ReadsExternalFiles) {
  set(TensorProto::UINT8, {3});
  folder.write("models/weights/w.bin", "abcdefgh");
  setExternal("weights/w.bin", "2", "3");
  EXPECT_THAT(read<char>(), testing::ElementsAre('c', 'd', 'e')) << error;
  setExternal("./weights/w.bin", "5");
  EXPECT_THAT(read<char>(), testing::ElementsAre('f', 'g', 'h')) << error;
  setExternal("weights/w.bin");
  EXPECT_THAT(read<char>(), testing::ElementsAre('a', 'b', 'c')) << error;
}

TEST_F(TensorDataTest, ChecksExternalRanges) {
  set(TensorProto::UINT8, {3});
  folder.write("models/w.bin", "abcdefgh");
  setExternal("w.bin", "6", "3");
  EXPECT_THAT(readError(), HasSubstr("\"w.bin\" has 8 bytes, the tensor lies at 6 and needs 3"));
  setExternal("w.bin", "9223372036854775807", "3");
  EXPECT_THAT(readError(), HasSubstr("the tensor lies at 9223372036854775807"));
  setExternal("w.bin", "0", "4");
  EXPECT_THAT(readError(), HasSubstr("has length 4, shape [3] of UINT8 needs 3"));
  for (const char *bad : {"-1", "0x2", " 2", "2 ", "99999999999999999999"}) {
    setExternal("w.bin", bad);
    EXPECT_THAT(readError(), HasSubstr("has offset \"" + std::string(bad) + "\", expected a number"));
  }
  setExternal("");
  EXPECT_THAT(readError(), HasSubstr("has no location"));
  setExternal("w.bin");
  tensor.add_external_data()->set_key("compression");
  EXPECT_THAT(readError(), HasSubstr("unknown key \"compression\""));
}

TEST_F(TensorDataTest, ExternalFilesStayInTheFolder) {
  set(TensorProto::UINT8, {3});
  std::string outside = folder.write("outside.bin", "secret");
  folder.write("models/inside.bin", "abc");
  setExternal("../outside.bin");
  EXPECT_THAT(readError(), HasSubstr("leads out of the model's folder"));
  setExternal("sub/../../outside.bin");
  folder.write("models/sub/x", "");
  EXPECT_THAT(readError(), HasSubstr("leads out of the model's folder"));
  setExternal(outside);
  EXPECT_THAT(readError(), HasSubstr("leads out of the model's folder"));
  std::filesystem::create_symlink(outside, folder.path("models/link.bin"));
  setExternal("link.bin");
  EXPECT_THAT(readError(), HasSubstr("leads out of the model's folder"));
  std::filesystem::create_hard_link(outside, folder.path("models/hard.bin"));
  setExternal("hard.bin");
  EXPECT_THAT(readError(), HasSubstr("\"hard.bin\" has 2 hard links"));
  setExternal("sub");
  EXPECT_THAT(readError(), HasSubstr("is a folder"));
  setExternal("none.bin");
  EXPECT_THAT(readError(), HasSubstr("can not open \"none.bin\": no such file"));
  setExternal("inside.bin");
  EXPECT_THAT(read<char>(), testing::ElementsAre('a', 'b', 'c')) << error;
}

} // namespace
} // namespace llmc
