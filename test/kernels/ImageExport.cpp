// The way into an image of kernels: they are hidden in it, as in an artifact.
#include "kernels/abi/kernel_abi.h"

#define LLMC_KERNEL(mnemonic) extern "C" int32_t llmc_ref_##mnemonic(const llmc_reference_args *);
#include "kernels/Kernels.def"
#undef LLMC_KERNEL

/// The kernel on this line of Kernels.def, counting from 0; null behind the last.
extern "C" [[gnu::visibility("default")]] llmc_reference_kernel llmc_test_kernel(int line) {
#define LLMC_KERNEL(mnemonic)                                                                                          \
  if (line-- == 0)                                                                                                     \
    return llmc_ref_##mnemonic;
#include "kernels/Kernels.def"
#undef LLMC_KERNEL
  return nullptr;
}
