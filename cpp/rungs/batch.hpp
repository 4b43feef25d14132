// A batch of chess environments: one state each, and one array per output (structure of arrays).
// The caller owns all the memory; nothing here allocates. Mirrored by lib/rungs/chess/native.py.
#pragma once
#include "../env/chess_env.hpp"

namespace rungs {

struct ChessBatch {
  env::ChessConfig config;
  std::int64_t num_envs;
  std::int64_t first_board;  // the number of the batch's first board among all
  env::ChessEnv* env;
  std::int8_t* observation;
  std::uint8_t* mask;
  float* reward;
  bool* terminated;
  bool* truncated;
  std::int8_t* reason;
  std::int8_t* player;
  std::int8_t* final_observation;

  env::ChessOutputs outputs(std::int64_t i) const {
    return {observation + i * env::kObservationSize,
            mask + i * env::mask_bytes(config.mask),
            reward + i,
            terminated + i,
            truncated + i,
            reason + i,
            player + i,
            final_observation + i * env::kObservationSize};
  }
};

}  // namespace rungs
