// The index conventions of ONNX in one place, in saturating int64 arithmetic: for kernels and for shape inference.
#ifndef LLMC_KERNELS_REFERENCE_INDEXING_H
#define LLMC_KERNELS_REFERENCE_INDEXING_H

#include <stdint.h>

namespace llmc::reference {

/// Makes an index or axis that may count from the end non-negative. False if it is not in [-size, size).
inline bool normalizeIndex(int64_t &index, int64_t size) {
  if (index < -size || index >= size)
    return false;
  index += index < 0 ? size : 0;
  return true;
}

inline int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/// A slice of one dimension in canonical form: elements start, start + step, ..., `count` of them, all in range.
struct SliceRange {
  int64_t start, step, count;
};

/// The rules of ONNX Slice: negative bounds count from the end, then bounds clamp to what the step's direction can use;
/// a start in front of the dim clamps to 0 for negative steps too (numpy picks nothing there). `step` is not 0.
inline SliceRange sliceRange(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (size == 0)
    return {0, step, 0};
  start += start < 0 ? size : 0; // can not overflow: opposite signs
  end += end < 0 ? size : 0;
  int64_t high = step > 0 ? size : size - 1;
  start = clamp(start, 0, high);
  end = clamp(end, step > 0 ? 0 : -1, high);
  uint64_t span = step > 0 ? (end > start ? uint64_t(end - start) : 0) : (start > end ? uint64_t(start - end) : 0);
  if (span == 0)
    return {0, step, 0};
  uint64_t stride = step > 0 ? uint64_t(step) : uint64_t(0) - uint64_t(step);
  return {start, step, int64_t((span - 1) / stride) + 1};
}

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_INDEXING_H
