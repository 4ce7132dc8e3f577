//===- ResponseCache.h - Which answers to keep, and for whom ------------------------------------------------------===//
//
// Decides; the caller stores inputs and answers under the slot numbers that it is given. A hash alone never makes a
// hit: the caller compares the inputs. Least recently used entries go first when bytes or slots run out. Requests with
// the same inputs as one that is running wait for its answer instead of running again. One thread at a time; nothing is
// allocated after construction.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_RESPONSECACHE_H
#define LLMC_RUNTIME_BATCH_RESPONSECACHE_H

#include "runtime/batch/BatchTypes.h"
#include <functional>
#include <vector>

namespace llmc::batch {

class ResponseCache {
public:
  ResponseCache(uint32_t slots, int64_t maxBytes);

  enum class Answer : uint8_t {
    Hit,   // `slot` has the answer
    Wait,  // `slot` is being computed; the caller is told by whoever completes it
    Run,   // compute it and say complete(slot) or abandon(slot)
    Bypass // compute it, there is no room to remember it
  };
  struct Lookup {
    Answer answer;
    uint32_t slot;
  };
  /// `same(slot)`: are the inputs kept under this slot those of the caller? Asked only where the hashes are equal. With
  /// Run the caller keeps its inputs under the slot.
  Lookup find(const ContentHash &hash, const std::function<bool(uint32_t)> &same);
  /// A successful answer; `bytes` of inputs and answer. `evicted(slot)` is called for each that has to go, perhaps for
  /// this one.
  void complete(uint32_t slot, int64_t bytes, const std::function<void(uint32_t)> &evicted);
  /// The run failed: nothing is kept, and those who wait have to run themselves.
  void abandon(uint32_t slot);

  int64_t bytes() const { return bytes_; }
  uint32_t size() const { return used; }
  uint64_t hits() const { return hits_; }
  uint64_t misses() const { return misses_; }

private:
  struct Entry {
    ContentHash hash;
    int64_t bytes = 0;
    bool ready = false;
    uint32_t nextInChain = kNone;
    uint32_t newer = kNone, older = kNone; // of those that are ready
  };
  uint32_t &chainOf(const ContentHash &hash) { return chains[hash.low & (chains.size() - 1)]; }
  void link(uint32_t slot);
  void unlink(uint32_t slot);
  void drop(uint32_t slot);

  std::vector<Entry> entries;
  std::vector<uint32_t> free, chains;
  uint32_t newest = kNone, oldest = kNone, used = 0;
  int64_t maxBytes, bytes_ = 0;
  uint64_t hits_ = 0, misses_ = 0;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_RESPONSECACHE_H
