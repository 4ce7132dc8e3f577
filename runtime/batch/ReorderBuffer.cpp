//===- ReorderBuffer.cpp - Answers in the order of admission ------------------------------------------------------===//

#include "runtime/batch/ReorderBuffer.h"
#include <bit>

namespace llmc::batch {

ReorderBuffer::ReorderBuffer(uint32_t capacity) : streams(capacity), chains(std::bit_ceil(capacity), kNone) {
  free.reserve(capacity);
  for (uint32_t i = capacity; i-- > 0;)
    free.push_back(i);
}

uint32_t &ReorderBuffer::chainOf(uint32_t model, uint64_t stream) {
  uint64_t hash = (stream ^ (uint64_t(model) << 48)) * 0x9e3779b97f4a7c15;
  return chains[(hash >> 32) & (chains.size() - 1)];
}

uint32_t ReorderBuffer::findOrMake(uint32_t model, uint64_t stream) {
  uint32_t &chain = chainOf(model, stream);
  for (uint32_t slot = chain; slot != kNone; slot = streams[slot].nextInChain)
    if (streams[slot].stream == stream && streams[slot].model == model)
      return slot;
  uint32_t slot = free.back();
  free.pop_back();
  streams[slot] = {stream, model, kNone, kNone, chain};
  return chain = slot;
}

void ReorderBuffer::drop(uint32_t slot) {
  uint32_t *link = &chainOf(streams[slot].model, streams[slot].stream);
  while (*link != slot)
    link = &streams[*link].nextInChain;
  *link = streams[slot].nextInChain;
  free.push_back(slot);
}

void ReorderBuffer::enter(RequestTable &table, uint32_t request, uint32_t model, uint64_t stream) {
  uint32_t slot = findOrMake(model, stream);
  Stream &list = streams[slot];
  table[request].streamSlot = slot;
  table[request].streamPrevious = list.last;
  table[request].streamNext = kNone;
  (list.last == kNone ? list.first : table[list.last].streamNext) = request;
  list.last = request;
}

void ReorderBuffer::leave(RequestTable &table, uint32_t request) {
  Request &leaving = table[request];
  Stream &list = streams[leaving.streamSlot];
  (leaving.streamPrevious == kNone ? list.first : table[leaving.streamPrevious].streamNext) = leaving.streamNext;
  (leaving.streamNext == kNone ? list.last : table[leaving.streamNext].streamPrevious) = leaving.streamPrevious;
  if (list.first == kNone)
    drop(leaving.streamSlot);
  leaving.streamSlot = kNone;
}

} // namespace llmc::batch
