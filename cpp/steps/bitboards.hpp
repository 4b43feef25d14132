// Version 4: sets of squares. The board is twelve 64-bit numbers, and one instruction asks about
// all squares at once; a piece is found by its bit instead of by looking at 64 squares. Sliders
// still walk square by square. It costs that a square no longer says what stands on it.
#pragma once
#include "sets.hpp"

namespace rungs::steps::bitboards {

struct Walk {
  static Bitboard of(int square, int way, Bitboard occupied) {
    Bitboard seen = 0, at = step(bit(square), way);
    while (at) {
      seen |= at;
      at = step(at & ~occupied, way);
    }
    return seen;
  }
};

struct Board : Sets {
  using Sets::Sets;

  Outcome write_legal(std::uint8_t* mask) const { return write_tried<Walk>(*this, mask); }
};

}  // namespace rungs::steps::bitboards
