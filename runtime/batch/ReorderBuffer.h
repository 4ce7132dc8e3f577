//===- ReorderBuffer.h - Answers in the order of admission --------------------------------------------------------===//
//
// Each ordered stream is a list of its requests, oldest first. One that ends otherwise than with an answer leaves the
// list at once; an answer leaves when it is the first.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_REORDERBUFFER_H
#define LLMC_RUNTIME_BATCH_REORDERBUFFER_H

#include "runtime/batch/RequestTable.h"

namespace llmc::batch {

class ReorderBuffer {
public:
  /// Room for as many streams as there are requests.
  explicit ReorderBuffer(uint32_t capacity);

  /// Puts the request at the end of its stream. `stream`: kNoStream for the one of the whole model.
  void enter(RequestTable &table, uint32_t request, uint32_t model, uint64_t stream);
  void leave(RequestTable &table, uint32_t request);
  bool isFirst(const RequestTable &table, uint32_t request) const { return table[request].streamPrevious == kNone; }

private:
  struct Stream {
    uint64_t stream;
    uint32_t model;
    uint32_t first = kNone, last = kNone;
    uint32_t nextInChain = kNone;
  };
  uint32_t &chainOf(uint32_t model, uint64_t stream);
  uint32_t findOrMake(uint32_t model, uint64_t stream);
  void drop(uint32_t slot);

  std::vector<Stream> streams;
  std::vector<uint32_t> free;
  std::vector<uint32_t> chains; // of a hash table; a power of two of them
};

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_REORDERBUFFER_H
