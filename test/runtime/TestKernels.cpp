//===- TestKernels.cpp - Exports and images of kernels.c ----------------------------------------------------------===//

#include "test/runtime/TestKernels.h"
#include "kernels/abi/kernel_abi.h"
#include <cstring>
#include <elf.h>
#include <fstream>
#include <map>
#include <stdexcept>

namespace llmc::test {
namespace {

using plan::Access;
using plan::ExprOp;

/// One export, with what it says about each of its variants.
struct Kernel {
  plan::ExportT exported;
  uint32_t grid = 0, scratch = 0, grain = 0;

  Kernel(const char *name, uint32_t scalars) {
    exported.name = name;
    exported.scalars = scalars;
  }
  uint32_t add(plan::ExprNode node) {
    exported.exprs.push_back(node);
    return uint32_t(exported.exprs.size()) - 1;
  }
  uint32_t constant(int64_t value) { return add({value, 0, 0, ExprOp::CONST, 0, 0, 0}); }
  uint32_t scalar(int64_t index) { return add({index, 0, 0, ExprOp::SYM, 0, 0, 0}); }
  uint32_t mul(uint32_t lhs, uint32_t rhs) { return add({0, lhs, rhs, ExprOp::MUL, 0, 0, 0}); }
  void binding(Access access, uint32_t extent, uint32_t alignment, uint32_t inPlaceWith = kNone) {
    auto result = std::make_unique<plan::BindingT>();
    result->access = access;
    result->extent = extent;
    result->alignment = alignment;
    result->in_place_with = inPlaceWith;
    exported.bindings.push_back(std::move(result));
  }
  Kernel &launch(uint32_t newGrid, int64_t newScratch = 0, int64_t newGrain = 1) {
    grid = newGrid;
    scratch = constant(newScratch);
    grain = constant(newGrain);
    return *this;
  }
};

/// Same order as kernels.c, which says what each does.
std::vector<Kernel> makeKernels() {
  std::vector<Kernel> kernels;
  auto begin = [&](const char *name, uint32_t scalars) -> Kernel & { return kernels.emplace_back(name, scalars); };
  {
    Kernel &k = begin("add", 1);
    uint32_t bytes = k.mul(k.scalar(0), k.constant(4));
    k.binding(Access::READ, bytes, 4);
    k.binding(Access::READ, bytes, 4);
    k.binding(Access::WRITE, bytes, 4);
    k.launch(k.scalar(0), 0, 8);
  }
  {
    Kernel &k = begin("relu", 1);
    uint32_t bytes = k.mul(k.scalar(0), k.constant(4));
    k.binding(Access::READ, bytes, 4);
    k.binding(Access::WRITE, bytes, 4, 0);
    k.launch(k.scalar(0), 0, 8);
  }
  {
    Kernel &k = begin("gather", 3);
    uint32_t rows = k.scalar(0), columns = k.scalar(1), n = k.scalar(2), four = k.constant(4);
    k.binding(Access::READ, k.mul(k.mul(rows, columns), four), 4);
    k.binding(Access::READ, k.mul(n, k.constant(8)), 8);
    k.binding(Access::WRITE, k.mul(k.mul(n, columns), four), 4);
    k.launch(n);
  }
  {
    Kernel &k = begin("reverse", 1);
    uint32_t bytes = k.mul(k.scalar(0), k.constant(16));
    k.binding(Access::READ, bytes, 4);
    k.binding(Access::WRITE, bytes, 4);
    k.launch(k.scalar(0), 16);
  }
  {
    Kernel &k = begin("count_positive", 1);
    k.binding(Access::READ, k.mul(k.scalar(0), k.constant(4)), 4);
    k.binding(Access::WRITE, k.constant(8), 8);
    k.launch(k.constant(1));
  }
  {
    Kernel &k = begin("compress", 2);
    k.binding(Access::READ, k.mul(k.scalar(0), k.constant(4)), 4);
    k.binding(Access::WRITE, k.mul(k.scalar(1), k.constant(4)), 4);
    k.launch(k.constant(1));
  }
  {
    Kernel &k = begin("add_scalar", 1);
    k.binding(Access::READ, k.constant(8), 8);
    k.binding(Access::WRITE, k.constant(8), 8, 0);
    k.launch(k.constant(1));
  }
  {
    Kernel &k = begin("less", 1);
    k.binding(Access::READ, k.constant(8), 8);
    k.binding(Access::WRITE, k.constant(1), 1);
    k.launch(k.constant(1));
  }
  {
    Kernel &k = begin("ranges", 1);
    k.binding(Access::WRITE, k.mul(k.scalar(0), k.constant(8)), 8);
    k.launch(k.scalar(0), 0, 10);
  }
  {
    Kernel &k = begin("environment", 0);
    k.binding(Access::WRITE, k.constant(8), 4);
    k.launch(k.constant(1));
  }
  {
    Kernel &k = begin("fail", 1);
    k.binding(Access::READ, k.mul(k.scalar(0), k.constant(4)), 4);
    k.launch(k.scalar(0));
  }
  return kernels;
}

const std::vector<Kernel> &kernels() {
  static const std::vector<Kernel> result = makeKernels();
  return result;
}

/// Address of a symbol by the image's section headers.
uint64_t symbolAddress(const Bytes &image, std::string_view name) {
  auto read = [&]<typename T>(uint64_t offset, T) {
    T value;
    std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
  };
  auto header = read(0, Elf64_Ehdr());
  for (unsigned s = 0; s < header.e_shnum; ++s) {
    auto section = read(header.e_shoff + s * sizeof(Elf64_Shdr), Elf64_Shdr());
    if (section.sh_type != SHT_DYNSYM)
      continue;
    auto strings = read(header.e_shoff + section.sh_link * sizeof(Elf64_Shdr), Elf64_Shdr());
    for (uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      auto symbol = read(section.sh_offset + at, Elf64_Sym());
      if (name == reinterpret_cast<const char *>(image.data() + strings.sh_offset + symbol.st_name))
        return symbol.st_value;
    }
  }
  throw std::runtime_error("no kernel " + std::string(name));
}

} // namespace

const Bytes &kernelImage(int level) {
  static std::map<int, Bytes> images;
  Bytes &image = images[level];
  if (image.empty()) {
    std::ifstream file(std::string(LLMC_TEST_IMAGES "/kernels-v") + std::to_string(level) + ".elf", std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    if (text.empty())
      throw std::runtime_error("no image of level " + std::to_string(level));
    auto bytes = std::as_bytes(std::span(text));
    image.assign(bytes.begin(), bytes.end());
  }
  return image;
}

std::unique_ptr<plan::ExecutableT> kernelExecutable(const std::vector<int> &levels, uint32_t firstSegment) {
  auto result = std::make_unique<plan::ExecutableT>();
  result->name = "kernels";
  result->device_kind = plan::DeviceKind::CPU;
  for (const Kernel &kernel : kernels())
    result->exports.push_back(std::make_unique<plan::ExportT>(kernel.exported));
  for (size_t v = 0; v < levels.size(); ++v) {
    const Bytes &image = kernelImage(levels[v]);
    auto variant = std::make_unique<plan::VariantT>();
    variant->format = plan::CodeFormat::ELF_IMAGE;
    variant->level = "x86-64-v" + std::to_string(levels[v]);
    variant->kernel_abi = LLMC_KERNEL_ABI;
    variant->priority = levels[v];
    variant->code = std::make_unique<plan::SegRangeT>();
    variant->code->segment = firstSegment + uint32_t(v);
    variant->code->range = std::make_unique<plan::Range>(0, image.size());
    for (const Kernel &kernel : kernels()) {
      auto entry = std::make_unique<plan::VariantEntryT>();
      entry->entry = symbolAddress(image, kernel.exported.name);
      entry->grid = kernel.grid;
      entry->scratch = kernel.scratch;
      entry->grain = kernel.grain;
      variant->entries.push_back(std::move(entry));
    }
    result->variants.push_back(std::move(variant));
  }
  return result;
}

uint32_t kernelIndex(std::string_view name) {
  for (uint32_t i = 0; i < kernels().size(); ++i)
    if (kernels()[i].exported.name == name)
      return i;
  throw std::runtime_error("no kernel " + std::string(name));
}

} // namespace llmc::test
