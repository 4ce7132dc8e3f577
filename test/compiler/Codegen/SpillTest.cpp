// The spill gate: at every level, no register tile that the strategies choose moves a vector to or from the stack in
// its innermost loop. One accumulator too many, and a kernel runs at half its speed and is right all the same.
#include "compiler/Codegen/Cpu/Microkernel.h"
#include "compiler/Codegen/Cpu/Strategy.h"
#include "compiler/Target/CpuLowering.h"
#include "compiler/Target/LlvmBackend.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "test/compiler/Codegen/KernelHarness.h"
#include "test/compiler/Codegen/MachineLoops.h"
#include "test/compiler/Codegen/MatrixText.h"
#include <gmock/gmock.h>
#include <set>

using namespace llmc;
using namespace llmc::test;
using namespace mlir;

namespace {

class SpillGate : public testing::TestWithParam<const CpuLevel *> {
protected:
  const CpuLevel &level = *GetParam();
  std::unique_ptr<MLIRContext> context = createContext();

  /// How many multiply-adds the innermost loops of the kernel have; none of them may spill.
  std::set<int64_t> check(const std::string &text) {
    SCOPED_TRACE(text);
    std::set<int64_t> sizes;
    OwningOpRef<ModuleOp> module = parseDispatches(text, *context);
    FailureOr<CompiledImage> image = compileForCpu(*module, level, {});
    EXPECT_TRUE(succeeded(image));
    if (failed(image))
      return sizes;
    for (const MachineLoop &loop : innermostMultiplyAdds(image->bytes)) {
      EXPECT_THAT(loop.stackTraffic, testing::IsEmpty()) << loop.function << ", " << loop.multiplyAdds << " multiply-adds";
      sizes.insert(loop.multiplyAdds);
    }
    return sizes;
  }

  /// Checks all tiles of a product and that the loops are those of tiles `heights`.
  void check(const MatMul &c, const std::set<int64_t> &heights) {
    std::optional<int64_t> rows = c.dynamicRows ? std::nullopt : std::optional(c.batch * c.rows);
    int64_t vectors = cpu::chooseGemm(level, {rows, c.columns, c.depth, {}}).tileVectors;
    std::set<int64_t> expected;
    for (int64_t height : heights)
      expected.insert(height * vectors);
    EXPECT_EQ(check(textOf(c)), expected) << c.rows << " rows";
  }

  std::set<int64_t> upTo(int64_t height) {
    std::set<int64_t> heights;
    while (height)
      heights.insert(height--);
    return heights;
  }

  /// A function that stores the sums of one tile.
  std::vector<MachineLoop> loopsOf(const cpu::MicrokernelSpec &spec) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context.get()));
    ImplicitLocOpBuilder b = ImplicitLocOpBuilder::atBlockEnd(module->getLoc(), module->getBody());
    auto pointer = LLVM::LLVMPointerType::get(context.get());
    Type f32 = b.getF32Type(), i64 = b.getI64Type();
    auto function = func::FuncOp::create(b, "tile", b.getFunctionType({pointer, pointer, pointer, i64, i64}, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    Value left = function.getArgument(0), result = function.getArgument(2);
    cpu::MicrokernelOperands operands;
    operands.depth = function.getArgument(3);
    operands.rowStep = function.getArgument(4);
    operands.panel = function.getArgument(1);
    auto rows = [&](Value) {
      SmallVector<Value> pointers;
      for (int32_t r = 0; r < spec.rows; ++r)
        pointers.push_back(LLVM::GEPOp::create(b, pointer, f32, left, ArrayRef<LLVM::GEPArg>{1000 * r}));
      return pointers;
    };
    operands.rowPointers = rows;
    for (auto [i, sum] : llvm::enumerate(cpu::emitMicrokernel(b, spec, operands))) {
      auto place = static_cast<int32_t>(i * spec.lanes);
      LLVM::StoreOp::create(b, sum, LLVM::GEPOp::create(b, pointer, f32, result, ArrayRef<LLVM::GEPArg>{place}), 4);
    }
    func::ReturnOp::create(b);
    EXPECT_TRUE(succeeded(cpu::lowerToLlvmDialect(*module, level)));
    auto object = cpu::emitObject(*module, level, {});
    EXPECT_TRUE(bool(object));
    return innermostMultiplyAdds(object->object);
  }
};

TEST_P(SpillGate, SeesATileOfTooManyAccumulators) {
  std::vector<MachineLoop> good = loopsOf({level.lanes(4), 4, 2}), bad = loopsOf({level.lanes(4), 12, 4});
  ASSERT_EQ(good.size(), 1u);
  EXPECT_EQ(good.front().multiplyAdds, 8u);
  EXPECT_THAT(good.front().stackTraffic, testing::IsEmpty());
  ASSERT_EQ(bad.size(), 1u);
  EXPECT_EQ(bad.front().multiplyAdds, 48u);
  EXPECT_THAT(bad.front().stackTraffic, testing::Not(testing::IsEmpty()));
}

TEST_P(SpillGate, TilesOfEachHeight) {
  std::set<int64_t> all = upTo(level.registers >= 32 ? 8 : level.fma ? 6 : 4);
  MatMul packed{.rows = 100, .depth = 64, .columns = 64, .dynamicRows = true, .encoding = "p32"};
  MatMul bias = packed, gelu = packed, transposed = packed, unpacked = packed;
  bias.epilogue = gelu.gelu = transposed.transposed = true;
  transposed.encoding = "p32.t";
  unpacked.encoding = "";
  for (MatMul c : {packed, bias, gelu, transposed, unpacked})
    for (int64_t columns : {64, 70}) { // whole vectors, and a rest
      c.columns = columns;
      check(c, all);
    }
}

TEST_P(SpillGate, TilesThatFetchAhead) {
  std::set<int64_t> all = upTo(level.registers >= 32 ? 8 : level.fma ? 6 : 4);
  MatMul c{.rows = 100, .depth = 768, .columns = 768, .dynamicRows = true, .encoding = "p32"};
  ASSERT_TRUE(cpu::chooseGemm(level, {{}, c.columns, c.depth, {}}).fetchAhead);
  check(c, all);
  c.epilogue = true;
  check(c, all);
}

TEST_P(SpillGate, TilesOfKnownHeight) {
  for (bool large : {false, true})
    for (bool gelu : {false, true})
      for (int64_t rows : {1, 2, 3, 48, 49, 50, 59}) {
        MatMul c{.rows = rows, .depth = 64, .columns = large ? 4096 : 64, .encoding = "p32", .epilogue = !gelu, .gelu = gelu};
        EXPECT_THAT(check(textOf(c)), testing::Not(testing::IsEmpty()));
      }
}

TEST_P(SpillGate, Convolutions) {
  for (bool dynamic : {false, true})
    for (bool residual : {false, true})
      for (Conv c : {Conv{.kernel = 3, .pad = 1}, Conv{.kernel = 1}, Conv{.kernel = 1, .stride = 2},
                     Conv{.kernel = 3, .stride = 2, .pad = 1}, Conv{.kernel = 3, .pad = 2, .dilation = 2},
                     Conv{.kernel = 3, .pad = 1, .groups = 2}, Conv{.kernel = 5, .pad = 2, .packed = false}}) {
        c.height = c.width = 28, c.channels = c.outputs = 64;
        c.dynamicSizes = dynamic, c.residual = residual;
        EXPECT_THAT(check(textOf(c)), testing::Not(testing::IsEmpty()));
      }
  EXPECT_THAT(check(textOf(Conv{.height = 224, .width = 224, .channels = 3, .outputs = 32, .kernel = 7, .stride = 2, .pad = 3})),
              testing::Not(testing::IsEmpty()));
  // Fewer outputs than lanes: tiles of one vector.
  for (int64_t pad : {0, 1})
    EXPECT_THAT(check(textOf(Conv{.height = 28, .width = 28, .channels = 8, .outputs = 3, .kernel = 3, .pad = pad, .dynamicSizes = true})),
                testing::Contains(level.registers >= 32 ? 16 : level.fma ? 12 : 8));
}

TEST_P(SpillGate, DepthwiseConvolutions) {
  for (bool dynamic : {false, true})
    for (int64_t size : {7, 56})
      for (int64_t kernel : {1, 3, 5, 7, 9})
        for (int64_t stride : {1, 2}) {
          Conv c{.height = size, .width = size, .channels = 96, .outputs = 96, .kernel = kernel, .stride = stride, .pad = kernel / 2, .groups = 96};
          c.dynamicSizes = dynamic;
          c.residual = stride == 1;
          EXPECT_THAT(check(textOf(c)), testing::Not(testing::IsEmpty()));
        }
}

std::vector<const CpuLevel *> everyLevel() {
  std::vector<const CpuLevel *> levels;
  for (const CpuLevel &level : allCpuLevels())
    levels.push_back(&level);
  return levels;
}

INSTANTIATE_TEST_SUITE_P(Levels, SpillGate, testing::ValuesIn(everyLevel()), [](const auto &info) {
  std::string name = info.param->name.str();
  std::replace_if(name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
  return name;
});

} // namespace
