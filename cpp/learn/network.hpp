// The network of lib/rungs/train/network.py: how wide it is, and where its weights are.
//
//   72 numbers of a board -> squares -> stream -> 2 x (stream += second(relu(first(norm(stream)))))
//                                              -> norm -> query of 64, and value
//   score of a legal action = query * (key of the action + key of who moves and what is taken)
//
// All weights are one row of numbers, a tensor after the other as PyTorch lists them. Each is as
// PyTorch has it, but for that of `squares`: of its (128, 840) the transpose is here, as a piece on
// a square adds a column of it to the stream, and that is a row of 128 neighbours here.
#pragma once
#include <cstdint>

#include "bf16_gemm.hpp"
#include "workers.hpp"

namespace rungs::learn {

constexpr int kWidth = 128, kBlocks = 2, kKeys = 64;
constexpr int kPieces = 13;  // -6..6
constexpr int kEmpty = 6;    // where no piece is among them
constexpr int kScalars = 8;  // what follows the squares in an observation
constexpr int kObservation = 64 + kScalars;
constexpr int kInputs = 64 * kPieces + kScalars;
constexpr int kActions = 4672, kCaptures = kPieces * kPieces;
constexpr int kMostLegal = 218;  // of a list of legal actions

// What the others are multiplied by, so that each is at most about 1: numbers of float32, as
// PyTorch's are, also where all others are of float64.
constexpr float kScalarScales[kScalars] = {1, 1, 1, 1, 1.0F / 8, 1.0F / 100, 1.0F / 2, 1};

// A layer y = W x + b, behind a LayerNorm or a ReLU; the query and the value are one.
struct Layer {
  std::int64_t weights;  // where they begin, (outputs, 128)
  std::int64_t bias;
  std::int64_t norm;  // where gamma and beta of the LayerNorm before it are, 2 * 128; -1 for none
  int outputs;
};

// Where everything is.
constexpr std::int64_t kSquares = 0;
constexpr std::int64_t kSquaresBias = kSquares + kInputs * kWidth;
constexpr std::int64_t kFirstBlock = kSquaresBias + kWidth;
constexpr std::int64_t kBlockSize = 2 * kWidth + 2 * (kWidth * kWidth + kWidth);
constexpr std::int64_t kNorm = kFirstBlock + kBlocks * kBlockSize;
constexpr std::int64_t kQuery = kNorm + 2 * kWidth;
constexpr std::int64_t kActionKeys = kQuery + kKeys * kWidth + kKeys;
constexpr std::int64_t kCaptureKeys = kActionKeys + kActions * kKeys;
constexpr std::int64_t kValue = kCaptureKeys + kCaptures * kKeys;
constexpr std::int64_t kWeights = kValue + kWidth + 1;

// Layers by number: a block's first and second, and the head's two.
constexpr int kQueryLayer = 2 * kBlocks, kValueLayer = kQueryLayer + 1, kLayers = kValueLayer + 1;

constexpr Layer layer(int number) {
  if (number == kQueryLayer) return {kQuery, kQuery + kKeys * kWidth, kNorm, kKeys};
  if (number == kValueLayer) return {kValue, kValue + kWidth, kNorm, 1};
  const std::int64_t block = kFirstBlock + number / 2 * kBlockSize, first = block + 2 * kWidth;
  if (number % 2 == 0) return {first, first + kWidth * kWidth, block, kWidth};
  const std::int64_t second = first + kWidth * kWidth + kWidth;
  return {second, second + kWidth * kWidth, -1, kWidth};
}

// Weights as the products take them: made once for all the positions that they are used on.
//
// A LayerNorm's gamma and beta go into the layer behind it, whose weights are W diag(gamma) and
// whose bias is b + W beta, so that a position is only centred and scaled. Of the squares, all are
// taken to be empty in the base, and a piece adds what it differs by: at most 32 rows are added,
// not 64.

// The head's outputs, query and value, padded to whole vectors.
constexpr int kHeadOutputs = kKeys + 1, kHead = kKeys + 16;
static_assert(kHead % kLanes<float> == 0 && kHead % kLanes<double> == 0);

// A layer both ways: packed (128, outputs) for what it computes of a position, and packed (outputs,
// 128) for what its output's gradient says of its input's.
template <class U, int outputs, int padded = outputs>
struct alignas(64) PreparedLayer {
  U forward[packed_size<U>(kWidth) * padded];
  Accum<U> bias[padded];
  U backward[packed_size<U>(outputs) * kWidth];
};

// Products take `U`.
template <class U>
struct alignas(64) Prepared {
  using T = Accum<U>;

  T base[kWidth];
  T piece[64 * kPieces][kWidth];  // what it adds where a square isn't empty
  T scalars[kScalars][kWidth];    // scaled
  PreparedLayer<U, kWidth> block[2 * kBlocks];
  PreparedLayer<U, kHeadOutputs, kHead> head;

  // The weights that it was made of, where `remembers` says so: all but the keys, which are read
  // where they are.
  T weights_before_keys[kActionKeys], weights_after_keys[kWeights - kValue];
  std::int64_t copy_valid;

  // Whether it was made of these weights, bit for bit.
  bool matches(const T* weights) const {
    return copy_valid &&
           std::memcmp(weights, weights_before_keys, sizeof weights_before_keys) == 0 &&
           std::memcmp(weights + kValue, weights_after_keys, sizeof weights_after_keys) == 0;
  }

  // Notes that it was made of these weights.
  void save_copy(const T* weights) {
    std::memcpy(weights_before_keys, weights, sizeof weights_before_keys);
    std::memcpy(weights_after_keys, weights + kValue, sizeof weights_after_keys);
    copy_valid = true;
  }

  // It is made in so many parts, in any order.
  static constexpr int kParts = 8 + 1 + kLayers;

  void build(int part, const T* weights) {
    if (part < 8)
      build_rank(part, weights);
    else if (part == 8)
      build_base(weights);
    else
      build_layer(part - 9, weights);
  }

 private:
  void build_rank(int rank, const T* weights) {
    for (int square = 8 * rank; square < 8 * rank + 8; ++square) {
      const T* const rows = weights + kSquares + square * kPieces * kWidth;
      for (int kind = 0; kind < kPieces; ++kind)
        for (int i = 0; i < kWidth; ++i)
          piece[square * kPieces + kind][i] = rows[kind * kWidth + i] - rows[kEmpty * kWidth + i];
    }
  }

  void build_base(const T* weights) {
    for (int i = 0; i < kWidth; ++i) base[i] = weights[kSquaresBias + i];
    for (int square = 0; square < 64; ++square)
      for (int i = 0; i < kWidth; ++i)
        base[i] += weights[kSquares + (square * kPieces + kEmpty) * kWidth + i];
    for (int scalar = 0; scalar < kScalars; ++scalar)
      for (int i = 0; i < kWidth; ++i)
        scalars[scalar][i] = weights[kSquares + (64 * kPieces + scalar) * kWidth + i] *
                             static_cast<T>(kScalarScales[scalar]);
  }

  void build_layer(int number, const T* weights) {
    if (number == kQueryLayer)
      fold_norm(layer(number), weights, 0, head);
    else if (number == kValueLayer)
      fold_norm(layer(number), weights, kKeys, head);
    else
      fold_norm(layer(number), weights, 0, block[number]);
  }

  // Puts a layer to outputs `first` and on.
  template <int outputs, int padded>
  static void fold_norm(const Layer& from, const T* weights, int first,
                        PreparedLayer<U, outputs, padded>& to) {
    const T* const gamma = from.norm < 0 ? nullptr : weights + from.norm;
    for (int o = 0; o < from.outputs; ++o) {
      const T* const row = weights + from.weights + o * kWidth;
      T bias = weights[from.bias + o];
      for (int i = 0; i < kWidth; ++i) {
        const T folded = gamma ? row[i] * gamma[i] : row[i];
        if (gamma) bias += row[i] * gamma[kWidth + i];
        constexpr int kDepth = packed_size<U>(kWidth), kBack = packed_size<U>(outputs);
        pack_at<U>(folded, i, [&](int k) -> U& {
          return to.forward[packed<U>(k, first + o, kDepth, padded)];
        });
        pack_at<U>(folded, first + o,
                   [&](int k) -> U& { return to.backward[packed<U>(k, i, kBack, kWidth)]; });
      }
      to.bias[first + o] = bias;
    }
  }
};

// Weights go in units: one whose gradients have all been 0 so far has no moments, and rests. Many
// do: most keys are of actions that nobody has played, and no pawn stands on a first rank.
constexpr int kUnit = 64;
constexpr std::int64_t kUnits = (kWeights + kUnit - 1) / kUnit;

// Weights, their gradients and moments, kUnits * kUnit numbers each, of which the last few are
// unused and 0; and which units are awake, kUnits bytes.
template <class T>
struct Parameters {
  T *weights, *gradient, *first_moment, *second_moment;
  std::uint8_t* touched;
};

// A network in memory of its caller's, and how its work is shared out (forward.hpp,
// train_step.hpp).
//
// Work is shared out in tasks that are the same for any number of threads, and no number is added
// up by two of them: so are all results, bit for bit.

// All that a network consists of, whose products take `U`. Mirrored by
// lib/rungs/train/learners/native.py.
template <class U>
struct Model {
  std::int64_t precision;  // bytes of a number that products take
  Parameters<Accum<U>> parameters;
  Prepared<U>* prepared;  // of the weights as they were when `prepare` was called last
  std::byte* workspace;   // of `workspace_bytes`
};

// Makes the weights ready for products.
template <class U>
void prepare(const Model<U>& model, const Workers& workers) {
  model.prepared->copy_valid = false;
  workers(Prepared<U>::kParts, [&](std::int64_t part) {
    model.prepared->build(static_cast<int>(part), model.parameters.weights);
  });
}

// The same for weights that may have been changed by anybody since; a comparison where they
// haven't. `sample`, `evaluate` and `values` need it.
template <class U>
void refresh(const Model<U>& model, const Workers& workers) {
  if (model.prepared->matches(model.parameters.weights)) return;
  prepare(model, workers);
  model.prepared->save_copy(model.parameters.weights);
}

}  // namespace rungs::learn
