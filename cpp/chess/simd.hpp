// Eight bitboards side by side, one per direction of the compass.
//
//   lane 7 6 5    NW  W  SW        7 0 1
//   ...           lanes in         6 . 2
//                 compass order:   5 4 3      lane d and lane (d + 4) % 8 are opposite.
//
// A chess board is 64 bits and a queen has 8 directions, so everything a slider can do fits in one
// 512-bit register: with AVX-512 each line below is one instruction for all pieces in all
// directions, with AVX2 it is two, and without either the compiler makes it scalar code. There is
// no table, no branch and no loop over pieces.
//
// Where the compiler has vectors, the eight are a 512-bit one of its own; or two halves, where g++
// has registers of 256 bits only: it would keep a longer vector in memory. A GPU has none, and
// needs none: each of its threads steps a board, and 32 of them go together. There the words are
// plain.
#pragma once
#include <cstdint>
#include <cstring>

#include "bitboard.hpp"

#if defined(__CUDACC_RTC__) || defined(RUNGS_PLAIN_LANES)
#define RUNGS_PLAIN 1
#else
#define RUNGS_PLAIN 0
#endif

#if defined(__AVX2__) && !defined(__AVX512F__) && !defined(__clang__) && !RUNGS_PLAIN
#define RUNGS_HALVES 1
#else
#define RUNGS_HALVES 0
#endif

// Before a long function that is called from several places: a GPU has little room for code, and
// its compiler would copy it to each of them.
#ifdef __CUDACC_RTC__
#define RUNGS_ONCE __noinline__
#else
#define RUNGS_ONCE inline
#endif

#if (defined(__AVX512F__) && !RUNGS_PLAIN) || RUNGS_HALVES
#include <immintrin.h>
#endif

namespace rungs::chess {

#if RUNGS_PLAIN

struct Lanes {
  std::uint64_t word[8];

  constexpr std::uint64_t& operator[](int lane) { return word[lane]; }
  constexpr const std::uint64_t& operator[](int lane) const { return word[lane]; }
};

// Written out, so that every lane's number is known when it is compiled.
template <class Of>
constexpr Lanes lanewise(Of of) {
  return {of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)};
}

#define RUNGS_LANEWISE(op)                                         \
  constexpr Lanes operator op(const Lanes& a, const Lanes& b) {    \
    return lanewise([&](int lane) { return a[lane] op b[lane]; }); \
  }                                                                \
  constexpr Lanes operator op(const Lanes& a, std::uint64_t b) {   \
    return lanewise([&](int lane) { return a[lane] op b; });       \
  }                                                                \
  constexpr Lanes operator op(std::uint64_t a, const Lanes& b) {   \
    return lanewise([&](int lane) { return a op b[lane]; });       \
  }                                                                \
  constexpr Lanes& operator op## = (Lanes & a, const Lanes& b) { return a = a op b; }
RUNGS_LANEWISE(&)
RUNGS_LANEWISE(|)
RUNGS_LANEWISE(^)
RUNGS_LANEWISE(+)
RUNGS_LANEWISE(-)
RUNGS_LANEWISE(*)
RUNGS_LANEWISE(<<)
RUNGS_LANEWISE(>>)
#undef RUNGS_LANEWISE

constexpr Lanes operator~(const Lanes& a) {
  return lanewise([&](int lane) { return ~a[lane]; });
}
constexpr Lanes operator-(const Lanes& a) { return std::uint64_t{0} - a; }

// All ones in the lanes of `x` that hold any bit.
constexpr Lanes nonempty(const Lanes& x) {
  return lanewise([&](int lane) { return x[lane] ? ~std::uint64_t{0} : 0; });
}

template <int... lane>
constexpr Lanes shuffle(const Lanes& x) {
  return {x[lane]...};
}

#elif RUNGS_HALVES

using Half = std::uint64_t __attribute__((vector_size(32)));

struct Lanes {
  Half low, high;

  Lanes() = default;
  constexpr Lanes(Half low, Half high) : low(low), high(high) {}
  constexpr Lanes(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d,
                  std::uint64_t e, std::uint64_t f, std::uint64_t g, std::uint64_t h)
      : low{a, b, c, d}, high{e, f, g, h} {}

  std::uint64_t operator[](int lane) const { return lane < 4 ? low[lane] : high[lane - 4]; }
};

template <class Of>
inline Lanes lanewise(Of of) {
  return {of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)};
}

#define RUNGS_HALFWISE(op)                                                                     \
  constexpr Lanes operator op(Lanes a, Lanes b) { return {a.low op b.low, a.high op b.high}; } \
  constexpr Lanes operator op(Lanes a, std::uint64_t b) { return {a.low op b, a.high op b}; }  \
  constexpr Lanes operator op(std::uint64_t a, Lanes b) { return {a op b.low, a op b.high}; }  \
  constexpr Lanes& operator op## = (Lanes & a, Lanes b) { return a = a op b; }
RUNGS_HALFWISE(&)
RUNGS_HALFWISE(|)
RUNGS_HALFWISE(^)
RUNGS_HALFWISE(+)
RUNGS_HALFWISE(-)
RUNGS_HALFWISE(*)
RUNGS_HALFWISE(<<)
RUNGS_HALFWISE(>>)
#undef RUNGS_HALFWISE

constexpr Lanes operator~(Lanes a) { return {~a.low, ~a.high}; }
constexpr Lanes operator-(Lanes a) { return {-a.low, -a.high}; }

inline Lanes nonempty(Lanes x) { return {(Half)(x.low != 0), (Half)(x.high != 0)}; }

// A half takes its lanes from both, each of which is shuffled, and then one is chosen.
template <int... lane>
inline Lanes shuffle(Lanes x) {
  constexpr int from[8] = {lane...};
  return {__builtin_shufflevector(x.low, x.high, from[0], from[1], from[2], from[3]),
          __builtin_shufflevector(x.low, x.high, from[4], from[5], from[6], from[7])};
}

#else

#pragma GCC diagnostic ignored "-Wpsabi"  // Lanes never cross a function boundary not inlined

using Lanes = std::uint64_t __attribute__((vector_size(64)));

template <class Of>
inline Lanes lanewise(Of of) {
  return Lanes{of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)};
}

inline Lanes nonempty(Lanes x) { return (Lanes)(x != 0); }

template <int... lane>
inline Lanes shuffle(Lanes x) {
  return __builtin_shufflevector(x, x, lane...);
}

#endif

// Lanes by name. Plain integers, as only they index a vector in a template.
constexpr int N = 0, NE = 1, E = 2, SE = 3, S = 4, SW = 5, W = 6, NW = 7;

// Moving a piece in direction d rotates its bitboard left by kStep[d]; what comes round the edge of
// the board is cut off by kInside[d].
constexpr int kStep[8] = {8, 9, 1, 64 - 7, 64 - 8, 64 - 9, 64 - 1, 7};
constexpr Lanes kStepLanes = {8, 9, 1, 57, 56, 55, 63, 7};
constexpr Lanes kInside = {~kRank1, ~(kRank1 | kFileA), ~kFileA, ~(kRank8 | kFileA),
                           ~kRank8, ~(kRank8 | kFileH), ~kFileH, ~(kRank1 | kFileH)};

// The knight's eight jumps, clockwise from north-north-east.
constexpr int kJump[8] = {17, 10, 64 - 6, 64 - 15, 64 - 17, 64 - 10, 6, 15};
constexpr Lanes kJumpLanes = {17, 10, 58, 49, 47, 54, 6, 15};
constexpr Bitboard kFileAB = kFileA | kFileA << 1;
constexpr Bitboard kFileGH = kFileH | kFileH >> 1;
constexpr Bitboard kRank12 = kRank1 | kRank1 << 8;
constexpr Bitboard kRank78 = kRank8 | kRank7;
constexpr Lanes kJumpInside = {~(kRank12 | kFileA), ~(kRank1 | kFileAB), ~(kRank8 | kFileAB),
                               ~(kRank78 | kFileA), ~(kRank78 | kFileH), ~(kRank8 | kFileGH),
                               ~(kRank1 | kFileGH), ~(kRank12 | kFileH)};

constexpr Bitboard kAll = ~Bitboard{0};
constexpr Lanes kOrthogonal = {kAll, 0, kAll, 0, kAll, 0, kAll, 0};

inline Lanes everywhere(Bitboard b) { return Lanes{b, b, b, b, b, b, b, b}; }

// Rotates each lane to the left. No g++ of today finds the vector instruction by itself, and of its
// two names for it g++ warns of the one without a mask.
inline Lanes rotate(Lanes x, Lanes left) {
#if defined(__AVX512F__) && !RUNGS_PLAIN
  return (Lanes)_mm512_maskz_rolv_epi64(255, (__m512i)x, (__m512i)left);
#else
  return (x << left) | (x >> ((64 - left) & 63));
#endif
}

inline Lanes step(Lanes x) { return rotate(x, kStepLanes) & kInside; }
inline Lanes jump(Lanes x) { return rotate(x, kJumpLanes) & kJumpInside; }

// A Kogge-Stone fill: `from` and every square reached from it over `empty` squares, lane by lane,
// in three doublings instead of seven steps. A rook on a1 that goes north, over an empty file:
//
//   from         R . . . . . . .
//   by one       R * . . . . . .     each piece takes one step,
//   by two       R * * * . . . .     all that is marked takes two,
//   by four      R * * * * * * *     and then four: `open` says where so many steps are free.
inline Lanes fill(Lanes from, Bitboard empty) {
  Lanes open = everywhere(empty) & kInside;
  from |= open & rotate(from, kStepLanes);
  open &= rotate(open, kStepLanes);
  from |= open & rotate(from, kStepLanes * 2 & 63);
  open &= rotate(open, kStepLanes * 2 & 63);
  from |= open & rotate(from, kStepLanes * 4 & 63);
  return from;
}

inline Lanes opposite(Lanes x) { return shuffle<4, 5, 6, 7, 0, 1, 2, 3>(x); }

// Puts the lanes into words, from number `first` on.
inline void store_lanes(const Lanes& x, std::uint64_t* words, int first) {
  std::memcpy(words + first, &x, sizeof x);
}
template <WordRow Words>
inline void store_lanes(const Lanes& x, Words& words, int first) {
  for (int lane = 0; lane < 8; ++lane) words[first + lane] = x[lane];
}

// The reverse.
inline Lanes load_lanes(const std::uint64_t* words, int first) {
  Lanes x;
  std::memcpy(&x, words + first, sizeof x);
  return x;
}
template <WordRow Words>
inline Lanes load_lanes(const Words& words, int first) {
  return Lanes{words[first],     words[first + 1], words[first + 2], words[first + 3],
               words[first + 4], words[first + 5], words[first + 6], words[first + 7]};
}

// The union of all lanes, in each of them.
inline Lanes spread(Lanes x) {
  x |= shuffle<4, 5, 6, 7, 0, 1, 2, 3>(x);
  x |= shuffle<2, 3, 0, 1, 6, 7, 4, 5>(x);
  return x | shuffle<1, 0, 3, 2, 5, 4, 7, 6>(x);
}

inline Bitboard merge(Lanes x) { return spread(x)[0]; }

// The sum of all lanes.
inline std::uint64_t sum(const Lanes& x) {
  std::uint64_t total = 0;
  for (int lane = 0; lane < 8; ++lane) total += x[lane];
  return total;
}

// Every lane turned over, as `flip` does: one shuffle of bytes, where the compiler knows it.
inline Lanes flip(Lanes x) {
#if !RUNGS_PLAIN && (defined(__clang__) || defined(__AVX512BW__))
  using Bytes = std::uint8_t __attribute__((vector_size(64)));
  return (Lanes)__builtin_shufflevector(
      (Bytes)x, (Bytes)x, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 23, 22, 21, 20, 19,
      18, 17, 16, 31, 30, 29, 28, 27, 26, 25, 24, 39, 38, 37, 36, 35, 34, 33, 32, 47, 46, 45, 44,
      43, 42, 41, 40, 55, 54, 53, 52, 51, 50, 49, 48, 63, 62, 61, 60, 59, 58, 57, 56);
#else
  return lanewise([&](int lane) { return flip(x[lane]); });
#endif
}

// All ones in the lane of that number.
inline Lanes only(int lane) {
  return ~nonempty(Lanes{0, 1, 2, 3, 4, 5, 6, 7} ^ everywhere(static_cast<std::uint64_t>(lane)));
}

// The number of squares in each lane. No compiler of today finds the vector instruction by itself.
inline Lanes counts(Lanes x) {
#if defined(__AVX512VPOPCNTDQ__) && !RUNGS_PLAIN
  return (Lanes)_mm512_popcnt_epi64((__m512i)x);
#else
  return lanewise([&](int lane) { return static_cast<std::uint64_t>(count(x[lane])); });
#endif
}

}  // namespace rungs::chess
