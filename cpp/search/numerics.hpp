// The exponential function and the logarithm, made of +, -, *, / and powers of two.
//
// Every processor rounds these operations alike, which libraries' functions are not bound to. So a
// search is the same everywhere, and the same as its reference's: lib/rungs/search/numerics.py. Both
// functions are right to some 1e-15. No multiplication may be merged with an addition, here and in
// all that includes this: Clang reads it below, g++ is told -ffp-contract=off.
#pragma once
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
#include <bit>
#include <cmath>
#include <cstdint>

#include "../env/episode.hpp"

namespace rungs::search {

namespace detail {

constexpr double kLn2High = 0.6931471803691238, kLn2Low = 1.9082149292705877e-10;

}  // namespace detail

// e^x, for x up to 700; below -700 it is as at -700, which is some 1e-304. It is part of whatever
// loop calls it, which compilers then make one over vectors.
[[gnu::always_inline]] inline double portable_exp(double x) {
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
inline double portable_log(double x) {
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

// Noise at the root, drawn by counters: Gumbel's and Dirichlet's. Its reference
// is lib/rungs/search/numerics.py.

// Random numbers of one search, a function of where they are used.
struct Draws {
  std::uint64_t seed;     // of all games
  std::uint32_t game;     // its number
  std::uint32_t episode;  // how many games had that number before
  std::uint32_t ply;      // how many plies the game has had

  // Four numbers between 0 and 1, neither of them included.
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

  // A draw from the standard Gumbel distribution.
  double gumbel(std::uint32_t action) const {
    return -portable_log(-portable_log(uniform(env::Purpose::SEARCH_NOISE, action, 0).word[0]));
  }

  // A draw from Gamma(alpha, 1) (Marsaglia and Tsang, ACM TOMS 2000).
  double gamma(std::uint32_t action, double alpha) const {
    const double d = (alpha < 1 ? alpha + 1.0 : alpha) - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    for (std::uint32_t attempt = 0;; ++attempt) {
      const auto drawn = uniform(env::Purpose::SEARCH_NOISE, action, attempt);
      const double x = 2.0 * drawn.word[0] - 1.0, y = 2.0 * drawn.word[1] - 1.0;
      const double square = x * x + y * y;
      if (square >= 1)
        continue;  // Marsaglia's polar method: a normal number of a point in the circle
      const double normal = x * std::sqrt(-2.0 * portable_log(square) / square);
      double v = 1.0 + c * normal;
      if (v <= 0) continue;
      v = v * v * v;
      if (portable_log(drawn.word[2]) >= normal * normal / 2.0 + d - d * v + d * portable_log(v))
        continue;
      return d * v * (alpha < 1 ? portable_exp(portable_log(drawn.word[3]) / alpha) : 1.0);
    }
  }

  // The number by which PUCT chooses among visits.
  double choice() const { return uniform(env::Purpose::SEARCH_CHOICE, 0, 0).word[0]; }
};

}  // namespace rungs::search
