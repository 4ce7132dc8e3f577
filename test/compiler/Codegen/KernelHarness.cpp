// See KernelHarness.h.
#include "test/compiler/Codegen/KernelHarness.h"

#include "dialects/Graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include <cstring>
#include <elf.h>
#include <sys/mman.h>

using namespace mlir;

namespace llmc::test {

MappedImage::MappedImage(const std::vector<char> &bytes) {
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(bytes.data());
  auto *programs = reinterpret_cast<const Elf64_Phdr *>(bytes.data() + header->e_phoff);
  auto forEachLoad = [&](auto visit) {
    for (unsigned i = 0; i < header->e_phnum; ++i)
      if (programs[i].p_type == PT_LOAD)
        visit(programs[i]);
  };
  forEachLoad([&](const Elf64_Phdr &load) { size = std::max<size_t>(size, load.p_vaddr + load.p_memsz); });
  base = static_cast<char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  forEachLoad([&](const Elf64_Phdr &load) {
    std::memcpy(base + load.p_vaddr, bytes.data() + load.p_offset, load.p_filesz);
    int protection = PROT_READ | (load.p_flags & PF_W ? PROT_WRITE : 0) | (load.p_flags & PF_X ? PROT_EXEC : 0);
    uint64_t start = load.p_vaddr & ~4095ull;
    EXPECT_EQ(mprotect(base + start, load.p_vaddr + load.p_memsz - start, protection), 0);
  });
}

MappedImage::~MappedImage() { munmap(base, size); }

CompiledKernels::CompiledKernels(ModuleOp dispatches, const CpuLevel &level, CpuCodegenOptions options) {
  FailureOr<CompiledImage> result = compileForCpu(dispatches, level, options);
  if (failed(result))
    return;
  compiled = std::move(*result);
  mapped = std::make_unique<MappedImage>(compiled.bytes);
}

const CompiledKernel &CompiledKernels::kernel(StringRef name) const {
  auto found = llvm::find_if(compiled.kernels, [&](const CompiledKernel &kernel) { return kernel.name == name; });
  return found == compiled.kernels.end() ? compiled.kernels.front() : *found;
}

static int64_t valueOf(graph::DimExpr expr, ArrayRef<int64_t> scalars) {
  std::optional<int64_t> value = expr.evaluate([&](StringRef symbol) -> std::optional<int64_t> {
    unsigned number;
    if (symbol.drop_front().getAsInteger(10, number) || number >= scalars.size())
      return std::nullopt;
    return scalars[number];
  });
  EXPECT_TRUE(value.has_value()) << expr.str();
  return value.value_or(0);
}

int64_t CompiledKernels::grid(StringRef name, ArrayRef<int64_t> scalars) const {
  return valueOf(kernel(name).grid, scalars);
}

Launch CompiledKernels::run(StringRef name, ArrayRef<void *> pointers, ArrayRef<int64_t> scalars, int64_t calls) const {
  int64_t items = grid(name, scalars);
  int64_t scratchBytes = valueOf(kernel(name).scratch, scalars);
  EXPECT_GE(valueOf(kernel(name).grain, scalars), 1);
  std::unique_ptr<void, void (*)(void *)> scratch(aligned_alloc(64, llvm::alignTo(scratchBytes + 1, 64)), free);
  Launch launch;
  llmc_args arguments = {pointers.data(), scalars.data(), &launch.error, nullptr};
  for (int64_t call = 0; call < calls; ++call) {
    int64_t begin = items * call / calls, end = items * (call + 1) / calls;
    if (begin < end && launch.status == LLMC_KERNEL_OK)
      launch.status = mapped->at(kernel(name).entry)(&arguments, begin, end, scratch.get());
  }
  return launch;
}

OwningOpRef<ModuleOp> parseDispatches(StringRef text, MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text.str();
  return module;
}

std::unique_ptr<MLIRContext> createContext() {
  auto context = std::make_unique<MLIRContext>();
  prepareForCpu(*context);
  context->loadDialect<graph::GraphDialect, linalg::LinalgDialect, tensor::TensorDialect, arith::ArithDialect, math::MathDialect>();
  return context;
}

std::vector<const CpuLevel *> runnableLevels() {
  std::vector<const CpuLevel *> levels;
  for (const CpuLevel &level : allCpuLevels())
    if (hostRuns(level))
      levels.push_back(&level);
  return levels;
}

std::vector<std::unique_ptr<CompiledKernels>> KernelTest::compile(StringRef text) {
  OwningOpRef<ModuleOp> module = parseDispatches(text, *context);
  std::vector<std::unique_ptr<CompiledKernels>> kernels;
  for (const CpuLevel *level : runnableLevels()) {
    auto compiled = std::make_unique<CompiledKernels>(*module, *level);
    EXPECT_TRUE(compiled->good()) << level->name.str();
    if (compiled->good())
      kernels.push_back(std::move(compiled));
  }
  EXPECT_FALSE(kernels.empty());
  return kernels;
}

} // namespace llmc::test
