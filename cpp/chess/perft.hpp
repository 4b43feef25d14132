// Perft: the number of leaves of the legal-move tree at some depth, the standard test of a move
// generator. Leaves are counted in bulk, one ply above them. Boards go down the tree together, as
// many as a register holds, whatever their parents are.
#pragma once
#include <algorithm>

#include "boards.hpp"

namespace rungs::chess {

namespace detail {

// The actions of some boards: bitboards of the squares from which a ply is made, each of one board
// and plane, none of them empty.
template <class V>
class PlyStack {
 public:
  [[gnu::flatten]] explicit PlyStack(const Boards<V>& boards) : boards_(boards) {
    std::fill_n(from_, kWidth<V>, 0);
    std::fill_n(tag_, kWidth<V>, 0);
    const V board = each_board<V>([](Bitboard number) { return number << kBoardBit; });
    int size = 0;  // in a register, which a member is not
    generate(boards, [&](int plane, V squares) {
      if (any(squares)) size = push(size, squares, board | kTags.of[plane]);
    });
    size_ = size;
  }

  bool empty() const { return !size_; }

  // Plays one ply of each of the last bitboards, on the boards it belongs to. Where fewer are left,
  // the other boards have nothing that could move.
  RUNGS_INLINE Boards<V> pop() {
    const int first = size_ - kWidth<V>;  // there are as many empty ones before the first
    V from, tag;
    std::memcpy(&from, from_ + kWidth<V> + first, sizeof from);
    std::memcpy(&tag, tag_ + kWidth<V> + first, sizeof tag);
    size_ = push(std::max(first, 0), from & (from - 1), tag);
    from &= -from;
    const V parent = tag >> kBoardBit;
    Boards<V> taken;
    for (int type = PAWN; type <= KING; ++type)
      taken.piece[type] = taken_from(boards_.piece[type], parent);
    taken.own = taken_from(boards_.own, parent);
    taken.state = taken_from(boards_.state, parent);
    Boards<V> next = play(taken, Ply<V>{from, rotated(from, tag), tag >> kPieceBit});
    next.own = where(from, next.own);
    return next;
  }

 private:
  // A tag says where a plane's plies go, as a rotation, which board they are on, and what a pawn
  // becomes.
  static constexpr int kBoardBit = 8, kPieceBit = 16;
  static constexpr PlaneTable kTags = [] {
    PlaneTable tags{};
    for (int plane = 0; plane < kPlanes; ++plane)
      tags.of[plane] = kPlaneRotation.of[plane] | kPlanePromotion.of[plane] << kPieceBit;
    return tags;
  }();

  // Adds the bitboards of a plane that are not empty after `size` others. Returns the new number.
  int push(int size, V from, V tag) {
    return size + pack(from, from, from_ + kWidth<V> + size, tag, tag_ + kWidth<V> + size);
  }

  static constexpr int kRoom = kWidth<V> * (kPlanes + 2);
  const Boards<V>& boards_;
  int size_;
  Bitboard from_[kRoom], tag_[kRoom];
};

}  // namespace detail

// Calls `visit(boards)` for all boards `plies` plies below these, as many at a time as V holds.
// Boards that are missing in the last of these have no king of the mover's.
template <class V, class Visit>
void for_each_below(const Boards<V>& boards, int plies, const Visit& visit) {
  if (plies == 0) return visit(boards);
  detail::PlyStack<V> stack(boards);
  while (!stack.empty()) for_each_below(stack.pop(), plies - 1, visit);
}

// The leaves of all boards' trees; `depth` is at least 1.
template <class V>
std::uint64_t perft(const Boards<V>& boards, int depth) {
  V leaves{};
  for_each_below(boards, depth - 1, [&](const Boards<V>& b) { leaves += action_counts(b); });
  std::uint64_t sum = 0;
  for (int board = 0; board < kWidth<V>; ++board) sum += word_of(leaves, board);
  return sum;
}

// One position, on the first of as many boards as V holds.
template <class V>
Boards<V> first_of_boards(const Position& position) {
  Position positions[kWidth<V>] = {position};
  return load_boards<V>(positions);
}

template <class V = Widest>
std::uint64_t perft(const Position& position, int depth) {
  return depth == 0 ? 1 : perft(first_of_boards<V>(position), depth);
}

}  // namespace rungs::chess
