// Version 11: memory. A plane of the mask is a cache line. Where it is as it was after the move
// before, its line is not written, nor fetched to be written: so it is for most. It costs the
// planes of the last move, 584 bytes beside each board, and that nobody else may write to the mask.
#pragma once
#include "bytes.hpp"

namespace rungs::steps::memory {

struct alignas(64) Board : lanes::Board {
  chess::LegalActions last;  // what the mask holds
  bool written = false;

  using lanes::Board::Board;

  Outcome write_legal(std::uint8_t* mask) {
    alignas(64) chess::LegalActions legal, changed;
    const chess::Generated found = chess::generate(position, legal);
    if (written) {
      for (int i = 0; i < chess::kPlanes; ++i) changed.plane[i] = legal.plane[i] ^ last.plane[i];
      const auto write = [&](int i) {
        env::put(env::where(legal.plane[i]) & env::kOnes, mask + 64 * i, false);
      };
      for (Bitboard planes = env::nonempty_planes(changed.plane); planes;)
        write(chess::pop(planes));
      for (int i = 64; i < chess::kPlanes; ++i)
        if (changed.plane[i]) write(i);
    } else {
      env::write_mask(legal, env::MaskFormat::BOOL, false, mask);
    }
    last = legal;
    written = true;
    return outcome(found.any, found.check);
  }
};

}  // namespace rungs::steps::memory
