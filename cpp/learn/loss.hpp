// What a loss is of: some of many positions, one after the other.
//
// A loss is an object that is called with a position of its minibatch,
//
//   T loss(std::int64_t position, int count, T value, const Likely<T>& likely, T* score,
//          Parts& parts)
//
// how many legal actions it has, what the network says of it, and the actions' scores, with room
// for `kRoom`, -inf beyond the last. It adds the position's parts; writes the gradients of the mean
// loss over all rows with respect to the scores in their place, 0 beyond the last; and returns the
// one with respect to the value.
#pragma once
#include "policy.hpp"

namespace rungs::learn {

// P positions, and the rows that a minibatch consists of.
struct Rows {
  const std::int8_t* observation;  // (P, 72)
  const std::int16_t* action;      // (P, 218), the legal ones
  const std::int16_t* count;       // (P,), how many those are
  const std::int64_t* row;         // (rows,)
  std::int64_t rows;
};

// Parts of a loss, summed over positions; those that a loss doesn't have stay 0.
struct Parts {
  double policy = 0, value = 0, entropy = 0, divergence = 0;

  void operator+=(const Parts& other) {
    policy += other.policy;
    value += other.value;
    entropy += other.entropy;
    divergence += other.divergence;
  }
};

}  // namespace rungs::learn
