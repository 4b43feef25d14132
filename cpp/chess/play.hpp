// Making a move.
#pragma once
#include <cstring>

#include "action.hpp"
#include "position.hpp"

namespace rungs::chess {

namespace detail {

// The king and the rook on `rook_file` end up beside each other, wherever they stood (Chess960).
inline void castle(Position& p, Bitboard king, int rook_file) {
  const bool east = bit(rook_file) > king;
  const Bitboard rook = bit(rook_file), king_to = bit(east ? 6 : 2), rook_to = bit(east ? 5 : 3);
  p.piece[KING] ^= king ^ king_to;
  p.piece[ROOK] ^= rook ^ rook_to;
  p.own = (p.own & ~king & ~rook) | king_to | rook_to;
}

// All bitboards that hold the piece on `from`, its type's and its side's, take it to `to`, and no
// other keeps what stood there.
inline void move(Position& p, Bitboard from, Bitboard to) {
  constexpr Lanes kSets = {kAll, kAll, kAll, kAll, kAll, kAll, kAll, 0};
  Lanes sets;
  std::memcpy(&sets, &p, sizeof sets);
  const Lanes holding = nonempty(sets & everywhere(from) & kSets);
  sets = (sets & ~(everywhere(from | to) & kSets)) | (everywhere(to) & holding);
  std::memcpy(static_cast<void*>(&p), &sets, sizeof sets);
}

}  // namespace detail

// Plays the legal action `a` and hands the board to the other side.
inline void play(Position& p, Action a) {
  constexpr int kTwoNorth = 8 + N;
  const int to = to_square(a);
  const Bitboard from_bit = bit(from_square(a)), to_bit = bit(to);
  const bool pawn = p.piece[PAWN] & from_bit, king = p.piece[KING] & from_bit;
  const bool zeroing = pawn || (p.theirs() & to_bit);
  const int rook_file = king ? castling_rook(p, a) : -1;

  if (rook_file >= 0)
    detail::castle(p, from_bit, rook_file);
  else
    detail::move(p, from_bit, to_bit);

  const bool takes_en_passant = pawn && p.en_passant != kNoFile && to == p.en_passant_square();
  p.en_passant = kNoFile;
  if (pawn) {
    if (takes_en_passant) p.piece[PAWN] &= ~(to_bit >> 8);
    if (to >= 56) {
      p.piece[PAWN] &= ~to_bit;
      p.piece[promoted_piece(a)] |= to_bit;
    }
    const Bitboard beside = (to_bit & ~kFileA) >> 1 | (to_bit & ~kFileH) << 1;
    if (plane_of(a) == kTwoNorth && (beside & p.piece[PAWN] & ~p.own))
      p.en_passant = static_cast<std::uint8_t>(to % 8);
  }

  // A rook's right goes with its move or capture, both rights with the king's move.
  p.castling[0] = king ? 0 : p.castling[0] & static_cast<std::uint8_t>(~from_bit);
  p.castling[1] &= static_cast<std::uint8_t>(~(to_bit >> 56));

  p.halfmove = zeroing ? 0 : static_cast<std::uint8_t>(p.halfmove + (p.halfmove < 255));
  p.fullmove += p.black;
  turn(p);
}

}  // namespace rungs::chess
