// Everything else, for levels without FMA: LLVM's libc as packaged needs it.
#include "kernels/reference/math/Power.h"

using namespace llmc::reference::math;

extern "C" {
float llmc_acosf(float x) { return acosFunction(x); }
float llmc_acoshf(float x) { return acoshFunction(x); }
float llmc_asinf(float x) { return asinFunction(x); }
float llmc_asinhf(float x) { return asinhFunction(x); }
float llmc_atanf(float x) { return atanFunction(x); }
float llmc_atanhf(float x) { return atanhFunction(x); }
float llmc_cosf(float x) { return cosFunction(x); }
float llmc_coshf(float x) { return coshFunction(x); }
float llmc_erff(float x) { return erfFunction(x); }
float llmc_expf(float x) { return expFunction(x); }
float llmc_expm1f(float x) { return expm1Function(x); }
float llmc_logf(float x) { return logFunction(x); }
float llmc_log1pf(float x) { return log1pFunction(x); }
float llmc_powf(float x, float y) { return powFunction(x, y); }
float llmc_sinf(float x) { return sinFunction(x); }
float llmc_sinhf(float x) { return sinhFunction(x); }
float llmc_tanf(float x) { return tanFunction(x); }
float llmc_tanhf(float x) { return tanhFunction(x); }

double llmc_acos(double x) { return acosFunction(x); }
double llmc_asin(double x) { return asinFunction(x); }
double llmc_cos(double x) { return cosFunction(x); }
double llmc_exp(double x) { return expFunction(x); }
double llmc_expm1(double x) { return expm1Function(x); }
double llmc_log(double x) { return logFunction(x); }
double llmc_log1p(double x) { return log1pFunction(x); }
double llmc_sin(double x) { return sinFunction(x); }
double llmc_tan(double x) { return tanFunction(x); }
}
