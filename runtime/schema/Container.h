//===- Container.h - The frame of a model.llmc file: header, plan, segments ---------------------------------------===//
//
//   0                 ContainerHeader (64 bytes, little endian)
//   planOffset        the plan flatbuffer ("LLP1", plan.fbs), a multiple of 64
//   segmentsOffset    segments up to the end of the file, each at a multiple of 65536
//
// The compiler writes it and the runtime reads it; this header and kernels/abi are all that the two share. The header
// guards the plan, the plan's segment table guards the segments: planHash is the hash of the plan's bytes, and each
// Segment names the hash of its own.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_SCHEMA_CONTAINER_H
#define LLMC_RUNTIME_SCHEMA_CONTAINER_H

#include "runtime/schema/plan_generated.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace llmc {

inline constexpr std::array<char, 8> kContainerMagic = {'L', 'L', 'M', 'C', 'P', 'L', 'A', 'N'};
inline constexpr uint16_t kContainerMajor = 1; // another value: another layout, refused
inline constexpr uint16_t kContainerMinor = 0; // greater values only append to the header
inline constexpr uint16_t kPlanMajor = 1;      // Compat.plan_major and plan_minor that this tree writes
inline constexpr uint16_t kPlanMinor = 0;

inline constexpr uint64_t kPlanAlignment = 64;
inline constexpr uint64_t kSegmentAlignment = 65536; // the largest page of any machine that maps the file
inline constexpr uint64_t kPlanSizeLimit = uint64_t(1)
                                           << 30; // flatbuffers 2.0 has 32-bit offsets and only asserts them

struct ContainerHeader {
  std::array<char, 8> magic;
  uint16_t major;
  uint16_t minor;
  uint32_t headerSize;     // sizeof(ContainerHeader), or more in a later minor version
  uint32_t planOffset;     // >= headerSize
  uint32_t planSize;       // bytes, < kPlanSizeLimit
  uint64_t segmentsOffset; // >= planOffset + planSize; equals fileSize if there are no segments
  uint64_t fileSize;       // of the whole file: a truncated one is noticed
  uint64_t planHash[2];    // members a and b of hashOf(plan)
  uint32_t flags;          // none defined: 0
  uint32_t checksum;       // headerChecksum()
};
static_assert(sizeof(ContainerHeader) == 64, "the header is part of the file format");

/// XXH3-128 of `bytes` in members a (low half) and b (high half); c and d are 0.
plan::Hash256 hashOf(std::span<const std::byte> bytes);

/// The same hash of bytes that come in pieces. Not copyable; one thread at a time.
class StreamHash {
public:
  StreamHash();
  ~StreamHash();
  StreamHash(const StreamHash &) = delete;
  StreamHash &operator=(const StreamHash &) = delete;
  void update(std::span<const std::byte> bytes);
  /// The hash of all bytes so far; more may follow.
  plan::Hash256 finish() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// XXH32 of the header's bytes before `checksum`.
uint32_t headerChecksum(const ContainerHeader &header);

/// The complete header of a file whose plan lies at kPlanAlignment-aligned `planOffset`.
ContainerHeader makeContainerHeader(uint32_t planOffset, std::span<const std::byte> plan, uint64_t segmentsOffset,
                                    uint64_t fileSize);

/// `value` rounded up to a multiple of the power of two `alignment`; the result must fit.
constexpr uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

} // namespace llmc

#endif // LLMC_RUNTIME_SCHEMA_CONTAINER_H
