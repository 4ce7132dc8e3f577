// Activation functions on floats, in forms that neither overflow nor cancel where the plain formula does.
#include "kernels/reference/Arithmetic.h"
#include "kernels/reference/Elementwise.h"

using namespace llmc::reference;

/// 1 / (1 + exp(-x)), by the exponential that can not overflow.
LLMC_REFERENCE_KERNEL(sigmoid) {
  return unaryFloat(args, []<typename T>(T x) {
    T e = math::exp(-magnitude(x));
    return (x < T(0) ? e : T(1)) / (T(1) + e);
  });
}

/// log(1 + exp(x))
LLMC_REFERENCE_KERNEL(softplus) {
  return unaryFloat(args, []<typename T>(T x) { return maximum(x, T(0)) + math::log1p(math::exp(-magnitude(x))); });
}

/// x / (1 + |x|)
LLMC_REFERENCE_KERNEL(softsign) {
  return unaryFloat(args, []<typename T>(T x) { return x / (T(1) + magnitude(x)); });
}

/// max(0, min(1, alpha * x + beta))
template <typename T> static T hardSigmoid(T x, T alpha, T beta) {
  return maximum(T(0), minimum(T(1), alpha * x + beta));
}

/// floats: alpha, beta
LLMC_REFERENCE_KERNEL(hard_sigmoid) {
  return unaryFloat(args, [args]<typename T>(T x) { return hardSigmoid(x, T(args->floats[0]), T(args->floats[1])); });
}

/// x * hard_sigmoid(x) with alpha 1/6 and beta 1/2
LLMC_REFERENCE_KERNEL(hard_swish) {
  return unaryFloat(args, []<typename T>(T x) { return x * hardSigmoid(x, T(1) / T(6), T(0.5)); });
}

/// x < 0 ? alpha * x : x; floats: alpha
LLMC_REFERENCE_KERNEL(leaky_relu) {
  return unaryFloat(args, [args]<typename T>(T x) { return x < T(0) ? T(args->floats[0]) * x : x; });
}

/// x < 0 ? alpha * (exp(x) - 1) : x; floats: alpha
LLMC_REFERENCE_KERNEL(elu) {
  return unaryFloat(args, [args]<typename T>(T x) { return x < T(0) ? T(args->floats[0]) * math::expm1(x) : x; });
}

/// x / 2 * (1 + erf(x / sqrt(2))), or its tanh form x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)));
/// ints: tanh form
LLMC_REFERENCE_KERNEL(gelu) {
  bool tanhForm = args->ints[0] != 0;
  return unaryFloat(args, [tanhForm]<typename T>(T x) {
    constexpr T sqrtHalf = T(0.70710678118654752440), sqrtTwoOverPi = T(0.79788456080286535588);
    T inner = tanhForm ? math::tanh(sqrtTwoOverPi * (x + T(0.044715) * x * x * x)) : math::erf(x * sqrtHalf);
    return T(0.5) * x * (T(1) + inner);
  });
}
