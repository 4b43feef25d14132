// Version 5: sliders by table. The whole line from a square to the board's edge is read from a
// table, and what lies behind the first piece on it is taken away: no walk, no loop whose end the
// processor must guess. It costs 4 KB of the first cache.
#pragma once
#include "sets.hpp"

namespace rungs::steps::rays {

struct Table {
  Bitboard from[8][64];
};
constexpr Table table() {
  Table rays{};
  for (int way = 0; way < 8; ++way)
    for (int square = 0; square < 64; ++square)
      for (Bitboard at = step(bit(square), way); at; at = step(at, way))
        rays.from[way][square] |= at;
  return rays;
}
constexpr Table kRays = table();

struct Lookup {
  // The first piece is the lowest bit where the line goes up in numbers (N, NE, E, NW), else the
  // highest.
  static Bitboard of(int square, int way, Bitboard occupied) {
    const Bitboard ray = kRays.from[way][square], met = ray & occupied;
    const bool up = way <= chess::E || way == chess::NW;
    if (!met) return ray;
    const int first = up ? lowest(met) : 63 - std::countl_zero(met);
    return ray ^ kRays.from[way][first];
  }
};

struct Board : Sets {
  using Sets::Sets;

  Outcome write_legal(std::uint8_t* mask) const { return write_tried<Lookup>(*this, mask); }
};

}  // namespace rungs::steps::rays
