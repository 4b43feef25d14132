// What reinforcement learning adds to a cart and a pole: rewards, ends, and the next episode. The
// environments of a batch lie side by side (structure of arrays), and a step is one of a whole
// register of them: 8 in double, 16 in single precision.
#pragma once
#include <cstring>

#include "../cartpole/physics.hpp"
#include "autoreset.hpp"
#include "random.hpp"

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

template <class Real>
struct CartPoleEnvs {
  static constexpr int kLanes = kRegisterBytes / sizeof(Real);

  // One number for each of a register's environments.
  template <class Number>
  using Many = Number __attribute__((vector_size(kLanes * sizeof(Number))));
  using Reals = Many<Real>;

  const CartPoleBatch& batch;

  Real* state(int row) const { return static_cast<Real*>(batch.state) + row * batch.stride; }
  float* observation(int row) const { return batch.observation + row * batch.stride; }

  // Begins the episode whose number is set on environment `i`, in ±0.05 like Gymnasium's.
  void begin(std::int64_t i) const {
    const Words random = philox_words(batch.seed, static_cast<std::uint32_t>(batch.first_env + i),
                                      batch.episode[i], 0, Stream::CARTPOLE_START);
    for (int row = 0; row < 4; ++row) {
      state(row)[i] = static_cast<Real>(0.1 * (random.word[row] * 0x1p-32) - 0.05);
      observation(row)[i] = static_cast<float>(state(row)[i]);
    }
    batch.steps[i] = 0;
  }

  void begin_next(std::int64_t i) const {
    ++batch.episode[i];
    begin(i);
  }

  // Steps environments `i` to `i + kLanes - 1`; `actions` are theirs, each 0 or 1. Returns how many
  // episodes ended.
  int step(std::int64_t i, const std::int64_t* actions) const {
    const auto chosen = detail::load<Many<std::int64_t>>(actions);
    const Reals right = __builtin_convertvector(chosen, Reals);
    const Reals force =
        right * static_cast<Real>(2 * cartpole::kForce) - static_cast<Real>(cartpole::kForce);
    const bool resets = batch.autoreset == Autoreset::NEXT_STEP && any(batch.ended + i);
    bool before[kLanes];
    if (resets) std::memcpy(before, batch.ended + i, sizeof before);
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
    if (resets) begin_where(i, before);
    return any(batch.ended + i) ? end(i) : 0;
  }

 private:
  static bool any(const bool* flags) {
    std::uint64_t words[kLanes / 8];
    std::memcpy(words, flags, sizeof words);
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all |= word;
    return all;
  }

  cartpole::State<Reals> compute(std::int64_t i, Reals force) const {
    cartpole::State<Reals> next;
    for (std::int32_t repeat = 0; repeat < batch.workload; ++repeat) {
      asm volatile("" ::: "memory");  // as if the state were another one each time
      const cartpole::State<Reals> now = {
          detail::load<Reals>(state(0) + i), detail::load<Reals>(state(1) + i),
          detail::load<Reals>(state(2) + i), detail::load<Reals>(state(3) + i)};
      next = cartpole::advance<Real>(now, force);
    }
    return next;
  }

  // With NEXT_STEP: where an episode had ended before, this step is the next one's reset.
  void begin_where(std::int64_t i, const bool* before) const {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!before[lane]) continue;
      begin_next(i + lane);
      batch.reward[i + lane] = 0;
      batch.terminated[i + lane] = batch.truncated[i + lane] = batch.ended[i + lane] = false;
    }
  }

  int end(std::int64_t i) const {
    int count = 0;
    for (std::int64_t lane = i; lane < i + kLanes; ++lane) {
      if (!batch.ended[lane]) continue;
      count += lane < batch.num_envs;  // those beyond only fill the register
      if (batch.autoreset != Autoreset::SAME_STEP) continue;
      for (int row = 0; row < 4; ++row)
        batch.final_observation[row * batch.stride + lane] = observation(row)[lane];
      begin_next(lane);
    }
    return count;
  }
};

}  // namespace rungs::env
