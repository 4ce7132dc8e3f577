//===- Container.cpp - Hashes and header of a model.llmc file -----------------------------------------------------===//

#include "runtime/schema/Container.h"
#include <cstddef>

#define XXH_INLINE_ALL // compiled in here, so that nothing depends on libxxhash
#include <xxhash.h>

namespace llmc {

static plan::Hash256 toHash256(XXH128_hash_t hash) { return {hash.low64, hash.high64, 0, 0}; }

plan::Hash256 hashOf(std::span<const std::byte> bytes) { return toHash256(XXH3_128bits(bytes.data(), bytes.size())); }

struct StreamHash::State {
  XXH3_state_t xxh;
};

StreamHash::StreamHash() : state(std::make_unique<State>()) { XXH3_128bits_reset(&state->xxh); }
StreamHash::~StreamHash() = default;

void StreamHash::update(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state->xxh, bytes.data(), bytes.size());
}

plan::Hash256 StreamHash::finish() const { return toHash256(XXH3_128bits_digest(&state->xxh)); }

uint32_t headerChecksum(const ContainerHeader &header) {
  return XXH32(&header, offsetof(ContainerHeader, checksum), /*seed=*/0);
}

ContainerHeader makeContainerHeader(uint32_t planOffset, std::span<const std::byte> plan, uint64_t segmentsOffset,
                                    uint64_t fileSize) {
  plan::Hash256 hash = hashOf(plan);
  ContainerHeader header = {};
  header.magic = kContainerMagic;
  header.major = kContainerMajor;
  header.minor = kContainerMinor;
  header.headerSize = sizeof(ContainerHeader);
  header.planOffset = planOffset;
  header.planSize = uint32_t(plan.size());
  header.segmentsOffset = segmentsOffset;
  header.fileSize = fileSize;
  header.planHash[0] = hash.a();
  header.planHash[1] = hash.b();
  header.checksum = headerChecksum(header);
  return header;
}

} // namespace llmc
