//===- RowBlocks.h - Moves the rows of requests into batches and back ---------------------------------------------===//
//
// A tensor is row-major; its rows lie along any axis. What a request has of a tensor may be smaller than its place in the
// batch in the other dims: it lies at their beginning.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_BATCH_ROWBLOCKS_H
#define LLMC_RUNTIME_BATCH_ROWBLOCKS_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace llmc::batch {

/// Where rows begin in a tensor.
struct RowPlace {
  std::span<const int64_t> dims; // of the whole tensor
  int64_t row = 0;
};

/// Bytes of a tensor. The product is known to fit.
size_t bytesOf(std::span<const int64_t> dims, int64_t elementSize);

/// Copies `rows` rows along `axis`, of the other dims as much as both sides have.
void copyRows(std::byte *to, RowPlace toPlace, const std::byte *from, RowPlace fromPlace, uint32_t axis, int64_t rows,
              int64_t elementSize);

/// Sets `rows` rows to `element`, `elementSize` bytes; to zeros if it is empty.
void fillRows(std::byte *to, RowPlace place, uint32_t axis, int64_t rows, int64_t elementSize,
              std::span<const std::byte> element);

} // namespace llmc::batch

#endif // LLMC_RUNTIME_BATCH_ROWBLOCKS_H
