// Pooling over channels-last tensors against plain loops, equal to the bit.
#include "test/compiler/Codegen/KernelHarness.h"
#include "test/compiler/Codegen/TensorText.h"
#include <cmath>

using namespace llmc;
using namespace llmc::test;

namespace {

struct Pool {
  std::string op = "max_pool";
  int64_t height = 7, width = 9, channels = 5, kernel = 3, stride = 1, padBegin = 0, padEnd = 0, dilation = 1;
  bool countPads = false;
  bool dynamicSizes = false;
  int64_t extra = 0; // windows beyond those that fit, as ceil mode has them

  int64_t outputSize(int64_t size) const {
    return (size + padBegin + padEnd - dilation * (kernel - 1) - 1) / stride + 1 + extra;
  }
};

std::string textOf(const Pool &c) {
  auto symbol = [&](int k) { return c.dynamicSizes ? k : -1; };
  std::vector<TestDim> input = {{2}, {c.height, symbol(0)}, {c.width, symbol(1)}, {c.channels}};
  std::vector<TestDim> result = {
      {2}, {c.outputSize(c.height), symbol(2)}, {c.outputSize(c.width), symbol(3)}, {c.channels}};
  auto pair = [](int64_t value) { return std::to_string(value) + ", " + std::to_string(value); };
  return "func.func private @k(%x: " + tensorArgument(input) +
         (c.dynamicSizes ? ", %s0: index, %s1: index, %s2: index, %s3: index" : "") + ") -> (" +
         tensorArgument(result) + ") attributes {graph.dispatch} {\n%y = graph." + c.op +
         " %x {kernel = array<i64: " + pair(c.kernel) + ">, strides = array<i64: " + pair(c.stride) +
         ">, pads = array<i64: " + pair(c.padBegin) + ", " + pair(c.padEnd) +
         ">, dilations = array<i64: " + pair(c.dilation) + ">, channels_last" + (c.extra ? ", ceil_mode" : "") +
         (c.countPads ? ", count_include_pad" : "") + "} : " + tensorType(input) + " -> " + tensorType(result) +
         "\nreturn %y : " + tensorType(result) + "\n}\n";
}

float element(const Pool &c, const std::vector<float> &input, int64_t n, int64_t y, int64_t x, int64_t channel) {
  bool isMax = c.op == "max_pool";
  float value = isMax ? -INFINITY : 0.0f;
  int64_t taps = 0;
  for (int64_t kh = 0; kh < c.kernel; ++kh)
    for (int64_t kw = 0; kw < c.kernel; ++kw) {
      int64_t h = y * c.stride - c.padBegin + kh * c.dilation, w = x * c.stride - c.padBegin + kw * c.dilation;
      bool inside = h >= 0 && h < c.height && w >= 0 && w < c.width;
      taps += c.countPads ? h < c.height + c.padEnd && w < c.width + c.padEnd : inside;
      if (!inside)
        continue;
      float element = input[((n * c.height + h) * c.width + w) * c.channels + channel];
      value = isMax ? std::max(value, element) : value + element;
    }
  return isMax ? value : value / static_cast<float>(taps);
}

void check(const Pool &c, mlir::MLIRContext &context, const CpuLevel &level) {
  SCOPED_TRACE(testing::Message() << level.name.str() << " " << textOf(c));
  mlir::OwningOpRef<mlir::ModuleOp> module = parseDispatches(textOf(c), context);
  ASSERT_TRUE(module);
  CompiledKernels kernels(*module, level);
  ASSERT_TRUE(kernels.good());
  std::vector<float> input = randomFloats(2 * c.height * c.width * c.channels, 1), wanted;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t y = 0; y < c.outputSize(c.height); ++y)
      for (int64_t x = 0; x < c.outputSize(c.width); ++x)
        for (int64_t channel = 0; channel < c.channels; ++channel)
          wanted.push_back(element(c, input, n, y, x, channel));
  std::vector<float> result(wanted.size() + 1, 7.0f);
  std::vector<int64_t> scalars;
  if (c.dynamicSizes)
    scalars = {c.height, c.width, c.outputSize(c.height), c.outputSize(c.width)};
  EXPECT_EQ(kernels.run("k", {input.data(), result.data()}, scalars, 2).status, LLMC_KERNEL_OK);
  EXPECT_EQ(result.back(), 7.0f) << "wrote past the end";
  result.pop_back();
  ASSERT_EQ(result, wanted);
}

class PoolKernel : public testing::TestWithParam<const CpuLevel *> {
protected:
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  void run(const Pool &c) { check(c, *context, *GetParam()); }
};

TEST_P(PoolKernel, Maximum) {
  for (int64_t kernel : {1, 2, 3})
    for (int64_t stride : {1, 2})
      for (int64_t pad : {0, 1})
        if (pad < kernel)
          run({.kernel = kernel, .stride = stride, .padBegin = pad, .padEnd = pad});
  run({.kernel = 2, .dilation = 3});
}

TEST_P(PoolKernel, MeanOfWhatIsInside) {
  for (bool countPads : {false, true})
    for (int64_t stride : {1, 3})
      run({.op = "average_pool", .channels = 17, .stride = stride, .padBegin = 1, .padEnd = 2, .countPads = countPads});
}

TEST_P(PoolKernel, WindowsThatStartInTheLastElements) {
  for (const char *op : {"max_pool", "average_pool"})
    for (bool countPads : {false, op == std::string("average_pool")})
      run({.op = op,
           .height = 8,
           .width = 8,
           .stride = 2,
           .padBegin = 0,
           .padEnd = 0,
           .countPads = countPads,
           .extra = 1});
}

TEST_P(PoolKernel, SizesKnownAtRunTime) {
  for (const char *op : {"max_pool", "average_pool"})
    for (int64_t width : {3, 8, 31})
      run({.op = op, .width = width, .stride = 2, .padBegin = 1, .padEnd = 1, .dynamicSizes = true});
}

INSTANTIATE_TEST_SUITE_P(Levels, PoolKernel, testing::ValuesIn(runnableLevels()), [](const auto &info) {
  std::string name = info.param->name.str();
  for (char &c : name)
    if (!isalnum(c))
      c = '_';
  return name;
});

} // namespace
