// Version 2: ask the king. What could take it is seen from where it stands, along the lines and
// jumps that lead away from it, so no reply is listed. It costs a few looks for every move.
#pragma once
#include <vector>

#include "mailbox.hpp"

namespace rungs::steps::king {

// Whether a side attacks a square: each kind of piece is looked for where it would have to stand.
inline bool attacked(const Mailbox& board, int square, bool by_black) {
  const auto holds = [&](int at, Piece type) { return at >= 0 && board.holds(at, type, by_black); };
  for (const auto& [east, north] : kKnight)
    if (holds(beside(square, east, north), KNIGHT)) return true;
  for (const int east : {-1, 1})
    if (holds(beside(square, east, by_black ? 1 : -1), PAWN)) return true;
  for (int way = 0; way < 8; ++way) {
    const auto& [east, north] = kWay[way];
    if (holds(beside(square, east, north), KING)) return true;
    int k = 1, at = beside(square, east, north);
    while (at >= 0 && board.is_empty(at)) ++k, at = beside(square, k * east, k * north);
    if (holds(at, QUEEN) || holds(at, way % 2 ? BISHOP : ROOK)) return true;
  }
  return false;
}

inline bool hangs(const Mailbox& board) {
  return attacked(board, board.king(!board.black), board.black);
}

struct Board : Mailbox {
  using Mailbox::Mailbox;

  Outcome write_legal(std::uint8_t* mask) const {
    std::vector<Move> moves, legal;
    add_moves(*this, moves);
    add_legal(*this, moves, hangs, legal);
    write_list(legal, black, mask);
    return outcome(!legal.empty(), attacked(*this, Mailbox::king(black), !black));
  }
};

}  // namespace rungs::steps::king
