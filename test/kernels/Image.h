// The test images of the kernels: shared objects built per CPU level from bitcode ("bitcode") and source ("native").
#ifndef LLMC_TEST_KERNELS_IMAGE_H
#define LLMC_TEST_KERNELS_IMAGE_H

#include "kernels/abi/kernel_abi.h"

#include <string>

namespace llmc::test {

/// Where the image lies; `level` is v2, v3 or v4.
std::string imagePath(const std::string &kind, const std::string &level);

bool hostRuns(const std::string &level);

/// Loads an image for good.
class Image {
public:
  Image(const std::string &kind, const std::string &level);
  /// The kernel on this line of Kernels.def.
  llmc_reference_kernel kernel(int line) const;

private:
  void *handle;
};

} // namespace llmc::test

#endif // LLMC_TEST_KERNELS_IMAGE_H
