//===- RowBlocks.cpp - Moves the rows of requests into batches and back -------------------------------------------===//

#include "runtime/batch/RowBlocks.h"
#include <algorithm>
#include <cstring>

namespace llmc::batch {
namespace {

struct Walk {
  RowPlace to, from;
  uint32_t axis;
  int64_t rows, elementSize;

  int64_t extent(size_t d) const { return d == axis ? rows : std::min(to.dims[d], from.dims[d]); }
  bool isWhole(size_t d) const { return extent(d) == to.dims[d] && extent(d) == from.dims[d]; }
};

/// Bytes of everything inside dim `d`.
int64_t innerBytes(std::span<const int64_t> dims, size_t d, int64_t elementSize) {
  for (size_t i = d + 1; i < dims.size(); ++i)
    elementSize *= dims[i];
  return elementSize;
}

/// Calls `take(to, from, bytes)`, with offsets in bytes, for each stretch of dim `stretch` under dim `d`.
template <typename Take>
void forEachStretch(const Walk &walk, size_t d, size_t stretch, int64_t toAt, int64_t fromAt, Take &take) {
  int64_t toStride = innerBytes(walk.to.dims, d, walk.elementSize);
  int64_t fromStride = innerBytes(walk.from.dims, d, walk.elementSize);
  if (d == walk.axis) {
    toAt += walk.to.row * toStride;
    fromAt += walk.from.row * fromStride;
  }
  if (d == stretch)
    return take(toAt, fromAt, walk.extent(d) * toStride);
  for (int64_t i = 0; i < walk.extent(d); ++i)
    forEachStretch(walk, d + 1, stretch, toAt + i * toStride, fromAt + i * fromStride, take);
}

template <typename Take> void forEachStretch(const Walk &walk, Take take) {
  size_t stretch = walk.to.dims.size() - 1; // rows lie along a dim, so there is one
  // All dims inside a stretch are whole, so its elements follow one another on both sides.
  while (stretch > 0 && walk.isWhole(stretch))
    --stretch;
  forEachStretch(walk, 0, stretch, 0, 0, take);
}

} // namespace

size_t bytesOf(std::span<const int64_t> dims, int64_t elementSize) {
  for (int64_t dim : dims)
    elementSize *= dim;
  return size_t(elementSize);
}

void copyRows(std::byte *to, RowPlace toPlace, const std::byte *from, RowPlace fromPlace, uint32_t axis, int64_t rows,
              int64_t elementSize) {
  forEachStretch({toPlace, fromPlace, axis, rows, elementSize}, [&](int64_t toAt, int64_t fromAt, int64_t bytes) {
    std::memcpy(to + toAt, from + fromAt, size_t(bytes));
  });
}

void fillRows(std::byte *to, RowPlace place, uint32_t axis, int64_t rows, int64_t elementSize,
              std::span<const std::byte> element) {
  forEachStretch({place, place, axis, rows, elementSize}, [&](int64_t at, int64_t, int64_t bytes) {
    if (element.empty())
      std::memset(to + at, 0, size_t(bytes));
    for (int64_t i = 0; i < bytes && !element.empty(); i += elementSize)
      std::memcpy(to + at + i, element.data(), size_t(elementSize));
  });
}

} // namespace llmc::batch
