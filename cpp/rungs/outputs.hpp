// What every batch of chess environments is told and where it writes: one array per output
// (structure of arrays), which the caller owns. Mirrored by lib/rungs/chess/boards/native.py.
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
            RUNGS_CHESS_OUTPUTS(RUNGS_ROW)};
#undef RUNGS_ROW
  }
};

}  // namespace rungs
