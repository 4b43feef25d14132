// Version 11: past the caches. A store to a line that no cache holds first fetches it, only to
// overwrite it. A plane of the mask is a whole line, so it can go to memory as it is, without being
// fetched. It costs that whoever reads the mask must get it from there: the library does so only
// where all outputs together are larger than caches.
#pragma once
#include "bytes.hpp"

namespace rungs::steps::memory {

struct alignas(64) Board : lanes::Board {
  using lanes::Board::Board;

  // `mask` begins on a cache line.
  Outcome write_legal(std::uint8_t* mask) const {
    chess::LegalActions legal;
    const chess::Generated found = chess::generate(position, legal);
    env::write_mask(legal, env::MaskFormat::BOOL, RUNGS_CAN_STREAM, mask);
    return outcome(found.any, found.check);
  }
};

}  // namespace rungs::steps::memory
