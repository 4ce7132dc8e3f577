//===- BatchOptions.h - The settings of the C API as those of the core --------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_BATCHOPTIONS_H
#define LLMC_RUNTIME_BATCH_BATCHOPTIONS_H

#include "llmc/llmc.h"
#include "runtime/batch/BatchConfig.h"
#include "runtime/batch/BatchSpec.h"

namespace llmc::batch {

inline constexpr TimeNs kUnknownCost = kMillisecond; // of a run that nobody has measured

/// Checks what the core can not know of; what it can is checked with the whole of its configuration.
rt::Result<ModelConfig> readModelOptions(const llmc_batch_model &options, const BatchSpec &spec, uint32_t numBuckets);

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_BATCHOPTIONS_H
