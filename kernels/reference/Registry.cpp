#include "kernels/reference/Registry.h"

#define LLMC_KERNEL(mnemonic) extern "C" int32_t llmc_ref_##mnemonic(const llmc_reference_args *);
#include "kernels/Kernels.def"
#undef LLMC_KERNEL

llmc_reference_kernel llmc::reference::find(std::string_view mnemonic) {
#define LLMC_KERNEL(name)                                                                                              \
  if (mnemonic == #name)                                                                                               \
    return llmc_ref_##name;
#include "kernels/Kernels.def"
#undef LLMC_KERNEL
  return nullptr;
}
