//===- FloatMode.h - How kernels compute --------------------------------------------------------------------------===//
#ifndef LLMC_RUNTIME_DEVICE_FLOATMODE_H
#define LLMC_RUNTIME_DEVICE_FLOATMODE_H

#include <immintrin.h>

namespace llmc::rt {

/// Kernels compute with the default rounding and with denormals, whatever the caller has set; a thread inherits that from
/// the one that starts it.
class DefaultFloatMode {
public:
  DefaultFloatMode() : before(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~DefaultFloatMode() { _mm_setcsr(before); }
  DefaultFloatMode(const DefaultFloatMode &) = delete;
  DefaultFloatMode &operator=(const DefaultFloatMode &) = delete;

private:
  unsigned before;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_DEVICE_FLOATMODE_H
