// A step in two parallel regions, as a rank with several threads does it: a control of notebook 05.
#pragma once
#include "../rungs/chess_loops.hpp"

namespace rungs::course {

// One parallel region checks that all actions are legal, and another one plays them. The rung
// `openmp` has one region for both, with a barrier in between.
inline std::int64_t twice(const ChessBatch& batch, const std::int64_t* actions,
                          std::int32_t threads) {
  const openmp::LoopSettings settings{threads, openmp::Schedule::STATIC, 0};
  const std::int64_t illegal = openmp::first_illegal(batch, actions, settings);
  return illegal < batch.num_envs ? -1 - illegal : openmp::step_accepted(batch, settings);
}

}  // namespace rungs::course
