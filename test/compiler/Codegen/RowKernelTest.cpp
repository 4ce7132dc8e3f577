// Row kernels against plain loops in double: softmax, layer norm, means over trailing, middle and all dims.
#include "llvm/Support/FormatVariadic.h"
#include "test/compiler/Codegen/KernelHarness.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace llmc::test {
namespace {

const int64_t kSizes[] = {1, 3, 7, 8, 9, 31, 32, 33, 257, 1000};

class RowKernelTest : public KernelTest {};

constexpr char kSoftmax[] = R"(
  #whole = affine_map<(b, m, n) -> (b, m, n)>
  #row = affine_map<(b, m, n) -> (b, m)>
  func.func private @softmax(%x: tensor<?x?x{0}xf32> {graph.sizes = array<i64: -1, -2, {1}>}, %b: index, %m: index, %n: index)
      -> (tensor<?x?x{0}xf32> {graph.sizes = array<i64: -1, -2, {1}>}) attributes {graph.dispatch} {
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %rows = tensor.empty(%b, %m) : tensor<?x?xf32>
    %all = tensor.empty(%b, %m{2}) : tensor<?x?x{0}xf32>
    %max0 = linalg.fill ins(%low : f32) outs(%rows : tensor<?x?xf32>) -> tensor<?x?xf32>
    %max = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x : tensor<?x?x{0}xf32>) outs(%max0 : tensor<?x?xf32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.maximumf %o, %a : f32
        linalg.yield %r : f32
    } -> tensor<?x?xf32>
    %e = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x, %max : tensor<?x?x{0}xf32>, tensor<?x?xf32>) outs(%all : tensor<?x?x{0}xf32>) {
      ^bb0(%a: f32, %c: f32, %o: f32):
        %d = arith.subf %a, %c : f32
        %r = math.exp %d : f32
        linalg.yield %r : f32
    } -> tensor<?x?x{0}xf32>
    %sum0 = linalg.fill ins(%zero : f32) outs(%rows : tensor<?x?xf32>) -> tensor<?x?xf32>
    %sum = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%e : tensor<?x?x{0}xf32>) outs(%sum0 : tensor<?x?xf32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.addf %o, %a : f32
        linalg.yield %r : f32
    } -> tensor<?x?xf32>
    %y = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%e, %sum : tensor<?x?x{0}xf32>, tensor<?x?xf32>) outs(%all : tensor<?x?x{0}xf32>) {
      ^bb0(%a: f32, %c: f32, %o: f32):
        %r = arith.divf %a, %c : f32
        linalg.yield %r : f32
    } -> tensor<?x?x{0}xf32>
    return %y : tensor<?x?x{0}xf32>
  })";

/// The text with row size `n`, or dynamic if -1.
std::string softmaxText(int64_t n) {
  std::string text = kSoftmax;
  auto replace = [&](StringRef from, const std::string &to) {
    for (size_t at = text.find(from.str()); at != std::string::npos; at = text.find(from.str(), at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace("{0}", n < 0 ? "?" : std::to_string(n));
  replace("{1}", std::to_string(n < 0 ? -3 : n));
  replace("{2}", n < 0 ? ", %n" : "");
  return text;
}

TEST_F(RowKernelTest, SoftmaxOfAnyRowSizeIsTheSameStaticAndDynamic) {
  auto dynamic = compile(softmaxText(-1));
  for (int64_t n : kSizes) {
    std::vector<float> x(6 * n), y(6 * n + 1, -1.0f);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>((i * 71) % 97) * 0.1f - 4.0f;
    for (auto &kernels : dynamic) {
      ASSERT_EQ(kernels->run("softmax", {x.data(), y.data()}, {2, 3, n}, 2).status, LLMC_KERNEL_OK);
      for (int64_t row = 0; row < 6; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < n; ++i)
          sum += std::exp(static_cast<double>(x[row * n + i]));
        for (int64_t i = 0; i < n; ++i)
          ASSERT_NEAR(y[row * n + i], std::exp(static_cast<double>(x[row * n + i])) / sum, 1e-6) << n;
      }
      EXPECT_EQ(y.back(), -1.0f);
    }
    auto fixed = compile(softmaxText(n));
    for (auto [kernels, other] : llvm::zip_equal(fixed, dynamic)) {
      std::vector<float> z(6 * n), w(6 * n);
      kernels->run("softmax", {x.data(), z.data()}, {2, 3, n}, 3);
      other->run("softmax", {x.data(), w.data()}, {2, 3, n});
      EXPECT_EQ(std::memcmp(z.data(), w.data(), 4 * z.size()), 0) << kernels->image().level << ", rows of " << n;
    }
  }
}

TEST_F(RowKernelTest, LayerNormReadsRowsAndWritesTheResidualToo) {
  for (int64_t n : {1, 5, 8, 40, 384})
    for (auto &kernels : compile(llvm::formatv(R"(
      #whole = affine_map<(m, n) -> (m, n)>
      #row = affine_map<(m, n) -> (m)>
      #column = affine_map<(m, n) -> (n)>
      func.func private @norm(%x: tensor<?x{0}xf32> {{graph.sizes = array<i64: -1, {0}>}, %r: tensor<?x{0}xf32> {{graph.sizes = array<i64: -1, {0}>},
            %g: tensor<{0}xf32>, %m: index) -> (tensor<?x{0}xf32> {{graph.sizes = array<i64: -1, {0}>}, tensor<?x{0}xf32> {{graph.sizes = array<i64: -1, {0}>})
          attributes {{graph.dispatch} {{
        %zero = arith.constant 0.0 : f32
        %count = arith.constant {0}.0 : f32
        %rows = tensor.empty(%m) : tensor<?xf32>
        %all = tensor.empty(%m) : tensor<?x{0}xf32>
        %init = linalg.fill ins(%zero : f32) outs(%rows : tensor<?xf32>) -> tensor<?xf32>
        %s = linalg.generic {{indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]}
            ins(%x, %r : tensor<?x{0}xf32>, tensor<?x{0}xf32>) outs(%all : tensor<?x{0}xf32>) {{
          ^bb0(%a: f32, %b: f32, %o: f32):
            %t = arith.addf %a, %b : f32
            linalg.yield %t : f32
        } -> tensor<?x{0}xf32>
        %sum = linalg.generic {{indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
            ins(%s : tensor<?x{0}xf32>) outs(%init : tensor<?xf32>) {{
          ^bb0(%a: f32, %o: f32):
            %t = arith.addf %o, %a : f32
            linalg.yield %t : f32
        } -> tensor<?xf32>
        %centred = linalg.generic {{indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
            ins(%s, %sum : tensor<?x{0}xf32>, tensor<?xf32>) outs(%all : tensor<?x{0}xf32>) {{
          ^bb0(%a: f32, %b: f32, %o: f32):
            %mean = arith.divf %b, %count : f32
            %t = arith.subf %a, %mean : f32
            linalg.yield %t : f32
        } -> tensor<?x{0}xf32>
        %squares = linalg.generic {{indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
            ins(%centred : tensor<?x{0}xf32>) outs(%init : tensor<?xf32>) {{
          ^bb0(%a: f32, %o: f32):
            %t = arith.mulf %a, %a : f32
            %u = arith.addf %o, %t : f32
            linalg.yield %u : f32
        } -> tensor<?xf32>
        %y = linalg.generic {{indexing_maps = [#whole, #row, #column, #whole], iterator_types = ["parallel", "parallel"]}
            ins(%centred, %squares, %g : tensor<?x{0}xf32>, tensor<?xf32>, tensor<{0}xf32>) outs(%all : tensor<?x{0}xf32>) {{
          ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
            %eps = arith.constant 1.0e-5 : f32
            %variance = arith.divf %b, %count : f32
            %shifted = arith.addf %variance, %eps : f32
            %deviation = math.sqrt %shifted : f32
            %t = arith.divf %a, %deviation : f32
            %u = arith.mulf %t, %c : f32
            linalg.yield %u : f32
        } -> tensor<?x{0}xf32>
        return %s, %y : tensor<?x{0}xf32>, tensor<?x{0}xf32>
      })", n).str())) {
      constexpr int64_t rows = 37;
      std::vector<float> x(rows * n), r(rows * n), g(n), s(rows * n), y(rows * n);
      for (int64_t i = 0; i < rows * n; ++i)
        x[i] = static_cast<float>((i * 71) % 97) * 0.1f - 4.0f, r[i] = static_cast<float>(i % 13);
      for (int64_t i = 0; i < n; ++i)
        g[i] = 1.0f + 0.01f * static_cast<float>(i);
      kernels->run("norm", {x.data(), r.data(), g.data(), s.data(), y.data()}, {rows}, 2);
      for (int64_t row = 0; row < rows; ++row) {
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < n; ++i) {
          ASSERT_EQ(s[row * n + i], x[row * n + i] + r[row * n + i]);
          mean += s[row * n + i] / static_cast<double>(n);
        }
        for (int64_t i = 0; i < n; ++i)
          variance += std::pow(s[row * n + i] - mean, 2) / n;
        for (int64_t i = 0; i < n; ++i)
          ASSERT_NEAR(y[row * n + i], (s[row * n + i] - mean) / std::sqrt(variance + 1e-5) * g[i], 2e-5) << n;
      }
    }
}

/// Mean of [2, h, w, c] over the middle dims, divided in an op behind.
std::string poolText(int64_t h, int64_t w, int64_t c) {
  return llvm::formatv(R"(
    func.func private @pool(%x: tensor<?x{0}x{1}x{2}xf32> {{graph.sizes = array<i64: -1, {0}, {1}, {2}>}, %n: index)
        -> (tensor<?x{2}xf32> {{graph.sizes = array<i64: -1, {2}>}) attributes {{graph.dispatch} {{
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty(%n) : tensor<?x{2}xf32>
      %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x{2}xf32>) -> tensor<?x{2}xf32>
      %sum = linalg.generic {{indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, c)>],
          iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
          ins(%x : tensor<?x{0}x{1}x{2}xf32>) outs(%init : tensor<?x{2}xf32>) {{
        ^bb0(%a: f32, %o: f32):
          %t = arith.addf %o, %a : f32
          linalg.yield %t : f32
      } -> tensor<?x{2}xf32>
      %y = linalg.generic {{indexing_maps = [affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (n, c)>], iterator_types = ["parallel", "parallel"]}
          ins(%sum : tensor<?x{2}xf32>) outs(%empty : tensor<?x{2}xf32>) {{
        ^bb0(%a: f32, %o: f32):
          %count = arith.constant {3}.0 : f32
          %t = arith.divf %a, %count : f32
          linalg.yield %t : f32
      } -> tensor<?x{2}xf32>
      return %y : tensor<?x{2}xf32>
    })", h, w, c, h * w);
}

TEST_F(RowKernelTest, PoolsChannelsLast) {
  for (auto [h, w, c] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1}, {2, 3, 5}, {7, 7, 64}, {3, 3, 33}})
    for (auto &kernels : compile(poolText(h, w, c))) {
      std::vector<float> x(3 * h * w * c), y(3 * c + 1, -1.0f);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>((i * 71) % 97) * 0.1f - 4.0f;
      kernels->run("pool", {x.data(), y.data()}, {3}, 2);
      for (int64_t n = 0; n < 3; ++n)
        for (int64_t j = 0; j < c; ++j) {
          double sum = 0;
          for (int64_t i = 0; i < h * w; ++i)
            sum += x[(n * h * w + i) * c + j];
          ASSERT_NEAR(y[n * c + j], sum / static_cast<double>(h * w), 1e-5);
        }
      EXPECT_EQ(y.back(), -1.0f);
    }
}

} // namespace
} // namespace llmc::test
