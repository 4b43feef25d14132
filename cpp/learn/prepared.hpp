// Weights as the products take them: made once for all the positions that they are used on.
//
// A LayerNorm's gamma and beta go into the layer behind it, whose weights are W diag(gamma) and
// whose bias is b + W beta, so that a position is only centred and scaled. Of the squares, all are
// taken to be empty in the base, and a piece adds what it differs by: at most 32 rows are added,
// not 64.
#pragma once
#include "network.hpp"
#include "product.hpp"

namespace rungs::learn {

// The head's outputs, query and value, padded to whole vectors.
constexpr int kHeadOutputs = kKeys + 1, kHead = kKeys + 16;
static_assert(kHead % kLanes<float> == 0 && kHead % kLanes<double> == 0);

// A layer both ways: packed (128, outputs) for what it computes of a position, and packed (outputs,
// 128) for what its output's gradient says of its input's.
template <class U, int outputs, int padded = outputs>
struct alignas(64) PreparedLayer {
  U forward[count_of<U>(kWidth) * padded];
  Sum<U> bias[padded];
  U backward[count_of<U>(outputs) * kWidth];
};

// Products take `U`.
template <class U>
struct alignas(64) Prepared {
  using T = Sum<U>;

  T base[kWidth];
  T piece[64 * kPieces][kWidth];  // what it adds where a square isn't empty
  T others[kOthers][kWidth];      // scaled
  PreparedLayer<U, kWidth> block[2 * kBlocks];
  PreparedLayer<U, kHeadOutputs, kHead> head;

  // The weights that it was made of, where `remembers` says so: all but the keys, which are read
  // where they are.
  T before_keys[kActionKeys], behind_keys[kWeights - kValue];
  std::int64_t remembers;

  // Whether it was made of these weights, bit for bit.
  bool made_of(const T* weights) const {
    return remembers && std::memcmp(weights, before_keys, sizeof before_keys) == 0 &&
           std::memcmp(weights + kValue, behind_keys, sizeof behind_keys) == 0;
  }

  // Notes that it was made of these weights.
  void remember(const T* weights) {
    std::memcpy(before_keys, weights, sizeof before_keys);
    std::memcpy(behind_keys, weights + kValue, sizeof behind_keys);
    remembers = true;
  }

  // It is made in so many parts, in any order.
  static constexpr int kParts = 8 + 1 + kLayers;

  void make(int part, const T* weights) {
    if (part < 8)
      make_rank(part, weights);
    else if (part == 8)
      make_base(weights);
    else
      make_layer(part - 9, weights);
  }

 private:
  void make_rank(int rank, const T* weights) {
    for (int square = 8 * rank; square < 8 * rank + 8; ++square) {
      const T* const rows = weights + kSquares + square * kPieces * kWidth;
      for (int kind = 0; kind < kPieces; ++kind)
        for (int i = 0; i < kWidth; ++i)
          piece[square * kPieces + kind][i] = rows[kind * kWidth + i] - rows[kEmpty * kWidth + i];
    }
  }

  void make_base(const T* weights) {
    for (int i = 0; i < kWidth; ++i) base[i] = weights[kSquaresBias + i];
    for (int square = 0; square < 64; ++square)
      for (int i = 0; i < kWidth; ++i)
        base[i] += weights[kSquares + (square * kPieces + kEmpty) * kWidth + i];
    for (int other = 0; other < kOthers; ++other)
      for (int i = 0; i < kWidth; ++i)
        others[other][i] = weights[kSquares + (64 * kPieces + other) * kWidth + i] *
                           static_cast<T>(kScales[other]);
  }

  void make_layer(int number, const T* weights) {
    if (number == kQueryLayer)
      fold(layer(number), weights, 0, head);
    else if (number == kValueLayer)
      fold(layer(number), weights, kKeys, head);
    else
      fold(layer(number), weights, 0, block[number]);
  }

  // Puts a layer to outputs `first` and on.
  template <int outputs, int padded>
  static void fold(const Layer& from, const T* weights, int first,
                   PreparedLayer<U, outputs, padded>& to) {
    const T* const gamma = from.norm < 0 ? nullptr : weights + from.norm;
    for (int o = 0; o < from.outputs; ++o) {
      const T* const row = weights + from.weights + o * kWidth;
      T bias = weights[from.bias + o];
      for (int i = 0; i < kWidth; ++i) {
        const T folded = gamma ? row[i] * gamma[i] : row[i];
        if (gamma) bias += row[i] * gamma[kWidth + i];
        constexpr int kDepth = count_of<U>(kWidth), kBack = count_of<U>(outputs);
        put_number<U>(folded, i, [&](int k) -> U& {
          return to.forward[packed<U>(k, first + o, kDepth, padded)];
        });
        put_number<U>(folded, first + o,
                      [&](int k) -> U& { return to.backward[packed<U>(k, i, kBack, kWidth)]; });
      }
      to.bias[first + o] = bias;
    }
  }
};

}  // namespace rungs::learn
