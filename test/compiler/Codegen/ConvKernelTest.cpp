// Convolutions over channels-last tensors against plain loops, equal to the bit, for windows that overlap the border in
// every way.
#include "test/compiler/Codegen/KernelHarness.h"
#include "test/compiler/Codegen/MatrixText.h"
#include <cmath>

using namespace llmc;
using namespace llmc::test;

namespace {

struct Data {
  std::vector<float> input, weight, bias, residual;
  explicit Data(const Conv &c)
      : input(randomFloats(c.batch * c.height * c.width * c.channels, 1)),
        weight(randomFloats(c.outputs * (c.channels / c.groups) * c.kernel * c.kernel, 2)),
        bias(randomFloats(c.outputs, 3)), residual(randomFloats(c.resultSize(), 4)) {}
};

/// One element of the result: taps in row-major order, then channels ascending, one fused multiply-add each.
float element(const Conv &c, const Data &data, bool fma, int64_t n, int64_t y, int64_t x, int64_t m) {
  int64_t perGroup = c.channels / c.groups, group = m / (c.outputs / c.groups);
  float sum = 0;
  for (int64_t kh = 0; kh < c.kernel; ++kh)
    for (int64_t kw = 0; kw < c.kernel; ++kw) {
      int64_t h = y * c.stride - c.pad + kh * c.dilation, w = x * c.stride - c.pad + kw * c.dilation;
      if (h < 0 || h >= c.height || w < 0 || w >= c.width)
        continue;
      for (int64_t k = 0; k < perGroup; ++k) {
        float a = data.input[((n * c.height + h) * c.width + w) * c.channels + group * perGroup + k];
        float b = data.weight[((m * perGroup + k) * c.kernel + kh) * c.kernel + kw];
        sum = fma ? std::fma(a, b, sum) : sum + a * b;
      }
    }
  return c.bias ? sum + data.bias[m] : sum;
}

std::vector<float> expected(const Conv &c, const Data &data, bool fma) {
  std::vector<float> result;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t y = 0; y < c.outputHeight(); ++y)
      for (int64_t x = 0; x < c.outputWidth(); ++x)
        for (int64_t m = 0; m < c.outputs; ++m) {
          float value = element(c, data, fma, n, y, x, m);
          result.push_back(c.residual ? std::max(value + data.residual[result.size()], 0.0f) : value);
        }
  return result;
}

void check(const Conv &c, mlir::MLIRContext &context, const CpuLevel &level) {
  SCOPED_TRACE(testing::Message() << level.name.str() << " " << textOf(c));
  mlir::OwningOpRef<mlir::ModuleOp> module = parseDispatches(textOf(c), context);
  ASSERT_TRUE(module);
  CompiledKernels kernels(*module, level);
  ASSERT_TRUE(kernels.good());
  Data data(c);
  std::vector<float> weight = packed(c.encoding(), data.weight, c.weightDims()), wanted = expected(c, data, level.fma);
  for (int64_t calls : {1, 3}) {
    std::vector<float> result(wanted.size() + 1, 7.0f);
    std::vector<void *> pointers = {data.input.data(), weight.data()};
    if (c.bias)
      pointers.push_back(data.bias.data());
    if (c.residual)
      pointers.push_back(data.residual.data());
    pointers.push_back(result.data());
    std::vector<int64_t> scalars;
    if (c.dynamicSizes)
      scalars = {c.batch, c.height, c.width, c.outputHeight(), c.outputWidth()};
    EXPECT_EQ(kernels.run("k", pointers, scalars, calls).status, LLMC_KERNEL_OK);
    EXPECT_EQ(result.back(), 7.0f) << "wrote past the end";
    result.pop_back();
    ASSERT_EQ(result, wanted);
  }
}

class ConvKernel : public testing::TestWithParam<const CpuLevel *> {
protected:
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  void run(const Conv &c) { check(c, *context, *GetParam()); }
};

TEST_P(ConvKernel, EveryWindow) {
  for (int64_t kernel : {1, 2, 3, 5})
    for (int64_t stride : {1, 2})
      for (int64_t pad : {0, 1, 2})
        for (int64_t dilation : {1, 2}) {
          Conv c{.batch = 2, .height = 9, .width = 10, .channels = 4, .outputs = 10};
          c.kernel = kernel;
          c.stride = stride;
          c.pad = pad;
          c.dilation = dilation;
          run(c);
        }
}

TEST_P(ConvKernel, SizesKnownAtRunTime) {
  for (int64_t kernel : {1, 3})
    for (int64_t pad : {0, 1})
      run({.batch = 2,
           .height = 7,
           .width = 5,
           .channels = 9,
           .outputs = 33,
           .kernel = kernel,
           .pad = pad,
           .dynamicSizes = true});
}

TEST_P(ConvKernel, ResidualInRegisters) {
  for (bool dynamicSizes : {false, true})
    run({.channels = 5, .outputs = 40, .pad = 1, .dynamicSizes = dynamicSizes, .residual = true});
  run({.channels = 5, .outputs = 40, .kernel = 1, .bias = false, .residual = true});
}

TEST_P(ConvKernel, Groups) {
  for (int64_t kernel : {1, 3})
    run({.batch = 2, .channels = 6, .outputs = 9, .kernel = kernel, .pad = kernel / 2, .groups = 3, .residual = true});
}

TEST_P(ConvKernel, Depthwise) {
  for (int64_t kernel : {1, 3, 5})
    for (int64_t stride : {1, 2})
      for (int64_t dilation : {1, 2})
        for (int64_t width : {1, 4, 9, 22})
          run({.batch = 2,
               .height = 7,
               .width = width,
               .channels = 21,
               .outputs = 21,
               .kernel = kernel,
               .stride = stride,
               .pad = kernel / 2 * dilation,
               .dilation = dilation,
               .groups = 21,
               .residual = true});
}

TEST_P(ConvKernel, DepthwiseOfSizesKnownAtRunTime) {
  for (int64_t width : {2, 9, 30})
    run({.batch = 2,
         .height = 7,
         .width = width,
         .channels = 33,
         .outputs = 33,
         .pad = 1,
         .groups = 33,
         .dynamicSizes = true});
  run({.channels = 9, .outputs = 9, .pad = 1, .groups = 9, .packed = false});
}

TEST_P(ConvKernel, WeightsOfTheRun) {
  run({.channels = 5, .outputs = 35, .pad = 1, .packed = false});
  run({.channels = 6, .outputs = 70, .pad = 1, .groups = 2, .packed = false});
  run({.height = 6, .width = 7, .channels = 3, .outputs = 35, .packed = false}); // taps side by side in the input alone
}

/// Fewer outputs than a vector has lanes.
TEST_P(ConvKernel, FewOutputs) {
  for (int64_t outputs : {1, 7})
    for (int64_t pad : {0, 1})
      for (int64_t stride : {1, 2})
        run({.batch = 2, .height = 9, .width = 24, .channels = 3, .outputs = outputs, .kernel = 3, .stride = stride, .pad = pad,
             .dynamicSizes = stride == 1});
}

TEST_P(ConvKernel, ManyWorkItems) {
  run({.batch = 2, .height = 40, .width = 33, .channels = 16, .outputs = 48, .pad = 1, .residual = true});
}

INSTANTIATE_TEST_SUITE_P(Levels, ConvKernel, testing::ValuesIn(runnableLevels()), [](const auto &info) {
  std::string name = info.param->name.str();
  for (char &c : name)
    if (!isalnum(c))
      c = '_';
  return name;
});

} // namespace
