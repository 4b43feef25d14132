// What Python calls of cpp/course/false_sharing.hpp.
#pragma once
#include "../course/false_sharing.hpp"
#include "at.hpp"

extern "C" {

// Plays (steps, N) actions in the way of that number, in the order of `WAYS` in
// lib/rungs_course/studies/teams.py; returns how many episodes ended.
std::int64_t rungs_chess_shared_play(std::uintptr_t batch, const std::int64_t* actions,
                                     std::int64_t steps, std::int64_t way, std::int64_t threads) {
  using namespace rungs::steps;
  constexpr decltype(&alone) kWays[] = {alone, naive, chunked, gated, padded, padded_runs, twice};
  const auto& boards = rungs::at<const rungs::ChessBatch>(batch);
  std::int64_t ended = 0;
  for (std::int64_t step = 0; step < steps; ++step)
    ended +=
        kWays[way](boards, actions + step * boards.num_envs, static_cast<std::int32_t>(threads));
  return ended;
}

// The same by threads that meet once.
std::int64_t rungs_chess_apart_play(std::uintptr_t batch, const std::int64_t* actions,
                                    std::int64_t steps, std::int64_t threads) {
  return rungs::steps::apart(rungs::at<const rungs::ChessBatch>(batch), actions, steps,
                             static_cast<std::int32_t>(threads));
}

std::int64_t rungs_padded_env_bytes() { return sizeof(rungs::steps::PaddedEnv); }

}  // extern "C"
