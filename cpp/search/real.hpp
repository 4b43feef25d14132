// The exponential function and the logarithm, made of +, -, *, / and powers of two.
//
// Every processor rounds these operations alike, which libraries' functions are not bound to. So a
// search is the same everywhere, and the same as its twin's: lib/rungs/search/real.py. Both
// functions are right to some 1e-15. No multiplication may be merged with an addition, here and in
// all that includes this: Clang reads it below, g++ is told -ffp-contract=off.
#pragma once
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
#include <bit>
#include <cstdint>

namespace rungs::search {

namespace detail {

constexpr double kLn2High = 0.6931471803691238, kLn2Low = 1.9082149292705877e-10;

}  // namespace detail

// e^x, for x up to 700; below -700 it is as at -700, which is some 1e-304. It is part of whatever
// loop calls it, which compilers then make one over vectors.
[[gnu::always_inline]] inline double exp_of(double x) {
  using namespace detail;
  constexpr double kLog2e = 1.4426950408889634;
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: what is added to it is rounded
  x = x < -700.0 ? -700.0 : x;
  const double shifted = x * kLog2e + kShift, k = shifted - kShift;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double p = 1.0 / 6227020800.0;  // Taylor's series, as |r| is at most ln(2) / 2
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 1.0 / 2.0;
  p = p * r + 1.0;
  p = p * r + 1.0;
  // k is what the lowest bits of `shifted` hold; 2^k has it as its exponent.
  const auto two_to_k = std::bit_cast<std::uint64_t>(shifted) << 52;
  return p * std::bit_cast<double>(two_to_k + std::bit_cast<std::uint64_t>(1.0));
}

// The natural logarithm of a positive number that is not subnormal.
inline double log_of(double x) {
  using namespace detail;
  constexpr double kSqrtHalf = 0.7071067811865476;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto e = static_cast<std::int64_t>(bits >> 52) - 1022;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FE0000000000000ULL);
  if (m < kSqrtHalf) {
    m = 2 * m;
    --e;
  }
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 0.0;  // of log(m) = 2 artanh(s)
  for (const double n : {21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0})
    p = p * z + 1.0 / n;
  const auto exponent = static_cast<double>(e);
  return exponent * kLn2High + (exponent * kLn2Low + 2.0 * s * p);
}

}  // namespace rungs::search
