// Every line of Kernels.def has a test of its name: TEST(ReferenceKernel, <mnemonic>).
#include "kernels/reference/Registry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

static std::set<std::string> testedKernels() {
  std::set<std::string> names;
  const testing::UnitTest &unit = *testing::UnitTest::GetInstance();
  for (int i = 0; i < unit.total_test_suite_count(); ++i)
    if (unit.GetTestSuite(i)->name() == std::string("ReferenceKernel"))
      for (int j = 0; j < unit.GetTestSuite(i)->total_test_count(); ++j)
        names.insert(unit.GetTestSuite(i)->GetTestInfo(j)->name());
  return names;
}

TEST(KernelCoverage, EveryKernelHasATest) {
  std::set<std::string> tested = testedKernels();
#define LLMC_KERNEL(name) EXPECT_TRUE(tested.count(#name)) << #name;
#include "kernels/Kernels.def"
#undef LLMC_KERNEL
}

TEST(KernelCoverage, RegistryFindsExactlyTheListedKernels) {
  std::set<llmc_reference_kernel> found;
  size_t count = 0;
#define LLMC_KERNEL(name) found.insert(llmc::reference::find(#name)), ++count;
#include "kernels/Kernels.def"
#undef LLMC_KERNEL
  EXPECT_EQ(found.size(), count);
  EXPECT_EQ(found.count(nullptr), 0u);
  EXPECT_EQ(llmc::reference::find("no_such_op"), nullptr);
  EXPECT_EQ(llmc::reference::find("graph.add"), nullptr);
  EXPECT_EQ(llmc::reference::find(""), nullptr);
}
