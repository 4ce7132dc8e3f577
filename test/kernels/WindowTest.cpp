// Window arithmetic against a count of positions.
#include "kernels/reference/Window.h"

#include <gtest/gtest.h>

using namespace llmc::reference;

/// Window positions: those that fit into the padded input, and with `roundUp` one more that begins in the input or in
/// front of it but ends behind the pads.
static int64_t countPositions(int64_t size, const WindowDim &w, bool roundUp) {
  int64_t count = 0, padded = size + w.padBegin + w.padEnd;
  for (int64_t start = 0; start < padded; start += w.stride) {
    if (start + w.extent() <= padded)
      ++count;
    else if (roundUp && start < size + w.padBegin && start - w.stride + w.extent() < padded)
      return count + 1;
    else
      break;
  }
  return count;
}

template <typename Body> static void forEachWindow(Body body) {
  for (int64_t size = 1; size <= 7; ++size)
    for (int64_t kernel = 1; kernel <= 4; ++kernel)
      for (int64_t stride = 1; stride <= 3; ++stride)
        for (int64_t dilation = 1; dilation <= 3; ++dilation)
          for (int64_t begin = 0; begin <= 3; ++begin)
            for (int64_t end = 0; end <= 3; ++end)
              body(size, WindowDim{kernel, stride, dilation, begin, end});
}

TEST(Window, CountsPositions) {
  forEachWindow([](int64_t size, const WindowDim &w) {
    for (bool roundUp : {false, true})
      ASSERT_EQ(windowCount(size, w, roundUp), countPositions(size, w, roundUp))
          << size << " kernel " << w.kernel << " stride " << w.stride << " dilation " << w.dilation << " pads "
          << w.padBegin << ' ' << w.padEnd << " ceil " << roundUp;
  });
}

TEST(Window, PadsForEqualSize) {
  forEachWindow([](int64_t size, WindowDim w) {
    for (bool lower : {false, true}) {
      padSame(size, w, lower);
      int64_t total = w.padBegin + w.padEnd;
      ASSERT_EQ(lower ? w.padBegin : w.padEnd, (total + 1) / 2);
      // Without padding to remove, an input that overhangs the last window gives the same count.
      ASSERT_EQ(windowCount(size, w, false), (size + w.stride - 1) / w.stride);
    }
  });
}

TEST(Window, ViewsImagesInBothLayouts) {
  int64_t dims[] = {2, 3, 4, 5};
  llmc_tensor tensor{nullptr, dims, nullptr, LLMC_F32, 4};
  ImageView planes(tensor, false), pixels(tensor, true);
  const int64_t at[] = {0, 1, 2};
  EXPECT_EQ(planes.channels, 3);
  EXPECT_EQ(planes.offset(1, 2, at), 60 + 2 * 20 + 1 * 5 + 2);
  EXPECT_EQ(pixels.channels, 5);
  EXPECT_EQ(pixels.offset(1, 2, at), 60 + 1 * 20 + 2 * 5 + 2);
}
