// One matrix product in five versions, one idea each, for notebook 08: C = A B of square matrices
// of float32, (n, n), row after row. The last one's tile is what the learner computes with
// (bf16_gemm.hpp).
//
// All add the terms of a sum in the same order, from first to last, so that they agree except for
// rounding: a multiply-add rounds once, a product and a sum twice.
#pragma once
#include <algorithm>
#include <vector>

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

// A transposed, so that the numbers that a tile reads together are adjacent.
inline std::vector<float> transposed(const float* a, int n) {
  std::vector<float> copy(n * n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) copy[k * n + i] = a[i * n + k];
  return copy;
}

// All rows of C for one panel of B, which is copied, so that its rows are adjacent, too.
inline void panel(const float* transposed, const float* b, float* c, int n, int column) {
  constexpr int kWide = kPanel<float>;
  const int wide = std::min(kWide, n - column);
  std::vector<float> copy(n * kWide);
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < wide; ++j) copy[k * kWide + j] = b[k * n + column + j];
  product_panel(left<1>(transposed, n), n, copy.data(), kWide, n, kWide,
                [&](int i, int j, const Vector<float>& sum) {
                  const int here = std::min(kLanes<float>, wide - j);
                  if (here > 0) std::memcpy(c + i * n + column + j, &sum, sizeof(float) * here);
                });
}

}  // namespace detail

// Version 4: register blocking. A tile of C stays in registers while columns of A and a panel of B
// pass, and each number that is loaded is used in many multiply-adds.
inline void registers(const float* a, const float* b, float* c, int n) {
  const std::vector<float> transposed = detail::transposed(a, n);
  for (int column = 0; column < n; column += kPanel<float>)
    detail::panel(transposed.data(), b, c, n, column);
}

// Version 5: threads, each taking one panel after another.
inline void threads(const float* a, const float* b, float* c, int n, const Workers& workers) {
  const std::vector<float> transposed = detail::transposed(a, n);
  workers((n + kPanel<float> - 1) / kPanel<float>, [&](std::int64_t panel) {
    detail::panel(transposed.data(), b, c, n, static_cast<int>(panel) * kPanel<float>);
  });
}

}  // namespace rungs::learn::ladder
