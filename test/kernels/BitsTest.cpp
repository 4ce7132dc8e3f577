// Two builds of one kernel give the same bits: bitcode and source for one CPU level, and, but for the
// signs and payloads of NaNs, the bitcode of two levels.
#include "test/kernels/BitsCases.h"
#include "test/kernels/Image.h"

#include <gtest/gtest.h>

#include <iomanip>
#include <sstream>

using namespace llmc::test;

static const char *const mnemonics[] = {
#define LLMC_KERNEL(name) #name,
#include "kernels/Kernels.def"
#undef LLMC_KERNEL
};
static const int32_t dtypes[] = {LLMC_F32, LLMC_F16, LLMC_BF16, LLMC_F64, LLMC_I8,  LLMC_U8,  LLMC_I16,
                                 LLMC_U16, LLMC_I32, LLMC_U32,  LLMC_I64, LLMC_U64, LLMC_BOOL};

static std::string firstDifference(const Outcome &a, const Outcome &b) {
  std::ostringstream os;
  os << "status " << a.status << " and " << b.status;
  for (size_t i = 0; i < a.bytes.size() && i < b.bytes.size(); ++i)
    if (a.bytes[i] != b.bytes[i]) {
      os << ", byte " << i << std::hex;
      for (size_t j = i & ~size_t(7); j < a.bytes.size() && j < (i & ~size_t(7)) + 8; ++j)
        os << ' ' << (a.bytes[j] & 0xff) << '/' << (b.bytes[j] & 0xff);
      break;
    }
  return os.str();
}

/// Runs all cases of all kernels in both images. Returns the number of calls that did something.
static int compare(const Image &a, const Image &b, bool anyNan) {
  int calls = 0;
  for (int line = 0; line < int(std::size(mnemonics)); ++line) {
    llmc_reference_kernel first = a.kernel(line), second = b.kernel(line);
    if (!first || !second) {
      ADD_FAILURE() << "no kernel " << mnemonics[line];
      continue;
    }
    bool isCast = mnemonics[line] == std::string("cast");
    for (const KernelCase &description : casesOf(mnemonics[line]))
      for (int32_t dtype : dtypes)
        for (int32_t target : dtypes)
          for (uint32_t seed = 0; seed < 3 && (isCast || target == dtype); ++seed) {
            Outcome x = runCase(first, description, dtype, target, seed),
                    y = runCase(second, description, dtype, target, seed);
            if (anyNan && description.output.element == Element::Swept)
              x.mergeNans(target), y.mergeNans(target);
            EXPECT_TRUE(x == y) << mnemonics[line] << ", dtype " << dtype << " to " << target << ", seed " << seed
                                << ": " << firstDifference(x, y);
            calls += x.status != LLMC_KERNEL_UNSUPPORTED;
          }
  }
  return calls;
}

class KernelBits : public testing::TestWithParam<const char *> {};

TEST_P(KernelBits, AreTheSameFromBitcodeAndSource) {
  if (!hostRuns(GetParam()))
    GTEST_SKIP() << "this processor does not run x86-64-" << GetParam();
  EXPECT_GT(compare(Image("bitcode", GetParam()), Image("native", GetParam()), /*anyNan=*/false), 1000);
}

INSTANTIATE_TEST_SUITE_P(Levels, KernelBits, testing::Values("v2", "v3", "v4"));

TEST(KernelBits, AreTheSameOnLevelsWithAndWithoutFusedMultiplyAdd) {
  if (!hostRuns("v3"))
    GTEST_SKIP() << "this processor does not run x86-64-v3";
  EXPECT_GT(compare(Image("bitcode", "v2"), Image("bitcode", "v3"), /*anyNan=*/true), 1000);
}

TEST(KernelBits, HaveCasesForEveryKernelThatItSupports) {
  Image image("bitcode", "v2");
  for (int line = 0; line < int(std::size(mnemonics)); ++line) {
    int supported = 0;
    for (const KernelCase &description : casesOf(mnemonics[line]))
      for (int32_t dtype : dtypes)
        supported += runCase(image.kernel(line), description, dtype, dtype, 0).status == LLMC_KERNEL_OK;
    EXPECT_GT(supported, 0) << mnemonics[line];
  }
}
