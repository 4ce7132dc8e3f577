// Matrix products against plain loops, equal to the bit, for packed and run-time right operands at all tails.
#include "test/compiler/Codegen/KernelHarness.h"
#include "test/compiler/Codegen/MatrixText.h"
#include <cmath>

using namespace llmc;
using namespace llmc::test;

namespace {

struct Data {
  std::vector<float> left, right, bias, residual;
  explicit Data(const MatMul &c)
      : left(randomFloats(c.batch * c.rows * c.depth, 1)),
        right(randomFloats((c.batchedRight ? c.batch : 1) * c.depth * c.columns, 2)), bias(randomFloats(c.columns, 3)),
        residual(randomFloats(c.batch * c.rows * c.columns, 4)) {}
};

std::vector<float> expected(const MatMul &c, const Data &data, bool fma) {
  std::vector<float> result(c.batch * c.rows * c.columns);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t m = 0; m < c.rows; ++m)
      for (int64_t n = 0; n < c.columns; ++n) {
        float sum = 0;
        for (int64_t k = 0; k < c.depth; ++k) {
          float x = data.left[(b * c.rows + m) * c.depth + k];
          float y = data.right[(c.batchedRight ? b * c.depth * c.columns : 0) +
                               (c.transposed ? n * c.depth + k : k * c.columns + n)];
          sum = fma ? std::fma(x, y, sum) : sum + x * y;
        }
        if (c.epilogue)
          sum = std::max(sum + data.bias[n], 0.0f) + data.residual[(b * c.rows + m) * c.columns + n];
        result[(b * c.rows + m) * c.columns + n] = sum;
      }
  return result;
}

/// Runs `c` and compares it with `expected`, in one call and in several.
void check(const MatMul &c, mlir::MLIRContext &context, const CpuLevel &level) {
  SCOPED_TRACE(testing::Message() << level.name.str() << " batch " << c.batch << " rows " << c.rows << " depth "
                                  << c.depth << " columns " << c.columns << (c.dynamicRows ? " dynamic" : "") << " "
                                  << c.encoding);
  mlir::OwningOpRef<mlir::ModuleOp> module = parseDispatches(textOf(c), context);
  ASSERT_TRUE(module);
  CompiledKernels kernels(*module, level);
  ASSERT_TRUE(kernels.good());
  Data data(c);
  std::vector<float> right = packed(c.encoding, data.right, rightDims(c)), wanted = expected(c, data, level.fma);
  EXPECT_EQ(static_cast<int64_t>(right.size() * 4), cpu::packedBytes(*cpu::Encoding::parse(c.encoding), rightDims(c)));
  for (int64_t calls : {1, 3}) {
    std::vector<float> result(wanted.size() + 1, 7.0f);
    std::vector<void *> pointers = {data.left.data(), right.data()};
    if (c.epilogue)
      pointers.insert(pointers.end(), {data.bias.data(), data.residual.data()});
    pointers.push_back(result.data());
    std::vector<int64_t> scalars;
    if (c.dynamicRows)
      scalars.push_back(c.rows);
    EXPECT_EQ(kernels.run("k", pointers, scalars, calls).status, LLMC_KERNEL_OK);
    EXPECT_EQ(result.back(), 7.0f) << "wrote past the end";
    result.pop_back();
    EXPECT_EQ(result, wanted);
  }
}

class ContractionKernel : public testing::TestWithParam<const CpuLevel *> {
protected:
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  void run(const MatMul &c) { check(c, *context, *GetParam()); }
};

TEST_P(ContractionKernel, PackedRightAtAllTails) {
  for (int64_t rows : {1, 2, 5, 6, 7, 13})
    for (int64_t columns : {1, 8, 15, 16, 17, 31, 32, 33, 70})
      run({.rows = rows, .depth = 5, .columns = columns, .encoding = "p32"});
}

TEST_P(ContractionKernel, AnyDepth) {
  for (int64_t depth : {0, 1, 2, 3, 7, 33, 300})
    run({.rows = 6, .depth = depth, .columns = 20, .encoding = "p32"});
}

TEST_P(ContractionKernel, RowsKnownAtRunTime) {
  for (int64_t rows : {0, 1, 4, 6, 11, 12, 100})
    run({.batch = 2,
         .rows = rows,
         .depth = 9,
         .columns = 40,
         .dynamicRows = true,
         .encoding = "p32",
         .epilogue = true});
}

TEST_P(ContractionKernel, TransposedPackedRight) {
  run({.batch = 3, .rows = 7, .depth = 11, .columns = 37, .transposed = true, .encoding = "p32.t"});
  run({.batch = 3,
       .rows = 7,
       .depth = 11,
       .columns = 37,
       .transposed = true,
       .batchedRight = true,
       .encoding = "p32.t"});
}

TEST_P(ContractionKernel, RightOperandOfTheRun) {
  for (bool transposed : {false, true})
    for (bool batched : {false, true})
      for (int64_t columns : {1, 7, 31, 33, 64})
        run({.batch = 2,
             .rows = 7,
             .depth = 19,
             .columns = columns,
             .transposed = transposed,
             .batchedRight = batched});
}

TEST_P(ContractionKernel, EpilogueInRegisters) {
  for (int64_t columns : {3, 16, 50})
    run({.batch = 2, .rows = 9, .depth = 19, .columns = columns, .encoding = "p32", .epilogue = true});
}

TEST_P(ContractionKernel, ManyWorkItems) {
  run({.rows = 500, .depth = 256, .columns = 300, .encoding = "p32", .epilogue = true});
}

INSTANTIATE_TEST_SUITE_P(Levels, ContractionKernel, testing::ValuesIn(runnableLevels()), [](const auto &info) {
  std::string name = info.param->name.str();
  for (char &c : name)
    if (!isalnum(c))
      c = '_';
  return name;
});

} // namespace
