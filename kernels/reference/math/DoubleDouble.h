// Arithmetic on unevaluated sums of two doubles (Dekker 1971; Hida, Li and Bailey 2001): about 2^-102 relative error
// per operation. Functions computed in it and rounded once are correctly rounded in float, and in double but for
// arguments whose result lies within 2^-88 or so of the middle between two doubles. Slow and simple: used where the
// math library has nothing.
#ifndef LLMC_KERNELS_REFERENCE_MATH_DOUBLEDOUBLE_H
#define LLMC_KERNELS_REFERENCE_MATH_DOUBLEDOUBLE_H

namespace llmc::reference::math {

/// The value high + low, with |low| at most half a unit in the last place of high.
struct DoubleDouble {
  double high = 0, low = 0;
};

/// a + b for |a| >= |b|, exactly.
inline DoubleDouble fastTwoSum(double a, double b) {
  double s = a + b;
  return {s, b - (s - a)};
}
/// a + b, exactly.
inline DoubleDouble twoSum(double a, double b) {
  double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
/// a * b, exactly, while nothing over- or underflows (|a|, |b| < 2^995).
inline DoubleDouble twoProduct(double a, double b) {
  double p = a * b;
#ifdef __FMA__
  return {p, __builtin_fma(a, b, -p)};
#else
  auto high = [](double x) {
    double t = 134217729.0 * x; // 2^27 + 1
    return t - (t - x);
  };
  double ah = high(a), al = a - ah, bh = high(b), bl = b - bh;
  return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
#endif
}

inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }
inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  DoubleDouble s = twoSum(a.high, b.high), t = twoSum(a.low, b.low);
  s = fastTwoSum(s.high, s.low + t.high);
  return fastTwoSum(s.high, s.low + t.low);
}
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  DoubleDouble p = twoProduct(a.high, b.high);
  return fastTwoSum(p.high, p.low + (a.high * b.low + a.low * b.high));
}
inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  double first = a.high / b.high;
  DoubleDouble rest = a - b * DoubleDouble{first};
  double second = rest.high / b.high;
  rest = rest - b * DoubleDouble{second};
  DoubleDouble sum = fastTwoSum(first, second);
  return sum + DoubleDouble{rest.high / b.high};
}
inline DoubleDouble root(DoubleDouble a) {
  if (a.high == 0)
    return a;
  double first = __builtin_sqrt(a.high);
  DoubleDouble rest = a - twoProduct(first, first);
  return fastTwoSum(first, rest.high / (2 * first));
}
/// a * 2^power for a power that neither over- nor underflows.
inline DoubleDouble scaled(DoubleDouble a, double factor) { return {a.high * factor, a.low * factor}; }

inline constexpr DoubleDouble ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
inline constexpr DoubleDouble halfPi{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
inline constexpr DoubleDouble twoOverRootPi{0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};

} // namespace llmc::reference::math

#endif // LLMC_KERNELS_REFERENCE_MATH_DOUBLEDOUBLE_H
