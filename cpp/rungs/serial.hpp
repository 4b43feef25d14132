// The serial rung: one thread, one board after the other.
#pragma once
#include "batch.hpp"

namespace rungs::serial {

// Begins `episode` on every board, or each board's next one where `episode` is -1.
inline void reset(const ChessBatch& batch, std::int64_t episode) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i) {
    env::ChessEnv& env = batch.env[i];
    env.board = static_cast<std::uint32_t>(batch.first_board + i);
    env.episode = episode < 0 ? env.episode + 1 : static_cast<std::uint32_t>(episode);
    env.begin(batch.config);
    env.write(batch.config, batch.outputs(i));
  }
}

// The first board whose action is illegal, or -1.
inline std::int64_t find_illegal(const ChessBatch& batch, const std::int64_t* actions) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i)
    if (!batch.env[i].game.legal.contains(actions[i])) return i;
  return -1;
}

// One step of every board. Unless every action is legal nothing is changed and the first board
// whose action is not is returned; otherwise -1.
inline std::int64_t step(const ChessBatch& batch, const std::int64_t* actions) {
  const std::int64_t illegal = find_illegal(batch, actions);
  if (illegal >= 0) return illegal;
  for (std::int64_t i = 0; i < batch.num_envs; ++i)
    batch.env[i].step(batch.config, static_cast<chess::Action>(actions[i]), batch.outputs(i));
  return -1;
}

}  // namespace rungs::serial
