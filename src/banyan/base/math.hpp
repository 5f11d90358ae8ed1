// Elementary functions from IEEE basic operations only, so that draws are the same bits on every machine: library
// versions of log, exp and pow differ in the last bit between processors. Whatever generates goes by these
// (tests/meta/portable_math_test.cpp).
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "banyan/base/types.hpp"

namespace banyan {

/// Natural logarithm of a positive, normal x; relative error below 4e-16. log x = k ln 2 + 2 atanh((m-1)/(m+1)) with
/// m in [sqrt(1/2), sqrt(2)).
[[nodiscard]] inline double portable_log(double x) noexcept {
  const u64 bits = std::bit_cast<u64>(x);
  int exponent = static_cast<int>(bits >> 52U) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double z = (m - 1.0) / (m + 1.0);
  const double w = z * z;
  double series = 0.0;
  for (int k = 21; k >= 3; k -= 2) series = (series + 1.0 / k) * w;
  return exponent * 0.693147180559945309417 + 2.0 * (z + z * series);
}

/// e to the power of x; relative error below 1e-15, and 0 where the result is no normal number (x < -708). e^x = 2^k
/// e^r with |r| <= ln(2) / 2, where ln 2 is subtracted in two parts of which the first has 32 zero bits at its end, so
/// that k times it is exact.
[[nodiscard]] inline double portable_exp(double x) noexcept {
  if (x < -708.0) return 0.0;
  if (x > 709.0) return std::numeric_limits<double>::infinity();
  const double k = std::floor(x * 1.44269504088896340736 + 0.5);
  const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  // Taylor's series: the first term that is left out, r^14 / 14!, is below 5e-18.
  double series = 1.0;
  for (int n = 13; n >= 1; --n) series = 1.0 + series * r / n;
  return series * std::bit_cast<double>(static_cast<u64>(static_cast<i64>(k) + 1023) << 52U);
}

/// x to the power of y for a positive, normal x, or 0 for x = 0 and y > 0; relative error below 1e-15 (1 + |y log x|).
[[nodiscard]] inline double portable_pow(double x, double y) noexcept {
  return x == 0.0 ? 0.0 : portable_exp(y * portable_log(x));
}

/// Density of the standard normal distribution.
[[nodiscard]] inline double normal_density(double x) noexcept {
  return portable_exp(-0.5 * x * x) / 2.5066282746310005024;  // sqrt(2 pi)
}

/// P(Z < x) of the standard normal distribution for x >= 0; relative error below 1e-14. All terms of the series are
/// positive (Marsaglia, Evaluating the Normal Distribution, Journal of Statistical Software 11(4), 2004).
[[nodiscard]] inline double normal_distribution(double x) noexcept {
  if (x > 9.0) return 1.0;  // P(Z > 9) is 1e-19
  double sum = x;
  double term = x;
  for (int odd = 3; term > 1e-17 * sum; odd += 2) sum += term *= x * x / odd;
  return 0.5 + sum * normal_density(x);
}

/// Quantile of the standard normal distribution, p in (0, 1): algorithm AS 241 PPND16 (Wichura 1988), relative error
/// about 1e-16.
[[nodiscard]] inline double normal_quantile(double p) noexcept {
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q *
           (((((((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) * r +
                45921.953931549871457) *
                   r +
               13731.693765509461125) *
                  r +
              1971.5909503065514427) *
                 r +
             133.14166789178437745) *
                r +
            3.387132872796366608) /
           (((((((5226.495278852545925 * r + 28729.085735721942674) * r + 39307.89580009271061) * r +
                21213.794301586595867) *
                   r +
               5394.1960214247511077) *
                  r +
              687.1870074920579083) *
                 r +
             42.313330701600911252) *
                r +
            1.0);
  }
  double r = std::sqrt(-portable_log(q < 0.0 ? p : 1.0 - p));
  double value = 0.0;
  if (r <= 5.0) {
    r -= 1.6;
    value = (((((((7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r + 0.24178072517745061177) * r +
                 1.27045825245236838258) *
                    r +
                3.64784832476320460504) *
                   r +
               5.7694972214606914055) *
                  r +
              4.6303378461565452959) *
                 r +
             1.42343711074968357734) /
            (((((((1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r + 0.0151986665636164571966) * r +
                 0.14810397642748007459) *
                    r +
                0.68976733498510000455) *
                   r +
               1.6763848301838038494) *
                  r +
              2.05319162663775882187) *
                 r +
             1.0);
  } else {
    r -= 5.0;
    value = (((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r + 0.0012426609473880784386) * r +
                 0.026532189526576123093) *
                    r +
                0.29656057182850489123) *
                   r +
               1.7848265399172913358) *
                  r +
              5.4637849111641143699) *
                 r +
             6.6579046435011037772) /
            (((((((2.04426310338993978564e-15 * r + 1.4215117583164458887e-7) * r + 1.8463183175100546818e-5) * r +
                 7.868691311456132591e-4) *
                    r +
                0.0148753612908506148525) *
                   r +
               0.13692988092273580531) *
                  r +
              0.59983220655588793769) *
                 r +
             1.0);
  }
  return q < 0.0 ? -value : value;
}

}  // namespace banyan
