// What Python calls for CartPole, beside `chess.hpp`: plain functions over addresses and numbers.
#pragma once
#include "../rungs/cartpole.hpp"
#include "at.hpp"

namespace rungs::cartpole {

// `team` is the address of a team of ours; 0 for OpenMP's.
inline std::int64_t step_batch(std::uintptr_t address, const Steps& steps, std::int64_t threads,
                               std::uintptr_t team) {
  const auto& batch = rungs::at<const CartPoleBatch>(address);
  const auto number = static_cast<std::int32_t>(threads);
  const bool wide = batch.config.precision == 8;
  if (!team) return wide ? step<double>(batch, steps, number) : step<float>(batch, steps, number);
  auto& ours = rungs::at<Team>(team);
  return wide ? step<double>(batch, steps, ours, number) : step<float>(batch, steps, ours, number);
}

}  // namespace rungs::cartpole

extern "C" {

// What Python compares with its picture of the struct; at most 4095 characters.
void rungs_cartpole_layout(std::uintptr_t out) {
  using namespace rungs;
  using Batch = CartPoleBatch;
  write_text(
      layout("CartPoleBatch", sizeof(Batch),
             {RUNGS_MIRRORED(Batch, config.seed), RUNGS_MIRRORED(Batch, config.precision),
              RUNGS_MIRRORED(Batch, config.autoreset), RUNGS_MIRRORED(Batch, config.max_steps),
              RUNGS_MIRRORED(Batch, config.workload), RUNGS_MIRRORED(Batch, num_envs),
              RUNGS_MIRRORED(Batch, stride), RUNGS_MIRRORED(Batch, first_env),
              RUNGS_MIRRORED(Batch, state), RUNGS_MIRRORED(Batch, steps),
              RUNGS_MIRRORED(Batch, episode), RUNGS_MIRRORED(Batch, observation),
              RUNGS_MIRRORED(Batch, reward), RUNGS_MIRRORED(Batch, terminated),
              RUNGS_MIRRORED(Batch, truncated), RUNGS_MIRRORED(Batch, ended),
              RUNGS_MIRRORED(Batch, final_observation), RUNGS_MIRRORED(Batch, chosen)}),
      out, 4096);
}

void rungs_cartpole_reset(std::uintptr_t address, std::uintptr_t which, std::int64_t episode) {
  const auto& batch = rungs::at<const rungs::CartPoleBatch>(address);
  const auto* marks = reinterpret_cast<const bool*>(which);
  if (batch.config.precision == 8)
    rungs::cartpole::reset<double>(batch, marks, episode);
  else
    rungs::cartpole::reset<float>(batch, marks, episode);
}

// How many episodes ended. Unless every action is 0 or 1 nothing is changed, and for the first
// that is not, at `i`, -1 - i is returned.
std::int64_t rungs_cartpole_step(std::uintptr_t address, const std::int64_t* actions,
                                 std::int64_t threads, std::uintptr_t team) {
  const auto& batch = rungs::at<const rungs::CartPoleBatch>(address);
  const std::int64_t invalid = rungs::check_and_latch(batch, actions);
  if (invalid < batch.num_envs) return -1 - invalid;
  return rungs::cartpole::step_batch(address, {1, batch.chosen, 0, nullptr, nullptr}, threads,
                                     team);
}

// The threads, of so many, that are worth waking for so many steps.
std::int64_t rungs_cartpole_useful_threads(std::int64_t threads, std::int64_t steps) {
  return rungs::cartpole::useful_threads(static_cast<std::int32_t>(threads), steps);
}

// `actions` are bytes of 0 or 1, or null.
std::int64_t rungs_cartpole_step_many(std::uintptr_t address, std::int64_t count,
                                      std::uintptr_t actions, std::int64_t drawn, double* rewards,
                                      std::int32_t* ended, std::int64_t threads,
                                      std::uintptr_t team) {
  const auto* given = reinterpret_cast<const std::int8_t*>(actions);
  return rungs::cartpole::step_batch(address, {count, given, drawn, rewards, ended}, threads, team);
}

}  // extern "C"
