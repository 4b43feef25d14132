// Version 9: eight directions in one register. What version 8 does for one direction after the
// other, an instruction on 512 bits does for all of them: this is the library's own generator, and
// its position of eight words instead of twelve. It costs a processor that has such registers; with
// narrower ones the compiler takes two or four instructions.
#pragma once
#include "../chess/movegen.hpp"
#include "../chess/play.hpp"
#include "planes.hpp"

namespace rungs::steps::lanes {

struct Board {
  chess::Position position;

  explicit Board(const chess::Position& position) : position(position) {}

  void play(Action action) { chess::play(position, action); }

  Outcome write_legal(std::uint8_t* mask) const {
    chess::LegalActions legal;
    const chess::Generated found = chess::generate(position, legal);
    return planes::Generator<bool>::write_planes(legal.plane, found.check, mask);
  }
};

}  // namespace rungs::steps::lanes
