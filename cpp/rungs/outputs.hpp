// What every batch of chess environments is told and where it writes: one array per output
// (structure of arrays), which the caller owns.
#pragma once
#include "../env/chess_env.hpp"

namespace rungs {

struct ChessOutputs {
  env::ChessConfig config;
  std::int64_t num_envs;
  std::int64_t first_board;     // the number of the batch's first board among all
  env::History* history;        // null where observations don't show any
  const std::int64_t* replies;  // (N,) an engine's; null where none plays
#define RUNGS_FIELD(type, name, count) type* name;
  RUNGS_CHESS_OUTPUTS(RUNGS_FIELD)
#undef RUNGS_FIELD

  env::ChessRows rows(std::int64_t i) const {
#define RUNGS_ROW(type, name, count) name + i*(count),
    return {history ? history + i : nullptr, replies ? replies + i : nullptr,
            RUNGS_CHESS_OUTPUTS(RUNGS_ROW) false, false};
#undef RUNGS_ROW
  }

  // The same for who calls `env::end_streams` when it has written boards.
  env::ChessRows streamed_rows(std::int64_t i) const {
    env::ChessRows row = rows(i);
    row.streamed_observation =
        env::streams(observation, num_envs, env::observation_bytes(config.observation));
    row.streamed_mask = env::streams(mask, num_envs, env::mask_bytes(config.mask));
    return row;
  }
};

}  // namespace rungs
