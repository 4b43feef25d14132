// A set of squares in 64 bits.
//
//      a  b  c  d  e  f  g  h
//   8  56 57 58 59 60 61 62 63      north  +8
//   7  48 49 50 51 52 53 54 55      east   +1
//   6  40 41 42 43 44 45 46 47
//   5  32 33 34 35 36 37 38 39      flip(): rank 1 <-> rank 8, files stay,
//   4  24 25 26 27 28 29 30 31              which is square ^ 56 for one square
//   3  16 17 18 19 20 21 22 23              and a byte swap for a whole set.
//   2   8  9 10 11 12 13 14 15
//   1   0  1  2  3  4  5  6  7
//
// Eight of them side by side, one per direction of the compass:
//
//   lane 7 6 5    NW  W  SW        7 0 1
//   ...           lanes in         6 . 2
//                 compass order:   5 4 3      lane d and lane (d + 4) % 8 are opposite.
//
// A chess board is 64 bits and a queen has 8 directions, so everything a slider can do fits in one
// 512-bit register: with AVX-512 each line below is one instruction for all pieces in all
// directions, with AVX2 it is two. There is no table, no branch and no loop over pieces. The move
// generator fills its registers with the same bitboard of several boards instead (boards.hpp).
#pragma once
#include "lanes.hpp"

#ifndef __CUDACC_RTC__
#include <bit>
#endif

namespace rungs::chess {

using Bitboard = std::uint64_t;

constexpr Bitboard kRank1 = 0x00000000000000FFULL;
constexpr Bitboard kRank2 = kRank1 << 8;
constexpr Bitboard kRank7 = kRank1 << 48;
constexpr Bitboard kRank8 = kRank1 << 56;
constexpr Bitboard kFileA = 0x0101010101010101ULL;
constexpr Bitboard kFileH = kFileA << 7;
constexpr Bitboard kDarkSquares = 0xAA55AA55AA55AA55ULL;

constexpr Bitboard bit(int square) { return Bitboard{1} << square; }

#ifdef __CUDACC_RTC__
inline int lowest(Bitboard b) { return __ffsll(static_cast<long long>(b)) - 1; }
inline int count(Bitboard b) { return __popcll(b); }
inline Bitboard flip(Bitboard b) {
  const auto low = static_cast<std::uint32_t>(b), high = static_cast<std::uint32_t>(b >> 32);
  return Bitboard{__byte_perm(low, 0, 0x0123)} << 32 | __byte_perm(high, 0, 0x0123);
}
#else
constexpr int lowest(Bitboard b) { return std::countr_zero(b); }
constexpr int count(Bitboard b) { return std::popcount(b); }
constexpr Bitboard flip(Bitboard b) { return __builtin_bswap64(b); }
#endif

// The lowest square of `b`, removed from it: `while (b) use(pop(b));`
inline int pop(Bitboard& b) {
  const int square = lowest(b);
  b &= b - 1;
  return square;
}

// Lanes by name. Plain integers, as only they index a vector in a template.
constexpr int N = 0, NE = 1, E = 2, SE = 3, S = 4, SW = 5, W = 6, NW = 7;

// Moving a piece in direction d rotates its bitboard left by kStep[d]; kStepInside[d] masks off
// squares that wrapped round the edge of the board.
constexpr int kStep[8] = {8, 9, 1, 64 - 7, 64 - 8, 64 - 9, 64 - 1, 7};
constexpr Lanes kStepLanes = {8, 9, 1, 57, 56, 55, 63, 7};
constexpr Bitboard kStepInside[8] = {~kRank1, ~(kRank1 | kFileA), ~kFileA, ~(kRank8 | kFileA),
                                     ~kRank8, ~(kRank8 | kFileH), ~kFileH, ~(kRank1 | kFileH)};
constexpr Lanes kInside = {kStepInside[0], kStepInside[1], kStepInside[2], kStepInside[3],
                           kStepInside[4], kStepInside[5], kStepInside[6], kStepInside[7]};

// The knight's eight jumps, clockwise from north-north-east.
constexpr int kJump[8] = {17, 10, 64 - 6, 64 - 15, 64 - 17, 64 - 10, 6, 15};
constexpr Lanes kJumpLanes = {17, 10, 58, 49, 47, 54, 6, 15};
constexpr Bitboard kFileAB = kFileA | kFileA << 1;
constexpr Bitboard kFileGH = kFileH | kFileH >> 1;
constexpr Bitboard kRank12 = kRank1 | kRank1 << 8;
constexpr Bitboard kRank78 = kRank8 | kRank7;
constexpr Bitboard kJumpInside[8] = {~(kRank12 | kFileA), ~(kRank1 | kFileAB), ~(kRank8 | kFileAB),
                                     ~(kRank78 | kFileA), ~(kRank78 | kFileH), ~(kRank8 | kFileGH),
                                     ~(kRank1 | kFileGH), ~(kRank12 | kFileH)};
constexpr Lanes kJumpInsideLanes = {kJumpInside[0], kJumpInside[1], kJumpInside[2], kJumpInside[3],
                                    kJumpInside[4], kJumpInside[5], kJumpInside[6], kJumpInside[7]};

constexpr Bitboard kAll = ~Bitboard{0};
constexpr Lanes kOrthogonal = {kAll, 0, kAll, 0, kAll, 0, kAll, 0};

inline Lanes step(Lanes x) { return rotate(x, kStepLanes) & kInside; }
inline Lanes jump(Lanes x) { return rotate(x, kJumpLanes) & kJumpInsideLanes; }

// A Kogge-Stone fill: `from` and every square reached from it over `empty` squares, lane by lane,
// in three doublings instead of seven steps. A rook on a1 that goes north, over an empty file:
//
//   from         R . . . . . . .
//   by one       R * . . . . . .     each piece takes one step,
//   by two       R * * * . . . .     all that is marked takes two,
//   by four      R * * * * * * *     and then four: `open` holds the squares before which that many
//                                    squares are empty.
inline Lanes fill(Lanes from, Bitboard empty) {
  Lanes open = broadcast(empty) & kInside;
  from |= open & rotate(from, kStepLanes);
  open &= rotate(open, kStepLanes);
  from |= open & rotate(from, kStepLanes * 2 & 63);
  open &= rotate(open, kStepLanes * 2 & 63);
  from |= open & rotate(from, kStepLanes * 4 & 63);
  return from;
}

// Flips the board in every lane: a single byte shuffle, where the compiler has the instruction.
inline Lanes flip(Lanes x) {
#if !RUNGS_SCALAR_LANES && (defined(__clang__) || defined(__AVX512BW__))
  using Bytes = std::uint8_t __attribute__((vector_size(64)));
  return (Lanes)__builtin_shufflevector(
      (Bytes)x, (Bytes)x, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 23, 22, 21, 20, 19,
      18, 17, 16, 31, 30, 29, 28, 27, 26, 25, 24, 39, 38, 37, 36, 35, 34, 33, 32, 47, 46, 45, 44,
      43, 42, 41, 40, 55, 54, 53, 52, 51, 50, 49, 48, 63, 62, 61, 60, 59, 58, 57, 56);
#else
  return lanewise([&](int lane) { return flip(x[lane]); });
#endif
}

}  // namespace rungs::chess
