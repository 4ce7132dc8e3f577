//===- Random.cpp - Seeded numbers that are the same on every machine ---------------------------------------------===//

#include "tools/llmc-batch-sim/Random.h"
#include <cmath>

namespace llmc::sim {

static constexpr double kLn2 = 0.69314718055994530942, kPi = 3.14159265358979323846;

/// x = m * 2^e with m near 1; ln m = 2 artanh((m - 1) / (m + 1)).
double naturalLog(double x) {
  int exponent;
  double mantissa = std::frexp(x, &exponent); // exact, like sqrt and floor
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2;
    --exponent;
  }
  double s = (mantissa - 1) / (mantissa + 1), square = s * s, power = s, sum = 0;
  for (int i = 1; i < 22; i += 2, power *= square)
    sum += power / i;
  return 2 * sum + exponent * kLn2;
}

double exponential(double x) {
  double n = std::floor(x / kLn2 + 0.5), rest = x - n * kLn2, term = 1, sum = 1;
  for (int i = 1; i < 18; ++i)
    sum += term *= rest / i;
  return std::ldexp(sum, int(n));
}

double sineOfTurn(double x) {
  double angle = (x - std::floor(x) - 0.5) * 2 * kPi, square = angle * angle, term = angle, sum = angle;
  for (int i = 2; i < 26; i += 2)
    sum += term *= -square / (i * (i + 1));
  return -sum; // half a turn was taken off
}

/// Box and Muller; the second number is not kept, so that a stream has no hidden state.
double Random::normal() {
  double radius = std::sqrt(2 * exponentialTime());
  return radius * sineOfTurn(uniform());
}

double Random::gamma(double shape) {
  if (shape < 1)
    return gamma(shape + 1) * (shape + 1) / shape * exponential(naturalLog(uniform()) / shape);
  double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    double x = normal(), v = 1 + c * x;
    if (v <= 0)
      continue;
    v = v * v * v;
    if (naturalLog(uniform()) < 0.5 * x * x + d - d * v + d * naturalLog(v))
      return d * v / shape;
  }
}

} // namespace llmc::sim
