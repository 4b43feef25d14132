// The code of the CUDA rung, run by the host a board after the other: its layout and its plain
// lanes are tested where there is no GPU. Compiled ahead of time with RUNGS_SCALAR_LANES.
#include "../rungs/batch.hpp"
#include "../rungs/cuda.hpp"
#include "abi.hpp"

// As the kernels of the same names in cuda.hpp.

RUNGS_FUNCTION(void, rungs_chess_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode) {
  const auto& boards = rungs::at<const rungs::DeviceBatch>(batch);
  const auto* marks = reinterpret_cast<const bool*>(which);
  for (std::int64_t i = 0; i < boards.num_envs; ++i)
    if (!marks || marks[i]) boards.reset(i, episode);
}

RUNGS_FUNCTION(void, rungs_chess_check, std::uintptr_t batch, std::uintptr_t actions,
               std::uintptr_t chosen, std::uintptr_t first) {
  const auto& boards = rungs::at<const rungs::DeviceBatch>(batch);
  const auto* given = reinterpret_cast<const std::int64_t*>(actions);
  auto* read = reinterpret_cast<std::int64_t*>(chosen);
  for (std::int64_t i = boards.num_envs - 1; i >= 0; --i)
    if (!boards.is_legal(i, read[i] = given[i])) rungs::at<std::int64_t>(first) = i;
}

RUNGS_FUNCTION(void, rungs_chess_step, std::uintptr_t batch, std::uintptr_t actions,
               std::uintptr_t ended) {
  const auto& boards = rungs::at<const rungs::DeviceBatch>(batch);
  const auto* given = reinterpret_cast<const std::int64_t*>(actions);
  for (std::int64_t i = 0; i < boards.num_envs; ++i)
    rungs::at<std::int64_t>(ended) += boards.step(i, given[i]);
}

RUNGS_FUNCTION(void, rungs_chess_step_many, std::uintptr_t batch, std::int64_t steps,
               std::uintptr_t ended) {
  const auto& boards = rungs::at<const rungs::DeviceBatch>(batch);
  for (std::int64_t i = 0; i < boards.num_envs; ++i)
    rungs::at<std::int64_t>(ended) += boards.step_many(i, steps);
}

// The same plies of boards that lie as a processor likes them, all of each in one place.
RUNGS_FUNCTION(void, rungs_chess_step_many_together, std::uintptr_t batch, std::int64_t steps,
               std::uintptr_t ended) {
  const auto& boards = rungs::at<const rungs::ChessBatch>(batch);
  for (std::int64_t i = 0; i < boards.num_envs; ++i)
    for (std::int64_t step = 0; step < steps; ++step) {
      rungs::env::ChessEnv& env = boards.env[i];
      rungs::at<std::int64_t>(ended) +=
          env.step(boards.config, env.any_action(boards.config), boards.rows(i));
    }
}

RUNGS_FUNCTION(void, rungs_chess_write, std::uintptr_t batch, std::uintptr_t which) {
  const auto& boards = rungs::at<const rungs::DeviceBatch>(batch);
  const auto* marks = reinterpret_cast<const bool*>(which);
  for (std::int64_t i = 0; i < boards.num_envs; ++i)
    if (!marks || marks[i]) boards.write(i);
}
