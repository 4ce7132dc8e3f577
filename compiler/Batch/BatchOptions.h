// The command line's way to say how requests may share a run: --batch-dim and what belongs to it.
#ifndef LLMC_COMPILER_BATCH_BATCHOPTIONS_H
#define LLMC_COMPILER_BATCH_BATCHOPTIONS_H

#include "runtime/schema/plan_generated.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace llmc {

struct BatchOptions {
  std::string dim; // empty: nothing is batched
  std::vector<int64_t> sizes;
  std::map<std::string, std::vector<int64_t>> buckets; // edges, by dim
  std::map<std::string, std::string> pads;             // values, by input
  std::vector<std::string> masks;
  std::map<std::string, plan::GeneratedKind> generates; // by input; any: requests are packed along the dim

  bool any() const { return !sizes.empty() || !buckets.empty() || !pads.empty() || !masks.empty() || !generates.empty(); }
};

// What is wrong with the text; "" if nothing is.
std::string parseBatchSizes(llvm::StringRef text, BatchOptions &options);
/// "S=16,32,64,128".
std::string parseBucketOption(llvm::StringRef text, BatchOptions &options);
/// "INPUT=VALUE".
std::string parsePadOption(llvm::StringRef text, BatchOptions &options);
/// "INPUT=KIND".
std::string parseGenerateOption(llvm::StringRef text, BatchOptions &options);
/// As the option spells it.
const char *nameOf(plan::GeneratedKind kind);
/// Options without those that they need.
std::string checkBatchOptions(const BatchOptions &options);

} // namespace llmc

#endif // LLMC_COMPILER_BATCH_BATCHOPTIONS_H
