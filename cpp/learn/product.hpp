// The matrix product: of tiles that stay in registers, from panels that stay in the first cache.
//
//   result (rows, columns) = left (rows, depth) * right (depth, columns)
//
// A tile is a few rows by two vectors of columns. Its sums are kept in registers while `depth` goes
// by: each step loads two vectors of the right, spreads a number of each row of the left over a
// vector, and begins 2 multiply-adds a row. None waits for another, as they go to different sums.
// Every sum is added up in the order of `depth`, whichever tile it is in: a row's result doesn't
// depend on the rows beside it.
#pragma once
#include <cstddef>

#include "operands.hpp"

namespace rungs::learn {

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
  Vector<Sum<T>> sum[rows][vectors] = {};
  const T* a = left.at;
  for (int k = 0; k < depth; ++k, a += left.step, right += right_step) {
    Vector<T> b[vectors];
    for (int v = 0; v < vectors; ++v) b[v] = load(right + v * kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const Vector<T> each = everywhere(a[i * stride]);
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
        [&](int i, int v, const Vector<Sum<T>>& sum) { finish(first + i, v * kLanes<T>, sum); });
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
    product_panel(
        left, rows, right + static_cast<std::ptrdiff_t>(first) * depth, wide, depth, wide,
        [&](int row, int column, const Vector<Sum<T>>& sum) { finish(row, first + column, sum); });
  }
}

}  // namespace rungs::learn
