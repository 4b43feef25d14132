// Version 6: legality without trying. Three sets say beforehand what is legal: squares that they
// attack (for the king), squares that answer a check (for the others), and for a pinned piece the
// line to which it keeps. No move is made to be looked at, but for en passant. It costs eight looks
// out from the king.
#pragma once
#include "rays.hpp"

namespace rungs::steps::pins {

using Line = rays::Lookup;

struct Bounds {
  Bitboard answer = chess::kAll;  // where others than the king must land: anywhere but in check
  Bitboard pinned = 0;
  Bitboard line[64];  // where each pinned piece may land
  int checkers = 0;

  explicit Bounds(const Sets& board) {
    const Bitboard own = board.side(board.black), occupied = board.occupied();
    const auto& theirs = board.of[!board.black];
    const int king = board.king(board.black);
    const Bitboard near =
        (jumps(bit(king)) & theirs[KNIGHT]) | (pawn_attacks(bit(king), board.black) & theirs[PAWN]);
    for (Bitboard left = near; left;) check(bit(pop(left)));
    for (int way = 0; way < 8; ++way) {
      const Bitboard sliders = theirs[QUEEN] | theirs[way % 2 ? BISHOP : ROOK];
      const Bitboard seen = Line::of(king, way, occupied), first = seen & occupied;
      if (first & sliders) check(seen);
      if (!(first & own)) continue;
      const Bitboard beyond = Line::of(lowest(first), way, occupied);
      if (!(beyond & sliders)) continue;
      pinned |= first;
      line[lowest(first)] = seen | beyond;
    }
  }

  Bitboard allowed(int from) const { return pinned >> from & 1 ? answer & line[from] : answer; }

 private:
  // One check is answered on these squares, two by the king alone.
  void check(Bitboard answers) { answer = checkers++ ? 0 : answers; }
};

inline void add_king_moves(const Sets& board, const Bounds& bounds, MoveList& moves) {
  const Bitboard own = board.side(board.black), occupied = board.occupied();
  const int king = board.king(board.black);
  const auto safe = [&](int square) {  // as the king is no shield to the square behind it
    return !attacked<Line>(board, square, !board.black, occupied ^ bit(king));
  };
  for (Bitboard left = steps_around(bit(king)) & ~own; left;) {
    const int to = pop(left);
    if (safe(to)) moves.add(king, bit(to));
  }
  if (bounds.checkers) return;
  for (Bitboard left = castling_targets(board, occupied); left;) {
    const int to = pop(left);
    if (safe(to) && safe((king + to) / 2)) moves.add(king, bit(to));
  }
}

inline void add_legal(const Sets& board, const Bounds& bounds, MoveList& moves) {
  const Bitboard own = board.side(board.black), theirs = board.side(!board.black);
  const Bitboard occupied = own | theirs;
  const auto& pieces = board.of[board.black];
  add_king_moves(board, bounds, moves);
  if (bounds.checkers > 1) return;
  for (Bitboard left = pieces[KNIGHT] & ~bounds.pinned; left;) {
    const int from = pop(left);
    moves.add(from, jumps(bit(from)) & ~own & bounds.answer);
  }
  for (int type = BISHOP; type <= QUEEN; ++type)
    for (Bitboard left = pieces[type]; left;) {
      const int from = pop(left);
      moves.add(from, sliding<Line>(type, from, occupied) & ~own & bounds.allowed(from));
    }
  const Bitboard passed = board.en_passant < 0 ? 0 : bit(board.en_passant);
  for (Bitboard left = pieces[PAWN]; left;) {
    const int from = pop(left);
    const Bitboard targets = pawn_targets(board, from, occupied, theirs);
    moves.add_pawn(from, targets & ~passed & bounds.allowed(from));
    // Two pawns leave one rank, which no pin describes: this one is tried.
    if ((targets & passed) && is_legal<Line>(board, Move::between(from, board.en_passant)))
      moves.add(from, passed);
  }
}

struct Board : Sets {
  using Sets::Sets;

  Outcome write_legal(std::uint8_t* mask) const {
    const Bounds bounds(*this);
    MoveList legal;
    add_legal(*this, bounds, legal);
    write_list(legal, black, mask);
    return outcome(!legal.empty(), bounds.checkers > 0);
  }
};

}  // namespace rungs::steps::pins
