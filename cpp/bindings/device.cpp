// The code of the CUDA rung, run by the host a board after the other, to be tested where there is
// no GPU. Compiled ahead of time with RUNGS_SCALAR_LANES, so that a group is one board there, too.
#include "../rungs/batch.hpp"
#include "abi.hpp"

// As the kernels of the same names in cuda.hpp.

RUNGS_FUNCTION(void, rungs_chess_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode) {
  const auto& boards = rungs::at<const rungs::ChessBatch>(batch);
  const auto* marks = reinterpret_cast<const bool*>(which);
  for (std::int64_t i = 0; i < boards.num_envs; ++i)
    if (!marks || marks[i]) boards.reset(i, episode);
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
  const auto& boards = rungs::at<const rungs::ChessBatch>(batch);
  const auto* numbers = reinterpret_cast<const std::int64_t*>(which);
  auto* to = reinterpret_cast<rungs::env::SavedBoard*>(saved);
  auto* histories = reinterpret_cast<rungs::env::History*>(past);
  for (std::int64_t k = 0; k < count; ++k)
    boards.save(numbers[k], to[k], histories ? histories + k : nullptr);
}

RUNGS_FUNCTION(void, rungs_chess_put, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t count, std::uintptr_t saved, std::uintptr_t past, std::int64_t own) {
  const auto& boards = rungs::at<const rungs::ChessBatch>(batch);
  const auto* numbers = reinterpret_cast<const std::int64_t*>(which);
  const auto* from = reinterpret_cast<const rungs::env::SavedBoard*>(saved);
  const auto* histories = reinterpret_cast<const rungs::env::History*>(past);
  for (std::int64_t k = 0; k < count; ++k)
    boards.put(numbers[k], from[k], histories ? histories + k : nullptr, own);
}
