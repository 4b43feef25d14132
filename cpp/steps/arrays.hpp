// Version 3: no allocation. Lists of moves lie on the stack, with room for the most that any
// position has; `std::vector` asks for memory again and again as it grows. It costs a kilobyte.
#pragma once
#include "../chess/perft.hpp"
#include "king.hpp"

namespace rungs::steps::arrays {

// Has what `std::vector` has, as far as it is used here.
struct Moves {
  Move move[chess::kMostActions];
  int number = 0;

  void push_back(Move added) { move[number++] = added; }
  bool empty() const { return number == 0; }
  const Move* begin() const { return move; }
  const Move* end() const { return move + number; }
};

struct Board : Mailbox {
  using Mailbox::Mailbox;

  Outcome write_legal(std::uint8_t* mask) const {
    Moves moves, legal;
    add_moves(*this, moves);
    add_legal(*this, moves, king::hangs, legal);
    write_list(legal, black, mask);
    return outcome(!legal.empty(), king::attacked(*this, Mailbox::king(black), !black));
  }
};

}  // namespace rungs::steps::arrays
