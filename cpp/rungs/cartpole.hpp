// The rungs of CartPole in C++: the loop over registers of environments, on one thread or several.
#pragma once
#include "../env/cartpole_env.hpp"
#include "openmp.hpp"

namespace rungs::cartpole {

// Environments below which another thread costs more than it brings: one steps so many in about the
// time that waking another takes.
constexpr std::int64_t kEnvsPerThread = 1024;

// Begins an episode on the environments that `which` marks (null: on all): number `episode`, or
// each one's next where `episode` is -1.
template <class Real>
inline void reset(const env::CartPoleBatch& batch, const bool* which, std::int64_t episode) {
  const env::CartPoleEnvs<Real> envs{batch};
  for (std::int64_t i = 0; i < batch.num_envs; ++i) {
    if (which && !which[i]) continue;
    batch.episode[i] = episode < 0 ? batch.episode[i] + 1 : static_cast<std::uint32_t>(episode);
    batch.terminated[i] = batch.truncated[i] = batch.ended[i] = false;
    batch.reward[i] = 0;
    envs.begin(i);
  }
}

// The first environment whose action is not 0 or 1, or the number of environments.
inline std::int64_t first_invalid(const env::CartPoleBatch& batch, const std::int64_t* actions) {
  std::uint64_t all = 0;
  for (std::int64_t i = 0; i < batch.num_envs; ++i) all |= static_cast<std::uint64_t>(actions[i]);
  if (all <= 1) return batch.num_envs;
  std::int64_t i = 0;
  while (static_cast<std::uint64_t>(actions[i]) <= 1) ++i;
  return i;
}

// Steps environments `first` to `last - 1`, where `first` begins a register; returns how many
// episodes ended.
template <class Real>
inline std::int64_t step_some(const env::CartPoleBatch& batch, const std::int64_t* actions,
                              std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kLanes = env::CartPoleEnvs<Real>::kLanes;
  const env::CartPoleEnvs<Real> envs{batch};
  std::int64_t ended = 0, i = first;
  for (; i + kLanes <= last; i += kLanes) ended += envs.step(i, actions + i);
  if (i < last) {
    std::int64_t filled[kLanes] = {};  // the caller's actions end before the register does
    for (std::int64_t lane = 0; i + lane < last; ++lane) filled[lane] = actions[i + lane];
    ended += envs.step(i, filled);
  }
  return ended;
}

namespace detail {

struct Share {
  const env::CartPoleBatch* batch;
  const std::int64_t* actions;
  std::int64_t each;  // environments of a thread
  std::int64_t* ended;
};

template <class Real>
inline void step_share(void* context, std::int32_t thread) {
  const Share& share = *static_cast<const Share*>(context);
  const std::int64_t first = thread * share.each;
  const std::int64_t last =
      first + share.each < share.batch->num_envs ? first + share.each : share.batch->num_envs;
  const std::int64_t ended = step_some<Real>(*share.batch, share.actions, first, last);
  __atomic_fetch_add(share.ended, ended, __ATOMIC_RELAXED);
}

}  // namespace detail

// One step of all environments; returns how many episodes ended. Unless every action is 0 or 1
// nothing is changed, and for the first environment `i` whose action is not, -1 - i is returned.
template <class Real>
inline std::int64_t step(const env::CartPoleBatch& batch, const std::int64_t* actions,
                         std::int32_t threads) {
  const std::int64_t invalid = first_invalid(batch, actions);
  if (invalid < batch.num_envs) return -1 - invalid;
  threads = openmp::detail::useful_threads(threads, batch.num_envs, kEnvsPerThread);
  if (threads == 1) return step_some<Real>(batch, actions, 0, batch.num_envs);
  // Whole cache lines of every output: neighbours never write to one.
  const std::int64_t each = ((batch.num_envs + threads - 1) / threads + 63) / 64 * 64;
  std::int64_t ended = 0;
  detail::Share share{&batch, actions, each, &ended};
  openmp::on_each(threads, detail::step_share<Real>, &share);
  return ended;
}

}  // namespace rungs::cartpole
