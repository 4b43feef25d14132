// What the loss's gradient is at each layer of a chunk of positions, from the last to the first.
#pragma once
#include "forward.hpp"

namespace rungs::learn {

// Gradients with respect to a chunk's activations, a row for each position.
template <class T>
struct Deltas {
  T* head;                 // kHead: of query and value
  T* stream[kBlocks + 1];  // 128, before each block and behind the last
  T* hidden[kBlocks];      // 128, before the ReLU
};

// The gradient at `normalise`'s input, from that at its output: added to `before`, the gradient
// that comes past it, where there is one.
template <class T>
inline void normalise_back(const T* normal, T scale, const T* after, const T* before, T* to) {
  constexpr int kParts = kWidth / kLanes<T>;
  Vector<T> total = {}, along = {};
  for (int i = 0; i < kParts; ++i) {
    const Vector<T> part = load(after + i * kLanes<T>);
    total += part;
    along = multiply_add(part, load(normal + i * kLanes<T>), along);
  }
  const T mean = sum(total) / kWidth;
  const Vector<T> slope = everywhere(-sum(along) / kWidth);
  for (int i = 0; i < kParts; ++i) {
    Vector<T> part = load(after + i * kLanes<T>) - mean;
    part = multiply_add(slope, load(normal + i * kLanes<T>), part) * scale;
    if (before) part += load(before + i * kLanes<T>);
    store(part, to + i * kLanes<T>);
  }
}

// From `deltas.head` to all others; `scratch` has room for 128 numbers a position.
template <class U, class T = Sum<U>>
[[gnu::noinline]] void backward(const Prepared<U>& weights, int rows, const Activations<T>& kept,
                                const Deltas<T>& deltas, T* scratch) {
  constexpr int kDepth = count_of<U>(kWidth);
  alignas(64) U copy[kCopied<U> * kWidth];
  const auto operands = [&](const T* at) {
    return left<kDepth>(along<U>(at, rows * kWidth, copy), 1);
  };
  const auto keep = [&](int row, int column, const Vector<T>& sum) {
    store(sum, scratch + row * kWidth + column);
  };
  const auto norm_back = [&](int number, const T* before) {
    for (int row = 0; row < rows; ++row)
      normalise_back(kept.normal[number] + row * kWidth, kept.scale[number][row],
                     scratch + row * kWidth, before ? before + row * kWidth : nullptr,
                     deltas.stream[number] + row * kWidth);
  };
  product(left<count_of<U>(kHead)>(along<U>(deltas.head, rows * kHead, copy), 1), rows,
          weights.head.backward, count_of<U>(kHeadOutputs), kWidth, keep);
  norm_back(kBlocks, nullptr);
  for (int block = kBlocks - 1; block >= 0; --block) {
    product(operands(deltas.stream[block + 1]), rows, weights.block[2 * block + 1].backward, kDepth,
            kWidth, [&](int row, int column, const Vector<T>& sum) {
              const std::int64_t at = row * kWidth + column;
              const Vector<T> hidden = load(kept.hidden[block] + at);
              store<T>(hidden > Vector<T>{} ? sum : Vector<T>{}, deltas.hidden[block] + at);
            });
    product(operands(deltas.hidden[block]), rows, weights.block[2 * block].backward, kDepth, kWidth,
            keep);
    norm_back(block, deltas.stream[block + 1]);
  }
}

}  // namespace rungs::learn
