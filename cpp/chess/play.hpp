// Making a move.
#pragma once
#include "action.hpp"
#include "position.hpp"

namespace rungs::chess {

// Plays the legal action `a` and hands the board to the other side.
inline void play(Position& p, Action a) {
  constexpr int kTwoNorth = 8 + N;
  const int to = to_square(a), rook_file = castling_rook(p, a);
  const Bitboard from_bit = bit(from_square(a)), to_bit = bit(to);
  const Piece moved = piece_on(p, from_square(a)), placed = placed_piece(p, a);
  const bool zeroing = moved == PAWN || (p.theirs() & to_bit);
  const bool takes_en_passant =
      moved == PAWN && p.en_passant != kNoFile && to == p.en_passant_square();

  if (rook_file >= 0) {
    const bool east = rook_file > from_square(a);
    p.piece[KING] ^= from_bit ^ bit(east ? 6 : 2);
    p.piece[ROOK] ^= bit(rook_file) ^ bit(east ? 5 : 3);
    p.own = (p.own & ~from_bit & ~bit(rook_file)) | bit(east ? 6 : 2) | bit(east ? 5 : 3);
  } else {
    for (Bitboard& b : p.piece) b &= ~(from_bit | to_bit);
    p.piece[placed] |= to_bit;
    p.own = (p.own & ~from_bit) | to_bit;
  }

  p.en_passant = kNoFile;
  if (moved == PAWN) {
    if (takes_en_passant) p.piece[PAWN] &= ~(to_bit >> 8);
    const Bitboard beside = (to_bit & ~kFileA) >> 1 | (to_bit & ~kFileH) << 1;
    if (plane_of(a) == kTwoNorth && (beside & p.piece[PAWN] & ~p.own))
      p.en_passant = static_cast<std::uint8_t>(to % 8);
  }

  // A rook's right goes with its move or capture, both rights with the king's move.
  p.castling[0] = moved == KING ? 0 : p.castling[0] & static_cast<std::uint8_t>(~from_bit);
  p.castling[1] &= static_cast<std::uint8_t>(~(to_bit >> 56));

  p.halfmove = zeroing ? 0 : static_cast<std::uint8_t>(p.halfmove + (p.halfmove < 255));
  p.fullmove += p.black;
  turn(p);
}

}  // namespace rungs::chess
