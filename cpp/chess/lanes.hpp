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
#pragma once
#include <cstring>

#include "bitboard.hpp"
#include "register.hpp"

#if defined(__AVX512VPOPCNTDQ__) && !RUNGS_PLAIN
#include <immintrin.h>
#endif

namespace rungs::chess {

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

inline Lanes rotate(Lanes x, Lanes left) { return (x << left) | (x >> ((64 - left) & 63)); }
inline Lanes step(Lanes x) { return rotate(x, kStepLanes) & kInside; }
inline Lanes jump(Lanes x) { return rotate(x, kJumpLanes) & kJumpInside; }

// `from` and every square reached from it, lane by lane, over `empty` squares: in three doublings
// (1, 2, 4 squares at a time) instead of seven steps.
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

// Puts the lanes into an array of words, from number `first` on; or into what is indexed like one.
inline void store_lanes(const Lanes& x, std::uint64_t* words, int first) {
  std::memcpy(words + first, &x, sizeof x);
}
template <class Words>
inline void store_lanes(const Lanes& x, Words& words, int first) {
  for (int lane = 0; lane < 8; ++lane) words[first + lane] = x[lane];
}

// The union of all lanes, in each of them.
inline Lanes spread(Lanes x) {
  x |= shuffle<4, 5, 6, 7, 0, 1, 2, 3>(x);
  x |= shuffle<2, 3, 0, 1, 6, 7, 4, 5>(x);
  return x | shuffle<1, 0, 3, 2, 5, 4, 7, 6>(x);
}

inline Bitboard merge(Lanes x) { return spread(x)[0]; }

// The number of squares in each lane. No compiler of today finds the vector instruction by itself.
inline Lanes counts(Lanes x) {
#if defined(__AVX512VPOPCNTDQ__) && !RUNGS_PLAIN
  return (Lanes)_mm512_popcnt_epi64((__m512i)x);
#else
  for (int lane = 0; lane < 8; ++lane) x[lane] = count(x[lane]);
  return x;
#endif
}

}  // namespace rungs::chess
