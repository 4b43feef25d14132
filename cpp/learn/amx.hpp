// Products of bfloat16 in AMX, the tile unit of Intel's processors from Sapphire Rapids on.
//
// A tile is a register of 16 rows of 64 bytes. One instruction, TDPBF16PS, multiplies a tile of 16
// rows of 32 bfloat16 by one of 32 rows of 16, which lie as 16 rows of 16 pairs along `depth`, and
// adds the products to a tile of 16 x 16 float32: 8,192 multiply-adds in 16 cycles.
//
// A sum depends on its own row and column alone, and adds in a fixed order: of 32 neighbours along
// `depth` first those at even and those at odd places, then both to the sum. AVX512-BF16 adds pair
// by pair, so the last bits of the two units differ.
#pragma once
#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "bf16_gemm.hpp"

#if RUNGS_BF16 && defined(__linux__)
#define RUNGS_AMX 1
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#define RUNGS_AMX 0
#endif

namespace rungs::learn {

constexpr int kTile = 16;  // rows of a tile, and words in a row
static_assert(kPanel<bf16x2> == 2 * kTile);

// Of a block of weights' gradients: positions, whose rows stay in L1 and L2 meanwhile, and outputs.
constexpr int kRowBlock = 128, kOutputsPerTask = 64;

#if RUNGS_AMX

// Whether products of `T` may be computed in tiles.
template <class T>
constexpr bool kInTiles = std::is_same_v<T, bf16x2>;

// Asks for AMX's tiles; returns whether this process may use them. Linux saves their 8 KiB only for
// processes that ask, with all their threads and forks. It refuses where a thread's alternative
// signal stack is too small for that, and refuses such stacks from then on.
inline bool request_amx() {
  constexpr unsigned kLeaf = 7, kAmxBf16 = 1U << 22;
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid_count(kLeaf, 0, &eax, &ebx, &ecx, &edx) && (edx & kAmxBf16) &&
         syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

// The instructions, with strides of rows in words. By the compilers' intrinsics stores before a
// load may move behind it or vanish (g++ 12's don't say that they read memory), and they need
// options that would let the compiler use AMX anywhere.
struct Amx {
  template <int tile>
  static void load(const void* from, std::ptrdiff_t stride) {
    asm volatile("tileloadd (%0,%1,4), %%tmm%c2" : : "r"(from), "r"(stride), "i"(tile) : "memory");
  }
  template <int tile>
  static void store(void* to, std::ptrdiff_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,4)" : : "r"(to), "r"(stride), "i"(tile) : "memory");
  }
  template <int tile>
  static void clear() {
    asm volatile("tilezero %%tmm%c0" : : "i"(tile));
  }
  template <int sum, int left, int right>
  static void multiply_add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(left), "i"(right));
  }
};

#else

template <class T>
constexpr bool kInTiles = false;

inline bool request_amx() { return false; }

struct Amx;

#endif

// Configures the calling thread's tiles while it exists, all of full size, if AMX is to multiply;
// not to be nested. Releasing them spares the system their 8 KiB when it switches threads.
class Tiles {
 public:
  explicit Tiles(bool amx) : amx_(amx) {
#if RUNGS_AMX
    struct Config {
      std::uint8_t palette, start_row, reserved[14];
      std::uint16_t row_bytes[16];
      std::uint8_t rows[16];
    };
    static constexpr Config kConfig = [] {
      Config all{};
      all.palette = 1;
      for (int tile = 0; tile < 8; ++tile) {
        all.row_bytes[tile] = 64;
        all.rows[tile] = kTile;
      }
      return all;
    }();
    if (amx_) asm volatile("ldtilecfg %0" : : "m"(kConfig));
#endif
  }
  ~Tiles() {
#if RUNGS_AMX
    if (amx_) asm volatile("tilerelease");
#endif
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  explicit operator bool() const { return amx_; }

 private:
  bool amx_;
};

// The templates below take the instructions as a parameter: tests have a plain stand-in.

// Computes `rows` x `columns` sums, at most two tiles each way, over `steps` * 32 numbers of depth;
// or adds them to what is there. They are read and written as whole tiles. Strides are in words.
template <class Unit, bool add>
inline void sum_tiles(int rows, int columns, int steps, const bf16x2* left,
                      std::ptrdiff_t left_stride, const bf16x2* right, std::ptrdiff_t right_stride,
                      float* sums, std::ptrdiff_t stride) {
  const bool wide = columns > kTile, tall = rows > kTile;
  float* const below = sums + kTile * stride;
  if constexpr (add) {
    Unit::template load<0>(sums, stride);
    if (wide) Unit::template load<1>(sums + kTile, stride);
    if (tall) Unit::template load<2>(below, stride);
    if (wide && tall) Unit::template load<3>(below + kTile, stride);
  } else {
    Unit::template clear<0>();
    Unit::template clear<1>();
    Unit::template clear<2>();
    Unit::template clear<3>();
  }
  for (int step = 0; step < steps; ++step, left += kTile, right += kTile * right_stride) {
    Unit::template load<4>(left, left_stride);
    Unit::template load<6>(right, right_stride);
    Unit::template multiply_add<0, 4, 6>();
    if (wide) {
      Unit::template load<7>(right + kTile, right_stride);
      Unit::template multiply_add<1, 4, 7>();
    }
    if (!tall) continue;
    Unit::template load<5>(left + kTile * left_stride, left_stride);
    Unit::template multiply_add<2, 5, 6>();
    if (wide) Unit::template multiply_add<3, 5, 7>();
  }
  Unit::template store<0>(sums, stride);
  if (wide) Unit::template store<1>(sums + kTile, stride);
  if (tall) Unit::template store<2>(below, stride);
  if (wide && tall) Unit::template store<3>(below + kTile, stride);
}

// As `product`, in tiles. `depth` and `columns` are multiples of 16, `left.step` is 1, and its rows
// are read up to a multiple of 16: those beyond `rows` may hold anything.
template <class Unit, class Finish>
inline void product_in_tiles(Left<bf16x2> left, int rows, const bf16x2* right, int depth,
                             int columns, const Finish& finish) {
  constexpr int kRows = 2 * kTile, kColumns = kPanel<bf16x2>;
  alignas(64) float sums[kRows * kColumns];
  for (int column = 0; column < columns; column += kColumns) {
    const int wide = std::min(kColumns, columns - column);
    const bf16x2* const panel = right + static_cast<std::ptrdiff_t>(column) * depth;
    for (int first = 0; first < rows; first += kRows) {
      const int tall = std::min(kRows, rows - first);
      sum_tiles<Unit, false>(tall, wide, depth / kTile, left.at + first * left.stride, left.stride,
                             panel, wide, sums, kColumns);
      for (int row = 0; row < tall; ++row)
        for (int v = 0; v < wide; v += kLanes<float>)
          finish(first + row, column + v, load(sums + row * kColumns + v));
    }
  }
}

// As `product`: in tiles, where `tiles` are configured.
template <class T, class Finish>
inline void product(const Tiles& tiles, Left<T> left, int rows, const T* right, int depth,
                    int columns, const Finish& finish) {
  if constexpr (kInTiles<T>)
    if (tiles) return product_in_tiles<Amx>(left, rows, right, depth, columns, finish);
  product(left, rows, right, depth, columns, finish);
}

// Transposes 16 rows of 16 pairs: four rounds exchange those 1, 2, 4 and 8 apart.
inline void transpose(Pairs (&rows)[kTile]) {
  const auto exchange = [&]<int apart, int... lane>(std::integer_sequence<int, apart>,
                                                    std::integer_sequence<int, lane...>) {
#pragma GCC unroll 16
    for (int i = 0; i < kTile; ++i) {
      if (i & apart) continue;
      const Pairs a = rows[i], b = rows[i + apart];
      rows[i] = __builtin_shufflevector(a, b, (lane & apart ? kTile + (lane ^ apart) : lane)...);
      rows[i + apart] =
          __builtin_shufflevector(a, b, (lane & apart ? kTile + lane : lane ^ apart)...);
    }
  };
  constexpr auto kEach = std::make_integer_sequence<int, kTile>{};
  exchange(std::integer_sequence<int, 1>{}, kEach);
  exchange(std::integer_sequence<int, 2>{}, kEach);
  exchange(std::integer_sequence<int, 4>{}, kEach);
  exchange(std::integer_sequence<int, 8>{}, kEach);
}

// sums (outputs, columns) += delta (rows, outputs)^T * input (rows, columns), in tiles, of at most
// kRowBlock rows. `outputs` is a multiple of 16 and at most kOutputsPerTask, `columns` one of 32.
template <class Unit>
inline void add_outer_in_tiles(const float* delta, std::ptrdiff_t delta_row, const float* input,
                               int rows, int outputs, int columns, float* sums) {
  constexpr int kPairs = kRowBlock / 2, kColumns = kPanel<bf16x2>;
  alignas(64) bf16x2 deltas[kOutputsPerTask * kPairs];  // a row of pairs of positions per output
  alignas(64) bf16x2 inputs[kPairs * kColumns];
  const int steps = (rows + 2 * kTile - 1) / (2 * kTile);
  // 16 numbers of each of two neighbouring rows, which are 0 beyond the last.
  const auto pairs = [rows](const float* from, std::ptrdiff_t stride, int first) {
    Floats both[2] = {};
    for (int i = 0; i < 2; ++i)
      if (first + i < rows) std::memcpy(&both[i], from + (first + i) * stride, sizeof both[i]);
    return interleave_bf16(both[0], both[1]);
  };
  for (int output = 0; output < outputs; output += kTile)
    for (int step = 0; step < steps; ++step) {
      Pairs block[kTile];
      for (int i = 0; i < kTile; ++i)
        block[i] = pairs(delta + output, delta_row, 2 * (step * kTile + i));
      transpose(block);
      for (int i = 0; i < kTile; ++i)
        std::memcpy(deltas + (output + i) * kPairs + step * kTile, &block[i], sizeof block[i]);
    }
  for (int column = 0; column < columns; column += kColumns) {
    for (int i = 0; i < steps * kTile; ++i)
      for (int v = 0; v < kColumns; v += kTile) {
        const Pairs packed = pairs(input + column + v, columns, 2 * i);
        std::memcpy(inputs + i * kColumns + v, &packed, sizeof packed);
      }
    for (int output = 0; output < outputs; output += 2 * kTile)
      sum_tiles<Unit, true>(outputs - output, kColumns, steps, deltas + output * kPairs, kPairs,
                            inputs, kColumns, sums + output * columns + column, columns);
  }
}

}  // namespace rungs::learn
