// Version 8: one side instead of two colours. After each move the board is turned over, so that who
// moves always goes north: the generator of version 7 with `black` a constant, from which the
// compiler drops every question about colour, and no plane is flipped. It costs turning the board,
// twelve byte swaps a move.
#pragma once
#include <type_traits>

#include "planes.hpp"

namespace rungs::steps::side {

struct Board : Sets {
  explicit Board(const chess::Position& position) : Sets(position) {
    if (black) turn();
  }

  void turn() {
    for (int type = PAWN; type <= KING; ++type) {
      const Bitboard own = of[0][type];
      of[0][type] = chess::flip(of[1][type]);
      of[1][type] = chess::flip(own);
    }
    rights = static_cast<std::uint8_t>(rights >> 2 | (rights & 3) << 2);
    if (en_passant >= 0) en_passant ^= 56;
    black = false;
  }

  void play(Action action) {
    Sets::play(action);
    turn();
  }

  Outcome write_legal(std::uint8_t* mask) const {
    return planes::Generator<std::false_type>{*this, {}}.write(mask);
  }
};

}  // namespace rungs::steps::side
