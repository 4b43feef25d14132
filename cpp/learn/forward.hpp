// What the network makes of some positions, layer by layer.
#pragma once
#include "prepared.hpp"

namespace rungs::learn {

// Positions that go through the network together: what is kept of them stays in the second cache.
constexpr int kChunk = 64;

// Rows of a chunk's that are copied for a product, where it takes pairs.
template <class U>
constexpr int kCopied = std::is_same_v<U, Pair> ? kChunk / 2 : 1;

// What is kept of a chunk's positions, a row each.
template <class T>
struct Activations {
  T* stream;               // 128
  T* normal[kBlocks + 1];  // 128, the stream centred and scaled, before each block and the head
  T* scale[kBlocks + 1];   // 1, by what it was scaled
  T* hidden[kBlocks];      // 128
  T* head;                 // kHead: query, value
};

// Which squares of a board hold a piece: a bit each.
inline std::uint64_t occupied(const std::int8_t* observation) {
  constexpr std::uint64_t kLow = 0x7F7F7F7F7F7F7F7F;
  std::uint64_t bits = 0;
  for (int rank = 0; rank < 8; ++rank) {
    std::uint64_t word;
    std::memcpy(&word, observation + 8 * rank, sizeof word);
    const std::uint64_t ones = (((word & kLow) + kLow) | word) >> 7 & 0x0101010101010101;
    bits |= ones * 0x0102040810204080 >> 56 << 8 * rank;
  }
  return bits;
}

// Whether all squares hold a piece, -6 to 6, or none.
inline bool has_pieces(const std::int8_t* observation) {
  bool wrong = false;
  for (int square = 0; square < 64; ++square)
    wrong |= static_cast<std::uint8_t>(observation[square] + kEmpty) >= kPieces;
  return !wrong;
}

// The row of the first layer's weights that a piece on a square adds.
inline int input_of(int square, std::int8_t piece) { return square * kPieces + kEmpty + piece; }

// The first layer: a sum of at most 32 + 8 rows.
template <class U, class T = Sum<U>>
inline void embed(const Prepared<U>& weights, const std::int8_t* observation, T* stream) {
  constexpr int kParts = kWidth / kLanes<T>;
  Vector<T> part[kParts];
  for (int i = 0; i < kParts; ++i) part[i] = load(weights.base + i * kLanes<T>);
  for (std::uint64_t left = occupied(observation); left; left &= left - 1) {
    const int square = __builtin_ctzll(left);
    const T* const row = weights.piece[input_of(square, observation[square])];
    for (int i = 0; i < kParts; ++i) part[i] += load(row + i * kLanes<T>);
  }
  for (int other = 0; other < kOthers; ++other) {
    if (!observation[64 + other]) continue;
    const Vector<T> number = everywhere(static_cast<T>(observation[64 + other]));
    for (int i = 0; i < kParts; ++i)
      part[i] = multiply_add(number, load(weights.others[other] + i * kLanes<T>), part[i]);
  }
  for (int i = 0; i < kParts; ++i) store(part[i], stream + i * kLanes<T>);
}

// LayerNorm (Ba et al., 2016, arXiv:1607.06450) without its weights. Returns by what it scaled.
template <class T>
inline T normalise(const T* x, T* normal) {
  constexpr int kParts = kWidth / kLanes<T>;
  Vector<T> part[kParts], total = {}, squares = {};
  for (int i = 0; i < kParts; ++i) total += part[i] = load(x + i * kLanes<T>);
  const T mean = sum(total) / kWidth;
  for (int i = 0; i < kParts; ++i) {
    part[i] -= mean;
    squares = multiply_add(part[i], part[i], squares);
  }
  const T scale = 1 / std::sqrt(sum(squares) / kWidth + static_cast<T>(1e-5));
  for (int i = 0; i < kParts; ++i) store<T>(part[i] * scale, normal + i * kLanes<T>);
  return scale;
}

// Queries and values of `rows` positions, (rows, 72). It is a function of its own: within a long
// one compilers run out of registers.
template <class U, class T = Sum<U>>
[[gnu::noinline]] void forward(const Prepared<U>& weights, int rows, const std::int8_t* observation,
                               const Activations<T>& kept) {
  constexpr int kDepth = count_of<U>(kWidth);
  alignas(64) U copy[kCopied<U> * kWidth];
  const auto operands = [&](const T* at) {
    return left<kDepth>(along<U>(at, rows * kWidth, copy), 1);
  };
  const auto norm = [&](int number) {
    for (int row = 0; row < rows; ++row)
      kept.scale[number][row] =
          normalise(kept.stream + row * kWidth, kept.normal[number] + row * kWidth);
  };
  for (int row = 0; row < rows; ++row)
    embed(weights, observation + row * kObservation, kept.stream + row * kWidth);
  for (int block = 0; block < kBlocks; ++block) {
    norm(block);
    const auto& first = weights.block[2 * block];
    product(operands(kept.normal[block]), rows, first.forward, kDepth, kWidth,
            [&](int row, int column, const Vector<T>& sum) {
              const Vector<T> x = sum + load(first.bias + column);
              store<T>(x > Vector<T>{} ? x : Vector<T>{},
                       kept.hidden[block] + row * kWidth + column);
            });
    const auto& second = weights.block[2 * block + 1];
    product(operands(kept.hidden[block]), rows, second.forward, kDepth, kWidth,
            [&](int row, int column, const Vector<T>& sum) {
              T* const x = kept.stream + row * kWidth + column;
              store<T>(load(x) + (sum + load(second.bias + column)), x);
            });
  }
  norm(kBlocks);
  product(operands(kept.normal[kBlocks]), rows, weights.head.forward, kDepth, kHead,
          [&](int row, int column, const Vector<T>& sum) {
            store<T>(sum + load(weights.head.bias + column), kept.head + row * kHead + column);
          });
}

}  // namespace rungs::learn
