// The same arithmetic on carts that lie in memory as an array of structures and as a structure of
// arrays, for notebook 13.
#pragma once
#include <cstdint>

#include "../cartpole/physics.hpp"

namespace rungs::layouts {

using Cart = cartpole::State<double>;

struct Carts {
  double* __restrict x;
  double* __restrict x_dot;
  double* __restrict theta;
  double* __restrict theta_dot;
};

// A step of the physics: reads and writes all four numbers of each cart.
inline void advance(Cart* __restrict carts, std::int64_t number, double force) {
  for (std::int64_t i = 0; i < number; ++i)
    carts[i] = cartpole::advance<double>(carts[i], force, cartpole::kSeconds);
}

inline void advance(const Carts& carts, std::int64_t number, double force) {
  for (std::int64_t i = 0; i < number; ++i) {
    const Cart before{carts.x[i], carts.x_dot[i], carts.theta[i], carts.theta_dot[i]};
    const Cart after = cartpole::advance<double>(before, force, cartpole::kSeconds);
    carts.x[i] = after.x, carts.x_dot[i] = after.x_dot;
    carts.theta[i] = after.theta, carts.theta_dot[i] = after.theta_dot;
  }
}

// How many poles lean to the right: reads one number of each cart's four.
inline std::int64_t count_right(const Cart* carts, std::int64_t number) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < number; ++i) count += carts[i].theta > 0;
  return count;
}

inline std::int64_t count_right(const Carts& carts, std::int64_t number) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < number; ++i) count += carts.theta[i] > 0;
  return count;
}

}  // namespace rungs::layouts
