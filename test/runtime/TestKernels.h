//===- TestKernels.h - Exports and images of kernels.c ------------------------------------------------------------===//
#ifndef LLMC_TEST_RUNTIME_TESTKERNELS_H
#define LLMC_TEST_RUNTIME_TESTKERNELS_H

#include "test/runtime/PlanBuilder.h"

namespace llmc::test {

/// The image of kernels.c for x86-64-v`level`.
const Bytes &kernelImage(int level);
/// The executable with all kernels, one variant per level; variant v's code is all of segment `firstSegment` + v.
std::unique_ptr<plan::ExecutableT> kernelExecutable(const std::vector<int> &levels, uint32_t firstSegment);
/// Index of a kernel among the executable's exports.
uint32_t kernelIndex(std::string_view name);

} // namespace llmc::test

#endif // LLMC_TEST_RUNTIME_TESTKERNELS_H
