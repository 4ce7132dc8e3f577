// The arithmetic of sliding windows (convolution, pooling): output sizes, automatic padding, and the taps of one output
// position. Shape inference and all kernels use these, so that they can not disagree.
#ifndef LLMC_KERNELS_REFERENCE_WINDOW_H
#define LLMC_KERNELS_REFERENCE_WINDOW_H

#include "kernels/reference/Tensor.h"

namespace llmc::reference {

/// One spatial dimension of a window: tap k of output o reads input o * stride + k * dilation - padBegin.
struct WindowDim {
  int64_t kernel = 1, stride = 1, dilation = 1, padBegin = 0, padEnd = 0;

  /// Input positions from the first tap to the last.
  int64_t extent() const { return (kernel - 1) * dilation + 1; }
  int64_t position(int64_t output, int64_t tap) const { return output * stride + tap * dilation - padBegin; }
};

/// The number of window positions over `size` inputs; 0 if the window does not fit. With `roundUp` (ceil_mode) a last
/// partial window counts, unless it starts in the padding behind the input.
inline int64_t windowCount(int64_t size, const WindowDim &window, bool roundUp) {
  int64_t room = size + window.padBegin + window.padEnd - window.extent();
  if (room < 0)
    return roundUp && room > -window.stride && size + window.padBegin > 0 ? 1 : 0;
  int64_t count = room / window.stride + 1;
  if (roundUp && room % window.stride != 0 && count * window.stride < size + window.padBegin)
    ++count;
  return count;
}

/// Sets the pads of auto_pad SAME_UPPER (odd padding at the end) or SAME_LOWER (at the beginning), with which
/// windowCount is ceil(size / stride).
inline void padSame(int64_t size, WindowDim &window, bool lower) {
  int64_t count = (size + window.stride - 1) / window.stride;
  int64_t total = (count - 1) * window.stride + window.extent() - size;
  total = total < 0 ? 0 : total;
  window.padBegin = lower ? total - total / 2 : total / 2;
  window.padEnd = total - window.padBegin;
}

/// Kernels work on three spatial dims: missing leading ones have size 1 and a window of one tap.
inline constexpr int32_t spatialDims = 3;

/// A window over up to three dims, in row-major order of taps.
struct Window {
  WindowDim dims[spatialDims];

  int64_t taps() const { return dims[0].kernel * dims[1].kernel * dims[2].kernel; }
};

/// Builds a window from lists as ONNX has them: one entry per spatial dim, pads first all begins, then all ends.
inline Window makeWindow(const Dims &kernel, const Dims &strides, const Dims &pads, const Dims &dilations) {
  Window window;
  int32_t rank = kernel.rank;
  for (int32_t d = 0; d < rank; ++d)
    window.dims[spatialDims - rank + d] = {kernel[d], strides[d], dilations[d], pads[d], pads[rank + d]};
  return window;
}

/// How a window finds its pads.
enum AutoPad : int64_t { explicitPads = 0, sameUpper = 1, sameLower = 2 };

/// A batch of images, N x C x spatial or N x spatial x C, seen with three spatial dims.
struct ImageView {
  int64_t batch, channels, size[spatialDims];
  int64_t batchStride, channelStride, stride[spatialDims];

  ImageView(const llmc_tensor &tensor, bool channelsLast) {
    Dims strides = stridesOf(tensor);
    int32_t spatial = tensor.rank - 2, channel = channelsLast ? tensor.rank - 1 : 1;
    batch = tensor.dims[0], batchStride = strides[0];
    channels = tensor.dims[channel], channelStride = strides[channel];
    for (int32_t d = 0; d < spatialDims; ++d) {
      int32_t from = d - (spatialDims - spatial) + (channelsLast ? 1 : 2);
      bool present = d >= spatialDims - spatial;
      size[d] = present ? tensor.dims[from] : 1;
      stride[d] = present ? strides[from] : 0;
    }
  }
  int64_t offset(int64_t n, int64_t c, const int64_t (&at)[spatialDims]) const {
    return n * batchStride + c * channelStride + at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2];
  }
};

/// Sets the pads that `mode` asks for, over the sizes of `input`.
inline void applyAutoPad(Window &window, int64_t mode, const ImageView &input) {
  for (int32_t d = 0; mode != explicitPads && d < spatialDims; ++d)
    padSame(input.size[d], window.dims[d], mode == sameLower);
}

/// Calls `body(n, c, position)` for each element of an image batch, batch outermost, then channels.
template <typename Body> void forEachPixel(const ImageView &image, Body body) {
  int64_t at[spatialDims];
  for (int64_t n = 0; n < image.batch; ++n)
    for (int64_t c = 0; c < image.channels; ++c)
      for (at[0] = 0; at[0] < image.size[0]; ++at[0])
        for (at[1] = 0; at[1] < image.size[1]; ++at[1])
          for (at[2] = 0; at[2] < image.size[2]; ++at[2])
            body(n, c, at);
}

/// Calls `body(tap, position)` for the taps of the window at `output` that lie inside the input, in row-major order;
/// `tap` is the tap's row-major index and `position` its place in the input.
template <typename Body>
void forEachTap(const Window &window, const ImageView &input, const int64_t (&output)[spatialDims], Body body) {
  int64_t tap = 0, at[spatialDims];
  auto inside = [&](int32_t d, int64_t k) {
    at[d] = window.dims[d].position(output[d], k);
    return at[d] >= 0 && at[d] < input.size[d];
  };
  for (int64_t i = 0; i < window.dims[0].kernel; ++i)
    for (int64_t j = 0; j < window.dims[1].kernel; ++j)
      for (int64_t k = 0; k < window.dims[2].kernel; ++k, ++tap)
        if (inside(0, i) && inside(1, j) && inside(2, k))
          body(tap, at);
}

/// The number of taps of the window at `output` that lie inside the padded input: pads count, what is beyond them does
/// not.
inline int64_t paddedTaps(const Window &window, const ImageView &input, const int64_t (&output)[spatialDims]) {
  int64_t count = 1;
  for (int32_t d = 0; d < spatialDims; ++d) {
    const WindowDim &dim = window.dims[d];
    int64_t inside = 0;
    for (int64_t k = 0; k < dim.kernel; ++k)
      inside += dim.position(output[d], k) < input.size[d] + dim.padEnd;
    count *= inside;
  }
  return count;
}

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_WINDOW_H
