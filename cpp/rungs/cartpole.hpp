// The rungs of CartPole in C++: the loop over blocks of environments, on one thread or several.
#pragma once
#include "cartpole_batch.hpp"
#include "openmp.hpp"
#include "team.hpp"

namespace rungs::cartpole {

// Steps below which another thread costs more than it brings: one takes so many in about the time
// that waking another takes.
constexpr std::int64_t kStepsPerThread = 1024;

// Begins an episode on the environments that `which` marks (null: on all): number `episode`, or
// each one's next where `episode` is -1.
template <class Real>
inline void reset(const CartPoleBatch& batch, const bool* which, std::int64_t episode) {
  constexpr std::int64_t kMost = CartPoleBlock<Real>::kMost;
  for (std::int64_t first = 0; first < batch.num_envs; first += kMost)
    CartPoleBlock<Real>{batch, first, std::min(first + kMost, batch.num_envs)}.reset(which,
                                                                                     episode);
}

// What a batch is asked to do.
struct Steps {
  std::int64_t count;
  const std::int8_t* actions;  // (count, num_envs) of 0 or 1, or null: random ones
  std::int64_t drawn;          // random actions that each environment was given before
  double* rewards;             // (num_envs,), where each environment's are added up, or null
  std::int32_t* ended;         // likewise its episodes that ended
};

namespace detail {

// Random actions of a block, a bit each of Philox's words: 128 of a counter's.
template <class Real>
struct RandomActions {
  std::uint32_t word[4][CartPoleBlock<Real>::kMost];
  std::int8_t action[CartPoleBlock<Real>::kMost];

  // The next ones of environments `first` to `last - 1`, after so many.
  const std::int8_t* next(const CartPoleBatch& batch, std::int64_t first, std::int64_t last,
                          std::int64_t drawn, bool fresh) {
    if (fresh || drawn % 128 == 0) {
      for (std::int64_t i = first; i < last; ++i) {
        const auto words = env::philox_words<std::uint64_t>(
            batch.config.seed, static_cast<std::uint64_t>(batch.first_env + i),
            static_cast<std::uint64_t>(drawn / 128), 0, env::Purpose::CARTPOLE_ACTION);
        for (int k = 0; k < 4; ++k) word[k][i - first] = static_cast<std::uint32_t>(words.word[k]);
      }
    }
    const std::uint32_t* now = word[drawn / 32 % 4];
    const int bit = static_cast<int>(drawn % 32);
    for (std::int64_t i = 0; i < last - first; ++i)
      action[i] = static_cast<std::int8_t>(now[i] >> bit & 1);
    return action;
  }
};

// Takes all steps of a block before any other's.
template <class Real>
inline std::int64_t step_block(const CartPoleBlock<Real>& block, const Steps& steps) {
  const auto& [batch, first, last] = block;
  RandomActions<Real> random;
  std::int64_t ended = 0;
  for (std::int64_t step = 0; step < steps.count; ++step) {
    const std::int8_t* actions =
        steps.actions ? steps.actions + step * batch.num_envs + first
                      : random.next(batch, first, last, steps.drawn + step, step == 0);
    ended += block.step(actions);
    if (!steps.rewards) continue;
    for (std::int64_t i = first; i < last; ++i) {
      steps.rewards[i] += batch.reward[i];
      steps.ended[i] += batch.ended[i];
    }
  }
  return ended;
}

// Takes all steps of environments `first` to `last - 1`.
template <class Real>
inline std::int64_t step_run(const CartPoleBatch& batch, const Steps& steps, std::int64_t first,
                             std::int64_t last) {
  std::int64_t ended = 0;
  constexpr std::int64_t kMost = CartPoleBlock<Real>::kMost;
  for (; first < last; first += kMost)
    ended += step_block<Real>({batch, first, std::min(first + kMost, last)}, steps);
  return ended;
}

}  // namespace detail

// The threads, of so many, that are worth waking for so many steps.
inline std::int32_t useful_threads(std::int32_t threads, std::int64_t steps) {
  return rungs::useful_threads(threads, steps, kStepsPerThread);
}

// Steps all environments; returns how many episodes ended.
template <class Real>
inline std::int64_t step(const CartPoleBatch& batch, const Steps& steps, std::int32_t threads) {
  threads = useful_threads(threads, batch.num_envs * steps.count);
  // Whole cache lines of every output: neighbours never write to one.
  const std::int64_t each = ((batch.num_envs + threads - 1) / threads + 63) / 64 * 64;
  if (threads == 1) return detail::step_run<Real>(batch, steps, 0, batch.num_envs);
  std::int64_t ended = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : ended)
  for (std::int32_t thread = 0; thread < threads; ++thread)
    ended += detail::step_run<Real>(batch, steps, thread * each,
                                    std::min((thread + 1) * each, batch.num_envs));
  return ended;
}

// The same by a team of our own, in chunks.
template <class Real>
inline std::int64_t step(const CartPoleBatch& batch, const Steps& steps, Team& team,
                         std::int32_t threads) {
  constexpr std::int64_t kMost = CartPoleBlock<Real>::kMost;
  threads = useful_threads(threads, batch.num_envs * steps.count);
  // Few steps of a block are over before the next is claimed.
  const std::int64_t each = steps.count < kStepsPerThread / kMost ? kStepsPerThread : kMost;
  return team.run(threads, (batch.num_envs + each - 1) / each, [&](std::int64_t chunk) {
    return detail::step_run<Real>(batch, steps, chunk * each,
                                  std::min((chunk + 1) * each, batch.num_envs));
  });
}

}  // namespace rungs::cartpole
