// How often each side attacks each square, from an observation of `obs="board"`. The network reads
// it beside the pieces: sums of rows and small products can't follow a rook along its file.
#pragma once
#include <cstdint>
#include <cstring>

#include "../chess/bitboard.hpp"

namespace rungs::learn {

// The bitboard of squares with a piece.
inline std::uint64_t occupied(const std::int8_t* observation) {
  constexpr std::uint64_t kLow = 0x7F7F7F7F7F7F7F7F;
  std::uint64_t bits = 0;
  for (int rank = 0; rank < 8; ++rank) {
    std::uint64_t word;
    std::memcpy(&word, observation + 8 * rank, sizeof word);
    const std::uint64_t ones = (((word & kLow) + kLow) | word) >> 7 & 0x0101010101010101;
    bits |= ones * 0x0102040810204080 >> 56 << 8 * rank;
  }
  return bits;
}

// Squares that one side attacks, its own pieces' too: at least once, and at least twice. A piece
// that stands behind another on the same line attacks nothing through it.
struct AttackedBy {
  std::uint64_t once, twice;

  void add(std::uint64_t squares) {
    twice |= once & squares;
    once |= squares;
  }
  // 0, 1, or 2 for more.
  int times(int square) const {
    return static_cast<int>((once >> square & 1) + (twice >> square & 1));
  }
};

// The numbers of attacks of both sides on a square, each 0, 1 or more: one of so many states.
constexpr int kAttackStates = 3 * 3;

struct Attacks {
  AttackedBy own, theirs;

  int state(int square) const { return 3 * own.times(square) + theirs.times(square); }
  std::uint64_t any() const { return own.once | theirs.once; }
};

namespace detail {

// Attacks of one side's pieces, bitboards by kind from 1, a pawn, to 6, a king. Its pawns attack in
// the directions `left` and `right`.
template <int left, int right>
inline AttackedBy attacked_by(const std::uint64_t* piece, std::uint64_t empty) {
  using chess::broadcast, chess::fill, chess::jump, chess::kOrthogonal, chess::step;
  const chess::Lanes rooks = broadcast(piece[4] | piece[5]),
                     bishops = broadcast(piece[3] | piece[5]);
  const chess::Lanes lines = step(fill((rooks & kOrthogonal) | (bishops & ~kOrthogonal), empty));
  const chess::Lanes jumps = jump(broadcast(piece[2])), pawns = step(broadcast(piece[1]));
  const chess::Lanes king = step(broadcast(piece[6]));
  AttackedBy all{};
  for (int lane = 0; lane < 8; ++lane) {
    all.add(lines[lane]);
    all.add(jumps[lane]);
    all.add(king[lane]);
  }
  all.add(pawns[left]);
  all.add(pawns[right]);
  return all;
}

}  // namespace detail

// Computes the attacks on an observation that holds pieces: `has_pieces`.
inline Attacks attacks_on(const std::int8_t* observation) {
  std::uint64_t piece[13] = {};  // theirs from king to pawn, none, own from pawn to king
  const std::uint64_t all = occupied(observation);
  for (std::uint64_t left = all; left; left &= left - 1) {
    const int square = __builtin_ctzll(left);
    piece[6 + observation[square]] |= std::uint64_t{1} << square;
  }
  std::uint64_t theirs[7];
  for (int kind = 1; kind <= 6; ++kind) theirs[kind] = piece[6 - kind];
  return {detail::attacked_by<chess::NW, chess::NE>(piece + 6, ~all),
          detail::attacked_by<chess::SW, chess::SE>(theirs, ~all)};
}

}  // namespace rungs::learn
