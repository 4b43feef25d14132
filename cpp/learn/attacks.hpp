// How often each side attacks each square, from an observation of `obs="board"`: an input of the
// network in addition to the pieces.
#pragma once
#include <cstdint>
#include <cstring>

#include "../chess/bitboard.hpp"
#include "../chess/position.hpp"

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

// The squares that one side attacks at least once, and at least twice. Squares of its own pieces
// count, too. A piece attacks nothing through another.
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

// The number of states of a square: attacked 0, 1 or more times by each side.
constexpr int kAttackStates = 3 * 3;

struct Attacks {
  std::uint64_t occupied;  // the squares with a piece
  AttackedBy own, theirs;

  int state(int square) const { return 3 * own.times(square) + theirs.times(square); }
  // The squares that have a piece or are attacked.
  std::uint64_t relevant() const { return occupied | own.once | theirs.once; }
};

namespace detail {

// Computes the attacks of one side's pieces, bitboards by `chess::Piece`. Its pawns attack in the
// directions `left` and `right`.
template <int left, int right>
inline AttackedBy attacked_by(const std::uint64_t* piece, std::uint64_t empty) {
  using namespace chess;
  using chess::broadcast;  // not that of `learn`
  const Lanes rooks = broadcast(piece[ROOK] | piece[QUEEN]),
              bishops = broadcast(piece[BISHOP] | piece[QUEEN]);
  const Lanes lines = step(fill((rooks & kOrthogonal) | (bishops & ~kOrthogonal), empty));
  const Lanes jumps = jump(broadcast(piece[KNIGHT])), pawns = step(broadcast(piece[PAWN]));
  const Lanes king = step(broadcast(piece[KING]));
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
  std::uint64_t own[6] = {}, theirs[6] = {};
  const std::uint64_t all = occupied(observation);
  for (std::uint64_t left = all; left; left &= left - 1) {
    const int square = __builtin_ctzll(left), code = observation[square];
    (code > 0 ? own[code - 1] : theirs[-code - 1]) |= std::uint64_t{1} << square;
  }
  return {all, detail::attacked_by<chess::NW, chess::NE>(own, ~all),
          detail::attacked_by<chess::SW, chess::SE>(theirs, ~all)};
}

}  // namespace rungs::learn
