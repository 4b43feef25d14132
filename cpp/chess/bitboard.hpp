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
#pragma once
#include <cstdint>

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

// Words in a row: an array, or whatever else is indexed like one.
template <class Row>
concept WordRow = requires(Row& row, int i) { row[i] = Bitboard{row[i]}; };

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

}  // namespace rungs::chess
