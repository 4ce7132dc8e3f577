// Gather, pad, concat, and the fallback to reference kernels.
#include "test/compiler/Codegen/KernelHarness.h"
#include <cmath>

using namespace mlir;

namespace llmc::test {
namespace {

class CallKernelTest : public KernelTest {};

constexpr char kGather[] = R"(
  func.func private @gather(%x: tensor<10x?xf32> {graph.sizes = array<i64: 10, -2>}, %i: tensor<?xi64> {graph.sizes = array<i64: -1>},
                            %n: index, %c: index) -> (tensor<?x?xf32> {graph.sizes = array<i64: -1, -2>}) attributes {graph.dispatch} {
    %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<10x?xf32>, tensor<?xi64>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  })";

TEST_F(CallKernelTest, GathersRows) {
  for (auto &kernels : compile(kGather))
    for (int64_t columns : {1, 8, 13}) {
      EXPECT_EQ(kernels->kernel("gather").kernelTemplate, "gather");
      std::vector<float> x(10 * columns), y(4 * columns + 1, -1.0f);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i);
      std::vector<int64_t> indices = {3, -1, 0, -10};
      EXPECT_EQ(kernels->run("gather", {x.data(), indices.data(), y.data()}, {4, columns}, 2).status, LLMC_KERNEL_OK);
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t j = 0; j < columns; ++j)
          ASSERT_EQ(y[i * columns + j], x[(indices[i] + 10) % 10 * columns + j]);
      EXPECT_EQ(y.back(), -1.0f);
    }
}

/// Unsigned elements are moved as they are, whole vectors and tails.
TEST_F(CallKernelTest, GathersUnsignedBytes) {
  constexpr char text[] = R"(
  func.func private @gather(%x: tensor<3x70xui8>, %i: tensor<2xi64>) -> tensor<2x70xui8> attributes {graph.dispatch} {
    %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<3x70xui8>, tensor<2xi64>) -> tensor<2x70xui8>
    return %y : tensor<2x70xui8>
  })";
  for (auto &kernels : compile(text)) {
    std::vector<uint8_t> x(3 * 70), y(2 * 70);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<uint8_t>(i + 100);
    std::vector<int64_t> indices = {2, -3};
    EXPECT_EQ(kernels->run("gather", {x.data(), indices.data(), y.data()}, {}).status, LLMC_KERNEL_OK);
    for (int64_t j = 0; j < 70; ++j) {
      ASSERT_EQ(y[j], x[2 * 70 + j]);
      ASSERT_EQ(y[70 + j], x[j]);
    }
  }
}

TEST_F(CallKernelTest, ReportsTheFirstIndexOutOfRange) {
  for (auto &kernels : compile(kGather))
    for (int64_t bad : {10, -11, 1 << 30}) {
      std::vector<float> x(20), y(6);
      std::vector<int64_t> indices = {1, bad, 77};
      Launch launch = kernels->run("gather", {x.data(), indices.data(), y.data()}, {3, 2});
      EXPECT_EQ(launch.status, LLMC_KERNEL_INDEX_OUT_OF_RANGE);
      EXPECT_EQ(launch.error.code, LLMC_KERNEL_INDEX_OUT_OF_RANGE);
      EXPECT_EQ(launch.error.operand, 1);
      EXPECT_EQ(launch.error.value, bad);
    }
}

TEST_F(CallKernelTest, PadsWithZeros) {
  for (auto &kernels : compile(R"(
      func.func private @pad(%x: tensor<2x?x?xf32> {graph.sizes = array<i64: 2, -1, -2>}, %h: index, %w: index, %i: index, %j: index)
          -> (tensor<2x?x?xf32> {graph.sizes = array<i64: 2, -3, -4>}) attributes {graph.dispatch} {
        %y = graph.pad %x {pads = array<i64: 0, 1, 2, 0, 2, 0>, mode = 0 : i64} : (tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
        return %y : tensor<2x?x?xf32>
      })"))
    for (int64_t width : {1, 7, 8, 21}) {
      EXPECT_EQ(kernels->kernel("pad").kernelTemplate, "pad");
      constexpr int64_t height = 3, rows = height + 3;
      const int64_t columns = width + 2;
      std::vector<float> x(2 * height * width), y(2 * rows * columns + 1, -1.0f);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i + 1);
      EXPECT_EQ(kernels->run("pad", {x.data(), y.data()}, {height, width, rows, columns}, 2).status, LLMC_KERNEL_OK);
      for (int64_t n = 0; n < 2; ++n)
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j) {
            bool inside = i >= 1 && i < 1 + height && j >= 2;
            ASSERT_EQ(y[(n * rows + i) * columns + j], inside ? x[(n * height + i - 1) * width + j - 2] : 0.0f);
          }
      EXPECT_EQ(y.back(), -1.0f);
    }
}

TEST_F(CallKernelTest, PadsWithAValue) {
  for (auto &kernels : compile(R"(
      func.func private @pad(%x: tensor<2x3xi64>, %v: tensor<i64>) -> tensor<2x5xi64> attributes {graph.dispatch} {
        %y = graph.pad %x, %v {pads = array<i64: 0, 1, 0, 1>, mode = 0 : i64} : (tensor<2x3xi64>, tensor<i64>) -> tensor<2x5xi64>
        return %y : tensor<2x5xi64>
      })")) {
    EXPECT_EQ(kernels->kernel("pad").kernelTemplate, "pad");
    std::vector<int64_t> x = {1, 2, 3, 4, 5, 6}, value = {9}, y(10);
    EXPECT_EQ(kernels->run("pad", {x.data(), value.data(), y.data()}, {}).status, LLMC_KERNEL_OK);
    EXPECT_EQ(y, (std::vector<int64_t>{9, 1, 2, 3, 9, 9, 4, 5, 6, 9}));
  }
}

constexpr char kConcat[] = R"(
  func.func private @concat(%x: tensor<3x?xf32> {graph.sizes = array<i64: 3, -1>}, %y: tensor<3x2xf32>,
                            %z: tensor<3x?xf32> {graph.sizes = array<i64: 3, -2>}, %a: index, %b: index, %c: index)
      -> (tensor<3x?xf32> {graph.sizes = array<i64: 3, -3>}) attributes {graph.dispatch} {
    %r = graph.concat %x, %y, %z {axis = 1 : i64} : (tensor<3x?xf32>, tensor<3x2xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
    return %r : tensor<3x?xf32>
  })";

/// Rows of open length are cut into chunks, which begin and end anywhere in the operands.
TEST_F(CallKernelTest, ConcatenatesOpenRows) {
  for (auto &kernels : compile(kConcat))
    for (auto [a, c] : {std::pair<int64_t, int64_t>{0, 0}, {1, 0}, {0, 5}, {16, 7}, {2047, 3}, {3000, 5000}}) {
      EXPECT_EQ(kernels->kernel("concat").kernelTemplate, "concat");
      int64_t width = a + 2 + c;
      std::vector<float> x(3 * a), y(6), z(3 * c), result(3 * width + 1, -1.0f), expected;
      float next = 0;
      for (std::vector<float> *operand : {&x, &y, &z})
        for (float &element : *operand)
          element = next++;
      for (int64_t row = 0; row < 3; ++row) {
        expected.insert(expected.end(), x.begin() + row * a, x.begin() + (row + 1) * a);
        expected.insert(expected.end(), y.begin() + row * 2, y.begin() + (row + 1) * 2);
        expected.insert(expected.end(), z.begin() + row * c, z.begin() + (row + 1) * c);
      }
      expected.push_back(-1.0f);
      EXPECT_EQ(kernels->run("concat", {x.data(), y.data(), z.data(), result.data()}, {a, c, width}, 2).status, LLMC_KERNEL_OK);
      EXPECT_EQ(result, expected) << a << ", " << c;
    }
}

TEST_F(CallKernelTest, ConcatenatesShortRowsOfBytes) {
  for (auto &kernels : compile(R"(
      func.func private @concat(%x: tensor<2x3x2xui8>, %y: tensor<2x1x2xui8>) -> tensor<2x4x2xui8> attributes {graph.dispatch} {
        %r = graph.concat %x, %y {axis = 1 : i64} : (tensor<2x3x2xui8>, tensor<2x1x2xui8>) -> tensor<2x4x2xui8>
        return %r : tensor<2x4x2xui8>
      })")) {
    std::vector<uint8_t> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, y = {200, 201, 202, 203}, r(17, 255);
    EXPECT_EQ(kernels->run("concat", {x.data(), y.data(), r.data()}, {}, 2).status, LLMC_KERNEL_OK);
    EXPECT_EQ(r, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 200, 201, 7, 8, 9, 10, 11, 12, 202, 203, 255}));
  }
}

TEST_F(CallKernelTest, CallsReferenceKernelsWithAttributes) {
  for (auto &kernels : compile(R"(
      func.func private @pad(%x: tensor<?x3xf32> {graph.sizes = array<i64: -1, 3>}, %n: index, %m: index)
          -> (tensor<?x5xf32> {graph.sizes = array<i64: -2, 5>}) attributes {graph.dispatch} {
        %y = graph.pad %x {pads = array<i64: 0, 1, 1, 1>, mode = 2 : i64} : (tensor<?x3xf32>) -> tensor<?x5xf32>
        return %y : tensor<?x5xf32>
      }
      func.func private @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {graph.dispatch} {
        %y = graph.softmax %x {axis = 0 : i64} : tensor<2x3xf32> -> tensor<2x3xf32>
        return %y : tensor<2x3xf32>
      })")) {
    EXPECT_EQ(kernels->kernel("pad").fallbackReason, "graph.pad: only padding by one value, in two dims and more, has generated code");
    std::vector<float> x = {1, 2, 3, 4, 5, 6}, y(15, -1.0f);
    EXPECT_EQ(kernels->run("pad", {x.data(), y.data()}, {2, 3}).status, LLMC_KERNEL_OK);
    EXPECT_EQ(y, (std::vector<float>{1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 4, 4, 5, 6, 6}));
    std::vector<float> z(6);
    EXPECT_EQ(kernels->run("softmax", {x.data(), z.data()}, {}).status, LLMC_KERNEL_OK); // calls the math library
    for (int i = 0; i < 6; ++i)
      EXPECT_NEAR(z[i], i < 3 ? 1 / (1 + std::exp(3.0)) : 1 / (1 + std::exp(-3.0)), 1e-6);
  }
}

} // namespace
} // namespace llmc::test
