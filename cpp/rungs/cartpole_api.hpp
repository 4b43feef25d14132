// What Python calls for CartPole, beside `api.hpp`: plain functions over addresses and numbers.
#pragma once
#include "cartpole.hpp"

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
  const auto& batch = *reinterpret_cast<const rungs::env::CartPoleBatch*>(address);
  const auto team = static_cast<std::int32_t>(threads);
  return batch.precision == 8 ? rungs::cartpole::step<double>(batch, actions, team)
                              : rungs::cartpole::step<float>(batch, actions, team);
}

}  // extern "C"
