// AlphaZero's loss of one position (Silver et al., 2017, arXiv:1712.01815, equation 1), without its
// penalty of weights, as `losses` in lib/rungs/selfplay/learning.py, and its gradient.
#pragma once
#include "loss.hpp"

namespace rungs::learn {

// What search found in positions, and how their games ended.
template <class T>
struct Searched {
  Rows positions;
  const T* policy;   // (P, 218), what search would play: sums to 1 over the legal actions
  const T* outcome;  // (P,), for the side to move
  double vf_coef;
};

template <class T>
class SearchLoss {
 public:
  explicit SearchLoss(const Searched<T>& batch) : batch_(batch) {}

  // The policy's part is its divergence from search's: the cross-entropy less search's entropy.
  T operator()(std::int64_t position, int count, T value, const Likely<T>& likely, T* score,
               Parts& parts) const {
    const T* const target = batch_.policy + position * kMaxLegal;
    const T each = 1 / static_cast<T>(batch_.positions.rows);
    T divergence = 0;
    for (int i = 0; i < count; ++i) {
      const T logp = score[i] - likely.log_total;
      if (target[i] > 0) divergence += target[i] * (std::log(target[i]) - logp);
      score[i] = (likely.probability[i] - target[i]) * each;
    }
    const int whole = (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
    for (int i = count; i < whole; ++i) score[i] = 0;
    const T error = value - batch_.outcome[position];
    parts += {divergence, error * error};
    return static_cast<T>(2 * batch_.vf_coef) * error * each;
  }

 private:
  const Searched<T>& batch_;
};

}  // namespace rungs::learn
