// The loop of version 11 of a step, cut down to one direction of its sliders: small enough to read
// what the compiler made of it. By -DRUNGS_SCALAR_LANES a register is one word, a board.
#include <cstdint>

#include "../chess/boards.hpp"

namespace {
using rungs::chess::Bitboard, rungs::chess::NE;
namespace boards = rungs::chess::boards;
}  // namespace

// Where sliders `from` get to in one direction, on `number` boards, each `times` times.
extern "C" void fills(const Bitboard* __restrict from, const Bitboard* __restrict empty,
                      Bitboard* __restrict out, std::int64_t number, std::int64_t times) {
  using V = rungs::chess::Widest;
  for (std::int64_t time = 0; time < times; ++time) {
    for (std::int64_t i = 0; i < number; i += rungs::chess::kWidth<V>) {
      const V& sliders = reinterpret_cast<const V&>(from[i]);
      const V& free = reinterpret_cast<const V&>(empty[i]);
      reinterpret_cast<V&>(out[i]) = boards::slide<NE>(sliders, boards::open_in<NE>(free));
    }
    asm volatile("" ::: "memory");  // or all times but the last would be removed
  }
}

// The same by steps of one square, until none is left that may go on.
extern "C" void walks(const Bitboard* __restrict from, const Bitboard* __restrict empty,
                      Bitboard* __restrict out, std::int64_t number, std::int64_t times) {
  for (std::int64_t time = 0; time < times; ++time) {
    for (std::int64_t i = 0; i < number; ++i) {
      Bitboard at = from[i], reached = 0;
      while (at) {
        at = boards::moved<NE>(at);
        reached |= at;
        at &= empty[i];
      }
      out[i] = reached;
    }
    asm volatile("" ::: "memory");
  }
}
