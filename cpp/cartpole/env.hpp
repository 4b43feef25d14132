// CartPole environments: where an episode starts and when it ends. One object is as many
// environments as a vector register holds numbers of the state. They are stepped together, without
// any branch.
#pragma once
#include "../env/philox.hpp"
#include "physics.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // Many never cross a function boundary not inlined

namespace rungs::env {

// Every setting, a line each: its type and its name.
#define RUNGS_CARTPOLE_SETTINGS(SETTING)                    \
  SETTING(std::uint64_t, seed)                              \
  /* bytes of a number of the state: 4 or 8 */              \
  SETTING(std::int32_t, precision)                          \
  SETTING(Autoreset, autoreset)                             \
  SETTING(std::int32_t, max_episode_steps)                  \
  /* steps of Euler's method per step of the environment */ \
  SETTING(std::int32_t, workload)

struct CartPoleConfig {
#define RUNGS_FIELD(type, name) type name;
  RUNGS_CARTPOLE_SETTINGS(RUNGS_FIELD)
#undef RUNGS_FIELD
};

constexpr int kRegisterBytes = 64;

template <class Real>
struct CartPoleEnv {
  static constexpr int kLanes = kRegisterBytes / sizeof(Real);

  // A number for each of the environments. (g++ takes no such alias template.)
  template <class Number>
  struct Register {
    typedef Number Vector __attribute__((vector_size(kLanes * sizeof(Number))));
  };
  template <class Number>
  using Many = typename Register<Number>::Vector;
  using Reals = Many<Real>;
  using State = cartpole::State<Reals>;

  State state;
  Many<std::int32_t> steps;  // of the episode
  Many<std::int8_t> terminated, truncated;

  // The state that an episode starts from: in ±0.05 like Gymnasium's. Seed: one for all, or Many.
  template <class Seed>
  static State start(Seed seed, Many<std::uint64_t> env, Many<std::uint64_t> episode) {
    const auto random = philox_words(seed, env, episode, Many<std::uint64_t>{},  //
                                     Purpose::CARTPOLE_START);
    const auto within = [](Many<std::uint64_t> word) {
      const auto number = __builtin_convertvector((Many<std::int64_t>)word, Many<double>);
      return __builtin_convertvector(0.1 * (number * 0x1p-32) - 0.05, Reals);
    };
    return {within(random.word[0]), within(random.word[1]), within(random.word[2]),
            within(random.word[3])};
  }

  // Pushes the carts: to the left if an action is 0, to the right if it is 1. Inlined, as arguments
  // of this length would be passed in memory.
  [[gnu::always_inline]] void step(const CartPoleConfig& config, Many<std::int8_t> actions) {
    const Reals right = __builtin_convertvector(actions, Reals);
    move(right * number(2 * cartpole::kForce) - number(cartpole::kForce), config.workload);
    steps = steps + 1;
    terminated = flags(fallen());
    truncated = flags(steps >= config.max_episode_steps);
  }

 private:
  static constexpr Real number(double constant) { return static_cast<Real>(constant); }

  template <class Mask>
  static Many<std::int8_t> flags(Mask mask) {
    return __builtin_convertvector(mask, Many<std::int8_t>) & 1;
  }

  [[gnu::always_inline]] void move(Reals force, std::int32_t workload) {
    const Real tau = number(cartpole::kSeconds / workload);
    for (std::int32_t i = 0; i < workload; ++i) state = cartpole::advance<Real>(state, force, tau);
  }

  auto fallen() const {
    return (state.x < number(-cartpole::kMaxX)) | (state.x > number(cartpole::kMaxX)) |
           (state.theta < number(-cartpole::kMaxTheta)) |
           (state.theta > number(cartpole::kMaxTheta));
  }
};

}  // namespace rungs::env
