// The functions that Python calls of a game of `rungs/game.hpp`. A source defines the struct, then
//   #define RUNGS_GAME ConnectFour
//   #include "bindings/game.hpp"
#pragma once
#include "../rungs/cpu_loops.hpp"
#include "../rungs/game.hpp"
#include "abi.hpp"

namespace rungs {
using Games = GameBatch<RUNGS_GAME>;
}

RUNGS_STRUCTURE(rungs::Games, RUNGS_MEMBERS(num_envs, seed, seeds, autoreset, games, episode, drawn,
                                            chosen, observation, final_observation, action_mask,
                                            reward, terminated, truncated, ended))
RUNGS_CONSTANT(game_bytes, sizeof(RUNGS_GAME))
RUNGS_CONSTANT(num_actions, RUNGS_GAME::kActions)
RUNGS_CONSTANT(num_cells, RUNGS_GAME::kCells)

RUNGS_FUNCTION(void, rungs_game_serial_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode) {
  rungs::serial::reset(rungs::at<const rungs::Games>(batch), reinterpret_cast<const bool*>(which),
                       episode);
}

RUNGS_FUNCTION(std::int64_t, rungs_game_serial_step, std::uintptr_t batch,
               const std::int64_t* actions) {
  return rungs::serial::step(rungs::at<const rungs::Games>(batch), actions);
}

RUNGS_FUNCTION(void, rungs_game_openmp_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode, std::uintptr_t settings) {
  rungs::openmp::reset(rungs::at<const rungs::Games>(batch), reinterpret_cast<const bool*>(which),
                       episode, rungs::at<const rungs::openmp::LoopSettings>(settings));
}

RUNGS_FUNCTION(std::int64_t, rungs_game_openmp_step, std::uintptr_t batch,
               const std::int64_t* actions, std::uintptr_t settings) {
  return rungs::openmp::step(rungs::at<const rungs::Games>(batch), actions,
                             rungs::at<const rungs::openmp::LoopSettings>(settings));
}

RUNGS_FUNCTION(void, rungs_game_threads_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode, std::uintptr_t pool, std::int64_t threads) {
  rungs::threads::reset(rungs::at<const rungs::Games>(batch), reinterpret_cast<const bool*>(which),
                        episode, rungs::at<rungs::ThreadPool>(pool),
                        static_cast<std::int32_t>(threads));
}

RUNGS_FUNCTION(std::int64_t, rungs_game_threads_step, std::uintptr_t batch,
               const std::int64_t* actions, std::uintptr_t pool, std::int64_t threads,
               std::uintptr_t payoff) {
  return rungs::threads::step(rungs::at<const rungs::Games>(batch), actions,
                              rungs::at<rungs::ThreadPool>(pool),
                              static_cast<std::int32_t>(threads), rungs::at<rungs::Payoff>(payoff));
}
