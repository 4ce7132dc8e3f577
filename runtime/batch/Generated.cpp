//===- Generated.cpp - Inputs that say where the requests of a packed batch lie -----------------------------------===//

#include "runtime/batch/Generated.h"
#include <algorithm>
#include <numeric>

namespace llmc::batch {

using plan::GeneratedKind;

int64_t generatedSize(GeneratedKind kind, std::span<const int64_t> lengths) {
  switch (kind) {
  case GeneratedKind::COUNT:
  case GeneratedKind::ACCUMULATED:
    return int64_t(lengths.size());
  case GeneratedKind::ACCUMULATED_ZERO:
    return int64_t(lengths.size()) + 1;
  case GeneratedKind::INDEX:
    return std::accumulate(lengths.begin(), lengths.end(), int64_t(0));
  case GeneratedKind::LONGEST:
    return lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  }
  return 0;
}

template <typename T> static void write(GeneratedKind kind, std::span<const int64_t> lengths, T *to) {
  int64_t sum = 0;
  if (kind == GeneratedKind::ACCUMULATED_ZERO)
    *to++ = 0;
  for (size_t request = 0; request < lengths.size(); ++request) {
    sum += lengths[request];
    if (kind == GeneratedKind::INDEX)
      to = std::fill_n(to, lengths[request], T(request));
    else if (kind != GeneratedKind::LONGEST)
      *to++ = T(kind == GeneratedKind::COUNT ? lengths[request] : sum);
  }
  if (kind == GeneratedKind::LONGEST)
    std::fill_n(to, generatedSize(kind, lengths), T(0));
}

void writeGenerated(GeneratedKind kind, plan::DType type, std::span<const int64_t> lengths, std::byte *to) {
  switch (type) {
  case plan::DType::I32:
    return write(kind, lengths, reinterpret_cast<int32_t *>(to));
  case plan::DType::I64:
    return write(kind, lengths, reinterpret_cast<int64_t *>(to));
  default:
    return write(kind, lengths, reinterpret_cast<float *>(to));
  }
}

} // namespace llmc::batch
