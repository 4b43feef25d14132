// Making a move.
#pragma once
#include <cstring>

#include "action.hpp"
#include "position.hpp"

namespace rungs::chess {

namespace detail {

// A position's words that are boards, and the one among them that says whose the pieces are.
constexpr Lanes kBoards = {kAll, kAll, kAll, kAll, kAll, kAll, kAll, 0};
constexpr Lanes kOwn = {0, 0, 0, 0, 0, 0, kAll, 0};

// What a ply does to all boards at once: it empties some squares, and then puts pieces on others,
// each on the board of its type.
struct Change {
  Bitboard emptied;
  Lanes placed;
};

// The king and the rook on `rook_file` end up beside each other, wherever they stood (Chess960).
inline Change castle(Bitboard king, int rook_file) {
  const bool east = bit(rook_file) > king;
  const Bitboard king_to = bit(east ? 6 : 2), rook_to = bit(east ? 5 : 3);
  return {king | bit(rook_file),
          (everywhere(king_to) & only(KING)) | (everywhere(rook_to) & only(ROOK))};
}

}  // namespace detail

// Plays the legal action `a` of `p` and hands the board to the other side, which sees it as `next`;
// that may be `p` itself.
inline void play(const Position& p, Action a, Position& next) {
  constexpr int kTwoNorth = 8 + N;
  const int to = to_square(a);
  const Bitboard from_bit = bit(from_square(a)), to_bit = bit(to), theirs = p.theirs();
  const bool pawn = p.piece[PAWN] & from_bit, king = p.piece[KING] & from_bit;
  const bool zeroing = pawn || (theirs & to_bit);

  Lanes words;
  std::memcpy(&words, &p, sizeof words);
  // What they have left is the next mover's own.
  words = (words & ~detail::kOwn) | (everywhere(theirs) & detail::kOwn);
  // The piece's type is that of the board which holds it.
  const Lanes holding = nonempty(words & everywhere(from_bit) & detail::kBoards);
  detail::Change change = {from_bit | to_bit, everywhere(to_bit) & holding};

  const int rook_file = king ? castling_rook(p, a) : -1;
  if (rook_file >= 0) change = detail::castle(from_bit, rook_file);
  std::uint8_t en_passant = kNoFile;
  if (pawn) {
    if (p.en_passant != kNoFile && to == p.en_passant_square()) change.emptied |= to_bit >> 8;
    if (to >= 56) change.placed = everywhere(to_bit) & only(promoted_piece(a));
    const Bitboard beside = (to_bit & ~kFileA) >> 1 | (to_bit & ~kFileH) << 1;
    if (plane_of(a) == kTwoNorth && (beside & p.piece[PAWN] & theirs))
      en_passant = static_cast<std::uint8_t>(to & 7);
  }
  words = (words & ~(everywhere(change.emptied) & detail::kBoards)) | change.placed;
  words = (flip(words) & detail::kBoards) | (words & ~detail::kBoards);

  // A rook's right goes with its move or capture, both rights with the king's move. All is read
  // before anything is written, as a processor waits where a vector is read of parts just written.
  const int own_castling = king ? 0 : p.castling[0] & ~static_cast<int>(from_bit & kRank1);
  const int their_castling = p.castling[1] & ~static_cast<int>(to_bit >> 56);
  const int halfmove = zeroing ? 0 : p.halfmove + (p.halfmove < 255);
  const int fullmove = p.fullmove + p.black, black = p.black ^ 1;
  std::memcpy(static_cast<void*>(&next), &words, sizeof words);
  next.castling[0] = static_cast<std::uint8_t>(their_castling);
  next.castling[1] = static_cast<std::uint8_t>(own_castling);
  next.en_passant = en_passant;
  next.halfmove = static_cast<std::uint8_t>(halfmove);
  next.fullmove = static_cast<std::uint16_t>(fullmove);
  next.black = static_cast<std::uint8_t>(black);
}

inline void play(Position& p, Action a) { play(p, a, p); }

}  // namespace rungs::chess
