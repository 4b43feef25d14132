// Batches of CartPole environments, and the loops over them on one thread or several.
//
// Numbers of neighbouring environments are adjacent (structure of arrays), so that a vector
// register holds one for each of several environments. A block of environments is stepped in two
// passes: first all of them, a register at a time, then the resets of those whose episodes ended,
// as an unpredictable branch per environment would cost more than a step.
#pragma once
#include <algorithm>
#include <cstring>

#include "../cartpole/env.hpp"
#include "cpu_loops.hpp"

namespace rungs {

// Arrays are padded to whole registers: `stride` values, of which `num_envs` are used. Those of
// four rows hold x, x_dot, theta, theta_dot. The caller owns the memory; nothing here allocates.
#define RUNGS_CARTPOLE_ARRAYS(ARRAY)                          \
  ARRAY(void*, state)            /* (4, stride) */            \
  ARRAY(std::int32_t*, steps)    /* of the episode */         \
  ARRAY(std::uint32_t*, episode) /* its number */             \
  ARRAY(float*, observation)     /* (4, stride) */            \
  ARRAY(float*, reward)                                       \
  ARRAY(bool*, terminated)                                    \
  ARRAY(bool*, truncated)                                     \
  ARRAY(bool*, ended)                                         \
  ARRAY(float*, final_observation) /* (4, stride) */          \
  /* the actions that `check_and_latch` found to be 0 or 1 */ \
  ARRAY(std::int8_t*, chosen)

struct CartPoleBatch {
  env::CartPoleConfig config;
  std::int64_t num_envs;
  std::int64_t stride;
  std::int64_t first_env;      // the number of the batch's first environment among all
  const std::uint64_t* seeds;  // (num_envs,) each environment's, which then draws the random
                               // numbers of environment 0 of a batch with it; null: config.seed
#define RUNGS_FIELD(type, name) type name;
  RUNGS_CARTPOLE_ARRAYS(RUNGS_FIELD)
#undef RUNGS_FIELD
};

// Checks that all of a step's actions are 0 or 1, and keeps them for the step in `chosen`. They may
// be written by another thread meanwhile, and only what is kept is played. Returns the first that
// is neither, or `num_envs`.
inline std::int64_t check_and_latch(const CartPoleBatch& batch, const std::int64_t* actions) {
  std::uint64_t all = 0;
  std::int8_t* const chosen = batch.chosen;
  const std::int64_t num_envs = batch.num_envs;
  for (std::int64_t i = 0; i < num_envs; ++i) {
    const auto action = static_cast<std::uint64_t>(actions[i]);
    chosen[i] = static_cast<std::int8_t>(action);
    all |= action;
  }
  if (all <= 1) return num_envs;
  for (std::int64_t i = 0; i < num_envs; ++i) {
    const auto action = static_cast<std::uint64_t>(actions[i]);
    if (action > 1) return i;
    chosen[i] = static_cast<std::int8_t>(action);
  }
  return num_envs;
}

// Environments `first` to `last - 1` of a batch, where `first` begins a register.
template <class Real>
struct CartPoleBlock {
  using Env = env::CartPoleEnv<Real>;
  template <class Number>
  using Many = typename Env::template Many<Number>;

  // Environments per block: what they read and write stays in the L1 cache.
  static constexpr std::int64_t kMaxEnvs = 256;
  static constexpr int kLanes = Env::kLanes;

  const CartPoleBatch& batch;
  const std::int64_t first, last;

  // Begins an episode on the environments that `which` marks (null: on all): number `episode`, or
  // each one's next where `episode` is -1.
  void reset(const bool* which, std::int64_t episode) const {
    Listed listed;
    list(which, listed);
    begin(listed, episode);
    clear(listed);
  }

  // Takes a step; `actions` are the block's, each 0 or 1. Returns how many episodes ended.
  int step(const std::int8_t* actions) const {
    // With NEXT_STEP: where an episode had ended before, this step is the next one's reset.
    const bool next_step = batch.config.autoreset == env::Autoreset::NEXT_STEP;
    Listed resets;
    if (next_step) list(batch.ended, resets);
    step_registers(actions);
    begin(resets, -1);
    clear(resets);
    Listed ended;
    list(batch.ended, ended);
    if (batch.config.autoreset == env::Autoreset::SAME_STEP) {
      keep_final(ended);
      begin(ended, -1);
    }
    return ended.count;
  }

 private:
  // Indices of some of the environments.
  struct Listed {
    std::int64_t env[kMaxEnvs];
    int count = 0;
  };

  // Lists those that `marks` marks (null: all).
  void list(const bool* marks, Listed& listed) const {
    int count = 0;  // without a branch for each environment, which would cost more
    for (std::int64_t i = first; i < last; ++i) {
      listed.env[count] = i;
      count += !marks || marks[i];
    }
    listed.count = count;
  }

  Real* state(int row) const { return static_cast<Real*>(batch.state) + row * batch.stride; }
  float* observation(int row) const { return batch.observation + row * batch.stride; }

  // Begins episode number `episode`, or the next ones where that is -1.
  void begin(const Listed& listed, std::int64_t episode) const {
    for (int done = 0; done < listed.count; done += kLanes) {
      const int count = std::min(listed.count - done, kLanes);
      const std::int64_t* envs = listed.env + done;
      std::uint64_t number[kLanes] = {}, numbered[kLanes] = {};
      for (int lane = 0; lane < count; ++lane) {
        std::uint32_t& now = batch.episode[envs[lane]];
        now = episode < 0 ? now + 1 : static_cast<std::uint32_t>(episode);
        number[lane] = static_cast<std::uint64_t>(batch.first_env + envs[lane]);
        numbered[lane] = now;
        batch.steps[envs[lane]] = 0;
      }
      const auto start = batch.seeds ? own_start(envs, count, numbered)
                                     : Env::start(batch.config.seed, load<std::uint64_t>(number),
                                                  load<std::uint64_t>(numbered));
      const typename Env::Reals rows[4] = {start.x, start.x_dot, start.theta, start.theta_dot};
      for (int row = 0; row < 4; ++row) {
        Real value[kLanes];
        store(rows[row], value);
        for (int lane = 0; lane < count; ++lane) {
          state(row)[envs[lane]] = value[lane];
          observation(row)[envs[lane]] = static_cast<float>(value[lane]);
        }
      }
    }
  }

  // The states from which environments with their own seeds start. Not inlined, as its vectors
  // would take registers from batches with one seed.
  [[gnu::noinline]] typename Env::State own_start(const std::int64_t* envs, int count,
                                                  const std::uint64_t* numbered) const {
    std::uint64_t seed[kLanes] = {};
    for (int lane = 0; lane < count; ++lane) seed[lane] = batch.seeds[envs[lane]];
    return Env::start(load<std::uint64_t>(seed), Many<std::uint64_t>{},
                      load<std::uint64_t>(numbered));
  }

  // Writes the outputs of a step that only begins an episode.
  void clear(const Listed& listed) const {
    for (int each = 0; each < listed.count; ++each) {
      const std::int64_t i = listed.env[each];
      batch.reward[i] = 0;
      batch.terminated[i] = batch.truncated[i] = batch.ended[i] = false;
    }
  }

  void keep_final(const Listed& listed) const {
    for (int each = 0; each < listed.count; ++each)
      for (int row = 0; row < 4; ++row) {
        const std::int64_t i = row * batch.stride + listed.env[each];
        batch.final_observation[i] = batch.observation[i];
      }
  }

  void step_registers(const std::int8_t* actions) const {
    std::int64_t i = first;
    for (; i + kLanes <= last; i += kLanes) step_register(i, actions + (i - first));
    if (i == last) return;
    std::int8_t filled[kLanes] = {};  // padded, as the caller's actions end within the register
    for (std::int64_t lane = i; lane < last; ++lane) filled[lane - i] = actions[lane - first];
    step_register(i, filled);
  }

  [[gnu::always_inline]] void step_register(std::int64_t i, const std::int8_t* actions) const {
    Env env;
    env.state = {load<Real>(state(0) + i), load<Real>(state(1) + i), load<Real>(state(2) + i),
                 load<Real>(state(3) + i)};
    env.steps = load<std::int32_t>(batch.steps + i);
    env.step(batch.config, load<std::int8_t>(actions));
    const auto& s = env.state;
    const typename Env::Reals rows[4] = {s.x, s.x_dot, s.theta, s.theta_dot};
    for (int row = 0; row < 4; ++row) {
      store(rows[row], state(row) + i);
      store(__builtin_convertvector(rows[row], Many<float>), observation(row) + i);
    }
    store(env.steps, batch.steps + i);
    store(env.terminated, batch.terminated + i);
    store(env.truncated, batch.truncated + i);
    store(env.terminated | env.truncated, batch.ended + i);
    store(Many<float>{} + 1.0F, batch.reward + i);
  }

  template <class Number>
  static Many<Number> load(const Number* from) {
    Many<Number> vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
  }

  template <class Vector, class Number>
  static void store(Vector vector, Number* to) {
    std::memcpy(to, &vector, sizeof vector);
  }
};

// The loops over blocks of environments, on one thread or several.
namespace cartpole {

// The minimum of steps per thread for which another thread pays off: these take about as long as
// waking a thread.
constexpr std::int64_t kStepsPerThread = 1024;

// Begins an episode on the environments that `which` marks (null: on all): number `episode`, or
// each one's next where `episode` is -1.
template <class Real>
inline void reset(const CartPoleBatch& batch, const bool* which, std::int64_t episode) {
  constexpr std::int64_t kMaxEnvs = CartPoleBlock<Real>::kMaxEnvs;
  for (std::int64_t first = 0; first < batch.num_envs; first += kMaxEnvs)
    CartPoleBlock<Real>{batch, first, std::min(first + kMaxEnvs, batch.num_envs)}.reset(which,
                                                                                        episode);
}

// The steps to take.
struct Steps {
  std::int64_t count;
  const std::int8_t* actions;  // (count, num_envs) of 0 or 1, or null: random ones
  std::int64_t drawn;          // how many random actions each environment has taken before
  double* rewards;             // (num_envs,), to which each environment's are added, or null
  std::int32_t* ended;         // likewise the number of its episodes that ended
};

namespace detail {

// Random actions of a block, a bit of Philox's words each: 128 per counter.
template <class Real>
struct RandomActions {
  std::uint32_t word[4][CartPoleBlock<Real>::kMaxEnvs];
  std::int8_t action[CartPoleBlock<Real>::kMaxEnvs];

  // The next actions of environments `first` to `last - 1`, which have taken `drawn` before.
  const std::int8_t* next(const CartPoleBatch& batch, std::int64_t first, std::int64_t last,
                          std::int64_t drawn, bool fresh) {
    if (fresh || drawn % 128 == 0) {
      const auto draw = [&](std::int64_t i, std::uint64_t seed, std::uint64_t number) {
        const auto words =
            env::philox_words<std::uint64_t>(seed, number, static_cast<std::uint64_t>(drawn / 128),
                                             0, env::Purpose::CARTPOLE_ACTION);
        for (int k = 0; k < 4; ++k) word[k][i - first] = static_cast<std::uint32_t>(words.word[k]);
      };
      // Two loops, so that each is vectorised.
      if (batch.seeds)
        for (std::int64_t i = first; i < last; ++i) draw(i, batch.seeds[i], 0);
      else
        for (std::int64_t i = first; i < last; ++i)
          draw(i, batch.config.seed, static_cast<std::uint64_t>(batch.first_env + i));
    }
    const std::uint32_t* now = word[drawn / 32 % 4];
    const int bit = static_cast<int>(drawn % 32);
    for (std::int64_t i = 0; i < last - first; ++i)
      action[i] = static_cast<std::int8_t>(now[i] >> bit & 1);
    return action;
  }
};

// Takes all steps of a block.
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
  constexpr std::int64_t kMaxEnvs = CartPoleBlock<Real>::kMaxEnvs;
  for (; first < last; first += kMaxEnvs)
    ended += step_block<Real>({batch, first, std::min(first + kMaxEnvs, last)}, steps);
  return ended;
}

}  // namespace detail

// The number of threads, up to `threads`, that pay off for `steps` steps.
inline std::int32_t useful_threads(std::int32_t threads, std::int64_t steps) {
  return rungs::useful_threads(threads, steps, kStepsPerThread);
}

// Steps all environments; returns how many episodes ended.
template <class Real>
inline std::int64_t step(const CartPoleBatch& batch, const Steps& steps, std::int32_t threads) {
  threads = useful_threads(threads, batch.num_envs * steps.count);
  // Whole cache lines of every output, so that no two threads write to one.
  const std::int64_t each = ((batch.num_envs + threads - 1) / threads + 63) / 64 * 64;
  if (threads == 1) return detail::step_run<Real>(batch, steps, 0, batch.num_envs);
  std::int64_t ended = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : ended)
  for (std::int32_t thread = 0; thread < threads; ++thread)
    ended += detail::step_run<Real>(batch, steps, thread * each,
                                    std::min((thread + 1) * each, batch.num_envs));
  return ended;
}

// The same on our own thread pool, in chunks.
template <class Real>
inline std::int64_t step(const CartPoleBatch& batch, const Steps& steps, ThreadPool& pool,
                         std::int32_t threads) {
  constexpr std::int64_t kMaxEnvs = CartPoleBlock<Real>::kMaxEnvs;
  threads = useful_threads(threads, batch.num_envs * steps.count);
  // A block's few steps would take less time than claiming it, so chunks are larger then.
  const std::int64_t each = steps.count < kStepsPerThread / kMaxEnvs ? kStepsPerThread : kMaxEnvs;
  return pool.run(threads, (batch.num_envs + each - 1) / each, [&](std::int64_t chunk) {
    return detail::step_run<Real>(batch, steps, chunk * each,
                                  std::min((chunk + 1) * each, batch.num_envs));
  });
}

}  // namespace cartpole

}  // namespace rungs
