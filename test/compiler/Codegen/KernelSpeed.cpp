// Speed of the matrix kernels on this machine, beside what its multiply-add units can do. Not a test: run it by hand.
//
// Prints for each shape the median of many runs, in processor time, so that other work on the machine disturbs little.
#include "test/compiler/Codegen/KernelHarness.h"
#include "test/compiler/Codegen/MatrixText.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <ctime>
#include <immintrin.h>

using namespace llmc;
using namespace llmc::test;

namespace {

/// Time that this thread spent on a processor.
double seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

template <typename Body> double timeOf(Body body) {
  double before = seconds();
  body();
  return seconds() - before;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// 256-bit multiply-adds on registers alone; gives how many floating-point operations that are.
double multiplyAdds() {
  constexpr int64_t steps = 10000;
  __m256 sums[12];
  for (__m256 &sum : sums)
    sum = _mm256_setzero_ps();
  __m256 x = _mm256_set1_ps(0.5f);
  for (int64_t i = 0; i < steps; ++i) {
#pragma clang loop unroll(full)
    for (int s = 0; s < 12; ++s) {
      sums[s] = _mm256_fmadd_ps(x, x, sums[s]);
      asm volatile("" : "+x"(sums[s]));
    }
  }
  return steps * 12 * 16;
}

void report(const std::string &name, const std::string &text, std::vector<std::vector<float>> tensors, double flops,
            mlir::MLIRContext &context, const CpuLevel &level) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parseDispatches(text, context);
  double start = seconds();
  CompiledKernels kernels(*module, level);
  double compileTime = seconds() - start;
  if (!kernels.good())
    return;
  std::vector<void *> pointers;
  for (std::vector<float> &tensor : tensors)
    pointers.push_back(tensor.data());
  // The peak is measured in between, for the processor's speed changes with what else runs on it.
  std::vector<double> times, peakTimes;
  double peakFlops = 0;
  for (double begin = seconds(); seconds() - begin < 0.4;) {
    peakTimes.push_back(timeOf([&] { peakFlops = multiplyAdds(); }));
    times.push_back(timeOf([&] { kernels.run("k", pointers, {}); }));
  }
  double time = median(times), speed = flops / time * 1e-9, peak = peakFlops / median(peakTimes) * 1e-9;
  llvm::outs() << llvm::formatv(
      "{0,-36} {1,9:f1} us {2,7:f1} GFLOP/s {3,4:f0} % of {4,5:f1}   grid {5,4}  compiled in {6:f0} ms\n", name,
      time * 1e6, speed, 100 * speed / peak, peak, kernels.grid("k", {}), compileTime * 1e3);
}

void measure(const std::string &name, const MatMul &c, mlir::MLIRContext &context, const CpuLevel &level) {
  int64_t matrices = c.batchedRight ? c.batch : 1;
  std::vector<std::vector<float>> tensors = {
      randomFloats(c.batch * c.rows * c.depth, 1),
      packed(c.encoding, randomFloats(matrices * c.depth * c.columns, 2), rightDims(c))};
  if (c.epilogue) {
    tensors.push_back(randomFloats(c.columns, 3));
    tensors.push_back(randomFloats(c.batch * c.rows * c.columns, 4));
  }
  tensors.push_back(std::vector<float>(c.batch * c.rows * c.columns));
  report(name, textOf(c), std::move(tensors), 2.0 * c.batch * c.rows * c.depth * c.columns, context, level);
}

void measure(const std::string &name, const Conv &c, mlir::MLIRContext &context, const CpuLevel &level) {
  int64_t perGroup = c.channels / c.groups;
  std::vector<std::vector<float>> tensors = {
      randomFloats(c.batch * c.height * c.width * c.channels, 1),
      packed(c.encoding(), randomFloats(c.outputs * perGroup * c.kernel * c.kernel, 2), c.weightDims()),
      randomFloats(c.outputs, 3), std::vector<float>(c.resultSize())};
  report(name, textOf(c), std::move(tensors), 2.0 * c.resultSize() * perGroup * c.kernel * c.kernel, context, level);
}

/// A square map of `size` with "same" padding.
Conv square(int64_t size, int64_t channels, int64_t outputs, int64_t kernel, int64_t stride = 1, int64_t groups = 1) {
  return {.height = size,
          .width = size,
          .channels = channels,
          .outputs = outputs,
          .kernel = kernel,
          .stride = stride,
          .pad = kernel / 2,
          .groups = groups};
}

} // namespace

int main() {
  auto context = createContext();
  const CpuLevel &level = *runnableLevels().back();
  llvm::outs() << "level " << level.name << "\n";
  std::pair<const char *, MatMul> products[] = {
      {"BERT dense 128x768x3072", {.rows = 128, .depth = 768, .columns = 3072, .encoding = "p32"}},
      {"BERT dense + epilogue", {.rows = 128, .depth = 768, .columns = 3072, .encoding = "p32", .epilogue = true}},
      {"BERT dense 128x3072x768", {.rows = 128, .depth = 3072, .columns = 768, .encoding = "p32"}},
      {"MiniLM dense 32x384x1536", {.rows = 32, .depth = 384, .columns = 1536, .encoding = "p32"}},
      {"one row 1x1280x1000", {.rows = 1, .depth = 1280, .columns = 1000, .encoding = "p32"}},
      {"attention scores 12x128x64x128",
       {.batch = 12, .rows = 128, .depth = 64, .columns = 128, .transposed = true, .batchedRight = true}},
      {"attention values 12x128x128x64", {.batch = 12, .rows = 128, .depth = 128, .columns = 64, .batchedRight = true}},
  };
  for (auto &[name, c] : products)
    measure(name, c, *context, level);
  std::pair<const char *, Conv> convs[] = {
      {"conv 3x3 56x56 64->64", square(56, 64, 64, 3)},
      {"conv 3x3 28x28 128->128", square(28, 128, 128, 3)},
      {"conv 3x3 14x14 256->256", square(14, 256, 256, 3)},
      {"conv 3x3 7x7 512->512", square(7, 512, 512, 3)},
      {"conv 3x3/2 56x56 128->128", square(56, 128, 128, 3, 2)},
      {"conv 1x1 56x56 64->256", square(56, 64, 256, 1)},
      {"conv 1x1 56x56 256->64", square(56, 256, 64, 1)},
      {"conv 1x1 14x14 1024->256", square(14, 1024, 256, 1)},
      {"conv 1x1 7x7 320->1280", square(7, 320, 1280, 1)},
      {"conv 1x1/2 56x56 256->512", square(56, 256, 512, 1, 2)},
      {"conv 1x1 112x112 32->16", square(112, 32, 16, 1)},
      {"conv 1x1 112x112 16->96", square(112, 16, 96, 1)},
      {"stem 3x3/2 224x224 3->32", square(224, 3, 32, 3, 2)},
      {"stem 7x7/2 224x224 3->64", square(224, 3, 64, 7, 2)},
      {"depthwise 3x3 112x112x32", square(112, 32, 32, 3, 1, 32)},
      {"depthwise 3x3/2 112x112x96", square(112, 96, 96, 3, 2, 96)},
      {"depthwise 3x3 14x14x576", square(14, 576, 576, 3, 1, 576)},
      {"depthwise 5x5 14x14x672", square(14, 672, 672, 5, 1, 672)},
      {"depthwise 3x3 7x7x960", square(7, 960, 960, 3, 1, 960)},
  };
  for (auto &[name, c] : convs)
    measure(name, c, *context, level);
}
