// Perft: the number of leaves of the legal-move tree, the standard proof of a move generator.
#pragma once
#include <cstring>

#include "movegen.hpp"
#include "play.hpp"

namespace rungs::chess {

// Calls `visit(action)` for each legal action in order of action id.
template <class Visit>
inline void for_each_action(const LegalActions& legal, Visit visit) {
  // Which of the first 64 planes hold any: most do not, and to ask each is to guess each wrong.
  Lanes nonempties = {};
  for (int i = 0; i < 8; ++i) {
    Lanes planes;
    std::memcpy(&planes, legal.plane + 8 * i, sizeof planes);
    nonempties |= nonempty(planes) & Lanes{1, 2, 4, 8, 16, 32, 64, 128} << 8 * i;
  }
  const auto visit_plane = [&](int plane) {
    for (Bitboard from = legal.plane[plane]; from;) visit(Action{64 * plane + pop(from)});
  };
  for (Bitboard planes = merge(nonempties); planes;) visit_plane(pop(planes));
  for (int plane = kUnderpromotionPlane; plane < kPlanes; ++plane) visit_plane(plane);
}

// More than a king and fifteen queens on an empty board have.
constexpr int kMostActions = 8 + 15 * 27;

inline std::uint64_t count_actions(const Position& p) { return sum(action_counts(p)); }

// Leaves at `depth` plies, counted in bulk one ply above them. All replies are played before the
// first is looked into, as a processor overlaps the work of positions that don't wait for another.
inline std::uint64_t perft(const Position& p, int depth) {
  if (depth == 0) return 1;
  if (depth == 1) return count_actions(p);
  alignas(64) LegalActions legal;
  generate(p, legal);
  alignas(64) Position replies[kMostActions];
  int num_replies = 0;
  for_each_action(legal, [&](Action a) { play(p, a, replies[num_replies++]); });
  if (depth == 2) {
    Lanes leaves = {};
    for (int i = 0; i < num_replies; ++i) leaves += action_counts(replies[i]);
    return sum(leaves);
  }
  std::uint64_t leaves = 0;
  for (int i = 0; i < num_replies; ++i) leaves += perft(replies[i], depth - 1);
  return leaves;
}

}  // namespace rungs::chess
