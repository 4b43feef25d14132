// The matrix product: of tiles that stay in registers, from panels that stay in the first cache.
//
//   result (rows, columns) = left (rows, depth) * right (depth, columns)
//
// A tile is a few rows by two vectors of columns. Its sums are kept in registers while `depth` goes
// by: each step loads two vectors of the right, spreads a number of each row of the left over a
// vector, and begins 2 multiply-adds a row. None waits for another, as they go to different sums.
// Every sum is added up in the order of `depth`, whichever tile it is in: a row's result doesn't
// depend on the rows beside it.
//
// What a product multiplies: numbers as they are, or pairs of them as bfloat16, where the processor
// multiplies those.
//
// A bfloat16 is the upper half of a float32: as many exponents, 8 bits of precision instead of 24.
// An instruction multiplies two pairs and adds both products to a float32, so that twice as many
// multiply-adds are done at a time. Sums, activations, weights and all else stay float32; only what
// a product reads is rounded.
#pragma once
#include <cstddef>

#include "vectors.hpp"

// Cling's compiler dies of these instructions.
#if defined(__AVX512BF16__) && !defined(__CLING__)
#define RUNGS_BF16 1
#else
#define RUNGS_BF16 0
#endif

namespace rungs::learn {

// Two numbers that follow each other in a sum, the first one in the lower half.
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

// What products of `U` are added up in.
template <class U>
using Accum = typename detail::AccumOf<U>::Type;

// How many `U` hold so many numbers of a sum.
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

// Puts number `k` of a sum to its place: `at(i)` is the one of the sum's i-th `U`, 0 before.
template <class U, class At>
inline void pack_at(Accum<U> number, int k, const At& at) {
  if constexpr (std::is_same_v<U, bf16x2>) {
    bf16x2& pair = at(k / 2);
    pair = k % 2 ? (pair & 0xFFFF) | to_bf16(number) << 16 : (pair & 0xFFFF0000) | to_bf16(number);
  } else {
    at(k) = number;
  }
}

#if RUNGS_BF16
// 16 pairs of a[i] and b[i]. (Of an instruction's two names g++ warns of the one without a mask.)
inline Vector<bf16x2> interleave_bf16(Vector<float> a, Vector<float> b) {
  const Vector<bf16x2> low =
      (Vector<bf16x2>)_mm512_maskz_cvtepu16_epi32(0xFFFF, (__m256i)_mm512_cvtneps_pbh((__m512)a));
  const Vector<bf16x2> high =
      (Vector<bf16x2>)_mm512_maskz_cvtepu16_epi32(0xFFFF, (__m256i)_mm512_cvtneps_pbh((__m512)b));
  return low | high << 16;
}
#endif

// Numbers that follow each other in sums, as `U`: themselves, or copied to `copy`, two to a pair.
template <class U>
inline const U* pack_contiguous(const Accum<U>* from, [[maybe_unused]] int count,
                                [[maybe_unused]] U* copy) {
  if constexpr (std::is_same_v<U, bf16x2>) {
#if RUNGS_BF16
    for (int i = 0; i < count; i += 32) {
      // A count of 16 more than whole pairs of vectors ends with half of one.
      const Vector<float> next = i + 16 < count ? load(from + i + 16) : Vector<float>{};
      const __m512bh both = _mm512_cvtne2ps_pbh((__m512)next, (__m512)load(from + i));
      store<bf16x2>((Vector<bf16x2>)both, copy + i / 2);
    }
#endif
    return copy;
  } else {
    return from;
  }
}

// Rows that follow each other in sums: those themselves, `step` apart, or copied to `copy`, two
// rows to one of pairs; the last may be alone.
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

// How many registers there are for vectors decides how many rows a tile has.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kTileRows = 8;
#else
constexpr int kTileRows = 6;
#endif

template <class T>
constexpr int kPanel = 2 * kLanes<T>;  // columns

// Numbers of a matrix: (i, k) is at[i * stride + k * step]. How far its rows are apart is known
// when it is compiled, so that a tile needs one address and not one a row.
template <int stride, class T>
struct Left {
  const T* at;
  std::ptrdiff_t step;
};
template <int stride, class T>
constexpr Left<stride, T> left(const T* at, std::ptrdiff_t step) {
  return {at, step};
}

namespace detail {

// `finish(row, vector, sum)` takes each sum.
template <int rows, int vectors, int stride, class T, class Finish>
[[gnu::always_inline]] inline void tile(Left<stride, T> left, const T* right,
                                        std::ptrdiff_t right_step, int depth,
                                        const Finish& finish) {
  Vector<Accum<T>> sum[rows][vectors] = {};
  const T* a = left.at;
  for (int k = 0; k < depth; ++k, a += left.step, right += right_step) {
    Vector<T> b[vectors];
    for (int v = 0; v < vectors; ++v) b[v] = load(right + v * kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Vector<T> each = broadcast(a[i * stride]);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) sum[i][v] = multiply_add(each, b[v], sum[i][v]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) finish(i, v, sum[i][v]);
}

// All rows by one panel, in tiles of so many rows while there are as many, then of fewer.
template <int tile_rows, int vectors, int stride, class T, class Finish>
inline void tiles(Left<stride, T> left, int first, int rows, const T* right,
                  std::ptrdiff_t right_step, int depth, const Finish& finish) {
  for (; first + tile_rows <= rows; first += tile_rows)
    tile<tile_rows, vectors>(
        Left<stride, T>{left.at + first * stride, left.step}, right, right_step, depth,
        [&](int i, int v, const Vector<Accum<T>>& sum) { finish(first + i, v * kLanes<T>, sum); });
  if constexpr (tile_rows > 1)
    tiles<tile_rows / 2, vectors>(left, first, rows, right, right_step, depth, finish);
}

}  // namespace detail

// The product with one panel of the right, two vectors wide or one: `right_step` numbers lie
// between its rows. `finish(row, column, sum)` takes each vector of sums.
template <int stride, class T, class Finish>
inline void product_panel(Left<stride, T> left, int rows, const T* right, std::ptrdiff_t right_step,
                          int depth, int columns, const Finish& finish) {
  if (columns == kPanel<T>)
    detail::tiles<kTileRows, 2>(left, 0, rows, right, right_step, depth, finish);
  else
    detail::tiles<kTileRows, 1>(left, 0, rows, right, right_step, depth, finish);
}

// A right side is kept panel after panel: so a panel is read from one end to the other. Of a number
// at (k, column) this is the place.
template <class T>
inline std::ptrdiff_t packed(int k, int column, int depth, int columns) {
  const int first = column / kPanel<T> * kPanel<T>;
  const int wide = columns - first < kPanel<T> ? columns - first : kPanel<T>;
  return static_cast<std::ptrdiff_t>(first) * depth + k * wide + column - first;
}

// The product with a packed right side of `columns`, a multiple of a vector's lanes.
template <int stride, class T, class Finish>
inline void product(Left<stride, T> left, int rows, const T* right, int depth, int columns,
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
