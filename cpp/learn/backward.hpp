// The backward pass: gradients of a chunk's activations, then gradients of the weights.
#pragma once
#include "losses.hpp"

namespace rungs::learn {

// Gradients of a chunk's activations, one row per position.
template <class T>
struct Deltas {
  T* head;                 // kHead: query and value
  T* stream[kBlocks + 1];  // 128, before each block and after the last
  T* hidden[kBlocks];      // 128, before the ReLU
};

// Computes the gradient of `layer_norm`'s input, `to`, from that of its output, `after`. Adds
// `before`, the gradient of the residual connection, unless it is null.
template <class T>
inline void layer_norm_backward(const T* normal, T scale, const T* after, const T* before, T* to) {
  constexpr int kParts = kWidth / kLanes<T>;
  Vector<T> total = {}, projection = {};
  for (int i = 0; i < kParts; ++i) {
    const Vector<T> part = load(after + i * kLanes<T>);
    total += part;
    projection = multiply_add(part, load(normal + i * kLanes<T>), projection);
  }
  const T mean = reduce_add(total) / kWidth;
  const Vector<T> slope = broadcast(-reduce_add(projection) / kWidth);
  for (int i = 0; i < kParts; ++i) {
    Vector<T> part = load(after + i * kLanes<T>) - mean;
    part = multiply_add(slope, load(normal + i * kLanes<T>), part) * scale;
    if (before) part += load(before + i * kLanes<T>);
    store(part, to + i * kLanes<T>);
  }
}

// Computes all deltas from `deltas.head`; `scratch` has room for 128 numbers per position.
template <class U, class T = Accum<U>>
[[gnu::noinline]] void backward(const Model<U>& model, int rows, const Activations<T>& saved,
                                const Deltas<T>& deltas, T* scratch) {
  const Prepared<U>& weights = *model.prepared;
  constexpr int kDepth = packed_size<U>(kWidth);
  alignas(64) U copy[kPackedRows<U> * kWidth];
  const Tiles tiles(model.amx);
  const auto operands = [&](const T* at) {
    return Left<U>{pack_contiguous<U>(at, rows * kWidth, copy), kDepth, 1};
  };
  const auto keep = [&](int row, int column, const Vector<T>& sum) {
    store(sum, scratch + row * kWidth + column);
  };
  const auto norm_back = [&](int number, const T* before) {
    for (int row = 0; row < rows; ++row)
      layer_norm_backward(saved.normal[number] + row * kWidth, saved.scale[number][row],
                          scratch + row * kWidth, before ? before + row * kWidth : nullptr,
                          deltas.stream[number] + row * kWidth);
  };
  product(tiles,
          Left<U>{pack_contiguous<U>(deltas.head, rows * kHead, copy), packed_size<U>(kHead), 1},
          rows, weights.head.backward, packed_size<U>(kKeys), kWidth,
          [&](int row, int column, const Vector<T>& sum) {
            const Vector<T> value = broadcast(deltas.head[row * kHead + kKeys]);
            keep(row, column, multiply_add(value, load(weights.value + column), sum));
          });
  norm_back(kBlocks, nullptr);
  for (int block = kBlocks - 1; block >= 0; --block) {
    product(tiles, operands(deltas.stream[block + 1]), rows, weights.block[2 * block + 1].backward,
            kDepth, kWidth, [&](int row, int column, const Vector<T>& sum) {
              const std::int64_t at = row * kWidth + column;
              const Vector<T> hidden = load(saved.hidden[block] + at);
              store<T>(hidden > Vector<T>{} ? sum : Vector<T>{}, deltas.hidden[block] + at);
            });
    product(tiles, operands(deltas.hidden[block]), rows, weights.block[2 * block].backward, kDepth,
            kWidth, keep);
    norm_back(block, deltas.stream[block + 1]);
  }
}

// Gradients of the weights: sums over all positions of a minibatch. Each sum belongs to one task,
// which adds the positions in their order. There are no partial sums of threads, so the number of
// threads changes nothing.

// What the gradients of the weights need of all positions of a minibatch; one row per position.
template <class T>
struct SavedActivations {
  std::int64_t rows;
  Activations<T> activations;
  Deltas<T> deltas;
  T* score;                  // kLegalPadded: gradients of the scores
  std::int16_t* capture;     // kLegalPadded: rows of the capture keys
  std::int8_t* observation;  // 72
  Attacks* attacks;          // 1
};

// What a layer's task contributes to the gradient of the LayerNorm before it.
template <class T>
struct alignas(64) NormGradient {
  T gamma[kWidth], beta[kWidth];
};

namespace detail {

// sums (outputs, 128) += delta (rows, outputs)^T * input (rows, 128), of at most kRowBlock rows.
template <class U, class T = Accum<U>>
inline void add_block(const Tiles& tiles, const T* delta, std::int64_t delta_row, const T* input,
                      int rows, int outputs, T* sums) {
  if constexpr (kInTiles<U>)
    if (tiles && outputs % kTile == 0)
      return add_outer_in_tiles<Amx>(delta, delta_row, input, rows, outputs, kWidth, sums);
  constexpr int kRows = std::is_same_v<U, bf16x2> ? kRowBlock / 2 : 1;
  alignas(64) U deltas[kRows * kOutputsPerTask], panel[packed_size<U>(kRowBlock) * kPanel<T>];
  const auto by = pack_strided<U, kOutputsPerTask>(delta, delta_row, rows, outputs, deltas);
  for (int column = 0; column < kWidth; column += kPanel<T>) {
    pack_panel<U>(input + column, kWidth, rows, panel);
    product_panel(Left<U>{by.at, 1, by.step}, outputs, panel, kPanel<T>, packed_size<U>(rows),
                  kPanel<T>, [&](int output, int v, const Vector<T>& sum) {
                    T* const to = sums + output * kWidth + column + v;
                    store<T>(load(to) + sum, to);
                  });
  }
}

// sums (outputs, 128) and bias (outputs,) += delta (rows, outputs)^T * input (rows, 128).
template <class U, class T = Accum<U>>
inline void add_outer(const Tiles& tiles, const T* delta, std::int64_t delta_row, const T* input,
                      std::int64_t rows, int outputs, T* sums, T* bias) {
  for (std::int64_t first = 0; first < rows; first += kRowBlock) {
    const auto depth = static_cast<int>(std::min<std::int64_t>(kRowBlock, rows - first));
    const T* const here = delta + first * delta_row;
    add_block<U>(tiles, here, delta_row, input + first * kWidth, depth, outputs, sums);
    for (int row = 0; row < depth; ++row)
      for (int output = 0; output < outputs; ++output)
        bias[output] += here[row * delta_row + output];
  }
}

}  // namespace detail

// Computes the gradients of at most kOutputsPerTask outputs of a layer, from `first` on. `input`,
// (rows, 128), is the normalised stream without gamma and beta where a LayerNorm comes before.
template <class U, class T = Accum<U>>
inline void layer_gradient(const Model<U>& model, const Layer& which, int first, const T* delta,
                           std::int64_t delta_row, const T* input, std::int64_t rows,
                           NormGradient<T>& part) {
  const T* const weights = model.parameters.weights;
  T* const gradient = model.parameters.gradient;
  alignas(64) T sums[kOutputsPerTask * kWidth] = {}, bias[kOutputsPerTask] = {};
  const int outputs = std::min(which.outputs - first, kOutputsPerTask);
  detail::add_outer<U>(Tiles(model.amx), delta + first, delta_row, input, rows, outputs, sums,
                       bias);
  std::memcpy(gradient + which.bias + first, bias, sizeof(T) * outputs);
  T* const to = gradient + which.weights + first * kWidth;
  if (which.norm < 0) {
    std::memcpy(to, sums, sizeof(T) * outputs * kWidth);
    return;
  }
  const T* const gamma = weights + which.norm;
  const T* const own = weights + which.weights + first * kWidth;
  part = {};
  for (int output = 0; output < outputs; ++output)
    for (int i = 0; i < kWidth; ++i) {
      const int at = output * kWidth + i;
      to[at] = sums[at] * gamma[i] + bias[output] * gamma[kWidth + i];
      part.gamma[i] += sums[at] * own[at];
      part.beta[i] += bias[output] * own[at];
    }
}

// Most keys and rows of attacks are in no position of a minibatch: their gradients stay cleared.
constexpr int kRowUnits = kWidth / kUnit;  // of a row of attacks
static_assert(kActionKeys % kUnit == 0 && kAttackRows % kUnit == 0 && kKeys == kUnit);

// Clears the gradients of weights `first` to `end`, where they aren't.
template <class T>
inline void clear(const Parameters<T>& all, std::int64_t first, std::int64_t end) {
  for (std::int64_t unit = first / kUnit; unit < end / kUnit; ++unit)
    if (!all.cleared[unit]) {
      std::memset(all.gradient + unit * kUnit, 0, sizeof(T) * kUnit);
      all.cleared[unit] = true;
    }
}

// Computes the gradient of the rows of attacks for the squares of one rank, and the first layer's
// for the pieces on them. A piece's is the sum over the states of its square.
template <class T>
inline void squares_gradient(int rank, const SavedActivations<T>& saved,
                             const Parameters<T>& parameters) {
  constexpr int kParts = kWidth / kLanes<T>;
  constexpr std::int64_t kRankRows = 8 * kPieces * kAttackStates;
  const std::int64_t first = kAttackRows + rank * kRankRows * kWidth;
  clear(parameters, first, first + kRankRows * kWidth);
  T* const attacked = parameters.gradient + first;
  std::uint8_t* const cleared = parameters.cleared + first / kUnit;
  for (std::int64_t row = 0; row < saved.rows; ++row) {
    Vector<T> delta[kParts];
    for (int i = 0; i < kParts; ++i)
      delta[i] = load(saved.deltas.stream[0] + row * kWidth + i * kLanes<T>);
    const std::int8_t* const piece = saved.observation + row * kObservation + 8 * rank;
    const Attacks attacks = saved.attacks[row];
    for (std::uint64_t left = attacks.relevant() >> 8 * rank & 255; left; left &= left - 1) {
      const int file = __builtin_ctzll(left);
      const int number = attack_row(file, piece[file], attacks.state(8 * rank + file));
      T* const to = attacked + number * kWidth;
      for (int i = 0; i < kParts; ++i)
        store<T>(load(to + i * kLanes<T>) + delta[i], to + i * kLanes<T>);
      std::memset(cleared + number * kRowUnits, false, kRowUnits);
    }
  }
  T* const rows = parameters.gradient + kSquares + 8 * rank * kPieces * kWidth;
  for (int input = 0; input < 8 * kPieces; ++input) {
    if (input % kPieces == kEmpty) continue;
    Vector<T> total[kParts] = {};
    for (int number = input * kAttackStates; number < (input + 1) * kAttackStates; ++number)
      if (!cleared[number * kRowUnits])
        for (int i = 0; i < kParts; ++i)
          total[i] += load(attacked + number * kWidth + i * kLanes<T>);
    for (int i = 0; i < kParts; ++i) store(total[i], rows + input * kWidth + i * kLanes<T>);
  }
}

// Computes the first layer's gradient for empty squares, after all others of the squares and the
// bias's: the sum of all deltas, minus those of the pieces that stood on the square.
template <class T>
inline void empty_squares_gradient(T* gradient) {
  for (int square = 0; square < 64; ++square) {
    T* const rows = gradient + kSquares + square * kPieces * kWidth;
    for (int i = 0; i < kWidth; i += kLanes<T>) {
      Vector<T> rest = load(gradient + kSquaresBias + i);
      for (int kind = 0; kind < kPieces; ++kind)
        if (kind != kEmpty) rest -= load(rows + kind * kWidth + i);
      store(rest, rows + kEmpty * kWidth + i);
    }
  }
}

// Computes the first layer's gradient for the scalar inputs, and its bias's.
template <class T>
inline void scalars_gradient(const SavedActivations<T>& saved, T* gradient) {
  constexpr int kParts = kWidth / kLanes<T>;
  alignas(64) T sums[kScalars + 1][kWidth] = {};
  for (std::int64_t row = 0; row < saved.rows; ++row) {
    Vector<T> delta[kParts];
    for (int i = 0; i < kParts; ++i) {
      delta[i] = load(saved.deltas.stream[0] + row * kWidth + i * kLanes<T>);
      T* const to = sums[kScalars] + i * kLanes<T>;
      store<T>(load(to) + delta[i], to);
    }
    for (int scalar = 0; scalar < kScalars; ++scalar) {
      const std::int8_t number = saved.observation[row * kObservation + 64 + scalar];
      if (!number) continue;
      const Vector<T> scaled =
          broadcast(static_cast<T>(number) * static_cast<T>(kScalarScales[scalar]));
      for (int i = 0; i < kParts; ++i) {
        T* const to = sums[scalar] + i * kLanes<T>;
        store(multiply_add(scaled, delta[i], load(to)), to);
      }
    }
  }
  // Their rows follow the squares' in the flat array, and the bias follows them.
  std::memcpy(gradient + kSquares + 64 * kPieces * kWidth, sums, sizeof sums);
}

// Computes the gradients of the keys of actions, or of captures, from those of the scores.
template <class T>
inline void keys_gradient(bool captures, const BatchPositions& batch,
                          const SavedActivations<T>& saved, const Parameters<T>& parameters) {
  constexpr int kParts = kKeys / kLanes<T>;
  const std::int64_t first = captures ? kCaptureKeys : kActionKeys;
  clear(parameters, first, captures ? kAttackRows : kCaptureKeys);
  T* const keys = parameters.gradient + first;
  std::uint8_t* const cleared = parameters.cleared + first / kUnit;
  for (std::int64_t row = 0; row < saved.rows; ++row) {
    const std::int16_t* const number =
        captures ? saved.capture + row * kLegalPadded : batch.action + batch.row[row] * kMaxLegal;
    const T* const score = saved.score + row * kLegalPadded;
    Vector<T> query[kParts];
    for (int p = 0; p < kParts; ++p)
      query[p] = load(saved.activations.head + row * kHead + p * kLanes<T>);
    const int count = batch.count[batch.row[row]];
    for (int i = 0; i < count; ++i) {
      const Vector<T> by = broadcast(score[i]);
      T* const key = keys + number[i] * kKeys;
      for (int p = 0; p < kParts; ++p)
        store<T>(load(key + p * kLanes<T>) + by * query[p], key + p * kLanes<T>);
      cleared[number[i]] = false;
    }
  }
}

}  // namespace rungs::learn
