// Portable exp and log, and counter-based noise. The reference is
// lib/rungs/_src/search/numerics.py.
//
// exp and log are made of +, -, *, / and powers of two, which IEEE 754 defines to the last bit; the
// system's are not. So a search gives the same bits on every processor, and the same as the
// reference. Their relative error is about 1e-15. Contracting a * b + c to a fused multiply-add
// must be off here and in everything that includes this: for Clang by the pragma below, for g++ by
// -ffp-contract=off.
#pragma once
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "../env/philox.hpp"

namespace rungs::search {

namespace detail {

constexpr double kLn2High = 0.6931471803691238, kLn2Low = 1.9082149292705877e-10;

}  // namespace detail

// e^x for x <= 700; x below -700 counts as -700, where e^x is about 1e-304. Inlined, so that
// compilers vectorise the loops that call it.
[[gnu::always_inline]] inline double portable_exp(double x) {
  using namespace detail;
  constexpr double kLog2e = 1.4426950408889634;
  constexpr double kShift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  x = x < -700.0 ? -700.0 : x;
  const double shifted = x * kLog2e + kShift, k = shifted - kShift;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double p = 1.0 / 6227020800.0;  // Taylor series: |r| <= ln(2) / 2
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
  // The low bits of `shifted` hold k; adding them to the exponent of 1.0 gives 2^k.
  const auto two_to_k = std::bit_cast<std::uint64_t>(shifted) << 52;
  return p * std::bit_cast<double>(two_to_k + std::bit_cast<std::uint64_t>(1.0));
}

// The natural logarithm of a positive number that is not subnormal.
[[gnu::always_inline]] inline double portable_log(double x) {
  using namespace detail;
  constexpr double kSqrtHalf = 0.7071067811865476;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto half = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FE0000000000000ULL);
  const bool small = half < kSqrtHalf;
  const double m = small ? 2 * half : half;
  const std::int64_t e = static_cast<std::int64_t>(bits >> 52) - (small ? 1023 : 1022);
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 0.0;  // log(m) = 2 artanh(s)
  for (const double n : {21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0})
    p = p * z + 1.0 / n;
  const auto exponent = static_cast<double>(e);
  return exponent * kLn2High + (exponent * kLn2Low + 2.0 * s * p);
}

// The first of the highest of `count` numbers, one or more, none of them NaN.
template <class T>
inline const T* first_max(const T* x, int count) {
  typedef T Some __attribute__((vector_size(32)));  // GCC knows no `using` here
  constexpr int kWidth = sizeof(Some) / sizeof(T);
  T highest = -std::numeric_limits<T>::infinity();
  int i = 0;
  if (count >= kWidth) {
    Some each, more;
    std::memcpy(&each, x, sizeof each);
    for (i = kWidth; i + kWidth <= count; i += kWidth) {
      std::memcpy(&more, x + i, sizeof more);
      each = more > each ? more : each;
    }
    for (int lane = 0; lane < kWidth; ++lane) highest = each[lane] > highest ? each[lane] : highest;
  }
  for (; i < count; ++i) highest = x[i] > highest ? x[i] : highest;
  return std::find(x, x + count, highest);
}

// Noise at the root: Gumbel's and Dirichlet's.

// A draw from the standard Gumbel distribution, from a uniform number.
[[gnu::always_inline]] inline double gumbel(double uniform) {
  return -portable_log(-portable_log(uniform));
}

// Random numbers of one search, a function of (seed, game, episode, ply, action) alone.
struct Draws {
  std::uint64_t seed;     // of the whole search
  std::uint32_t game;     // index of the game
  std::uint32_t episode;  // how many games with that index came before
  std::uint32_t ply;      // plies played in the game

  // Four uniform numbers in the open interval (0, 1).
  env::Words<double> uniform(env::Purpose purpose, std::uint32_t action,
                             std::uint32_t attempt) const {
    const auto use = static_cast<std::uint32_t>(purpose) | action << 8 | attempt << 21;
    const auto words =
        env::philox_words<std::uint64_t>(seed, game, episode, ply, static_cast<env::Purpose>(use));
    const auto of = [&](int i) {
      return (static_cast<double>(words.word[i]) + 0.5) / 4294967296.0;
    };
    return {{of(0), of(1), of(2), of(3)}};
  }

  // The uniform number of an action's Gumbel noise.
  double noise(std::uint32_t action) const {
    return uniform(env::Purpose::SEARCH_NOISE, action, 0).word[0];
  }

  // A draw from Gamma(alpha, 1) (Marsaglia and Tsang, ACM TOMS 2000).
  double gamma(std::uint32_t action, double alpha) const {
    const double d = (alpha < 1 ? alpha + 1.0 : alpha) - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    for (std::uint32_t attempt = 0;; ++attempt) {
      const auto drawn = uniform(env::Purpose::SEARCH_NOISE, action, attempt);
      const double x = 2.0 * drawn.word[0] - 1.0, y = 2.0 * drawn.word[1] - 1.0;
      const double square = x * x + y * y;
      if (square >= 1) continue;  // Marsaglia's polar method
      const double normal = x * std::sqrt(-2.0 * portable_log(square) / square);
      double v = 1.0 + c * normal;
      if (v <= 0) continue;
      v = v * v * v;
      if (portable_log(drawn.word[2]) >= normal * normal / 2.0 + d - d * v + d * portable_log(v))
        continue;
      return d * v * (alpha < 1 ? portable_exp(portable_log(drawn.word[3]) / alpha) : 1.0);
    }
  }

  // The uniform number by which PUCT samples an action from the visits.
  double choice() const { return uniform(env::Purpose::SEARCH_CHOICE, 0, 0).word[0]; }
};

}  // namespace rungs::search
