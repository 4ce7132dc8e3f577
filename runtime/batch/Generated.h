//===- Generated.h - Inputs that say where the requests of a packed batch lie -------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_GENERATED_H
#define LLMC_RUNTIME_BATCH_GENERATED_H

#include "runtime/schema/plan_generated.h"
#include <cstddef>
#include <cstdint>
#include <span>

namespace llmc::batch {

/// Elements of the input. `lengths`: the places of each request along the packed dim.
int64_t generatedSize(plan::GeneratedKind kind, std::span<const int64_t> lengths);

/// Writes them. `type` is I32, I64 or F32.
void writeGenerated(plan::GeneratedKind kind, plan::DType type, std::span<const int64_t> lengths, std::byte *to);

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_GENERATED_H
