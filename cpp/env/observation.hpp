// What the agent sees: 72 int8, from the side to move.
//
//   0..63   squares a1..h8 with the mover's own side at the bottom (the board is flipped for
//           Black): own pawn, knight, bishop, rook, queen, king 1..6, theirs -1..-6, empty 0
//   64..67  castling rights 0/1: own short, own long, their short, their long
//   68      file 0..7 of a legal en-passant capture, else -1
//   69      halfmove clock: plies since the last capture or pawn move, at most 127
//   70      how often the position stood before in this game, 0..2
//   71      side to move: 0 White, 1 Black
#pragma once
#include "../chess/game.hpp"

namespace rungs::env {

constexpr int kObservationSize = 72;

namespace detail {
// Byte i is 1 where bit i of `bits` is set: copy the 8 bits into each byte, keep bit i in byte i,
// carry it to the top of its byte.
inline std::uint64_t bytes_of_bits(std::uint64_t bits) {
  const std::uint64_t one_each = bits * 0x0101010101010101ULL & 0x8040201008040201ULL;
  return ((one_each + 0x7F7F7F7F7F7F7F7FULL) | one_each) >> 7 & 0x0101010101010101ULL;
}
}  // namespace detail

// Writes the 64 bytes of `bits`, 0 or 1 for each.
inline void write_bytes_of_bits(std::uint64_t bits, std::uint8_t* out) {
  for (int i = 0; i < 8; ++i) {
    const std::uint64_t bytes = detail::bytes_of_bits(bits >> 8 * i & 255);
    __builtin_memcpy(out + 8 * i, &bytes, 8);
  }
}

inline void observe(const chess::Game& game, std::int8_t* out) {
  using namespace chess;
  const Position& p = game.position;
  const Bitboard theirs = p.theirs();
  for (int rank = 0; rank < 8; ++rank) {
    const auto row = [rank](Bitboard b) { return detail::bytes_of_bits(b >> 8 * rank & 255); };
    std::uint64_t bytes = 0;
    for (int type = PAWN; type <= KING; ++type) bytes += row(p.piece[type]) * (type + 1);
    // Negate their bytes: complement and add one, which cannot carry as a piece's byte isn't 0.
    const std::uint64_t negate = row(theirs);
    bytes = (bytes ^ negate * 255) + negate;
    __builtin_memcpy(out + 8 * rank, &bytes, 8);
  }
  for (int side = 0; side < 2; ++side) {
    out[64 + 2 * side] = p.short_castling(side) != 0;
    out[65 + 2 * side] = p.long_castling(side) != 0;
  }
  out[68] = static_cast<std::int8_t>(p.en_passant == kNoFile ? -1 : p.en_passant);
  out[69] = static_cast<std::int8_t>(p.halfmove < 127 ? p.halfmove : 127);
  out[70] = static_cast<std::int8_t>(game.repetitions);
  out[71] = static_cast<std::int8_t>(p.black);
}

}  // namespace rungs::env
