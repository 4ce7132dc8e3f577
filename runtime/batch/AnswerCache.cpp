//===- AnswerCache.cpp - Answers that equal inputs get again ------------------------------------------------------===//

#include "runtime/batch/AnswerCache.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace llmc::batch {

namespace {

/// Two lanes of multiply and rotate. Whatever it misses, a comparison finds.
struct Hasher {
  ContentHash hash = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f};
  void add(uint64_t word) {
    hash.low = std::rotl(hash.low ^ word, 29) * 0xbf58476d1ce4e5b9;
    hash.high = std::rotl(hash.high + word, 31) * 0x94d049bb133111eb;
  }
  void add(const std::byte *data, size_t size) {
    add(size);
    for (; size >= 8; data += 8, size -= 8) {
      uint64_t word;
      std::memcpy(&word, data, 8);
      add(word);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, data, size);
    add(rest);
  }
  ContentHash finish() {
    hash.low ^= hash.low >> 32;
    hash.high ^= hash.high >> 32;
    return hash;
  }
};

} // namespace

ContentHash AnswerCache::hashOf(const Call &call) {
  Hasher hasher;
  for (int64_t dim : call.inputDims)
    hasher.add(uint64_t(dim));
  for (size_t i = 0; i < call.inputs.size(); ++i)
    hasher.add(call.inputs[i], call.inputSizes[i]);
  return hasher.finish();
}

bool AnswerCache::isOf(const Entry &entry, uint32_t version, const Call &call) {
  if (entry.version != version || entry.inputDims != call.inputDims || entry.inputs.size() != size_t(call.bytes))
    return false;
  const std::byte *next = entry.inputs.data();
  for (size_t i = 0; i < call.inputs.size(); next += call.inputSizes[i], ++i)
    if (!std::equal(call.inputs[i], call.inputs[i] + call.inputSizes[i], next))
      return false;
  return true;
}

/// False if there is no memory for it.
bool AnswerCache::answer(const Entry &entry, Call &call) {
  call.outputDims = entry.outputDims;
  const std::byte *next = entry.outputs.data();
  for (uint32_t i = 0; i < call.outputs.size(); next += call.outputs[i].size, ++i) {
    if (!call.placeOutput(i).ok())
      return false;
    std::copy_n(next, call.outputs[i].size, call.outputs[i].data);
  }
  return true;
}

bool AnswerCache::find(uint32_t version, Call &call) {
  auto [what, slot] = cache.find(call.content, [&](uint32_t candidate) { return isOf(entries[candidate], version, call); });
  if (what == ResponseCache::Answer::Hit && answer(entries[slot], call)) {
    ++hits_;
    return true;
  }
  ++misses_;
  if (what != ResponseCache::Answer::Run)
    return false;
  call.cacheSlot = slot;
  Entry &entry = entries[slot];
  entry.version = version;
  entry.inputDims = call.inputDims;
  entry.inputs.clear();
  for (size_t i = 0; i < call.inputs.size(); ++i)
    entry.inputs.insert(entry.inputs.end(), call.inputs[i], call.inputs[i] + call.inputSizes[i]);
  return false;
}

void AnswerCache::abandon(Call &call) {
  uint32_t slot = std::exchange(call.cacheSlot, kNone);
  entries[slot] = Entry();
  cache.abandon(slot);
}

void AnswerCache::ended(Call &call) {
  if (call.outcome != Outcome::Done)
    return abandon(call);
  uint32_t slot = std::exchange(call.cacheSlot, kNone);
  Entry &entry = entries[slot];
  entry.outputDims = call.outputDims;
  entry.outputs.clear();
  for (const Call::Output &output : call.outputs)
    entry.outputs.insert(entry.outputs.end(), output.data, output.data + output.size);
  cache.complete(slot, int64_t(entry.inputs.size() + entry.outputs.size()),
                 [&](uint32_t evicted) { entries[evicted] = Entry(); });
}

} // namespace llmc::batch
