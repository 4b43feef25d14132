// Adam (Kingma and Ba, 2015, arXiv:1412.6980), as PyTorch computes it, of gradients that are scaled
// down to a norm first.
#pragma once
#include <algorithm>
#include <cmath>

#include "network.hpp"
#include "vectors.hpp"

namespace rungs::learn {

// Weights go in units: one whose gradients have all been 0 so far has no moments, and rests. Many
// do: most keys are of actions that nobody has played, and no pawn stands on a first rank.
constexpr int kUnit = 64;
constexpr std::int64_t kUnits = (kWeights + kUnit - 1) / kUnit;

// Weights, their gradients and moments, kUnits * kUnit numbers each, of which the last few are
// unused and 0; and which units are awake, kUnits bytes.
template <class T>
struct Parameters {
  T *weights, *gradient, *first_moment, *second_moment;
  std::uint8_t* awake;
};

struct AdamSettings {
  double learning_rate, eps, max_grad_norm;
  std::int64_t step;  // counts from 1
};

// Units of a task.
constexpr std::int64_t kUnitsOfTask = 256, kAdamTasks = (kUnits + kUnitsOfTask - 1) / kUnitsOfTask;

// The sum of a task's squared gradients; wakes units whose gradient isn't 0.
template <class T>
inline double squared_norm(const Parameters<T>& all, std::int64_t task) {
  double total = 0;
  const std::int64_t end = std::min((task + 1) * kUnitsOfTask, kUnits);
  for (std::int64_t unit = task * kUnitsOfTask; unit < end; ++unit) {
    Vector<T> squares = {};
    for (int i = 0; i < kUnit; i += kLanes<T>) {
      const Vector<T> x = load(all.gradient + unit * kUnit + i);
      squares = multiply_add(x, x, squares);
    }
    const T here = sum(squares);
    if (here != 0) all.awake[unit] = true;
    total += here;
  }
  return total;
}

// Wakes the units that have moments, and no others.
template <class T>
inline void wake(const Parameters<T>& all) {
  for (std::int64_t unit = 0; unit < kUnits; ++unit) {
    all.awake[unit] = false;
    for (std::int64_t i = unit * kUnit; i < (unit + 1) * kUnit; ++i)
      all.awake[unit] |= all.first_moment[i] != 0 || all.second_moment[i] != 0;
  }
}

// Moves a task's weights; `norm` is that of all gradients.
template <class T>
inline void move(const Parameters<T>& all, const AdamSettings& settings, double norm,
                 std::int64_t task) {
  constexpr double kBeta1 = 0.9, kBeta2 = 0.999;
  const auto steps = static_cast<double>(settings.step);
  const auto rate = static_cast<T>(-settings.learning_rate / (1 - std::pow(kBeta1, steps)));
  const auto scale = static_cast<T>(1 / std::sqrt(1 - std::pow(kBeta2, steps)));
  const auto down = static_cast<T>(std::min(1.0, settings.max_grad_norm / (norm + 1e-6)));
  const Vector<T> eps = everywhere(static_cast<T>(settings.eps));
  const auto keep = static_cast<T>(kBeta2), take1 = static_cast<T>(1 - kBeta1),
             take2 = static_cast<T>(1 - kBeta2);
  const std::int64_t end = std::min((task + 1) * kUnitsOfTask, kUnits);
  for (std::int64_t unit = task * kUnitsOfTask; unit < end; ++unit) {
    if (!all.awake[unit]) continue;
    for (std::int64_t i = unit * kUnit; i < (unit + 1) * kUnit; i += kLanes<T>) {
      const Vector<T> gradient = load(all.gradient + i) * down;
      Vector<T> first = load(all.first_moment + i), second = load(all.second_moment + i);
      first = multiply_add(gradient - first, everywhere(take1), first);
      second = multiply_add(gradient * take2, gradient, second * keep);
      const Vector<T> spread = multiply_add(root(second), everywhere(scale), eps);
      store(first, all.first_moment + i);
      store(second, all.second_moment + i);
      store<T>(load(all.weights + i) + first * rate / spread, all.weights + i);
    }
  }
}

}  // namespace rungs::learn
