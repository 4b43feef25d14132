// Perft: the number of leaves of the legal-move tree, the standard proof of a move generator.
#pragma once
#include "movegen.hpp"
#include "play.hpp"

namespace rungs::chess {

// Calls `visit(action)` for each legal action in order of action id.
template <class Visit>
inline void for_each_action(const LegalActions& legal, Visit visit) {
  for (int plane = 0; plane < kPlanes; ++plane)
    for (Bitboard from = legal.plane[plane]; from;) visit(Action{64 * plane + pop(from)});
}

// Leaves at `depth` plies, counted in bulk one ply above them.
inline std::uint64_t perft(const Position& p, int depth) {
  if (depth == 0) return 1;
  LegalActions legal;
  generate(p, legal);
  if (depth == 1) return static_cast<std::uint64_t>(count(legal));
  std::uint64_t nodes = 0;
  for_each_action(legal, [&](Action a) {
    Position next = p;
    play(next, a);
    nodes += perft(next, depth - 1);
  });
  return nodes;
}

}  // namespace rungs::chess
