// Kernels whose result lies on an argument: the same bits as with bytes of its own, at all tails; and which kernels allow it.
#include "compiler/Codegen/Cpu/InPlace.h"
#include "test/compiler/Codegen/KernelHarness.h"
#include "test/compiler/Codegen/MatrixText.h"
#include <cstring>

using namespace mlir;

namespace llmc::test {
namespace {

using Arguments = std::vector<std::vector<float>>;

/// z = x * gain + y, gain along columns, with x read through the given map.
std::string scaleAddText(const char *mapOfX = "(m, n) -> (m, n)") {
  return std::string(R"(
  func.func private @k(%x: tensor<?x?xf32> {graph.sizes = array<i64: -1, -2>}, %y: tensor<?x?xf32> {graph.sizes = array<i64: -1, -2>},
                       %gain: tensor<?xf32> {graph.sizes = array<i64: -2>}, %rows: index, %columns: index)
      -> (tensor<?x?xf32> {graph.sizes = array<i64: -1, -2>}) attributes {graph.dispatch} {
    %init = tensor.empty(%rows, %columns) : tensor<?x?xf32>
    %p = linalg.generic {indexing_maps = [affine_map<)") +
         mapOfX + R"(>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%x, %gain : tensor<?x?xf32>, tensor<?xf32>) outs(%init : tensor<?x?xf32>) {
      ^bb0(%a: f32, %g: f32, %o: f32):
        %r = arith.mulf %a, %g : f32
        linalg.yield %r : f32
    } -> tensor<?x?xf32>
    %z = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%p, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %r = arith.addf %a, %b : f32
        linalg.yield %r : f32
    } -> tensor<?x?xf32>
    return %z : tensor<?x?xf32>
  })";
}

/// y = exp(x - max of the row) + x; `alongRow`: else of the column.
std::string softRowText(bool alongRow) {
  std::string row = alongRow ? "(m)" : "(n)";
  std::string iterators = alongRow ? R"(["parallel", "reduction"])" : R"(["reduction", "parallel"])";
  std::string size = alongRow ? "%rows" : "%columns";
  return R"(
  #whole = affine_map<(m, n) -> (m, n)>
  #row = affine_map<(m, n) -> )" +
         row + R"(>
  func.func private @k(%x: tensor<?x?xf32> {graph.sizes = array<i64: -1, -2>}, %rows: index, %columns: index)
      -> (tensor<?x?xf32> {graph.sizes = array<i64: -1, -2>}) attributes {graph.dispatch} {
    %low = arith.constant 0xFF800000 : f32
    %one = tensor.empty()" +
         size + R"() : tensor<?xf32>
    %all = tensor.empty(%rows, %columns) : tensor<?x?xf32>
    %max0 = linalg.fill ins(%low : f32) outs(%one : tensor<?xf32>) -> tensor<?xf32>
    %max = linalg.generic {indexing_maps = [#whole, #row], iterator_types = )" +
         iterators + R"(} ins(%x : tensor<?x?xf32>) outs(%max0 : tensor<?xf32>) {
      ^bb0(%a: f32, %o: f32):
        %r = arith.maximumf %o, %a : f32
        linalg.yield %r : f32
    } -> tensor<?xf32>
    %y = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
        ins(%x, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%all : tensor<?x?xf32>) {
      ^bb0(%a: f32, %c: f32, %o: f32):
        %d = arith.subf %a, %c : f32
        %e = math.exp %d : f32
        %r = arith.addf %e, %a : f32
        linalg.yield %r : f32
    } -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  })";
}

class InPlaceKernelTest : public KernelTest {
protected:
  /// The arguments that the result of `text` may replace.
  std::vector<int64_t> replaceable(const std::string &text) {
    OwningOpRef<ModuleOp> module = parseDispatches(text, *context);
    cpu::markInPlace(*module);
    auto function = *module->getOps<func::FuncOp>().begin();
    auto arguments = function.getResultAttrOfType<DenseI64ArrayAttr>(0, "graph.may_replace");
    return arguments ? std::vector<int64_t>(arguments.asArrayRef()) : std::vector<int64_t>();
  }

  /// Runs with the result over argument `replaced`, in one call and in several.
  void check(const CompiledKernels &kernels, const Arguments &arguments, ArrayRef<int64_t> scalars, size_t replaced) {
    std::vector<float> wanted(arguments[replaced].size());
    auto run = [&](Arguments &inputs, std::vector<float> &result, int64_t calls) {
      std::vector<void *> pointers;
      for (std::vector<float> &input : inputs)
        pointers.push_back(input.data());
      pointers.push_back(result.data());
      EXPECT_EQ(kernels.run("k", pointers, scalars, calls).status, LLMC_KERNEL_OK);
    };
    Arguments inputs = arguments;
    run(inputs, wanted, 1);
    for (int64_t calls : {1, 3}) {
      inputs = arguments;
      run(inputs, inputs[replaced], calls);
      EXPECT_EQ(std::memcmp(inputs[replaced].data(), wanted.data(), 4 * wanted.size()), 0)
          << kernels.image().level << " argument " << replaced << " calls " << calls;
    }
  }
};

TEST_F(InPlaceKernelTest, ElementsAtAllTails) {
  EXPECT_EQ(replaceable(scaleAddText()), (std::vector<int64_t>{0, 1})) << "but not what is broadcast";
  for (auto &kernels : compile(scaleAddText()))
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>(1, 1), {3, 7}, {5, 16}, {2, 33}, {7, 5000}})
      for (size_t replaced : {0, 1})
        check(*kernels, {randomFloats(rows * columns, 1), randomFloats(rows * columns, 2), randomFloats(columns, 3)}, {rows, columns},
              replaced);
}

TEST_F(InPlaceKernelTest, WhatIsTransposedIsNotReplaced) {
  EXPECT_EQ(replaceable(scaleAddText("(m, n) -> (n, m)")), std::vector<int64_t>{1});
}

TEST_F(InPlaceKernelTest, RowsAlongAndAcross) {
  for (bool alongRow : {true, false}) {
    EXPECT_EQ(replaceable(softRowText(alongRow)), std::vector<int64_t>{0});
    for (auto &kernels : compile(softRowText(alongRow)))
      for (auto [rows, columns] : {std::pair<int64_t, int64_t>(1, 1), {3, 7}, {16, 16}, {9, 33}, {40, 257}})
        check(*kernels, {randomFloats(rows * columns, 1)}, {rows, columns}, 0);
  }
}

TEST_F(InPlaceKernelTest, ResidualOfAProduct) {
  for (int64_t columns : {1, 16, 33, 70}) {
    MatMul c{.rows = 1, .depth = 5, .columns = columns, .dynamicRows = true, .epilogue = true};
    EXPECT_EQ(replaceable(textOf(c)), std::vector<int64_t>{3}) << "neither what is multiplied nor the bias";
    for (auto &kernels : compile(textOf(c)))
      for (int64_t rows : {1, 5, 13, 70})
        check(*kernels,
              {randomFloats(rows * c.depth, 1), randomFloats(c.depth * columns, 2), randomFloats(columns, 3),
               randomFloats(rows * columns, 4)},
              {rows}, 3);
  }
}

TEST_F(InPlaceKernelTest, ResidualOfConvolutions) {
  for (int64_t groups : {1, 8})
    for (bool packed : {true, false})
      for (int64_t width : {1, 6, 23}) {
        Conv c{.batch = 2, .width = width, .channels = 8, .pad = 1, .groups = groups, .packed = packed, .residual = true};
        EXPECT_EQ(replaceable(textOf(c)), std::vector<int64_t>{3});
        Arguments arguments = {randomFloats(c.batch * c.height * c.width * c.channels, 1), {}, randomFloats(c.outputs, 3),
                               randomFloats(c.resultSize(), 4)};
        arguments[1] = ::llmc::test::packed(
            c.encoding(), randomFloats(c.outputs * c.channels / c.groups * c.kernel * c.kernel, 2), c.weightDims());
        for (auto &kernels : compile(textOf(c)))
          check(*kernels, arguments, {}, 3);
      }
}

/// Two results of one argument, one value at a time: both are computed before either is stored.
TEST_F(InPlaceKernelTest, OneOfTwoResults) {
  std::string text = R"(
  #id = affine_map<(d0) -> (d0)>
  func.func private @k(%x: tensor<?xf32> {graph.sizes = array<i64: -1>}, %n: index)
      -> (tensor<?xf32> {graph.sizes = array<i64: -1>}, tensor<?xf32> {graph.sizes = array<i64: -1>}) attributes {graph.dispatch} {
    %init = tensor.empty(%n) : tensor<?xf32>
    %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%x : tensor<?xf32>) outs(%init, %init : tensor<?xf32>, tensor<?xf32>) {
      ^bb0(%a: f32, %o: f32, %p: f32):
        %s = arith.addf %a, %a : f32
        %t = arith.mulf %a, %a : f32
        linalg.yield %s, %t : f32, f32
    } -> (tensor<?xf32>, tensor<?xf32>)
    return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
  })";
  EXPECT_EQ(replaceable(text), std::vector<int64_t>{0});
  for (auto &kernels : compile(text)) {
    std::vector<float> x = randomFloats(1003, 1), both = x, squares(x.size());
    kernels->run("k", {both.data(), both.data(), squares.data()}, {1003}, 3);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(both[i], x[i] + x[i]);
      ASSERT_EQ(squares[i], x[i] * x[i]);
    }
  }
}

TEST_F(InPlaceKernelTest, ElementsOfAnotherWidthAreNotReplaced) {
  EXPECT_TRUE(replaceable(R"(
  #id = affine_map<(d0) -> (d0)>
  func.func private @k(%x: tensor<8xf32> {graph.sizes = array<i64: 8>}) -> (tensor<8xi64> {graph.sizes = array<i64: 8>})
      attributes {graph.dispatch} {
    %init = tensor.empty() : tensor<8xi64>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%init : tensor<8xi64>) {
      ^bb0(%a: f32, %o: i64):
        %s = arith.fptosi %a : f32 to i64
        linalg.yield %s : i64
    } -> tensor<8xi64>
    return %r : tensor<8xi64>
  })")
                  .empty());
}

} // namespace
} // namespace llmc::test
