// The mathematical functions of the reference kernels, the same code natively and in artifacts.
//
// Each result is the correctly rounded one on every level: of floats always, of doubles but for arguments whose result
// lies within 2^-88 or so of the middle between two doubles. So levels agree. On levels with FMA the float functions
// and most double functions are those of LLVM's libc (CMakeLists.txt lists them); the others are computed in
// double-double (Functions.h), a microsecond or so each. None of them allocates or raises traps.
#ifndef LLMC_KERNELS_REFERENCE_MATH_MATH_H
#define LLMC_KERNELS_REFERENCE_MATH_MATH_H

#pragma GCC visibility push(hidden)
#define LLMC_MATH_UNARY(name)                                                                                          \
  extern "C" float llmc_##name##f(float x);                                                                            \
  extern "C" double llmc_##name(double x);                                                                             \
  namespace llmc::reference::math {                                                                                    \
  inline float name(float x) { return llmc_##name##f(x); }                                                             \
  inline double name(double x) { return llmc_##name(x); }                                                              \
  }
#include "kernels/reference/math/Math.def"
#undef LLMC_MATH_UNARY

extern "C" float llmc_powf(float x, float y);
extern "C" double llmc_pow(double x, double y);
extern "C" float llmc_fmaf(float a, float b, float c);
extern "C" double llmc_fma(double a, double b, double c);
extern "C" double llmc_fmod(double x, double y);

#pragma GCC visibility pop

namespace llmc::reference::math {

inline float pow(float x, float y) { return llmc_powf(x, y); }
inline double pow(double x, double y) { return llmc_pow(x, y); }

/// a * b + c with one rounding: an instruction where the level has one.
inline float fma(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return llmc_fmaf(a, b, c);
#endif
}
inline double fma(double a, double b, double c) {
#ifdef __FMA__
  return __builtin_fma(a, b, c);
#else
  return llmc_fma(a, b, c);
#endif
}

/// The exact remainder of x / y with the sign of x. (A float's remainder is exact in double and in float.)
inline double fmod(double x, double y) { return llmc_fmod(x, y); }
inline float fmod(float x, float y) { return float(llmc_fmod(x, y)); }

inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline double floor(double x) { return __builtin_floor(x); }
inline float ceil(float x) { return __builtin_ceilf(x); }
inline double ceil(double x) { return __builtin_ceil(x); }
inline float roundEven(float x) { return __builtin_roundevenf(x); }
inline double roundEven(double x) { return __builtin_roundeven(x); }

} // namespace llmc::reference::math

#endif // LLMC_KERNELS_REFERENCE_MATH_MATH_H
