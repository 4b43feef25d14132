// The schedule of sequential halving (Karnin et al., ICML 2013) at the root of a Gumbel search.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace rungs::search {

// Writes (considered + 1, simulations): beginning with m actions, simulation n goes to an action
// with `schedule[m * simulations + n]` visits. Row 0 is as row 1, and not used.
inline void write_halving(std::int32_t considered, std::int32_t simulations,
                          std::int32_t* schedule) {
  constexpr std::int32_t kMost = 256;
  for (std::int32_t m = 0; m <= considered; ++m, schedule += simulations) {
    if (m <= 1) {
      for (std::int32_t n = 0; n < simulations; ++n) schedule[n] = n;
      continue;
    }
    const std::int32_t rounds =
        std::bit_width(static_cast<std::uint32_t>(m - 1));  // log2 m, rounded up
    std::int32_t visits[kMost] = {};
    for (std::int32_t n = 0, left = m; n < simulations; left = std::max(2, left / 2))
      for (std::int32_t k = std::max(1, simulations / (rounds * left)); k-- > 0;)
        for (std::int32_t action = 0; action < left; ++action, ++n)
          if (n < simulations) schedule[n] = visits[action]++;
  }
}

}  // namespace rungs::search
