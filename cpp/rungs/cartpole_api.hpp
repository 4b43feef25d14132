// What Python calls for CartPole, beside `api.hpp`: plain functions over addresses and numbers.
#pragma once
#include "cartpole.hpp"

namespace rungs::cartpole {

inline std::int64_t step_batch(std::uintptr_t address, const Steps& steps, std::int64_t threads) {
  const auto& batch = *reinterpret_cast<const env::CartPoleBatch*>(address);
  const auto team = static_cast<std::int32_t>(threads);
  return batch.precision == 8 ? step<double>(batch, steps, team) : step<float>(batch, steps, team);
}

}  // namespace rungs::cartpole

extern "C" {

// The size that Python checks before it trusts its picture of the struct.
std::int64_t rungs_cartpole_batch_bytes() { return sizeof(rungs::env::CartPoleBatch); }

void rungs_cartpole_reset(std::uintptr_t address, std::uintptr_t which, std::int64_t episode) {
  const auto& batch = *reinterpret_cast<const rungs::env::CartPoleBatch*>(address);
  const auto* marks = reinterpret_cast<const bool*>(which);
  if (batch.precision == 8)
    rungs::cartpole::reset<double>(batch, marks, episode);
  else
    rungs::cartpole::reset<float>(batch, marks, episode);
}

std::int64_t rungs_cartpole_step(std::uintptr_t address, const std::int64_t* actions,
                                 std::int64_t threads) {
  return rungs::cartpole::step_batch(address, {1, actions, 0, nullptr, nullptr}, threads);
}

// `actions` may be null.
std::int64_t rungs_cartpole_step_many(std::uintptr_t address, std::int64_t count,
                                      std::uintptr_t actions, std::int64_t drawn, float* rewards,
                                      std::int32_t* ended, std::int64_t threads) {
  const auto* given = reinterpret_cast<const std::int64_t*>(actions);
  return rungs::cartpole::step_batch(address, {count, given, drawn, rewards, ended}, threads);
}

}  // extern "C"
