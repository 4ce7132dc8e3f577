//===- AnswerCache.h - Answers that equal inputs get again --------------------------------------------------------===//
//
// Holds inputs and answers for ResponseCache, which decides what to keep. Used under the batcher's lock.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_ANSWERCACHE_H
#define LLMC_RUNTIME_BATCH_ANSWERCACHE_H

#include "runtime/batch/Call.h"
#include "runtime/batch/ResponseCache.h"

namespace llmc::batch {

class AnswerCache {
public:
  explicit AnswerCache(int64_t maxBytes) : cache(kSlots, maxBytes), entries(kSlots) {}

  /// Of dims and contents of all inputs.
  static ContentHash hashOf(const Call &call);
  /// True if the call has its answer now. Else it is to run, and its end to be told if it has a slot then.
  bool find(uint32_t version, Call &call);
  /// A call with a slot has ended.
  void ended(Call &call);

  /// What a call with a slot will get is not to be kept.
  void abandon(Call &call);

  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }

private:
  static constexpr uint32_t kSlots = 4096;
  struct Entry {
    uint32_t version = 0; // of the model when it was asked
    std::vector<int64_t> inputDims, outputDims;
    std::vector<std::byte> inputs, outputs; // one after the other
  };
  static bool isOf(const Entry &entry, uint32_t version, const Call &call);
  static bool answer(const Entry &entry, Call &call);

  ResponseCache cache;
  std::vector<Entry> entries;
  uint64_t hits_ = 0, misses_ = 0;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_ANSWERCACHE_H
