// Products in tiles, by a plain stand-in for AMX's instructions, on any processor: what is packed,
// and what is left over beside whole tiles. The same by AMX, where this process may use it.
#pragma once
#include <cmath>
#include <random>

#include "boards.hpp"
#include "learn/amx.hpp"

namespace rungs::learn {

// As Intel describes the instructions; tiles are of the calling thread.
struct PlainTiles {
  static inline thread_local bf16x2 tile[8][kTile][kTile];

  template <int number>
  static void load(const void* from, std::ptrdiff_t stride) {
    for (int row = 0; row < kTile; ++row)
      std::memcpy(tile[number][row], static_cast<const bf16x2*>(from) + row * stride, 4 * kTile);
  }
  template <int number>
  static void store(void* to, std::ptrdiff_t stride) {
    for (int row = 0; row < kTile; ++row)
      std::memcpy(static_cast<bf16x2*>(to) + row * stride, tile[number][row], 4 * kTile);
  }
  template <int number>
  static void clear() {
    std::memset(tile[number], 0, sizeof tile[number]);
  }
  template <int sum, int left, int right>
  static void multiply_add() {
    const auto number = [](bf16x2 bits) {
      float value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    };
    for (int row = 0; row < kTile; ++row)
      for (int column = 0; column < kTile; ++column) {
        float even = 0, odd = 0;
        for (int k = 0; k < kTile; ++k) {
          const bf16x2 a = tile[left][row][k], b = tile[right][k][column];
          even += number(a << 16) * number(b << 16);
          odd += number(a & 0xFFFF0000) * number(b & 0xFFFF0000);
        }
        const float total = number(tile[sum][row][column]) + (even + odd);
        std::memcpy(&tile[sum][row][column], &total, sizeof total);
      }
  }
};

// A matrix of random numbers whose products have exact sums: multiples of 1/64 up to 2.
inline std::vector<float> random_matrix(int rows, int columns) {
  static std::mt19937 random(1);
  std::vector<float> all(static_cast<std::size_t>(rows * columns));
  for (float& number : all) number = (static_cast<float>(random() % 256) - 128) / 64;
  return all;
}

// result (rows, columns) = left (rows, depth) * right (depth, columns)
template <class Unit>
void check_product(int rows, int depth, int columns) {
  const auto left = random_matrix(rows, depth), right = random_matrix(depth, columns);
  const int whole_rows = (rows + kTile - 1) / kTile * kTile, pairs = depth / 2;
  // Not numbers in the rows beyond the last, nor in results that nothing is written to.
  std::vector<bf16x2> lefts(static_cast<std::size_t>(whole_rows * pairs), 0xFFFFFFFF);
  std::vector<bf16x2> rights(static_cast<std::size_t>(pairs * columns));
  std::vector<float> result(static_cast<std::size_t>(rows * columns), NAN);
  pack_contiguous<bf16x2>(left.data(), rows * depth, lefts.data());
  for (int k = 0; k < depth; ++k)
    for (int column = 0; column < columns; ++column)
      pack_at<bf16x2>(right[k * columns + column], k, [&](int pair) -> bf16x2& {
        return rights[packed<bf16x2>(pair, column, pairs, columns)];
      });
  const auto keep = [&](int row, int column, const Vector<float>& sum) {
    store(sum, result.data() + row * columns + column);
  };
  product_in_tiles<Unit>({lefts.data(), pairs, 1}, rows, rights.data(), pairs, columns, keep);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      double sum = 0;
      for (int k = 0; k < depth; ++k)
        sum += static_cast<double>(left[row * depth + k]) * right[k * columns + column];
      if (result[row * columns + column] != sum) fail("a product in tiles is another");
    }
}

// sums (outputs, columns) += delta (rows, outputs)^T * input (rows, columns)
template <class Unit>
void check_outer(int rows, int outputs, int columns) {
  const auto delta = random_matrix(rows, outputs), input = random_matrix(rows, columns);
  std::vector<float> sums(static_cast<std::size_t>(outputs * columns), 1);
  add_outer_in_tiles<Unit>(delta.data(), outputs, input.data(), rows, outputs, columns,
                           sums.data());
  for (int output = 0; output < outputs; ++output)
    for (int column = 0; column < columns; ++column) {
      double sum = 1;
      for (int row = 0; row < rows; ++row)
        sum += static_cast<double>(delta[row * outputs + output]) * input[row * columns + column];
      if (sums[output * columns + column] != sum) fail("a gradient in tiles is another");
    }
}

template <class Unit>
void check_unit() {
  for (const int depth : {32, 64, 128})
    for (const int columns : {16, 32, 80, 128})
      for (const int rows : {1, 2, 15, 16, 17, 31, 32, 33, 48, 49, 64})
        check_product<Unit>(rows, depth, columns);
  for (const int outputs : {16, 32, 48, 64})
    for (const int rows : {1, 2, 3, 31, 32, 33, 64, 127, 128}) check_outer<Unit>(rows, outputs, 64);
}

inline int check_tiles() {
  check_unit<PlainTiles>();
  bool amx = false;
  if constexpr (kInTiles<bf16x2>)
    if ((amx = request_amx())) {
      const Tiles tiles(true);
      check_unit<Amx>();
    }
  std::printf("multiplied%s\n", amx ? ", and by AMX" : "");
  return 0;
}

}  // namespace rungs::learn
