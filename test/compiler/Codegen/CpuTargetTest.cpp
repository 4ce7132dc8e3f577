// Levels and images: names, determinism, what each level's code may contain.
#include "test/compiler/Codegen/KernelHarness.h"
#include "llvm/Support/Error.h"
#include <thread>

using namespace mlir;

namespace llmc::test {
namespace {

constexpr char kDispatches[] = R"(
  #id = affine_map<(d0) -> (d0)>
  func.func private @gelu(%a: tensor<?xf32> {graph.sizes = array<i64: -1>}, %n: index)
      -> (tensor<?xf32> {graph.sizes = array<i64: -1>}) attributes {graph.dispatch} {
    %init = tensor.empty(%n) : tensor<?xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<?xf32>) outs(%init : tensor<?xf32>) {
      ^bb0(%x: f32, %o: f32):
        %e = math.erf %x : f32
        %s = arith.mulf %e, %x : f32
        linalg.yield %s : f32
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  }
  func.func private @pad(%x: tensor<2x3xf32>) -> tensor<2x5xf32> attributes {graph.dispatch} {
    %y = graph.pad %x {pads = array<i64: 0, 1, 0, 1>, mode = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x5xf32>
    return %y : tensor<2x5xf32>
  })";

constexpr char kMatMul[] = R"(
  func.func private @matmul(%a: tensor<32x16xf32>, %b: tensor<16x64xf32>) -> tensor<32x64xf32> attributes {graph.dispatch} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<32x16xf32>, tensor<16x64xf32>) outs(%f : tensor<32x64xf32>) {
      ^bb0(%x: f32, %y: f32, %sum: f32):
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %sum, %p : f32
        linalg.yield %s : f32
    } -> tensor<32x64xf32>
    return %r : tensor<32x64xf32>
  })";

class CpuTargetTest : public KernelTest {};

TEST_F(CpuTargetTest, KnowsItsLevelsByName) {
  for (const CpuLevel &level : allCpuLevels()) {
    auto found = findCpuLevel(level.name);
    ASSERT_TRUE(bool(found));
    EXPECT_EQ(*found, &level);
  }
  auto native = findCpuLevel("native");
  ASSERT_TRUE(bool(native));
  EXPECT_TRUE(hostRuns(**native));
  auto unknown = findCpuLevel("x86-64-v9");
  ASSERT_FALSE(bool(unknown));
  EXPECT_EQ(toString(unknown.takeError()), "unknown CPU level 'x86-64-v9', expected native, x86-64-v2, x86-64-v3, x86-64-v4, "
                                           "x86-64-v4+vnni+bf16");
}

TEST_F(CpuTargetTest, EveryLevelUsesItsVectorsAndNoWiderOnes) {
  OwningOpRef<ModuleOp> module = parseDispatches(kDispatches, *context);
  for (const CpuLevel &level : allCpuLevels()) {
    CpuCodegenOptions options;
    options.keepAssembly = true;
    FailureOr<CompiledImage> image = compileForCpu(*module, level, options);
    ASSERT_TRUE(succeeded(image)) << level.name.str();
    StringRef assembly = image->assembly;
    EXPECT_EQ(assembly.contains("%zmm"), level.vectorBytes >= 64) << level.name.str();
    if (level.vectorBytes < 64)
      EXPECT_EQ(assembly.contains("%ymm"), level.vectorBytes == 32) << level.name.str();
    EXPECT_FALSE(assembly.contains("memcpy") || assembly.contains("memset")) << level.name.str();
  }
}

/// Two instructions for each multiply-add would halve the speed of every product, and change its bits.
TEST_F(CpuTargetTest, ProductsAreFusedWhereTheLevelCan) {
  OwningOpRef<ModuleOp> module = parseDispatches(kMatMul, *context);
  for (const CpuLevel &level : allCpuLevels()) {
    CpuCodegenOptions options;
    options.keepAssembly = true;
    FailureOr<CompiledImage> image = compileForCpu(*module, level, options);
    ASSERT_TRUE(succeeded(image)) << level.name.str();
    StringRef assembly = image->assembly;
    EXPECT_EQ(assembly.contains("vfmadd"), level.fma) << level.name.str();
    EXPECT_EQ(assembly.contains("mulps"), !level.fma) << level.name.str();
  }
}

TEST_F(CpuTargetTest, BytesDependNeitherOnTheRunNorOnThreads) {
  OwningOpRef<ModuleOp> module = parseDispatches(kDispatches, *context);
  auto compileAll = [&](bool parallel) {
    std::vector<std::vector<char>> images(allCpuLevels().size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < images.size(); ++i) {
      auto compile = [&, i] {
        FailureOr<CompiledImage> image = compileForCpu(*module, allCpuLevels()[i], {});
        if (succeeded(image))
          images[i] = image->bytes;
      };
      if (parallel)
        threads.emplace_back(compile);
      else
        compile();
    }
    for (std::thread &thread : threads)
      thread.join();
    return images;
  };
  auto first = compileAll(false), second = compileAll(true);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_FALSE(first[i].empty());
    EXPECT_EQ(first[i], second[i]) << allCpuLevels()[i].name.str();
  }
}

TEST_F(CpuTargetTest, NamesWhatItCanNotCompile) {
  OwningOpRef<ModuleOp> module = parseDispatches(R"(
    func.func private @none(%a: tensor<4xf32>) -> tensor<4xf32> attributes {graph.dispatch} {
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (3 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
        ^bb0(%x: f32, %o: f32):
          linalg.yield %x : f32
      } -> tensor<4xf32>
      return %r : tensor<4xf32>
    })", *context);
  std::string message;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) { message += diagnostic.str(); });
  EXPECT_TRUE(failed(compileForCpu(*module, *runnableLevels().front(), {})));
  EXPECT_NE(message.find("a kernel reads tensors through projected permutations only"), std::string::npos) << message;
}

} // namespace
} // namespace llmc::test
