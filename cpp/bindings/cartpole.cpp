// The functions of CartPole that Python calls: plain functions over addresses and numbers.
#include "../rungs/cartpole.hpp"

#include "abi.hpp"

namespace rungs::cartpole {

// `pool` is null for OpenMP's threads.
inline std::int64_t step_batch(const CartPoleBatch& batch, const Steps& steps, std::int32_t threads,
                               ThreadPool* pool) {
  const bool wide = batch.config.precision == 8;
  if (!pool) return wide ? step<double>(batch, steps, threads) : step<float>(batch, steps, threads);
  return wide ? step<double>(batch, steps, *pool, threads)
              : step<float>(batch, steps, *pool, threads);
}

// How many episodes ended. Unless every action is 0 or 1 nothing is changed, and for the first
// that is not, at `i`, -1 - i is returned.
inline std::int64_t step_batch(const CartPoleBatch& batch, const std::int64_t* actions,
                               std::int32_t threads, ThreadPool* pool) {
  const std::int64_t invalid = check_and_latch(batch, actions);
  if (invalid < batch.num_envs) return -1 - invalid;
  return step_batch(batch, {1, batch.chosen, 0, nullptr, nullptr}, threads, pool);
}

inline void reset_batch(const CartPoleBatch& batch, const bool* which, std::int64_t episode) {
  if (batch.config.precision == 8)
    reset<double>(batch, which, episode);
  else
    reset<float>(batch, which, episode);
}

}  // namespace rungs::cartpole

RUNGS_STRUCTURE(rungs::env::CartPoleConfig, RUNGS_CARTPOLE_SETTINGS(RUNGS_LISTED_MEMBER))
RUNGS_STRUCTURE(rungs::CartPoleBatch, config, num_envs, stride, first_env, seeds,
                RUNGS_CARTPOLE_ARRAYS(RUNGS_LISTED_MEMBER))

RUNGS_FUNCTION(void, rungs_cartpole_reset, std::uintptr_t address, std::uintptr_t which,
               std::int64_t episode) {
  rungs::cartpole::reset_batch(rungs::at<const rungs::CartPoleBatch>(address),
                               reinterpret_cast<const bool*>(which), episode);
}

// `pool` is the address of a thread pool; 0 for OpenMP's threads.
RUNGS_FUNCTION(std::int64_t, rungs_cartpole_step, std::uintptr_t address,
               const std::int64_t* actions, std::int64_t threads, std::uintptr_t pool) {
  return rungs::cartpole::step_batch(rungs::at<const rungs::CartPoleBatch>(address), actions,
                                     static_cast<std::int32_t>(threads),
                                     reinterpret_cast<rungs::ThreadPool*>(pool));
}

// The number of threads, up to `threads`, that pay off for `steps` steps.
RUNGS_FUNCTION(std::int64_t, rungs_cartpole_useful_threads, std::int64_t threads,
               std::int64_t steps) {
  return rungs::cartpole::useful_threads(static_cast<std::int32_t>(threads), steps);
}

// `actions` are bytes of 0 or 1, or null.
RUNGS_FUNCTION(std::int64_t, rungs_cartpole_step_many, std::uintptr_t address, std::int64_t count,
               std::uintptr_t actions, std::int64_t drawn, double* rewards, std::int32_t* ended,
               std::int64_t threads, std::uintptr_t pool) {
  const auto* given = reinterpret_cast<const std::int8_t*>(actions);
  return rungs::cartpole::step_batch(
      rungs::at<const rungs::CartPoleBatch>(address), {count, given, drawn, rewards, ended},
      static_cast<std::int32_t>(threads), reinterpret_cast<rungs::ThreadPool*>(pool));
}
