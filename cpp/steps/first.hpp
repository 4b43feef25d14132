// Version 1: as one would first write it. A move is legal if, once it is made on a copy of the
// board, no reply takes the king. It costs a list of all replies to every single move.
#pragma once
#include <algorithm>
#include <vector>

#include "mailbox.hpp"

namespace rungs::steps::first {

inline bool takes_king(const Mailbox& board) {
  std::vector<Move> replies;
  add_moves(board, replies);
  const int king = board.king(!board.black);
  return std::any_of(replies.begin(), replies.end(), [&](Move reply) { return reply.to == king; });
}

struct Board : Mailbox {
  using Mailbox::Mailbox;

  Outcome write_legal(std::uint8_t* mask) const {
    std::vector<Move> moves, legal;
    add_moves(*this, moves);
    add_legal(*this, moves, takes_king, legal);
    write_list(legal, black, mask);
    Mailbox passed = *this;
    passed.black = !black;
    return outcome(!legal.empty(), takes_king(passed));
  }
};

}  // namespace rungs::steps::first
