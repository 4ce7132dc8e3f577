// The index conventions against a literal reading of the operator text, at the ends of the integers.
#include "kernels/reference/Indexing.h"

#include <gtest/gtest.h>

#include <vector>

using namespace llmc::reference;

TEST(Indexing, NormalizesIndices) {
  for (int64_t size : {0, 1, 3})
    for (int64_t index : {INT64_MIN, -size - 1, -size, int64_t(-1), int64_t(0), size - 1, size, size + 1, INT64_MAX}) {
      int64_t value = index;
      bool isValid = index >= -size && index < size;
      EXPECT_EQ(normalizeIndex(value, size), isValid) << index << " of " << size;
      EXPECT_EQ(value, isValid && index < 0 ? index + size : index);
    }
}

/// Slice as the operator text has it, in wider integers.
static std::vector<int64_t> sliced(__int128 size, __int128 start, __int128 end, __int128 step) {
  auto clampTo = [](__int128 value, __int128 low, __int128 high) {
    return value < low ? low : value > high ? high : value;
  };
  start += start < 0 ? size : 0;
  end += end < 0 ? size : 0;
  start = step > 0 ? clampTo(start, 0, size) : clampTo(start, 0, size - 1);
  end = step > 0 ? clampTo(end, 0, size) : clampTo(end, -1, size - 1);
  std::vector<int64_t> picked;
  for (__int128 i = start; step > 0 ? i < end : i > end; i += step)
    picked.push_back(int64_t(i));
  return picked;
}

TEST(Indexing, SlicesAsTheOperatorTextSays) {
  const int64_t bounds[] = {INT64_MIN, INT64_MIN + 1, -6, -5, -4, -1, 0, 1, 3, 4, 5, INT64_MAX - 1, INT64_MAX};
  const int64_t steps[] = {INT64_MIN, -5, -2, -1, 1, 2, 5, INT64_MAX};
  for (int64_t size : {0, 1, 4, 5})
    for (int64_t start : bounds)
      for (int64_t end : bounds)
        for (int64_t step : steps) {
          SliceRange range = sliceRange(size, start, end, step);
          std::vector<int64_t> picked;
          for (int64_t i = 0; i < range.count; ++i)
            picked.push_back(range.start + i * (range.count > 1 ? range.step : 0));
          if (size == 0)
            EXPECT_EQ(range.count, 0);
          else
            EXPECT_EQ(picked, sliced(size, start, end, step)) << size << ' ' << start << ' ' << end << ' ' << step;
        }
}
