// A batch of CartPole environments as vectors read them: their numbers lie side by side (structure
// of arrays). They are stepped some at a time: first all of them, a register of environments after
// the other, then those begin anew whose episodes ended, as a branch that some take and others
// don't costs more than a step.
#pragma once
#include <algorithm>
#include <cstring>

#include "../env/cartpole_env.hpp"

namespace rungs {

// All arrays have room for whole registers: `stride` values, of which `num_envs` count. Those of
// four rows hold x, x_dot, theta, theta_dot. The caller owns the memory; nothing here allocates.
#define RUNGS_CARTPOLE_ARRAYS(ARRAY)                  \
  ARRAY(void*, state)            /* (4, stride) */    \
  ARRAY(std::int32_t*, steps)    /* of the episode */ \
  ARRAY(std::uint32_t*, episode) /* its number */     \
  ARRAY(float*, observation)     /* (4, stride) */    \
  ARRAY(float*, reward)                               \
  ARRAY(bool*, terminated)                            \
  ARRAY(bool*, truncated)                             \
  ARRAY(bool*, ended)                                 \
  ARRAY(float*, final_observation) /* (4, stride) */  \
  /* the actions that `accept` found to be 0 or 1 */  \
  ARRAY(std::int8_t*, chosen)

struct CartPoleBatch {
  env::CartPoleConfig config;
  std::int64_t num_envs;
  std::int64_t stride;
  std::int64_t first_env;  // the number of the batch's first environment among all
#define RUNGS_FIELD(type, name) type name;
  RUNGS_CARTPOLE_ARRAYS(RUNGS_FIELD)
#undef RUNGS_FIELD
};

// Whether all of a step's actions are 0 or 1; they are what is played then. Each is read once: they
// may lie where another thread writes. Returns the first that is not, or `num_envs`.
inline std::int64_t accept(const CartPoleBatch& batch, const std::int64_t* actions) {
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

  // The most environments of a block: what they read and write stays in the first cache.
  static constexpr std::int64_t kMost = 256;
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
  // Some of the environments, by number.
  struct Listed {
    std::int64_t env[kMost];
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
      const auto start =
          Env::start(batch.config.seed, load<std::uint64_t>(number), load<std::uint64_t>(numbered));
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

  // Writes what a step gives that only begins an episode.
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
    std::int8_t filled[kLanes] = {};  // the caller's actions end before the register does
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

}  // namespace rungs
