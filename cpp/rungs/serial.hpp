// The serial rung: one thread, one board after the other.
#pragma once
#include "batch.hpp"

namespace rungs::serial {

// Begins an episode on the boards that `which` marks (null: on all): number `episode`, or each
// board's next one where `episode` is -1.
inline void reset(const ChessBatch& batch, const bool* which, std::int64_t episode) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i)
    if (!which || which[i]) batch.reset(i, episode);
}

// One step of every board. Returns how many episodes ended. Unless every action is legal nothing is
// changed, and for the first board `i` whose action is not, -1 - i is returned.
inline std::int64_t step(const ChessBatch& batch, const std::int64_t* actions) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i)
    if (!batch.accepts(i, actions[i])) return -1 - i;
  std::int64_t ended = 0;
  for (std::int64_t i = 0; i < batch.num_envs; ++i) ended += batch.step(i, actions[i]);
  return ended;
}

// Plays the engine's first plies.
inline void open(const ChessBatch& batch) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i) batch.open(i);
}

// Writes observation, mask and player of every board as it stands.
inline void write(const ChessBatch& batch) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i) batch.write(i);
}

}  // namespace rungs::serial
