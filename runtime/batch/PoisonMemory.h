//===- PoisonMemory.h - The contents that crashed a worker --------------------------------------------------------===//
//
// A retry of such a request would crash the next worker. The last 64 are remembered, each for a while.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_POISONMEMORY_H
#define LLMC_RUNTIME_BATCH_POISONMEMORY_H

#include "runtime/batch/BatchTypes.h"
#include <array>

namespace llmc::batch {

class PoisonMemory {
public:
  void remember(const ContentHash &content, TimeNs until) {
    entries[next] = {content, until};
    next = (next + 1) % entries.size();
  }
  bool knows(const ContentHash &content, TimeNs now) const {
    for (const Entry &entry : entries)
      if (now < entry.until && entry.content == content)
        return true;
    return false;
  }

private:
  struct Entry {
    ContentHash content;
    TimeNs until = 0;
  };
  std::array<Entry, 64> entries = {};
  size_t next = 0;
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_POISONMEMORY_H
