// The rung of threads: a team of our own takes the boards in chunks.
#pragma once
#include "serial.hpp"
#include "team.hpp"
#include "useful_threads.hpp"

namespace rungs::threads {

// Boards of a chunk: few enough to wait for, so many that claiming them costs nothing.
constexpr std::int64_t kChunk = 32;

namespace detail {

// Calls `body(i)` for every board, and returns the sum of what it returned.
template <class Body>
inline std::int64_t for_each(Team& team, std::int32_t threads, std::int64_t boards,
                             const Body& body) {
  return team.run(threads, (boards + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    const std::int64_t end = std::min((chunk + 1) * kChunk, boards);
    std::int64_t sum = 0;
    for (std::int64_t i = chunk * kChunk; i < end; ++i) sum += body(i);
    env::end_streams();
    return sum;
  });
}

}  // namespace detail

// As `serial::reset`.
inline void reset(const ChessBatch& batch, const bool* which, std::int64_t episode, Team& team,
                  std::int32_t threads) {
  detail::for_each(team, threads, batch.num_envs, [&](std::int64_t i) {
    if (!which || which[i]) batch.reset(i, episode);
    return 0;
  });
}

// As `serial::step`.
inline std::int64_t step(const ChessBatch& batch, const std::int64_t* actions, Team& team,
                         std::int32_t threads) {
  const std::int64_t boards = batch.num_envs;
  std::atomic<std::int64_t> illegal = boards;  // the first
  detail::for_each(team, threads, boards, [&](std::int64_t i) {
    if (batch.accepts(i, actions[i])) return 0;
    std::int64_t first = illegal;
    while (i < first && !illegal.compare_exchange_weak(first, i)) {
    }
    return 0;
  });
  if (illegal < boards) return -1 - illegal;
  return detail::for_each(team, threads, boards, [&](std::int64_t i) { return batch.step(i); });
}

}  // namespace rungs::threads
