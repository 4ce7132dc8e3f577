// The double functions that are ours on every level: LLVM's libc lacks most of them; its atan is not correctly rounded,
// and its pow is wrong where |y log x| is huge (22.1.8: pow(0x1p-361, -0x1p362) is -infinity).
#include "kernels/reference/math/Power.h"

using namespace llmc::reference::math;

extern "C" {
double llmc_acosh(double x) { return acoshFunction(x); }
double llmc_asinh(double x) { return asinhFunction(x); }
double llmc_atan(double x) { return atanFunction(x); }
double llmc_atanh(double x) { return atanhFunction(x); }
double llmc_cosh(double x) { return coshFunction(x); }
double llmc_erf(double x) { return erfFunction(x); }
double llmc_pow(double x, double y) { return powFunction(x, y); }
double llmc_sinh(double x) { return sinhFunction(x); }
double llmc_tanh(double x) { return tanhFunction(x); }
}
