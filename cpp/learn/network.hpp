// The network of lib/rungs/_src/train/network.py: its sizes, the layout of its weights, and its
// memory.
//
//   72 numbers of a board -> squares -> stream -> 2 x (stream += second(relu(first(norm(stream)))))
//                                              -> norm -> query of 64, and value
//   score of a legal action = query . (key of the action + key of the moving piece, the captured
//   one, and the attacks on its square)
//
// A square that has a piece or is attacked adds a second row to the stream, of its piece and of how
// often each side attacks it.
//
// All parameters are one flat array, tensor after tensor in PyTorch's order and layout, except the
// weights of `squares`, (128, 840), which are transposed here: a piece on a square adds one column
// of them to the stream, and that is 128 contiguous numbers here.
#pragma once
#include <cstdint>

#include "../chess/action.hpp"
#include "attacks.hpp"
#include "bf16_gemm.hpp"

namespace rungs::learn {

constexpr int kWidth = 128, kBlocks = 2, kKeys = 64;
constexpr int kPieces = 13;  // -6..6
constexpr int kEmpty = 6;    // where no piece is among them
constexpr int kScalars = 8;  // scalar inputs, after the squares in an observation
constexpr int kObservation = 64 + kScalars;
constexpr int kInputs = 64 * kPieces + kScalars;
constexpr int kAttacked = 64 * kPieces * kAttackStates;
constexpr int kActions = 4672, kCaptures = kPieces * kPieces * kAttackStates;
using chess::kMaxLegal;  // the longest list of legal actions

// Scales of the scalar inputs, so that each is at most about 1. They are float32 in PyTorch too,
// also where the network is float64.
constexpr float kScalarScales[kScalars] = {1, 1, 1, 1, 1.0F / 8, 1.0F / 100, 1.0F / 2, 1};

// Where the parameters of a linear layer y = W x + b are. Its input is the output of a LayerNorm or
// a ReLU. Query and value count as two layers.
struct Layer {
  std::int64_t weights;  // offset of W, (outputs, 128)
  std::int64_t bias;
  std::int64_t norm;  // offset of gamma and beta of the LayerNorm before it, (2, 128); -1: none
  int outputs;
};

// Offsets of the tensors in the flat array.
constexpr std::int64_t kSquares = 0;
constexpr std::int64_t kSquaresBias = kSquares + kInputs * kWidth;
constexpr std::int64_t kFirstBlock = kSquaresBias + kWidth;
constexpr std::int64_t kBlockSize = 2 * kWidth + 2 * (kWidth * kWidth + kWidth);
constexpr std::int64_t kNorm = kFirstBlock + kBlocks * kBlockSize;
constexpr std::int64_t kQuery = kNorm + 2 * kWidth;
constexpr std::int64_t kActionKeys = kQuery + kKeys * kWidth + kKeys;
constexpr std::int64_t kCaptureKeys = kActionKeys + kActions * kKeys;
constexpr std::int64_t kAttackRows = kCaptureKeys + kCaptures * kKeys;
constexpr std::int64_t kValue = kAttackRows + kAttacked * kWidth;
constexpr std::int64_t kWeights = kValue + kWidth + 1;

// Numbers of the layers: first and second of each block, then the head's two.
constexpr int kQueryLayer = 2 * kBlocks, kValueLayer = kQueryLayer + 1, kLayers = kValueLayer + 1;

constexpr Layer layer(int number) {
  if (number == kQueryLayer) return {kQuery, kQuery + kKeys * kWidth, kNorm, kKeys};
  if (number == kValueLayer) return {kValue, kValue + kWidth, kNorm, 1};
  const std::int64_t block = kFirstBlock + number / 2 * kBlockSize, first = block + 2 * kWidth;
  if (number % 2 == 0) return {first, first + kWidth * kWidth, block, kWidth};
  const std::int64_t second = first + kWidth * kWidth + kWidth;
  return {second, second + kWidth * kWidth, -1, kWidth};
}

// Weights prepared for inference and backpropagation: packed for `product`, once for all positions.
//
// A LayerNorm's gamma and beta are folded into the next layer, W diag(gamma) and b + W beta, so
// that the forward pass only centres and scales. The first layer starts from a board of empty
// squares, `base`, and each piece adds the difference of its row to that of an empty square: at
// most 32 rows are added, not 64.

// The head's outputs, query and value, padded to whole vectors.
constexpr int kHead = kKeys + 16;
static_assert(kHead % kLanes<float> == 0 && kHead % kLanes<double> == 0);

// A layer packed for the forward pass, (128, padded), and for the gradient of its input, (outputs,
// 128).
template <class U, int outputs, int padded = outputs>
struct alignas(64) PreparedLayer {
  U forward[packed_size<U>(kWidth) * padded];
  Accum<U> bias[padded];
  U backward[packed_size<U>(outputs) * kWidth];
};

// `U` is what products multiply.
template <class U>
struct alignas(64) Prepared {
  using T = Accum<U>;

  T base[kWidth];
  T piece[64 * kPieces][kWidth];  // row of the piece minus that of an empty square
  T scalars[kScalars][kWidth];    // scaled
  PreparedLayer<U, kWidth> block[2 * kBlocks];
  PreparedLayer<U, kKeys, kHead> head;  // the value is its output kKeys
  T value[kWidth];                      // the value's weights, for the gradient of its input

  // A copy of the weights that it was built from, if `copy_valid`: all but the keys and the rows of
  // attacks, which are never prepared.
  T weights_before_keys[kActionKeys], weights_after_keys[kWeights - kValue];
  std::int64_t copy_valid;

  // Whether it was built from exactly these weights, bit for bit.
  bool matches(const T* weights) const {
    return copy_valid &&
           std::memcmp(weights, weights_before_keys, sizeof weights_before_keys) == 0 &&
           std::memcmp(weights + kValue, weights_after_keys, sizeof weights_after_keys) == 0;
  }

  // Copies the weights that it was built from.
  void save_copy(const T* weights) {
    std::memcpy(weights_before_keys, weights, sizeof weights_before_keys);
    std::memcpy(weights_after_keys, weights + kValue, sizeof weights_after_keys);
    copy_valid = true;
  }

  // It is built in this many independent parts, by several threads.
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

  // Packs a layer as outputs `first` and on, with its LayerNorm folded in.
  template <int outputs, int padded>
  void fold_norm(const Layer& from, const T* weights, int first,
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
        if (first < outputs)
          pack_at<U>(folded, first + o,
                     [&](int k) -> U& { return to.backward[packed<U>(k, i, kBack, kWidth)]; });
        else
          value[i] = folded;
      }
      to.bias[first + o] = bias;
    }
  }
};

// Lazy Adam: weights are updated in units of 64, and a unit whose gradients have all been 0 so far
// is skipped, as its moments are 0. There are many: most action keys are of actions that were never
// played, and no pawn stands on a first rank.
constexpr int kUnit = 64;
constexpr std::int64_t kUnits = (kWeights + kUnit - 1) / kUnit;

// Weights, gradients and moments, kUnits * kUnit numbers each, of which the last few are padding
// and 0; and for each unit, kUnits bytes each, whether it was ever touched by a gradient, and
// whether its gradient is known to be 0, which only units of keys and rows of attacks ever are.
template <class T>
struct Parameters {
  T *weights, *gradient, *first_moment, *second_moment;
  std::uint8_t *touched, *cleared;
};

// The network in memory that the caller owns. Work is split into tasks that don't depend on the
// number of threads, and no number is summed by two tasks, so results are the same bit for bit with
// any number of threads.

// Parallel loops: on the caller alone, or on a thread pool that may be another shared library's.

// Calls `work(body, task)` for every task in [0, tasks): `rungs_pool_run` of
// cpp/bindings/thread_pool.cpp.
using Runner = void (*)(std::uintptr_t pool, std::int64_t threads, std::int64_t tasks,
                        std::uintptr_t work, std::uintptr_t body);

struct Workers {
  Runner run;
  std::uintptr_t pool;
  std::int64_t threads;  // 1: the caller alone; `run` and `pool` are not used

  template <class Work>
  void operator()(std::int64_t tasks, const Work& work) const {
    if (threads == 1) {
      for (std::int64_t task = 0; task < tasks; ++task) work(task);
      return;
    }
    void (*const call)(const void*, std::int64_t) = [](const void* body, std::int64_t task) {
      (*static_cast<const Work*>(body))(task);
    };
    run(pool, threads, tasks, reinterpret_cast<std::uintptr_t>(call),
        reinterpret_cast<std::uintptr_t>(&work));
  }
};

// All memory of a network whose products multiply `U`.
template <class U>
struct Model {
  std::int64_t precision;  // bytes of an operand of products
  std::int64_t amx;        // whether AMX multiplies, operands of bfloat16 alone
  Parameters<Accum<U>> parameters;
  Prepared<U>* prepared;  // from the weights at the last `prepare`
  std::byte* workspace;   // `workspace_bytes` long
  bf16x2* square_rows;    // (kAttacked, 128 / 2), by `round_squares`; null: two rows per square
};

// Prepares the weights.
template <class U>
void prepare(const Model<U>& model, const Workers& workers) {
  model.prepared->copy_valid = false;
  workers(Prepared<U>::kParts, [&](std::int64_t part) {
    model.prepared->build(static_cast<int>(part), model.parameters.weights);
  });
}

// Prepares the weights if they have changed since, however that happened: compares all of them.
// Must be called before `sample`, `evaluate` and `values`.
template <class U>
void refresh(const Model<U>& model, const Workers& workers) {
  if (model.prepared->matches(model.parameters.weights)) return;
  prepare(model, workers);
  model.prepared->save_copy(model.parameters.weights);
}

// Sums the two rows of each square, piece and state of a frozen network, rounded to bfloat16: half
// as many rows to add, of half as many bytes. A word holds the numbers i and i + 16 of 32.
inline void round_squares(const Model<bf16x2>& model, const Workers& workers) {
  constexpr int kRankRows = kAttacked / 8;
  workers(8, [&](std::int64_t rank) {
    for (std::int64_t row = rank * kRankRows; row < (rank + 1) * kRankRows; ++row) {
      const float* const piece = model.prepared->piece[row / kAttackStates];
      const float* const attacked = model.parameters.weights + kAttackRows + row * kWidth;
      for (int i = 0; i < kWidth; i += 32) {
        Floats sums[2];
        for (int k = 0; k < 32; ++k) sums[k / 16][k % 16] = piece[i + k] + attacked[i + k];
        const Pairs rounded = interleave_bf16(sums[0], sums[1]);
        std::memcpy(model.square_rows + (row * kWidth + i) / 2, &rounded, sizeof rounded);
      }
    }
  });
}

}  // namespace rungs::learn
