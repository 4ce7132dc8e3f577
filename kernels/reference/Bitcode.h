// The reference kernels and their mathematics for artifacts: bytes embedded in the compiler, one set per CPU level.
#ifndef LLMC_KERNELS_REFERENCE_BITCODE_H
#define LLMC_KERNELS_REFERENCE_BITCODE_H

#include <span>
#include <string_view>

namespace llmc::reference {

/// LLVM bitcode that defines every llmc_ref_<mnemonic> (hidden, `no-builtins`, CPU attributes of the level). It refers
/// to functions of math/Math.h and, once compiled, of math/Support.cpp: link mathObject() of the same level behind it.
/// Levels: "x86-64-v2", "x86-64-v3", "x86-64-v4"; empty for others. Static storage.
std::span<const char> bitcode(std::string_view level);

/// A relocatable ELF object that resolves these references and has none of its own. Its functions lie in sections of
/// their own, so that a linker with --gc-sections keeps what is used; all symbols are hidden. Empty for unknown levels.
std::span<const char> mathObject(std::string_view level);

} // namespace llmc::reference

#endif // LLMC_KERNELS_REFERENCE_BITCODE_H
