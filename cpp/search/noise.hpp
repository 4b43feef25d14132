// Noise at the root, drawn by counters: Gumbel's and Dirichlet's. Its twin is
// lib/rungs/search/noise.py.
#pragma once
#include <cmath>

#include "../env/philox.hpp"
#include "real.hpp"

namespace rungs::search {

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
    return -log_of(-log_of(uniform(env::Purpose::SEARCH_NOISE, action, 0).word[0]));
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
      const double normal = x * std::sqrt(-2.0 * log_of(square) / square);
      double v = 1.0 + c * normal;
      if (v <= 0) continue;
      v = v * v * v;
      if (log_of(drawn.word[2]) >= normal * normal / 2.0 + d - d * v + d * log_of(v)) continue;
      return d * v * (alpha < 1 ? exp_of(log_of(drawn.word[3]) / alpha) : 1.0);
    }
  }

  // The number by which PUCT chooses among visits.
  double choice() const { return uniform(env::Purpose::SEARCH_CHOICE, 0, 0).word[0]; }
};

}  // namespace rungs::search
