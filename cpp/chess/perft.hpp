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
  Bitboard left = merge(nonempties), from = 0;
  int plane = 0;
  while (from | left) {
    const bool next = !from;
    plane = next ? lowest(left) : plane;
    from = next ? legal.plane[plane] : from;
    left = next ? left & (left - 1) : left;
    visit(Action{64 * plane + pop(from)});
  }
  for (plane = kUnderpromotionPlane; plane < kPlanes; ++plane)
    for (from = legal.plane[plane]; from;) visit(Action{64 * plane + pop(from)});
}

// More than a king and fifteen queens on an empty board have.
constexpr int kMostActions = 8 + 15 * 27;

// Takes legal actions and keeps nothing but their number.
struct ActionCount {
  Lanes in_lane = {};
  int others = 0;

  void set(int, Lanes planes) { in_lane += counts(planes); }
  void set_last(Bitboard last) { others += count(last); }
  void add(Action) { ++others; }
  int total() const {
    int sum = others;
    for (int lane = 0; lane < 8; ++lane) sum += static_cast<int>(in_lane[lane]);
    return sum;
  }
};

// The number of legal actions of `p`.
inline std::uint64_t count_actions(const Position& p) {
  ActionCount actions;
  generate(p, actions);
  return static_cast<std::uint64_t>(actions.total());
}

// Leaves at `depth` plies, counted in bulk one ply above them. All replies are played before the
// first is looked into, as a processor overlaps the work of positions that don't wait for another.
inline std::uint64_t perft(const Position& p, int depth) {
  if (depth == 0) return 1;
  if (depth == 1) return count_actions(p);
  alignas(64) LegalActions legal;
  generate(p, legal);
  alignas(64) Position replies[kMostActions];
  int num_replies = 0;
  for_each_action(legal, [&](Action a) {
    replies[num_replies] = p;
    play(replies[num_replies++], a);
  });
  std::uint64_t nodes = 0;
  for (int i = 0; i < num_replies; ++i)
    nodes += depth == 2 ? count_actions(replies[i]) : perft(replies[i], depth - 1);
  return nodes;
}

}  // namespace rungs::chess
