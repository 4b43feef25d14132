// A position in 64 bytes, always seen from the side to move.
//
// The mover's pieces are `own` and move north, whichever side moves: after each ply the board is
// flipped and `own` becomes the other side's. So there is no colour anywhere in the move generator,
// the observation or the action encoding, and a position fills exactly one cache line.
#pragma once
#include "bitboard.hpp"

namespace rungs::chess {

enum Piece { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING };

constexpr std::uint8_t kNoFile = 8;

struct Position {
  Bitboard piece[6];         // by type, both sides
  Bitboard own;              // the mover's pieces
  std::uint8_t castling[2];  // own, theirs: the files of rooks that may still castle, a = bit 0
  std::uint8_t en_passant;   // file of a pawn that just advanced two squares next to an enemy pawn
  std::uint8_t halfmove;     // plies since the last capture or pawn move
  std::uint16_t fullmove;    // starts at 1, grows after Black's ply
  std::uint8_t black;        // 1 when Black is to move

  Bitboard occupied() const {
    return piece[PAWN] | piece[KNIGHT] | piece[BISHOP] | piece[ROOK] | piece[QUEEN] | piece[KING];
  }
  Bitboard theirs() const { return occupied() & ~own; }

  // The castling files of side 0 (own) or 1 (theirs) that lie east of its king, or west of it.
  int short_castling(int side) const { return castling[side] & -(2 << king_file(side)) & 255; }
  int long_castling(int side) const { return castling[side] & ((1 << king_file(side)) - 1); }
  int king_file(int side) const { return lowest(piece[KING] & (side ? ~own : own)) & 7; }

  bool operator==(const Position&) const = default;
};
static_assert(sizeof(Position) == 64);

// Hands the board to the other side.
inline void turn(Position& p) {
  p.own = flip(p.theirs());
  for (Bitboard& b : p.piece) b = flip(b);
  const std::uint8_t own_castling = p.castling[0];
  p.castling[0] = p.castling[1];
  p.castling[1] = own_castling;
  p.black ^= 1;
}

inline Position start_position() {
  Position p{};
  p.piece[PAWN] = 0x00FF00000000FF00ULL;
  p.piece[KNIGHT] = 0x4200000000000042ULL;
  p.piece[BISHOP] = 0x2400000000000024ULL;
  p.piece[ROOK] = 0x8100000000000081ULL;
  p.piece[QUEEN] = 0x0800000000000008ULL;
  p.piece[KING] = 0x1000000000000010ULL;
  p.own = 0x000000000000FFFFULL;
  p.castling[0] = p.castling[1] = 0x81;
  p.en_passant = kNoFile;
  p.fullmove = 1;
  return p;
}

}  // namespace rungs::chess
