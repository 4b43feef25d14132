// Losses of a minibatch and their gradients: PPO's, and AlphaZero's.
//
// A loss is an object that is called with one position at a time,
//
//   T loss(std::int64_t position, int count, T value, const Softmax<T>& policy, T* score,
//          LossTerms& terms)
//
// with its number of legal actions, the network's value and policy, and the actions' scores, an
// array of kLegalPadded with -inf in the padding. It adds the position's loss terms to `terms`,
// overwrites `score` with the gradient of the mean loss with respect to the scores (0 in the
// padding), and returns the gradient with respect to the value.
#pragma once
#include <algorithm>

#include "forward.hpp"

namespace rungs::learn {

// P positions, and the indices of those in the minibatch.
struct BatchPositions {
  const std::int8_t* observation;  // (P, 72)
  const std::int16_t* action;      // (P, 218), the legal actions
  const std::int16_t* count;       // (P,), their number
  const std::int64_t* row;         // (rows,), the minibatch: indices below P
  std::int64_t rows;
};

// Terms of a loss, summed over positions; terms that a loss doesn't have stay 0.
struct LossTerms {
  double policy = 0, value = 0, entropy = 0, divergence = 0;

  void operator+=(const LossTerms& other) {
    policy += other.policy;
    value += other.value;
    entropy += other.entropy;
    divergence += other.divergence;
  }
};

// PPO's loss (Schulman et al., 2017, arXiv:1707.06347, equations 7 and 9), as `ppo_loss` in
// lib/rungs/_src/train.

// Positions of a rollout, the actions that were played, and the targets.
template <class T>
struct PpoBatch {
  BatchPositions positions;
  const std::int64_t* choice;    // (P,), index of the action played, among the legal ones
  const T* old_log_probability;  // (P,), its log-probability when it was played
  const T* advantage;            // (P,)
  const T* returns;              // (P,), target of the value
  double clip_coef, vf_coef, ent_coef;
};

template <class T>
class PpoLoss {
 public:
  explicit PpoLoss(const PpoBatch<T>& batch) : batch_(batch) {
    const BatchPositions& in = batch.positions;
    const auto rows = static_cast<double>(in.rows);
    double total = 0, squares = 0;
    for (std::int64_t i = 0; i < in.rows; ++i) total += batch.advantage[in.row[i]];
    for (std::int64_t i = 0; i < in.rows; ++i) {
      const double off = batch.advantage[in.row[i]] - total / rows;
      squares += off * off;
    }
    mean_ = static_cast<T>(total / rows);
    std_ = static_cast<T>(std::sqrt(squares / (rows - 1)) + 1e-8);
  }

  T operator()(std::int64_t position, int count, T value, const Softmax<T>& policy, T* score,
               LossTerms& terms) const {
    const int padded = (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
    const auto choice = static_cast<int>(batch_.choice[position]);
    const T chosen = score[choice] - policy.log_sum_exp;
    Vector<T> plogp = {};
    for (int i = 0; i < padded; i += kLanes<T>) {
      const Vector<T> p = load(policy.probability + i), logp = load(score + i) - policy.log_sum_exp;
      plogp += p > Vector<T>{} ? p * logp : Vector<T>{};  // 0 in the padding, where log p is -inf
    }
    const T entropy = -reduce_add(plogp);

    const T advantage = (batch_.advantage[position] - mean_) / std_;
    const T log_ratio = chosen - batch_.old_log_probability[position], ratio = std::exp(log_ratio);
    const T low = static_cast<T>(1 - batch_.clip_coef), high = static_cast<T>(1 + batch_.clip_coef);
    const T surrogate = ratio * advantage;
    const T clipped = std::min(std::max(ratio, low), high) * advantage;
    const T error = value - batch_.returns[position];
    terms += {-std::min(surrogate, clipped), error * error, entropy, ratio - 1 - log_ratio};

    // Where the ratio is clipped, its gradient is 0.
    const T inverse_rows = 1 / static_cast<T>(batch_.positions.rows);
    const T chosen_gradient = clipped < surrogate ? 0 : -surrogate * inverse_rows;
    const T entropy_scale = static_cast<T>(batch_.ent_coef) * inverse_rows;
    for (int i = 0; i < padded; i += kLanes<T>) {
      const Vector<T> p = load(policy.probability + i), logp = load(score + i) - policy.log_sum_exp;
      const Vector<T> gradient = p * (entropy_scale * (logp + entropy) - chosen_gradient);
      store<T>(p > Vector<T>{} ? gradient : Vector<T>{}, score + i);
    }
    score[choice] += chosen_gradient;
    return static_cast<T>(2 * batch_.vf_coef) * error * inverse_rows;
  }

 private:
  const PpoBatch<T>& batch_;
  T mean_, std_;  // of the minibatch's advantages
};

// AlphaZero's loss (Silver et al., 2017, arXiv:1712.01815, equation 1) without weight decay, as
// `losses` in lib/rungs/_src/selfplay/learning.py.

// Positions, search's policy in them, and what they are worth.
template <class T>
struct SearchBatch {
  BatchPositions positions;
  const T* policy;  // (P, 218), search's policy: sums to 1 over the legal actions
  const T* value;   // (P,), target of the value, for the side to move
  double vf_coef;
};

template <class T>
class SearchLoss {
 public:
  explicit SearchLoss(const SearchBatch<T>& batch) : batch_(batch) {}

  // The policy term is the KL divergence from search's policy to the network's: the cross-entropy
  // minus the entropy of search's policy.
  T operator()(std::int64_t position, int count, T value, const Softmax<T>& policy, T* score,
               LossTerms& terms) const {
    const T* const target = batch_.policy + position * kMaxLegal;
    const T inverse_rows = 1 / static_cast<T>(batch_.positions.rows);
    T divergence = 0;
    for (int i = 0; i < count; ++i) {
      const T logp = score[i] - policy.log_sum_exp;
      if (target[i] > 0) divergence += target[i] * (std::log(target[i]) - logp);
      score[i] = (policy.probability[i] - target[i]) * inverse_rows;
    }
    const int padded = (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
    for (int i = count; i < padded; ++i) score[i] = 0;
    const T error = value - batch_.value[position];
    terms += {divergence, error * error};
    return static_cast<T>(2 * batch_.vf_coef) * error * inverse_rows;
  }

 private:
  const SearchBatch<T>& batch_;
};

}  // namespace rungs::learn
