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

// One step of every board; `replies` are the opponent's actions where the caller plays it, else
// null. Returns how many episodes ended. Unless every action is legal nothing is changed, and for
// the first board `i` whose action is not, -1 - i is returned.
inline std::int64_t step(const ChessBatch& batch, const std::int64_t* actions,
                         const std::int64_t* replies) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i)
    if (!batch.takes(i, actions[i])) return -1 - i;
  std::int64_t ended = 0;
  for (std::int64_t i = 0; i < batch.num_envs; ++i) ended += batch.step(i, actions, replies);
  return ended;
}

// Plays the opponent's first ply of an episode on the boards where `replies` holds one, and not -1.
inline void begin_with(const ChessBatch& batch, const std::int64_t* replies) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i) {
    if (replies[i] < 0) continue;
    batch.env[i].begin_with(static_cast<chess::Action>(replies[i]), batch.rows(i));
    batch.write(i);
  }
}

// Writes observation, mask and player of every board as it stands.
inline void write(const ChessBatch& batch) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i) batch.write(i);
}

}  // namespace rungs::serial
