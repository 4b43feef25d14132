// Gradients of weights: sums over all positions of a minibatch.
//
// Each weight's sum is one task's, which adds up the positions in their order. So there are no
// partial sums of threads to be added up, and how many threads there are changes nothing.
#pragma once
#include "backward.hpp"
#include "loss.hpp"

namespace rungs::learn {

// What is kept of all positions of a minibatch, for the sums.
template <class T>
struct Kept {
  std::int64_t rows;
  Activations<T> activations;
  Deltas<T> deltas;
  T* score;                  // kRoom: gradients of the scores
  std::int16_t* capture;     // kRoom: rows of the capture keys
  std::int8_t* observation;  // 72
  std::uint64_t* occupied;   // 1
};

// Layers' tasks: some outputs of one layer each.
constexpr int kOutputs = 64;

// What a layer's task adds to the gradient of the LayerNorm before it.
template <class T>
struct alignas(64) NormPart {
  T gamma[kWidth], beta[kWidth];
};

namespace detail {

// Positions whose rows stay in the first caches while all sums of a task go over them.
constexpr int kBlock = 128;

// sums (outputs, 128) and bias (outputs,) += delta (rows, outputs)^T * input (rows, 128).
template <class U, class T = Sum<U>>
inline void add_outer(const T* delta, std::int64_t delta_row, const T* input, std::int64_t rows,
                      int outputs, T* sums, T* bias) {
  constexpr int kRows = std::is_same_v<U, Pair> ? kBlock / 2 : 1;
  alignas(64) U deltas[kRows * kOutputs], inputs[kRows * kWidth];
  for (std::int64_t first = 0; first < rows; first += kBlock) {
    const auto depth = static_cast<int>(rows - first < kBlock ? rows - first : kBlock);
    const T* const here = delta + first * delta_row;
    const auto by = across<U, kOutputs>(here, delta_row, depth, outputs, deltas);
    const auto from = across<U, kWidth>(input + first * kWidth, kWidth, depth, kWidth, inputs);
    for (int column = 0; column < kWidth; column += kPanel<T>)
      product_panel(left<1>(by.at, by.step), outputs, from.at + column, from.step,
                    count_of<U>(depth), kPanel<T>, [&](int output, int v, const Vector<T>& sum) {
                      T* const to = sums + output * kWidth + column + v;
                      store<T>(load(to) + sum, to);
                    });
    for (int row = 0; row < depth; ++row)
      for (int output = 0; output < outputs; ++output)
        bias[output] += here[row * delta_row + output];
  }
}

}  // namespace detail

// Outputs `first` and on, at most `kOutputs`, of a layer: its input is `input`, (rows, 128), behind
// a LayerNorm without gamma and beta, where there is one.
template <class U, class T = Sum<U>>
inline void layer_gradient(const Layer& which, int first, const T* delta, std::int64_t delta_row,
                           const T* input, std::int64_t rows, const T* weights, T* gradient,
                           NormPart<T>& part) {
  alignas(64) T sums[kOutputs * kWidth] = {}, bias[kOutputs] = {};
  const int outputs = std::min(which.outputs - first, kOutputs);
  detail::add_outer<U>(delta + first, delta_row, input, rows, outputs, sums, bias);
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

// The rows of one rank's squares of the first layer. What adds to an empty square is what adds to
// all less what adds to its pieces.
template <class T>
inline void squares_gradient(int rank, const Kept<T>& kept, T* gradient) {
  constexpr int kParts = kWidth / kLanes<T>;
  T* const rows = gradient + kSquares + 8 * rank * kPieces * kWidth;
  std::memset(rows, 0, sizeof(T) * 8 * kPieces * kWidth);
  Vector<T> all[kParts] = {};
  for (std::int64_t row = 0; row < kept.rows; ++row) {
    Vector<T> delta[kParts];
    for (int i = 0; i < kParts; ++i) {
      delta[i] = load(kept.deltas.stream[0] + row * kWidth + i * kLanes<T>);
      all[i] += delta[i];
    }
    const std::int8_t* const piece = kept.observation + row * kObservation + 8 * rank;
    for (std::uint64_t left = kept.occupied[row] >> 8 * rank & 255; left; left &= left - 1) {
      const int file = __builtin_ctzll(left);
      T* const to = rows + input_of(file, piece[file]) * kWidth;
      for (int i = 0; i < kParts; ++i)
        store<T>(load(to + i * kLanes<T>) + delta[i], to + i * kLanes<T>);
    }
  }
  for (int file = 0; file < 8; ++file) {
    T* const empty = rows + (file * kPieces + kEmpty) * kWidth;
    for (int i = 0; i < kParts; ++i) {
      Vector<T> rest = all[i];
      for (int kind = 0; kind < kPieces; ++kind)
        if (kind != kEmpty) rest -= load(rows + (file * kPieces + kind) * kWidth + i * kLanes<T>);
      store(rest, empty + i * kLanes<T>);
    }
  }
}

// The first layer's other rows, and its bias.
template <class T>
inline void others_gradient(const Kept<T>& kept, T* gradient) {
  constexpr int kParts = kWidth / kLanes<T>;
  alignas(64) T sums[kOthers + 1][kWidth] = {};
  for (std::int64_t row = 0; row < kept.rows; ++row) {
    Vector<T> delta[kParts];
    for (int i = 0; i < kParts; ++i) {
      delta[i] = load(kept.deltas.stream[0] + row * kWidth + i * kLanes<T>);
      T* const to = sums[kOthers] + i * kLanes<T>;
      store<T>(load(to) + delta[i], to);
    }
    for (int other = 0; other < kOthers; ++other) {
      const std::int8_t number = kept.observation[row * kObservation + 64 + other];
      if (!number) continue;
      const Vector<T> scaled = everywhere(static_cast<T>(number) * static_cast<T>(kScales[other]));
      for (int i = 0; i < kParts; ++i) {
        T* const to = sums[other] + i * kLanes<T>;
        store(multiply_add(scaled, delta[i], load(to)), to);
      }
    }
  }
  // They lie behind the squares' rows, and the bias behind them.
  std::memcpy(gradient + kSquares + 64 * kPieces * kWidth, sums, sizeof sums);
}

// Keys' tasks: some of the 64 numbers of all keys each.
constexpr int kKeySlice = 32, kKeySlices = kKeys / kKeySlice;

// Numbers `slice * kKeySlice` and on of all keys.
template <class T>
inline void keys_gradient(int slice, const Rows& batch, const Kept<T>& kept, T* gradient) {
  constexpr int kParts = kKeySlice / kLanes<T>;
  T* const actions = gradient + kActionKeys + slice * kKeySlice;
  T* const captures = gradient + kCaptureKeys + slice * kKeySlice;
  for (int key = 0; key < kActions; ++key)
    std::memset(actions + key * kKeys, 0, sizeof(T) * kKeySlice);
  for (int key = 0; key < kCaptures; ++key)
    std::memset(captures + key * kKeys, 0, sizeof(T) * kKeySlice);
  for (std::int64_t row = 0; row < kept.rows; ++row) {
    const std::int16_t* const action = batch.action + batch.row[row] * kMaxLegal;
    const std::int16_t* const capture = kept.capture + row * kRoom;
    const T* const score = kept.score + row * kRoom;
    Vector<T> query[kParts];
    for (int p = 0; p < kParts; ++p)
      query[p] = load(kept.activations.head + row * kHead + slice * kKeySlice + p * kLanes<T>);
    for (int i = 0; i < batch.count[batch.row[row]]; ++i) {
      const Vector<T> by = everywhere(score[i]);
      T* const own = actions + action[i] * kKeys;
      T* const taking = captures + capture[i] * kKeys;
      for (int p = 0; p < kParts; ++p) {
        const Vector<T> more = by * query[p];
        store<T>(load(own + p * kLanes<T>) + more, own + p * kLanes<T>);
        store<T>(load(taking + p * kLanes<T>) + more, taking + p * kLanes<T>);
      }
    }
  }
}

}  // namespace rungs::learn
