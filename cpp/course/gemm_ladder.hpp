// One matrix product in five versions, one idea each, for notebook 08: C = A B of square matrices
// of float32, (n, n), row after row. The last one's tile is what the learner computes with
// (bf16_gemm.hpp).
//
// All add the terms of a sum in the same order, from first to last, so that they agree except for
// rounding: a multiply-add rounds once, a product and a sum twice.
#pragma once
#include <algorithm>
#include <memory>

#include "../learn/network.hpp"

namespace rungs::learn::ladder {

// Version 1: as in the formula. B is read down its columns: every number from another cache line.
inline void naive(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}

// Version 2: the two inner loops are swapped. Now rows of B and C are read from end to end, and the
// compiler vectorizes.
inline void rows(const float* a, const float* b, float* c, int n) {
  std::fill_n(c, n * n, 0.0F);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

// Version 3: cache blocking. A block of B stays in the L1 cache while all rows of A pass.
inline void blocked(const float* a, const float* b, float* c, int n) {
  constexpr int kBlock = 64;  // 64 * 64 * 4 bytes
  std::fill_n(c, n * n, 0.0F);
  for (int first_j = 0; first_j < n; first_j += kBlock)
    for (int first_k = 0; first_k < n; first_k += kBlock)
      for (int i = 0; i < n; ++i)
        for (int k = first_k; k < std::min(first_k + kBlock, n); ++k)
          for (int j = first_j; j < std::min(first_j + kBlock, n); ++j)
            c[i * n + j] += a[i * n + k] * b[k * n + j];
}

namespace detail {

constexpr int kRowsPerTask = 4 * kTileRows;

// Vectors that begin on a cache line.
struct alignas(kVectorBytes) Aligned {
  float numbers[kLanes<float>];
};

// Copies a panel of B, from `column` on, so that its rows are adjacent: with 0 after the last
// column, up to whole vectors.
inline void pack_panel(const float* b, int n, int column, int wide, float* to) {
  if (column + kPanel<float> <= n)
    for (int k = 0; k < n; ++k)
      std::copy_n(b + k * n + column, kPanel<float>, to + k * kPanel<float>);
  else
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < wide; ++j)
        to[k * wide + j] = column + j < n ? b[k * n + column + j] : 0.0F;
}

}  // namespace detail

// Version 5: threads. Each task computes some rows of C, for which it needs the same rows of A and
// all of B, which is packed before.
inline void threads(const float* a, const float* b, float* c, int n, const Workers& workers) {
  constexpr int kWide = kPanel<float>, kVector = kLanes<float>;
  const int columns = (n + kVector - 1) / kVector * kVector;
  const auto memory = std::make_unique_for_overwrite<detail::Aligned[]>(n * columns / kVector);
  float* const packed = memory[0].numbers;
  workers((columns + kWide - 1) / kWide, [&](std::int64_t panel) {
    const int column = static_cast<int>(panel) * kWide;
    detail::pack_panel(b, n, column, std::min(kWide, columns - column), packed + column * n);
  });
  workers((n + detail::kRowsPerTask - 1) / detail::kRowsPerTask, [&](std::int64_t task) {
    const int first = static_cast<int>(task) * detail::kRowsPerTask;
    const int rows = std::min(detail::kRowsPerTask, n - first);
    product(Left<float>{a + first * n, n, 1}, rows, packed, n, columns,
            [&](int i, int column, const Vector<float>& sum) {
              float* const to = c + (first + i) * n + column;
              if (column + kVector <= n)
                store(sum, to);
              else
                std::memcpy(to, &sum, sizeof(float) * (n - column));
            });
  });
}

// Version 4: register blocking. A tile of C stays in registers while rows of A and a panel of B
// pass, and each number that is loaded is used in many multiply-adds.
inline void registers(const float* a, const float* b, float* c, int n) {
  threads(a, b, c, n, {nullptr, 0, 1});
}

}  // namespace rungs::learn::ladder
