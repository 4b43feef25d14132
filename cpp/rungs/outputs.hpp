// What every batch of chess environments is told and where it writes: one array per output
// (structure of arrays), which the caller owns. Mirrored by lib/rungs/chess/native.py.
#pragma once
#include "../env/chess_env.hpp"

namespace rungs {

struct ChessOutputs {
  env::ChessConfig config;
  std::int64_t num_envs;
  std::int64_t first_board;  // the number of the batch's first board among all
  env::History* history;     // null where observations don't show any
  std::uint8_t* observation;
  std::uint8_t* mask;
  float* reward;
  bool* terminated;
  bool* truncated;
  bool* ended;
  std::int8_t* reason;
  std::int8_t* player;
  std::uint8_t* final_observation;

  env::ChessRows rows(std::int64_t i) const {
    const std::int64_t bytes = env::observation_bytes(config.observation);
    return {history ? history + i : nullptr,
            observation + i * bytes,
            mask + i * env::mask_bytes(config.mask),
            reward + i,
            terminated + i,
            truncated + i,
            ended + i,
            reason + i,
            player + i,
            final_observation + i * bytes};
  }
};

}  // namespace rungs
