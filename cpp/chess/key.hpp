// A position's 64-bit key for repetitions: a hash of the position without its clocks. Positions
// with equal keys are taken as equal; over the few thousand pairs of a game, the probability of a
// false match is about 2^-52.
//
// En passant must be set only where a legal capture exists, as FIDE's definition of "the same
// position" requires (article 9.2.3).
#pragma once
#include "boards.hpp"

namespace rungs::chess {

namespace detail {

// Multiply to 128 bits and fold: the mixing step of wyhash.
template <class V>
RUNGS_INLINE V fold(V a, V b) {
  if constexpr (kIsWord<V>) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<V>(product) ^ static_cast<V>(product >> 64);
  } else {  // from four products of 32 bits
    constexpr Bitboard kLow = 0xFFFFFFFF;
    const V a_high = a >> 32, b_high = b >> 32;
    const V low = product_of_halves(a, b), high = product_of_halves(a_high, b_high);
    const V inner = product_of_halves(a, b_high), outer = product_of_halves(a_high, b);
    const V middle = (low >> 32) + (inner & kLow) + (outer & kLow);
    return ((low & kLow) | middle << 32) ^ (high + (inner >> 32) + (outer >> 32) + (middle >> 32));
  }
}

}  // namespace detail

template <class V>
RUNGS_INLINE V key(const Boards<V>& b) {
  using detail::fold;
  // The first 64-bit fractional digits of pi: nothing-up-my-sleeve numbers.
  constexpr Bitboard kPi[8] = {0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0,
                               0x082EFA98EC4E6C89, 0x452821E638D01377, 0xBE5466CF34E90C6C,
                               0xC0AC29B7C97C50DD, 0x3F84D5B5B5470917};
  const V state = (b.state & 0xFFFFFF) | (b.state >> 24 & 0xFF000000);  // no clocks
  return fold<V>(fold<V>(b.piece[PAWN] ^ kPi[0], b.piece[KNIGHT] ^ kPi[1]) ^
                     fold<V>(b.piece[BISHOP] ^ kPi[2], b.piece[ROOK] ^ kPi[3]) ^
                     fold<V>(b.piece[QUEEN] ^ kPi[4], b.piece[KING] ^ kPi[5]) ^
                     fold<V>(b.own ^ kPi[6], state ^ kPi[7]),
                 V{} + (kPi[0] ^ kPi[7]));
}

inline std::uint64_t key(const Position& p) { return key(load_boards<Bitboard>(&p)); }

}  // namespace rungs::chess
