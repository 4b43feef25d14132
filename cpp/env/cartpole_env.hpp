// What reinforcement learning adds to a cart and a pole: rewards, ends, and the next episode. The
// environments of a batch lie side by side (structure of arrays). They are stepped some at a time:
// first all of them, a register of environments after the other and without any branch, then those
// begin anew whose episodes ended, as a branch that some take and others don't costs more than a
// step.
#pragma once
#include <cstring>

#include "../cartpole/physics.hpp"
#include "episode.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // Lanes never cross a function boundary not inlined

namespace rungs::env {

// All arrays have room for whole registers: `stride` values, of which `num_envs` count. Those of
// four rows hold x, x_dot, theta, theta_dot. The caller owns the memory; nothing here allocates.
// Mirrored by lib/rungs/cartpole/host.py.
struct CartPoleBatch {
  std::uint64_t seed;
  std::int32_t precision;  // bytes of a number of the state: 4 or 8
  Autoreset autoreset;
  std::int32_t max_steps;
  std::int32_t workload;  // how often the physics of a step is computed
  std::int64_t num_envs;
  std::int64_t stride;
  std::int64_t first_env;  // the number of the batch's first environment among all
  void* state;             // (4, stride)
  std::int32_t* steps;     // of the episode
  std::uint32_t* episode;  // its number
  float* observation;      // (4, stride)
  float* reward;
  bool* terminated;
  bool* truncated;
  bool* ended;
  float* final_observation;  // (4, stride)
};

constexpr int kRegisterBytes = 64;

// The most environments stepped at a time: what they read and write stays in the first cache.
constexpr std::int64_t kBlock = 256;

namespace detail {

template <class Vector, class Number>
inline Vector load(const Number* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

template <class Vector, class Number>
inline void store(Vector vector, Number* to) {
  std::memcpy(to, &vector, sizeof vector);
}

}  // namespace detail

// Some environments, by number.
struct Listed {
  std::int64_t env[kBlock + kRegisterBytes];  // room to fill the last register
  int count = 0;

  // Those from `first` to `last - 1`.
  Listed(std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) env[count++] = i;
  }

  // Those of them that `marks` marks.
  Listed(const bool* marks, std::int64_t first, std::int64_t last) {
    int listed = 0;
    for (std::int64_t i = first; i < last; ++i) {
      env[listed] = i;
      listed += marks[i];
    }
    count = listed;
  }
};

template <class Real>
struct CartPoleEnvs {
  static constexpr int kLanes = kRegisterBytes / sizeof(Real);

  // A number for each of a register's environments. (g++ takes no such alias template.)
  template <class Number>
  struct Register {
    typedef Number Vector __attribute__((vector_size(kLanes * sizeof(Number))));
  };
  template <class Number>
  using Many = typename Register<Number>::Vector;
  using Reals = Many<Real>;

  const CartPoleBatch& batch;

  Real* state(int row) const { return static_cast<Real*>(batch.state) + row * batch.stride; }
  float* observation(int row) const { return batch.observation + row * batch.stride; }

  // Begins the episodes whose numbers are set, in ±0.05 like Gymnasium's.
  void begin(const Listed& listed) const {
    for (int first = 0; first < listed.count; first += kLanes) {
      const int count = listed.count - first < kLanes ? listed.count - first : kLanes;
      const std::int64_t* envs = listed.env + first;
      std::uint64_t number[kLanes] = {}, episode[kLanes] = {};
      for (int lane = 0; lane < count; ++lane) {
        number[lane] = static_cast<std::uint64_t>(batch.first_env + envs[lane]);
        episode[lane] = batch.episode[envs[lane]];
        batch.steps[envs[lane]] = 0;
      }
      using Word = Many<std::uint64_t>;
      const auto random = philox_words(batch.seed, detail::load<Word>(number),
                                       detail::load<Word>(episode), Word{}, Stream::CARTPOLE_START);
      for (int row = 0; row < 4; ++row) {
        const auto word =
            __builtin_convertvector((Many<std::int64_t>)random.word[row], Many<double>);
        Real start[kLanes];
        detail::store(__builtin_convertvector(0.1 * (word * 0x1p-32) - 0.05, Reals), start);
        for (int lane = 0; lane < count; ++lane) {
          state(row)[envs[lane]] = start[lane];
          observation(row)[envs[lane]] = static_cast<float>(start[lane]);
        }
      }
    }
  }

  // Steps environments `first` to `last - 1`, at most `kBlock`, where `first` begins a register;
  // `actions` are theirs, each 0 or 1. Returns how many episodes ended.
  int step(std::int64_t first, std::int64_t last, const std::int64_t* actions) const {
    // With NEXT_STEP: where an episode had ended before, this step is the next one's reset.
    const bool next_step = batch.autoreset == Autoreset::NEXT_STEP;
    const Listed resets(batch.ended, first, next_step ? last : first);
    std::int64_t i = first;
    for (; i + kLanes <= last; i += kLanes) step_register(i, actions + (i - first));
    if (i < last) {
      std::int64_t filled[kLanes] = {};  // the caller's actions end before the register does
      for (std::int64_t lane = i; lane < last; ++lane) filled[lane - i] = actions[lane - first];
      step_register(i, filled);
    }
    begin_next(resets);
    for (int reset = 0; reset < resets.count; ++reset) {
      const std::int64_t env = resets.env[reset];
      batch.reward[env] = 0;
      batch.terminated[env] = batch.truncated[env] = batch.ended[env] = false;
    }
    const Listed ended(batch.ended, first, last);
    if (batch.autoreset == Autoreset::SAME_STEP) {
      for (int end = 0; end < ended.count; ++end)
        for (int row = 0; row < 4; ++row)
          batch.final_observation[row * batch.stride + ended.env[end]] =
              observation(row)[ended.env[end]];
      begin_next(ended);
    }
    return ended.count;
  }

 private:
  void begin_next(const Listed& listed) const {
    for (int each = 0; each < listed.count; ++each) ++batch.episode[listed.env[each]];
    begin(listed);
  }

  void step_register(std::int64_t i, const std::int64_t* actions) const {
    const auto chosen = detail::load<Many<std::int64_t>>(actions);
    const Reals right = __builtin_convertvector(chosen, Reals);
    const Reals force =
        right * static_cast<Real>(2 * cartpole::kForce) - static_cast<Real>(cartpole::kForce);
    const cartpole::State<Reals> s = compute(i, force);
    const auto fallen = (s.x < static_cast<Real>(-cartpole::kMostX)) |
                        (s.x > static_cast<Real>(cartpole::kMostX)) |
                        (s.theta < static_cast<Real>(-cartpole::kMostTheta)) |
                        (s.theta > static_cast<Real>(cartpole::kMostTheta));
    const auto steps = detail::load<Many<std::int32_t>>(batch.steps + i) + 1;
    const auto late = steps >= batch.max_steps;
    const auto terminated = __builtin_convertvector(fallen, Many<std::int8_t>) & 1;
    const auto truncated = __builtin_convertvector(late, Many<std::int8_t>) & 1;
    const Reals rows[4] = {s.x, s.x_dot, s.theta, s.theta_dot};
    for (int row = 0; row < 4; ++row) {
      detail::store(rows[row], state(row) + i);
      detail::store(__builtin_convertvector(rows[row], Many<float>), observation(row) + i);
    }
    detail::store(steps, batch.steps + i);
    detail::store(terminated, batch.terminated + i);
    detail::store(truncated, batch.truncated + i);
    detail::store(terminated | truncated, batch.ended + i);
    detail::store(Many<float>{} + 1.0F, batch.reward + i);
  }

  cartpole::State<Reals> compute(std::int64_t i, Reals force) const {
    for (std::int32_t repeat = 1; repeat < batch.workload; ++repeat) {
      const cartpole::State<Reals> next = cartpole::advance<Real>(now(i), force);
      asm volatile("" : : "r"(&next) : "memory");  // as if it were used, and the state another one
    }
    return cartpole::advance<Real>(now(i), force);
  }

  cartpole::State<Reals> now(std::int64_t i) const {
    return {detail::load<Reals>(state(0) + i), detail::load<Reals>(state(1) + i),
            detail::load<Reals>(state(2) + i), detail::load<Reals>(state(3) + i)};
  }
};

}  // namespace rungs::env
