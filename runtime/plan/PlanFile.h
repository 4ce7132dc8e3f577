//===- PlanFile.h - A model.llmc file, verified -------------------------------------------------------------------===//
//
// Opening checks, in this order and before any pointer is formed from the file: the header, the flatbuffer's structure,
// the meaning of the plan (verify/), the hashes of plan and code. The hash of constants is checked on request.
//
// A plan holds native code. What is verified makes reading it safe; running it is as safe as loading a shared library
// from the same source.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_PLAN_PLANFILE_H
#define LLMC_RUNTIME_PLAN_PLANFILE_H

#include "runtime/base/MappedFile.h"
#include "runtime/base/Status.h"
#include "runtime/schema/Container.h"
#include <memory>
#include <span>

namespace llmc::rt {

/// Immutable and shared; all views into the plan live as long as it does.
class PlanFile {
public:
  static Result<std::shared_ptr<const PlanFile>> open(const char *path);
  /// `bytes` outlive the result and do not change. They are copied unless they start at a page.
  static Result<std::shared_ptr<const PlanFile>> fromMemory(std::span<const std::byte> bytes);

  const plan::Plan &plan() const { return *root; }
  const ContainerHeader &header() const { return head; }
  const MappedFile &file() const { return mapped; }
  std::span<const std::byte> segment(uint32_t index) const;
  std::span<const std::byte> bytesOf(const plan::SegRange &range) const;
  /// Offset in the file of `range`.
  uint64_t offsetOf(const plan::SegRange &range) const;
  /// Compares the constants with their hashes, which opening leaves out because it would read all of them.
  Status verifyConstants() const;

private:
  explicit PlanFile(MappedFile mapped) : mapped(std::move(mapped)) {}
  static Result<std::shared_ptr<const PlanFile>> verified(MappedFile mapped);
  Status check();
  Status checkHeader();
  Status checkPlan();
  Status checkHashes(plan::SegKind kind) const;
  std::span<const std::byte> planBytes() const;

  MappedFile mapped;
  ContainerHeader head = {};
  const plan::Plan *root = nullptr;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_PLAN_PLANFILE_H
