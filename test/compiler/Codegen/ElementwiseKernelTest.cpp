// Element-wise kernels against plain loops: sizes around the vector width, broadcasts, transposes, element types.
#include "llvm/Support/FormatVariadic.h"
#include "test/compiler/Codegen/KernelHarness.h"
#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlir;

namespace llmc::test {
namespace {

const int64_t kSizes[] = {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 257, 5000};

std::vector<float> ramp(int64_t size, float scale = 0.25f) {
  std::vector<float> values(size);
  for (int64_t i = 0; i < size; ++i)
    values[i] = scale * static_cast<float>((i * 37) % 101 - 50);
  return values;
}

class ElementwiseKernelTest : public KernelTest {};

constexpr char kAddDynamic[] = R"(
  #id = affine_map<(d0) -> (d0)>
  func.func private @add(%a: tensor<?xf32> {graph.sizes = array<i64: -1>}, %b: tensor<?xf32> {graph.sizes = array<i64: -1>},
                         %n: index) -> (tensor<?xf32> {graph.sizes = array<i64: -1>}) attributes {graph.dispatch} {
    %init = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%init : tensor<?xf32>) {
      ^bb0(%x: f32, %y: f32, %o: f32):
        %s = arith.addf %x, %y : f32
        linalg.yield %s : f32
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  })";

TEST_F(ElementwiseKernelTest, AddsAnyNumberOfElementsAndWritesNoOther) {
  for (auto &kernels : compile(kAddDynamic))
    for (int64_t size : kSizes)
      for (int64_t calls : {1, 3}) {
        std::vector<float> a = ramp(size), b = ramp(size, 3.0f), y(size + 1, -1.0f);
        EXPECT_EQ(kernels->run("add", {a.data(), b.data(), y.data()}, {size}, calls).status, LLMC_KERNEL_OK);
        for (int64_t i = 0; i < size; ++i)
          ASSERT_EQ(y[i], a[i] + b[i]) << kernels->image().level << ", element " << i << " of " << size;
        EXPECT_EQ(y[size], -1.0f);
      }
}

/// The same sum over static sizes.
std::string addStatic(int64_t rows, int64_t columns) {
  return llvm::formatv(R"(
  func.func private @add(%a: tensor<{0}x{1}xf32>, %b: tensor<{1}xf32>, %c: tensor<{0}x1xf32>) -> tensor<{0}x{1}xf32>
      attributes {{graph.dispatch} {{
    %init = tensor.empty() : tensor<{0}x{1}xf32>
    %r = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, 0)>,
        affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b, %c : tensor<{0}x{1}xf32>, tensor<{1}xf32>, tensor<{0}x1xf32>) outs(%init : tensor<{0}x{1}xf32>) {{
      ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
        %s = arith.addf %x, %y : f32
        %t = arith.mulf %s, %z : f32
        linalg.yield %t : f32
    } -> tensor<{0}x{1}xf32>
    return %r : tensor<{0}x{1}xf32>
  })", rows, columns);
}

TEST_F(ElementwiseKernelTest, BroadcastsRowsAndColumns) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {3, 1}, {1, 9}, {5, 7}, {4, 16}, {33, 257}, {2, 5000}})
    for (auto &kernels : compile(addStatic(rows, columns))) {
      std::vector<float> a = ramp(rows * columns), b = ramp(columns, 2.0f), c = ramp(rows, 0.5f), y(rows * columns);
      for (int64_t calls : {1, 2}) {
        std::fill(y.begin(), y.end(), -1.0f);
        kernels->run("add", {a.data(), b.data(), c.data(), y.data()}, {}, calls);
        for (int64_t i = 0; i < rows * columns; ++i)
          ASSERT_EQ(y[i], (a[i] + b[i % columns]) * c[i / columns]) << rows << "x" << columns << " at " << i;
      }
    }
}

TEST_F(ElementwiseKernelTest, TransposesByStridedReads) {
  for (auto &kernels : compile(R"(
    func.func private @transpose(%a: tensor<?x?x5xf32> {graph.sizes = array<i64: -1, -2, 5>}, %m: index, %n: index)
        -> (tensor<5x?x?xf32> {graph.sizes = array<i64: 5, -2, -1>}) attributes {graph.dispatch} {
      %init = tensor.empty(%n, %m) : tensor<5x?x?xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(k, n, m) -> (m, n, k)>, affine_map<(k, n, m) -> (k, n, m)>],
          iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%a : tensor<?x?x5xf32>) outs(%init : tensor<5x?x?xf32>) {
        ^bb0(%x: f32, %o: f32):
          linalg.yield %x : f32
      } -> tensor<5x?x?xf32>
      return %r : tensor<5x?x?xf32>
    })"))
    for (int64_t m : {1, 4, 9, 33})
      for (int64_t n : {1, 6, 17}) {
        std::vector<float> a = ramp(m * n * 5), y(m * n * 5 + 1, -1.0f);
        kernels->run("transpose", {a.data(), y.data()}, {m, n}, 2);
        for (int64_t k = 0; k < 5; ++k)
          for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < m; ++i)
              ASSERT_EQ(y[(k * n + j) * m + i], a[(i * n + j) * 5 + k]);
        EXPECT_EQ(y.back(), -1.0f);
      }
}

TEST_F(ElementwiseKernelTest, ComparesAndSelectsThroughBytes) {
  for (auto &kernels : compile(R"(
    #id = affine_map<(d0) -> (d0)>
    func.func private @less(%a: tensor<?xf32> {graph.sizes = array<i64: -1>}, %b: tensor<?xi64> {graph.sizes = array<i64: -1>},
                            %n: index) -> (tensor<?xi1> {graph.sizes = array<i64: -1>}) attributes {graph.dispatch} {
      %init = tensor.empty(%n) : tensor<?xi1>
      %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%a, %b : tensor<?xf32>, tensor<?xi64>) outs(%init : tensor<?xi1>) {
        ^bb0(%x: f32, %y: i64, %o: i1):
          %f = arith.sitofp %y : i64 to f32
          %s = arith.cmpf olt, %x, %f : f32
          linalg.yield %s : i1
      } -> tensor<?xi1>
      return %r : tensor<?xi1>
    }
    func.func private @select(%c: tensor<?xi1> {graph.sizes = array<i64: -1>}, %a: tensor<?xf64> {graph.sizes = array<i64: -1>},
                              %n: index) -> (tensor<?xf64> {graph.sizes = array<i64: -1>}) attributes {graph.dispatch} {
      %init = tensor.empty(%n) : tensor<?xf64>
      %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
          ins(%c, %a : tensor<?xi1>, tensor<?xf64>) outs(%init : tensor<?xf64>) {
        ^bb0(%x: i1, %y: f64, %o: f64):
          %i = linalg.index 0 : index
          %j = arith.index_cast %i : index to i32
          %f = arith.sitofp %j : i32 to f64
          %s = arith.select %x, %y, %f : f64
          linalg.yield %s : f64
      } -> tensor<?xf64>
      return %r : tensor<?xf64>
    })"))
    for (int64_t size : kSizes) {
      std::vector<float> a = ramp(size);
      std::vector<int64_t> b(size);
      for (int64_t i = 0; i < size; ++i)
        b[i] = i % 5 - 2;
      std::vector<uint8_t> less(size + 1, 7);
      kernels->run("less", {a.data(), b.data(), less.data()}, {size});
      std::vector<double> values(size, 0.5), y(size + 1, -1.0);
      kernels->run("select", {less.data(), values.data(), y.data()}, {size});
      for (int64_t i = 0; i < size; ++i) {
        ASSERT_EQ(less[i], a[i] < static_cast<float>(b[i]) ? 1 : 0);
        ASSERT_EQ(y[i], less[i] ? 0.5 : static_cast<double>(i));
      }
      EXPECT_EQ(less[size], 7);
      EXPECT_EQ(y[size], -1.0);
    }
}

TEST_F(ElementwiseKernelTest, FusesProducersOfFewerDims) {
  // scale[n] = w[n] * w[n] is computed once per vector, not stored; then (x + scale) through a reshape of the result.
  for (auto &kernels : compile(R"(
    func.func private @scaled(%a: tensor<6x20xf32>, %w: tensor<20xf32>) -> tensor<120xf32> attributes {graph.dispatch} {
      %e = tensor.empty() : tensor<20xf32>
      %w2 = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
          ins(%w : tensor<20xf32>) outs(%e : tensor<20xf32>) {
        ^bb0(%x: f32, %o: f32):
          %s = arith.mulf %x, %x : f32
          linalg.yield %s : f32
      } -> tensor<20xf32>
      %init = tensor.empty() : tensor<6x20xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
          iterator_types = ["parallel", "parallel"]} ins(%a, %w2 : tensor<6x20xf32>, tensor<20xf32>) outs(%init : tensor<6x20xf32>) {
        ^bb0(%x: f32, %y: f32, %o: f32):
          %s = arith.addf %x, %y : f32
          linalg.yield %s : f32
      } -> tensor<6x20xf32>
      %flat = tensor.collapse_shape %r [[0, 1]] : tensor<6x20xf32> into tensor<120xf32>
      return %flat : tensor<120xf32>
    })")) {
    std::vector<float> a = ramp(120), w = ramp(20), y(120);
    kernels->run("scaled", {a.data(), w.data(), y.data()}, {});
    for (int64_t i = 0; i < 120; ++i)
      ASSERT_EQ(y[i], a[i] + w[i % 20] * w[i % 20]);
  }
}

TEST_F(ElementwiseKernelTest, ReadsSlicesInPlace) {
  for (auto &kernels : compile(R"(
    func.func private @slice(%a: tensor<?x12xf32> {graph.sizes = array<i64: -1, 12>}, %n: index)
        -> (tensor<?x5xf32> {graph.sizes = array<i64: -1, 5>}) attributes {graph.dispatch} {
      %s = tensor.extract_slice %a[0, 2] [%n, 5] [1, 2] : tensor<?x12xf32> to tensor<?x5xf32>
      %init = tensor.empty(%n) : tensor<?x5xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
          iterator_types = ["parallel", "parallel"]} ins(%s : tensor<?x5xf32>) outs(%init : tensor<?x5xf32>) {
        ^bb0(%x: f32, %o: f32):
          %t = arith.negf %x : f32
          linalg.yield %t : f32
      } -> tensor<?x5xf32>
      return %r : tensor<?x5xf32>
    })")) {
    std::vector<float> a = ramp(7 * 12), y(7 * 5);
    kernels->run("slice", {a.data(), y.data()}, {7});
    for (int64_t i = 0; i < 35; ++i)
      ASSERT_EQ(y[i], -a[i / 5 * 12 + 2 + i % 5 * 2]);
  }
}

/// A unary function of math on f32, with the bound on its error that users are told: relative, or absolute where |value| < 1.
struct Function {
  const char *op;
  double (*exact)(double);
  float low, high;
  double bound;
};

class MathFunctionTest : public ElementwiseKernelTest, public ::testing::WithParamInterface<Function> {};

TEST_P(MathFunctionTest, IsNearTheExactValueAndDoesNotDependOnTheLane) {
  Function function = GetParam();
  std::string text = llvm::formatv(R"(
  #id = affine_map<(d0) -> (d0)>
  func.func private @f(%a: tensor<?xf32> {{graph.sizes = array<i64: -1>}, %n: index)
      -> (tensor<?xf32> {{graph.sizes = array<i64: -1>}) attributes {{graph.dispatch} {{
    %init = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%init : tensor<?xf32>) {{
      ^bb0(%x: f32, %o: f32):
        %s = {0} %x : f32
        linalg.yield %s : f32
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  })", function.op);
  for (auto &kernels : compile(text)) {
    constexpr int64_t size = 4099;
    std::vector<float> x(size), y(size);
    for (int64_t i = 0; i < size; ++i)
      x[i] = function.low + (function.high - function.low) * static_cast<float>(i) / (size - 1);
    ASSERT_EQ(kernels->run("f", {x.data(), y.data()}, {size}).status, LLMC_KERNEL_OK);
    double worst = 0;
    for (int64_t i = 0; i < size; ++i) {
      double exact = function.exact(x[i]);
      worst = std::max(worst, std::abs(y[i] - exact) / std::max(1.0, std::abs(exact)));
    }
    EXPECT_LE(worst, function.bound) << function.op << " at " << kernels->image().level;
    // Each element alone, in lane 0 and in a masked tail.
    for (int64_t i = 0; i < size; i += 97) {
      float alone;
      kernels->run("f", {&x[i], &alone}, {1});
      ASSERT_EQ(std::memcmp(&alone, &y[i], sizeof alone), 0) << function.op << "(" << x[i] << ")";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, MathFunctionTest,
    ::testing::Values(Function{"math.exp", std::exp, -87, 88, 3e-7}, Function{"math.erf", std::erf, -5, 5, 5e-7},
                      Function{"math.tanh", std::tanh, -10, 10, 5e-7}, Function{"math.log", std::log, 1e-6f, 1000, 3e-7},
                      Function{"math.sqrt", std::sqrt, 0, 1000, 1e-7}, Function{"math.sin", std::sin, -30, 30, 2e-6},
                      Function{"math.cos", std::cos, -30, 30, 2e-6}, Function{"math.floor", std::floor, -9, 9, 0},
                      Function{"math.roundeven", [](double x) { return std::nearbyint(x); }, -9, 9, 0},
                      Function{"math.absf", [](double x) { return std::abs(x); }, -9, 9, 0},
                      Function{"math.log1p", std::log1p, -0.9f, 100, 5e-7}, Function{"math.expm1", std::expm1, -10, 10, 5e-7},
                      Function{"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1e-3f, 1000, 3e-7}),
    [](const auto &info) { return std::string(info.param.op).substr(5); });

} // namespace
} // namespace llmc::test
