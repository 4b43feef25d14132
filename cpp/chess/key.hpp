// A position's 64-bit key for repetition: a hash of the 64 bytes that are the position, less its
// clocks. Two equal keys are taken as equal positions; over the few thousand pairs of a game a
// false match has a chance of about 2^-52.
#pragma once
#include "position.hpp"

namespace rungs::chess {

namespace detail {
// Multiply to 128 bits and fold: the mixing step of wyhash.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}
}  // namespace detail

// `p.en_passant` must be set only where a legal en-passant capture exists, as FIDE's definition of
// "the same position" asks (article 9.2.3).
inline std::uint64_t key(const Position& p) {
  using detail::fold;
  // The first 64-bit fractional digits of pi: constants with nothing up their sleeve.
  constexpr std::uint64_t kPi[8] = {0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0,
                                    0x082EFA98EC4E6C89, 0x452821E638D01377, 0xBE5466CF34E90C6C,
                                    0xC0AC29B7C97C50DD, 0x3F84D5B5B5470917};
  const std::uint64_t state =
      p.castling[0] | p.castling[1] << 8 | p.en_passant << 16 | p.black << 24;
  return fold(fold(p.piece[PAWN] ^ kPi[0], p.piece[KNIGHT] ^ kPi[1]) ^
                  fold(p.piece[BISHOP] ^ kPi[2], p.piece[ROOK] ^ kPi[3]) ^
                  fold(p.piece[QUEEN] ^ kPi[4], p.piece[KING] ^ kPi[5]) ^
                  fold(p.own ^ kPi[6], state ^ kPi[7]),
              kPi[0] ^ kPi[7]);
}

}  // namespace rungs::chess
