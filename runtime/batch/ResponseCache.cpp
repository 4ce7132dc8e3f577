//===- ResponseCache.cpp - Which answers to keep, and for whom ----------------------------------------------------===//

#include "runtime/batch/ResponseCache.h"
#include <bit>

namespace llmc::batch {

ResponseCache::ResponseCache(uint32_t slots, int64_t maxBytes)
    : entries(slots), chains(std::bit_ceil(slots + 1), kNone), maxBytes(maxBytes) {
  free.reserve(slots);
  for (uint32_t i = slots; i-- > 0;)
    free.push_back(i);
}

void ResponseCache::link(uint32_t slot) {
  entries[slot].newer = kNone;
  entries[slot].older = newest;
  (newest == kNone ? oldest : entries[newest].newer) = slot;
  newest = slot;
}

void ResponseCache::unlink(uint32_t slot) {
  const Entry &entry = entries[slot];
  (entry.newer == kNone ? newest : entries[entry.newer].older) = entry.older;
  (entry.older == kNone ? oldest : entries[entry.older].newer) = entry.newer;
}

void ResponseCache::drop(uint32_t slot) {
  uint32_t *chain = &chainOf(entries[slot].hash);
  while (*chain != slot)
    chain = &entries[*chain].nextInChain;
  *chain = entries[slot].nextInChain;
  bytes_ -= entries[slot].bytes;
  entries[slot] = Entry();
  free.push_back(slot);
  --used;
}

ResponseCache::Lookup ResponseCache::find(const ContentHash &hash, const std::function<bool(uint32_t)> &same) {
  for (uint32_t slot = chainOf(hash); slot != kNone; slot = entries[slot].nextInChain) {
    if (!(entries[slot].hash == hash) || !same(slot))
      continue;
    ++hits_;
    if (!entries[slot].ready)
      return {Answer::Wait, slot};
    unlink(slot);
    link(slot);
    return {Answer::Hit, slot};
  }
  ++misses_;
  if (free.empty() && oldest != kNone) {
    uint32_t slot = oldest;
    unlink(slot);
    drop(slot);
  }
  if (free.empty())
    return {Answer::Bypass, kNone};
  uint32_t slot = free.back();
  free.pop_back();
  entries[slot].hash = hash;
  entries[slot].nextInChain = chainOf(hash);
  chainOf(hash) = slot;
  ++used;
  return {Answer::Run, slot};
}

void ResponseCache::complete(uint32_t slot, int64_t bytes, const std::function<void(uint32_t)> &evicted) {
  entries[slot].ready = true;
  entries[slot].bytes = bytes;
  bytes_ += bytes;
  link(slot);
  while (bytes_ > maxBytes) {
    uint32_t last = oldest;
    unlink(last);
    drop(last);
    evicted(last);
  }
}

void ResponseCache::abandon(uint32_t slot) { drop(slot); }

} // namespace llmc::batch
