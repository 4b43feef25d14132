// The code of the CUDA rung, run by the host one board after the other, for tests without a GPU.
// Compiled ahead of time with RUNGS_SCALAR_LANES, so that a group is one board here, too.
#include "../rungs/chess_loops.hpp"
#include "abi.hpp"

// As the kernels of the same names in cuda.hpp.

RUNGS_FUNCTION(void, rungs_chess_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode) {
  rungs::serial::reset(rungs::at<const rungs::ChessBatch>(batch),
                       reinterpret_cast<const bool*>(which), episode);
}

RUNGS_FUNCTION(void, rungs_chess_check, std::uintptr_t batch, std::uintptr_t actions,
               std::uintptr_t first) {
  const auto& boards = rungs::at<const rungs::ChessBatch>(batch);
  const auto* given = reinterpret_cast<const std::int64_t*>(actions);
  for (std::int64_t i = boards.num_envs - 1; i >= 0; --i)
    if (boards.check_group(i, given) < boards.num_envs) rungs::at<std::int64_t>(first) = i;
}

RUNGS_FUNCTION(void, rungs_chess_step, std::uintptr_t batch, std::uintptr_t actions,
               std::uintptr_t ended) {
  const auto& boards = rungs::at<const rungs::ChessBatch>(batch);
  const auto* given = reinterpret_cast<const std::int64_t*>(actions);
  for (std::int64_t i = 0; i < boards.num_envs; ++i) {
    if (given) boards.chosen[i] = static_cast<std::int16_t>(given[i]);
    rungs::at<std::int64_t>(ended) += boards.step_group(i);
  }
}

RUNGS_FUNCTION(void, rungs_chess_step_many, std::uintptr_t batch, std::int64_t steps,
               std::uintptr_t ended) {
  const auto& boards = rungs::at<const rungs::ChessBatch>(batch);
  for (std::int64_t i = 0; i < boards.num_envs; ++i)
    rungs::at<std::int64_t>(ended) += boards.step_many(i, steps);
}

RUNGS_FUNCTION(void, rungs_chess_save, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t count, std::uintptr_t saved, std::uintptr_t past) {
  rungs::serial::save(rungs::at<const rungs::ChessBatch>(batch),
                      reinterpret_cast<const std::int64_t*>(which), count,
                      reinterpret_cast<rungs::env::SavedBoard*>(saved),
                      reinterpret_cast<rungs::env::History*>(past));
}

RUNGS_FUNCTION(void, rungs_chess_put, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t count, std::uintptr_t saved, std::uintptr_t past, std::int64_t own) {
  rungs::serial::put(rungs::at<const rungs::ChessBatch>(batch),
                     reinterpret_cast<const std::int64_t*>(which), count,
                     reinterpret_cast<const rungs::env::SavedBoard*>(saved),
                     reinterpret_cast<const rungs::env::History*>(past), own);
}
