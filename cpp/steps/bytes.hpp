// Version 10: 64 bytes at once. A plane's 64 bits become 64 bytes of the mask by one comparison of
// a register, instead of zeros everywhere and then a loop over the bits. It costs nothing: also the
// empty planes had to be written.
#pragma once
#include "../env/mask.hpp"
#include "lanes.hpp"

namespace rungs::steps::bytes {

struct Board : lanes::Board {
  using lanes::Board::Board;

  Outcome write_legal(std::uint8_t* mask) const {
    chess::LegalActions legal;
    const chess::Generated found = chess::generate(position, legal);
    env::write_mask(legal, env::MaskFormat::BOOL, false, mask);
    return outcome(found.any, found.check);
  }
};

}  // namespace rungs::steps::bytes
