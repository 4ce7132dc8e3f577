// The native reference kernels by name: for constant folding and tests.
#ifndef LLMC_KERNELS_REFERENCE_REGISTRY_H
#define LLMC_KERNELS_REFERENCE_REGISTRY_H

#include "kernels/abi/kernel_abi.h"

#include <string_view>

namespace llmc::reference {

/// The kernel of the graph op with this mnemonic ("add", not "graph.add"), or null. Any thread may call it and the
/// kernel.
llmc_reference_kernel find(std::string_view mnemonic);

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_REGISTRY_H
