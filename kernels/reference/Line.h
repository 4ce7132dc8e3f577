// Kernels that work along one axis: the lines of a tensor, one per position in the other dims.
#ifndef LLMC_KERNELS_REFERENCE_LINE_H
#define LLMC_KERNELS_REFERENCE_LINE_H

#include "kernels/reference/Tensor.h"

namespace llmc::reference {

/// Removes one dim.
inline Dims without(const Dims &dims, int64_t axis) {
  Dims rest{dims.rank - 1};
  for (int32_t d = 0; d < rest.rank; ++d)
    rest[d] = dims[d < axis ? d : d + 1];
  return rest;
}

/// Calls `body(xOffset, yOffset)` with the first element of each line of x and y along `axis`, which both have.
template <typename Body> void forEachLine(const llmc_tensor &x, const llmc_tensor &y, int64_t axis, Body body) {
  const Dims strides[] = {without(stridesOf(x), axis), without(stridesOf(y), axis)};
  forEachElement(without(shapeOf(x), axis), strides, [&](const int64_t *at) { body(at[0], at[1]); });
}

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_LINE_H
