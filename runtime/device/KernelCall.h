//===- KernelCall.h - What every device does alike ----------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_KERNELCALL_H
#define LLMC_RUNTIME_DEVICE_KERNELCALL_H

#include "kernels/abi/kernel_abi.h"
#include "runtime/base/Status.h"
#include <cstddef>

namespace llmc::rt {

/// Calls mapped code on a range of work items. `error` describes what it returns.
int32_t callCode(const void *code, const llmc_args &args, int64_t begin, int64_t end, void *scratch);

/// Of a code other than LLMC_KERNEL_OK.
Status faultStatus(const llmc_error &error);
/// The same of a row that a kernel marked with it.
Status rowStatus(int32_t code);

/// Repeats the low bytes of `pattern` through `bytes`, a multiple of them.
void fillBytes(std::byte *at, size_t bytes, uint64_t pattern, unsigned patternBytes);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_KERNELCALL_H
