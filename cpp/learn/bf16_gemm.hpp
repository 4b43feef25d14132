// Matrix product (GEMM) in register tiles over packed panels, in float32, float64, or bfloat16 with
// float32 accumulators.
//
//   result (rows, columns) = left (rows, depth) * right (depth, columns)
//
// A tile is kTileRows rows by two vectors of columns, whose accumulators stay in registers for the
// whole of `depth`. Each step of `depth` loads two vectors of `right` (from a panel that fits in
// L1), broadcasts one number of each row of `left`, and issues two independent multiply-adds per
// row. Every accumulator adds its terms in the order of `depth`, whatever tile it is in, so a row's
// result doesn't depend on the rows computed with it.
//
// A bfloat16 is the upper half of a float32: the same exponent range, 8 bits of precision instead
// of 24. AVX512-BF16's instruction multiplies two pairs of them and adds both products to a
// float32, which is twice the multiply-adds per instruction. Only the operands of products are
// rounded to it; sums, activations and weights stay float32. Where that instruction isn't, tests
// pack and round as it does.
#pragma once
#include <cstddef>

#include "vectors.hpp"

// Cling's compiler crashes on these instructions.
#if defined(__AVX512BF16__) && !defined(__CLING__)
#define RUNGS_BF16 1
#else
#define RUNGS_BF16 0
#endif

namespace rungs::learn {

// Two neighbours along `depth` as bfloat16, the first in the lower half.
using bf16x2 = std::uint32_t;

#if RUNGS_BF16
constexpr bool kHasBf16 = true;

inline Vector<float> multiply_add(Vector<bf16x2> a, Vector<bf16x2> b, Vector<float> c) {
  return (Vector<float>)_mm512_dpbf16_ps((__m512)c, (__m512bh)a, (__m512bh)b);
}
#else
constexpr bool kHasBf16 = false;
#endif

namespace detail {
template <class U>
struct AccumOf {
  using Type = U;
};
template <>
struct AccumOf<bf16x2> {
  using Type = float;
};
}  // namespace detail

// The type of the accumulators of products of `U`.
template <class U>
using Accum = typename detail::AccumOf<U>::Type;

// How many `U` hold `numbers` numbers along `depth`.
template <class U>
constexpr int packed_size(int numbers) {
  return std::is_same_v<U, bf16x2> ? (numbers + 1) / 2 : numbers;
}

// Rounds to the nearest bfloat16, ties to even.
inline bf16x2 to_bf16(float number) {
  bf16x2 bits;
  std::memcpy(&bits, &number, sizeof bits);
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

// Writes number `k` along `depth` into its place; `at(i)` is the i-th `U`, which must be 0 before.
template <class U, class At>
inline void pack_at(Accum<U> number, int k, const At& at) {
  if constexpr (std::is_same_v<U, bf16x2>) {
    bf16x2& pair = at(k / 2);
    pair = k % 2 ? (pair & 0xFFFF) | to_bf16(number) << 16 : (pair & 0xFFFF0000) | to_bf16(number);
  } else {
    at(k) = number;
  }
}

// 16 numbers, and 16 pairs, also where registers are narrower.
typedef float Floats __attribute__((vector_size(64)));
typedef bf16x2 Pairs __attribute__((vector_size(64)));

// Packs (a[i], b[i]) for 16 numbers of two neighbours along `depth`.
inline Pairs interleave_bf16(Floats a, Floats b) {
#if RUNGS_BF16
  typedef std::uint16_t Halves __attribute__((vector_size(64)));
  const Halves both = (Halves)_mm512_cvtne2ps_pbh((__m512)b, (__m512)a);
  return (Pairs)__builtin_shufflevector(both, both, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22,
                                        7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30,
                                        15, 31);
#else
  Pairs pairs;
  for (int i = 0; i < 16; ++i) pairs[i] = to_bf16(a[i]) | to_bf16(b[i]) << 16;
  return pairs;
#endif
}

// Packs a row that is contiguous along `depth`: bfloat16 pairs are written to `copy`; other types
// are used in place.
template <class U>
inline const U* pack_contiguous(const Accum<U>* from, [[maybe_unused]] int count,
                                [[maybe_unused]] U* copy) {
  if constexpr (std::is_same_v<U, bf16x2>) {
#if RUNGS_BF16
    for (int i = 0; i < count; i += 32) {
      // A count that is an odd multiple of 16 ends with half a vector of pairs.
      const Vector<float> next = i + 16 < count ? load(from + i + 16) : Vector<float>{};
      const __m512bh both = _mm512_cvtne2ps_pbh((__m512)next, (__m512)load(from + i));
      store<bf16x2>((Vector<bf16x2>)both, copy + i / 2);
    }
#else
    for (int i = 0; i < count; i += 2) copy[i / 2] = to_bf16(from[i]) | to_bf16(from[i + 1]) << 16;
#endif
    return copy;
  } else {
    return from;
  }
}

// Packs rows that are `step` apart along `depth`: two rows of floats become one row of bfloat16
// pairs in `copy`, with 0 next to an odd last row; other types are used in place.
template <class U>
struct StridedRows {
  const U* at;
  std::ptrdiff_t step;
};
template <class U, int room>
inline StridedRows<U> pack_strided(const Accum<U>* from, std::ptrdiff_t step,
                                   [[maybe_unused]] int rows, [[maybe_unused]] int columns,
                                   [[maybe_unused]] U* copy) {
  if constexpr (std::is_same_v<U, bf16x2>) {
#if RUNGS_BF16
    for (int row = 0; row < rows; row += 2)
      for (int column = 0; column < columns; column += kLanes<float>) {
        const float* const at = from + row * step + column;
        const Vector<float> next = row + 1 < rows ? load(at + step) : Vector<float>{};
        store<bf16x2>(interleave_bf16(load(at), next), copy + row / 2 * room + column);
      }
#endif
    return {copy, room};
  } else {
    return {from, step};
  }
}

// As many rows as leave the accumulators and operands in registers.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kTileRows = 8;
#else
constexpr int kTileRows = 6;
#endif

template <class T>
constexpr int kPanel = 2 * kLanes<T>;  // columns
template <>
inline constexpr int kPanel<bf16x2> = 32;  // also where registers are narrower

// Packs the columns of a panel, whose rows are `step` apart, as `product_panel` reads them. In
// place they would evict each other from the L1 cache, where `step` is a power of two.
template <class U>
inline void pack_panel(const Accum<U>* from, std::ptrdiff_t step, int rows, U* copy) {
  if constexpr (std::is_same_v<U, bf16x2>)
    pack_strided<U, kPanel<U>>(from, step, rows, kPanel<U>, copy);
  else
    for (int row = 0; row < rows; ++row) {
      const U* const at = from + row * step;
      const Vector<U> left = load(at), right = load(at + kLanes<U>);
      store(left, copy + row * kPanel<U>);
      store(right, copy + row * kPanel<U> + kLanes<U>);
    }
}

// The left operand: (i, k) is at[i * stride + k * step].
template <class T>
struct Left {
  const T* at;
  std::ptrdiff_t stride, step;
};

namespace detail {

// Calls `finish(row, vector, sum)` with each accumulator.
template <int rows, int vectors, class T, class Finish>
[[gnu::always_inline]] inline void tile(Left<T> left, const T* right, std::ptrdiff_t right_step,
                                        int depth, const Finish& finish) {
  Vector<Accum<T>> sum[rows][vectors] = {};
  const T* a = left.at;
  for (int k = 0; k < depth; ++k, a += left.step, right += right_step) {
    Vector<T> b[vectors];
    for (int v = 0; v < vectors; ++v) b[v] = load(right + v * kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Vector<T> each = broadcast(a[i * left.stride]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[i][v] = multiply_add(each, b[v], sum[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) finish(i, v, sum[i][v]);
}

// Multiplies all rows by one panel, in tiles of `tile_rows` while they fit, then of the next lower
// power of two, down to one.
template <int tile_rows, int vectors, class T, class Finish>
inline void tiles(Left<T> left, int first, int rows, const T* right, std::ptrdiff_t right_step,
                  int depth, const Finish& finish) {
  for (; first + tile_rows <= rows; first += tile_rows)
    tile<tile_rows, vectors>(
        Left<T>{left.at + first * left.stride, left.stride, left.step}, right, right_step, depth,
        [&](int i, int v, const Vector<Accum<T>>& sum) { finish(first + i, v * kLanes<T>, sum); });
  if constexpr (tile_rows > 1)
    tiles<tile_rows == 6 ? 4 : tile_rows / 2, vectors>(left, first, rows, right, right_step, depth,
                                                       finish);
}

}  // namespace detail

// Multiplies by one panel of `right`, one or two vectors wide, whose rows are `right_step` apart.
// Calls `finish(row, column, sum)` with each vector of results.
template <class T, class Finish>
inline void product_panel(Left<T> left, int rows, const T* right, std::ptrdiff_t right_step,
                          int depth, int columns, const Finish& finish) {
  if (columns == kPanel<T>)
    detail::tiles<kTileRows, 2>(left, 0, rows, right, right_step, depth, finish);
  else
    detail::tiles<kTileRows, 1>(left, 0, rows, right, right_step, depth, finish);
}

// A packed right operand is stored panel by panel, so that a panel is contiguous. Returns the index
// of (k, column) in it.
template <class T>
inline std::ptrdiff_t packed(int k, int column, int depth, int columns) {
  const int first = column / kPanel<T> * kPanel<T>;
  const int wide = columns - first < kPanel<T> ? columns - first : kPanel<T>;
  return static_cast<std::ptrdiff_t>(first) * depth + k * wide + column - first;
}

// Multiplies by a packed right operand. `columns` is a multiple of a vector's lanes.
template <class T, class Finish>
inline void product(Left<T> left, int rows, const T* right, int depth, int columns,
                    const Finish& finish) {
  for (int first = 0; first < columns; first += kPanel<T>) {
    const int wide = columns - first < kPanel<T> ? columns - first : kPanel<T>;
    product_panel(left, rows, right + static_cast<std::ptrdiff_t>(first) * depth, wide, depth, wide,
                  [&](int row, int column, const Vector<Accum<T>>& sum) {
                    finish(row, first + column, sum);
                  });
  }
}

}  // namespace rungs::learn
