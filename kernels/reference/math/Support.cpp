// What an artifact's code may call without naming it: functions that LLVM's code generator calls for plain C++ and IR,
// and those that the packaged libc members refer to. Linked into artifacts only: a process has its own.
#include "kernels/reference/Convert.h"
#include "kernels/reference/math/Math.h"

#include <stddef.h>

using namespace llmc::reference;

#pragma GCC visibility push(hidden)

extern "C" {

// Processors of every level copy and fill long blocks fastest with their string instructions.
void *memcpy(void *to, const void *from, size_t size) {
  void *target = to;
  __asm__ volatile("rep movsb" : "+D"(target), "+S"(from), "+c"(size) : : "memory");
  return to;
}

void *memset(void *to, int value, size_t size) {
  void *target = to;
  __asm__ volatile("rep stosb" : "+D"(target), "+c"(size) : "a"(value) : "memory");
  return to;
}

void *memmove(void *to, const void *from, size_t size) {
  if (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from) >=
      size) // forward does not overwrite its source
    return memcpy(to, from, size);
  for (size_t i = size; i > 0; --i)
    static_cast<char *>(to)[i - 1] = static_cast<const char *>(from)[i - 1];
  return to;
}

/// The libc functions set errno on domain errors; nobody reads it. One per thread is not needed: the stores are all of
/// one size and their value is never used.
int *__errno_location() {
  static int ignored;
  return &ignored;
}

/// Called when a stack canary of the packaged functions was overwritten.
[[noreturn]] void __stack_chk_fail() { __builtin_trap(); }

// IR operations without an instruction on every level: frem, fma, and the conversions of small floats.
double fmod(double x, double y) { return llmc_fmod(x, y); }
float fmodf(float x, float y) { return float(llmc_fmod(x, y)); }
double fma(double a, double b, double c) { return math::fma(a, b, c); }
float fmaf(float a, float b, float c) { return math::fma(a, b, c); }
float __extendhfsf2(_Float16 x) { return decode(bitCast<Half>(x)); }
_Float16 __truncsfhf2(float x) { return bitCast<_Float16>(convert<Half>(x)); }
_Float16 __truncdfhf2(double x) { return bitCast<_Float16>(convert<Half>(x)); }
__bf16 __truncsfbf2(float x) { return bitCast<__bf16>(convert<BFloat16>(x)); }
__bf16 __truncdfbf2(double x) { return bitCast<__bf16>(convert<BFloat16>(x)); }
}

#pragma GCC visibility pop
