//===- CpuDevice.cpp - This machine's processors ------------------------------------------------------------------===//

#include "runtime/device/CpuDevice.h"
#include "kernels/abi/kernel_abi.h"
#include "runtime/base/AlignedBlock.h"
#include "runtime/device/CpuFeatures.h"
#include "runtime/device/ElfImage.h"
#include "runtime/plan/verify/Verify.h"
#include <algorithm>

namespace llmc::rt {

CpuDevice::CpuDevice(unsigned threads, std::string pinnedLevel)
    : pinnedLevel(std::move(pinnedLevel)),
      pool(TeamPool::ofSize(std::min(threads ? threads : availableProcessors(), kMaxThreads))) {}

Status CpuDevice::supports(const plan::Variant &variant) const {
  auto refuse = [&](const auto &...why) {
    return Status(Code::Incompatible, concat("'", text(variant.level()), "' ", why...));
  };
  if (variant.format() != plan::CodeFormat::ELF_IMAGE || variant.kernel_abi() != LLMC_KERNEL_ABI)
    return refuse("is not code of ABI ", LLMC_KERNEL_ABI, " for a CPU");
  if (!pinnedLevel.empty() && text(variant.level()) != pinnedLevel)
    return refuse("is not the level asked for, '", pinnedLevel, "'");
  if (auto missing = missingFeature(text(variant.level())))
    return refuse("needs ", *missing, ", which this machine lacks");
  for (uint32_t i = 0; i < count(variant.features()); ++i)
    if (std::string_view feature = text(variant.features()->Get(i)); !hostHasFeature(feature))
      return refuse("needs ", feature, ", which this machine lacks");
  return {};
}

namespace {
struct CpuImage final : CodeImage {
  explicit CpuImage(ElfImage image) : image(std::move(image)) {}
  Result<const void *> entry(uint64_t address) const override { return image.at(address); }
  ElfImage image;
};
} // namespace

Result<std::unique_ptr<CodeImage>> CpuDevice::load(const PlanFile &file, const plan::Variant &variant) const {
  LLMC_TRY_ASSIGN(ElfImage image, ElfImage::map(file.bytesOf(*variant.code()), file.file().descriptor(),
                                                file.offsetOf(*variant.code())));
  return std::unique_ptr<CodeImage>(std::make_unique<CpuImage>(std::move(image)));
}

Result<std::byte *> CpuDevice::allocate(size_t bytes, size_t) {
  if (std::byte *address = AlignedMemory::allocate(bytes))
    return address;
  return Status(Code::OutOfMemory, concat("can not allocate ", bytes, " bytes"));
}

void CpuDevice::free(std::byte *address, size_t bytes) { AlignedMemory::free(address, bytes); }

} // namespace llmc::rt
