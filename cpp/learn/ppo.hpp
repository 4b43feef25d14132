// PPO's loss of one position (Schulman et al., 2017, arXiv:1707.06347, equations 7 and 9), as
// `ppo_loss` in lib/rungs/train, and its gradient.
#pragma once
#include <algorithm>

#include "loss.hpp"

namespace rungs::learn {

// What was played in a rollout's positions, and what came of it.
template <class T>
struct Minibatch {
  Rows positions;
  const std::int64_t* choice;  // (P,), the place of the action that was played
  const T* old;                // (P,), its log-probability then
  const T* advantage;          // (P,)
  const T* outcome;            // (P,), what the value should have been
  double clip_coef, vf_coef, ent_coef;
};

template <class T>
class PpoLoss {
 public:
  explicit PpoLoss(const Minibatch<T>& batch) : batch_(batch) {
    const Rows& in = batch.positions;
    const auto rows = static_cast<double>(in.rows);
    double total = 0, squares = 0;
    for (std::int64_t i = 0; i < in.rows; ++i) total += batch.advantage[in.row[i]];
    for (std::int64_t i = 0; i < in.rows; ++i) {
      const double off = batch.advantage[in.row[i]] - total / rows;
      squares += off * off;
    }
    mean_ = static_cast<T>(total / rows);
    deviation_ = static_cast<T>(std::sqrt(squares / (rows - 1)) + 1e-8);
  }

  T operator()(std::int64_t position, int count, T value, const Likely<T>& likely, T* score,
               Parts& parts) const {
    const int whole = (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
    const auto choice = static_cast<int>(batch_.choice[position]);
    const T chosen = score[choice] - likely.log_total;
    Vector<T> plogp = {};
    for (int i = 0; i < whole; i += kLanes<T>) {
      const Vector<T> p = load(likely.probability + i), logp = load(score + i) - likely.log_total;
      plogp += p > Vector<T>{} ? p * logp : Vector<T>{};  // -inf beyond the last
    }
    const T entropy = -sum(plogp);

    const T advantage = (batch_.advantage[position] - mean_) / deviation_;
    const T moved = chosen - batch_.old[position], ratio = std::exp(moved);
    const T low = static_cast<T>(1 - batch_.clip_coef), high = static_cast<T>(1 + batch_.clip_coef);
    const T gain = ratio * advantage;
    const T clipped = std::min(std::max(ratio, low), high) * advantage;
    const T error = value - batch_.outcome[position];
    parts += {-std::min(gain, clipped), error * error, entropy, ratio - 1 - moved};

    // Where the clip holds, nothing is gained by moving on.
    const T each = 1 / static_cast<T>(batch_.positions.rows);
    const T by_chosen = clipped < gain ? 0 : -gain * each;
    const T by_entropy = static_cast<T>(batch_.ent_coef) * each;
    for (int i = 0; i < whole; i += kLanes<T>) {
      const Vector<T> p = load(likely.probability + i), logp = load(score + i) - likely.log_total;
      const Vector<T> said = p * (by_entropy * (logp + entropy) - by_chosen);
      store<T>(p > Vector<T>{} ? said : Vector<T>{}, score + i);
    }
    score[choice] += by_chosen;
    return static_cast<T>(2 * batch_.vf_coef) * error * each;
  }

 private:
  const Minibatch<T>& batch_;
  T mean_, deviation_;  // of the minibatch's advantages
};

}  // namespace rungs::learn
