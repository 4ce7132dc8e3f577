//===- LoadHelper.h - Loads bytes as the C API does, keeping the Status -------------------------------------------===//
#ifndef LLMC_TEST_RUNTIME_LOADHELPER_H
#define LLMC_TEST_RUNTIME_LOADHELPER_H

#include "runtime/exec/LoadedPlan.h"
#include "test/runtime/PlanBuilder.h"

namespace llmc::test {

inline rt::Status loadStatus(std::span<const std::byte> bytes, const rt::LoadOptions &options = {}) {
  auto file = rt::PlanFile::fromMemory(bytes);
  if (!file.ok())
    return std::move(file).status();
  return rt::LoadedPlan::load(std::move(*file), options).status();
}

inline rt::Status loadStatus(const Bytes &file, const rt::LoadOptions &options = {}) {
  PageAligned aligned(file); // each byte beyond the end is the address sanitizer's
  return loadStatus(aligned.bytes(), options);
}

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_LOADHELPER_H
