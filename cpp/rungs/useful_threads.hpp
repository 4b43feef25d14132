// How many threads are worth waking.
#pragma once
#include <cstdint>

namespace rungs {

// Boards below which another thread may cost more than it brings: in a tight loop a quarter of them
// would do, but not where other work between two steps lets threads and caches go cold.
constexpr std::int64_t kBoardsPerThread = 128;

// The threads, of so many, of which each has `fewest` boards to step, or one.
inline std::int32_t useful_threads(std::int32_t threads, std::int64_t boards,
                                   std::int64_t fewest = kBoardsPerThread) {
  const std::int64_t useful = boards / fewest;
  if (useful < 2) return 1;
  return useful < threads ? static_cast<std::int32_t>(useful) : threads;
}

}  // namespace rungs
