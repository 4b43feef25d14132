// The same word of several boards, side by side: what moves are generated from.
//
// V is a vector of 8 words (a register of AVX-512), of 4 (AVX2), or a single word (one board: a
// GPU's thread, or a processor without such vectors). Operators work on all boards at once, so code
// reads as if for one board. Only the functions of this file know what V is.
#pragma once
#include "bitboard.hpp"

#ifndef __CUDACC_RTC__
#include <utility>
#endif

#if defined(__AVX2__) && !RUNGS_SCALAR_LANES
#include <immintrin.h>
#endif

namespace rungs::chess {

#ifdef __CUDACC_RTC__
using Widest = Bitboard;
#else
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors don't cross the boundaries of libraries

using Words4 = Bitboard __attribute__((vector_size(32)));
using Words8 = Bitboard __attribute__((vector_size(64)));

// As many boards as fit in a register.
#if RUNGS_SCALAR_LANES
using Widest = Bitboard;
#elif defined(__AVX512BW__)
using Widest = Words8;
#elif defined(__AVX2__)
using Widest = Words4;
#else
using Widest = Bitboard;
#endif
#endif

template <class V>
constexpr int kWidth = sizeof(V) / sizeof(Bitboard);
template <class V>
constexpr bool kIsWord = kWidth<V> == 1;

// Whether V is a register of this processor. Others are computed word by word, which a test does.
#if defined(__AVX512BW__) && !RUNGS_SCALAR_LANES
#define RUNGS_WORDS8 1
#else
#define RUNGS_WORDS8 0
#endif
#if defined(__AVX2__) && !RUNGS_SCALAR_LANES
#define RUNGS_WORDS4 1
#else
#define RUNGS_WORDS4 0
#endif

// What `of` returns for each board, by number.
template <class V, class Of>
constexpr V each_board(Of of) {
  if constexpr (kIsWord<V>) {
    return of(0);
  } else {
    V x{};
    for (int board = 0; board < kWidth<V>; ++board) x[board] = of(board);
    return x;
  }
}

template <class V>
inline Bitboard word_of(const V& x, [[maybe_unused]] int board) {
  if constexpr (kIsWord<V>)
    return x;
  else
    return x[board];
}

// A set of boards, a bit for each.
using BoardSet = unsigned;

// The first `number` boards, of at least one.
constexpr BoardSet first_boards(int number) { return (2U << (number - 1)) - 1; }

// Calls `body(board)` for each board of a set.
template <class Body>
inline void each_of(BoardSet boards, const Body& body) {
  for (; boards; boards &= boards - 1) body(lowest(Bitboard{boards}));
}

// The boards that have a square in `x`.
template <class V>
inline BoardSet boards_with(V x) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8) return _mm512_test_epi64_mask((__m512i)x, (__m512i)x);
#endif
#if RUNGS_WORDS4
  if constexpr (kWidth<V> == 4) {
    const auto empty = (__m256i)(V)(x == 0);
    return 15 ^ static_cast<BoardSet>(_mm256_movemask_pd(_mm256_castsi256_pd(empty)));
  }
#endif
  BoardSet boards = 0;
  for (int board = 0; board < kWidth<V>; ++board)
    boards |= BoardSet{word_of(x, board) != 0} << board;
  return boards;
}

// Whether any board has a square in `x`.
template <class V>
inline bool any(V x) {
#if RUNGS_WORDS4
  if constexpr (kWidth<V> == 4) return !_mm256_testz_si256((__m256i)x, (__m256i)x);
#endif
  return boards_with(x) != 0;
}

// All squares of some boards.
template <class V>
inline V squares_of(BoardSet boards) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8)
    return (V)_mm512_maskz_set1_epi64(static_cast<__mmask8>(boards), -1);
#endif
  return each_board<V>([&](int board) { return boards >> board & 1 ? kAll : 0; });
}

// `x` on boards where `a` and `b` meet, and nothing on the others.
template <class V>
inline V where_meet(V a, V b, V x) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8)
    return (V)_mm512_maskz_mov_epi64(_mm512_test_epi64_mask((__m512i)a, (__m512i)b), (__m512i)x);
#endif
  if constexpr (kIsWord<V>)
    return a & b ? x : 0;
  else
    return (V)((a & b) != 0) & x;
}

// `x` on boards where `test` holds a square.
template <class V>
inline V where(V test, V x) {
  return where_meet(test, test, x);
}

// `x` on boards where `test` is empty.
template <class V>
inline V unless(V test, V x) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8)
    return (V)_mm512_maskz_mov_epi64(_mm512_testn_epi64_mask((__m512i)test, (__m512i)test),
                                     (__m512i)x);
#endif
  if constexpr (kIsWord<V>)
    return test ? 0 : x;
  else
    return (V)(test == 0) & x;
}

// All squares of boards where `a` is more than `b`, as numbers.
template <class V>
inline V more(V a, V b) {
  if constexpr (kIsWord<V>)
    return a > b ? kAll : 0;
  else
    return (V)(a > b);
}

// The products of the lower halves of words.
template <class V>
inline V product_of_halves(V a, V b) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8) return (V)_mm512_maskz_mul_epu32(255, (__m512i)a, (__m512i)b);
#endif
#if RUNGS_WORDS4
  if constexpr (kWidth<V> == 4) return (V)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#endif
  return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
}

// The number of squares on each board.
template <class V>
inline V counts_of(V x) {
#if RUNGS_WORDS8 && defined(__AVX512VPOPCNTDQ__)
  if constexpr (kWidth<V> == 8) return (V)_mm512_popcnt_epi64((__m512i)x);
#elif RUNGS_WORDS8
  if constexpr (kWidth<V> == 8) {
    const __m512i of = _mm512_set4_epi32(0x04030302, 0x03020201, 0x03020201, 0x02010100);
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i low = _mm512_and_si512((__m512i)x, nibble);
    const __m512i high = _mm512_and_si512((__m512i)(x >> 4), nibble);
    return (V)_mm512_sad_epu8(
        _mm512_add_epi8(_mm512_shuffle_epi8(of, low), _mm512_shuffle_epi8(of, high)), __m512i{});
  }
#endif
#if RUNGS_WORDS4
  if constexpr (kWidth<V> == 4) {
    const __m256i of = _mm256_set_epi32(0x04030302, 0x03020201, 0x03020201, 0x02010100, 0x04030302,
                                        0x03020201, 0x03020201, 0x02010100);
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i low = _mm256_and_si256((__m256i)x, nibble);
    const __m256i high = _mm256_and_si256((__m256i)(x >> 4), nibble);
    return (V)_mm256_sad_epu8(
        _mm256_add_epi8(_mm256_shuffle_epi8(of, low), _mm256_shuffle_epi8(of, high)), __m256i{});
  }
#endif
  return each_board<V>([&](int board) { return static_cast<Bitboard>(count(word_of(x, board))); });
}

// Every board handed to the other side: rank 1 <-> rank 8.
template <class V>
inline V flipped(V x) {
#if RUNGS_WORDS4
  if constexpr (kWidth<V> == 4) {
    using Bytes = std::uint8_t __attribute__((vector_size(32)));
    return (V)__builtin_shufflevector((Bytes)x, (Bytes)x, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12,
                                      11, 10, 9, 8, 23, 22, 21, 20, 19, 18, 17, 16, 31, 30, 29, 28,
                                      27, 26, 25, 24);
  }
#endif
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8) return flip(x);
#endif
  return each_board<V>([&](int board) { return flip(word_of(x, board)); });
}

// Each board's word rotated to the left.
template <class V>
inline V rotated(V x, V left) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8) return (V)_mm512_maskz_rolv_epi64(255, (__m512i)x, (__m512i)left);
#endif
  return x << (left & 63) | x >> (-left & 63);
}

// For each board the word of another one, whose number `board` holds in its lowest bits.
template <class V>
inline V taken_from(V x, V board) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8)
    return (V)_mm512_maskz_permutexvar_epi64(255, (__m512i)board, (__m512i)x);
#endif
#if RUNGS_WORDS4
  if constexpr (kWidth<V> == 4) {
    const V halves = board << 1 & 7;
    return (V)_mm256_permutevar8x32_epi32((__m256i)x,
                                          (__m256i)(halves | halves << 32 | (V{} + (1ULL << 32))));
  }
#endif
  return each_board<V>(
      [&](int i) { return word_of(x, static_cast<int>(word_of(board, i) % kWidth<V>)); });
}

// For each board the word of a table whose number is `index`.
template <class V>
inline V looked_up(const Bitboard* table, V index) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8)
    return (V)_mm512_mask_i64gather_epi64(__m512i{}, 255, (__m512i)index, table, 8);
#endif
#if RUNGS_WORDS4
  if constexpr (kWidth<V> == 4)
    return (V)_mm256_i64gather_epi64(reinterpret_cast<const long long*>(table), (__m256i)index, 8);
#endif
  return each_board<V>([&](int board) { return table[word_of(index, board)]; });
}

// A byte or a short number of each board as a word, and back.
template <class V>
inline V widened(const std::uint8_t* bytes) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8)
    return (V)_mm512_maskz_cvtepu8_epi64(255,
                                         _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
#endif
#if RUNGS_WORDS4
  if constexpr (kWidth<V> == 4) return (V)_mm256_cvtepu8_epi64(_mm_loadu_si32(bytes));
#endif
  return each_board<V>([&](int board) { return Bitboard{bytes[board]}; });
}
template <class V>
inline V widened(const std::int16_t* numbers) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8)
    return (V)_mm512_maskz_cvtepi16_epi64(
        255, _mm_loadu_si128(reinterpret_cast<const __m128i*>(numbers)));
#endif
  return each_board<V>([&](int board) { return static_cast<Bitboard>(numbers[board]); });
}
template <class V>
inline void narrow(V x, std::uint8_t* bytes) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8) return _mm512_mask_cvtepi64_storeu_epi8(bytes, 255, (__m512i)x);
#endif
  for (int board = 0; board < kWidth<V>; ++board)
    bytes[board] = static_cast<std::uint8_t>(word_of(x, board));
}

namespace detail {

// For each set of four words, by its bits: the halves of these words, in order.
struct Packings {
  alignas(32) std::uint32_t of[16][8];
};
constexpr Packings kPackings = [] {
  Packings packings{};
  for (unsigned set = 0; set < 16; ++set)
    for (unsigned word = 0, at = 0; word < 4; ++word)
      if (set >> word & 1)
        for (unsigned half = 0; half < 2; ++half) packings.of[set][at++] = 2 * word + half;
  return packings;
}();

}  // namespace detail

// Where `test` holds a square, writes these boards' words of `x` and `y` one after the other.
// Returns their number. Overwrites room for kWidth<V> words of each.
template <class V>
inline int pack(V test, V x, Bitboard* xs, V y, Bitboard* ys) {
#if RUNGS_WORDS8
  if constexpr (kWidth<V> == 8) {
    const __mmask8 set = _mm512_test_epi64_mask((__m512i)test, (__m512i)test);
    _mm512_storeu_si512(xs, _mm512_maskz_compress_epi64(set, (__m512i)x));
    _mm512_storeu_si512(ys, _mm512_maskz_compress_epi64(set, (__m512i)y));
    return count(Bitboard{set});
  }
#endif
#if RUNGS_WORDS4
  if constexpr (kWidth<V> == 4) {
    const auto empty = (__m256i)(V)(test == 0);
    const auto set = static_cast<unsigned>(~_mm256_movemask_pd(_mm256_castsi256_pd(empty)) & 15);
    const auto packing =
        _mm256_load_si256(reinterpret_cast<const __m256i*>(detail::kPackings.of[set]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(xs),
                        _mm256_permutevar8x32_epi32((__m256i)x, packing));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(ys),
                        _mm256_permutevar8x32_epi32((__m256i)y, packing));
    return count(Bitboard{set});
  }
#endif
  int number = 0;
  for (int board = 0; board < kWidth<V>; ++board) {
    xs[number] = word_of(x, board);
    ys[number] = word_of(y, board);
    number += word_of(test, board) != 0;
  }
  return number;
}

#ifndef __CUDACC_RTC__

namespace detail {

// Swaps lanes of two rows: the lanes of `a` whose number has the bit `by` with the lanes of `b`
// whose number lacks it.
template <int by, class V, int... lane>
inline void swap_lanes(V& a, V& b, std::integer_sequence<int, lane...>) {
  constexpr int n = kWidth<V>;
  const V low = __builtin_shufflevector(a, b, (lane & by ? n + lane - by : lane)...);
  b = __builtin_shufflevector(a, b, (lane & by ? n + lane : lane + by)...);
  a = low;
}

}  // namespace detail

// Transposes: rows become columns. There are as many rows as V has words.
template <int by = 1, class V>
inline void transpose(V (&row)[kWidth<V>]) {
  if constexpr (by < kWidth<V>) {
    for (int i = 0; i < kWidth<V>; ++i)
      if (!(i & by))
        detail::swap_lanes<by>(row[i], row[i + by], std::make_integer_sequence<int, kWidth<V>>());
    transpose<2 * by>(row);
  }
}

#endif

}  // namespace rungs::chess
