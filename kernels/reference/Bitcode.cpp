#include "kernels/reference/Bitcode.h"

// Defined by Bitcode.S.in.
#define LLMC_EMBEDDED(name)                                                                                            \
  extern "C" const char llmc_embedded_##name[], llmc_embedded_##name##_end[];                                          \
  static std::span<const char> name() { return {llmc_embedded_##name, llmc_embedded_##name##_end}; }
LLMC_EMBEDDED(bitcode_v2)
LLMC_EMBEDDED(bitcode_v3)
LLMC_EMBEDDED(bitcode_v4)
LLMC_EMBEDDED(math_v2)
LLMC_EMBEDDED(math_v3)
LLMC_EMBEDDED(math_v4)
#undef LLMC_EMBEDDED

std::span<const char> llmc::reference::bitcode(std::string_view level) {
  if (level == "x86-64-v2")
    return bitcode_v2();
  if (level == "x86-64-v3")
    return bitcode_v3();
  if (level == "x86-64-v4")
    return bitcode_v4();
  return {};
}

std::span<const char> llmc::reference::mathObject(std::string_view level) {
  if (level == "x86-64-v2")
    return math_v2();
  if (level == "x86-64-v3")
    return math_v3();
  if (level == "x86-64-v4")
    return math_v4();
  return {};
}
