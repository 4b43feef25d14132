// The 4672 actions of AlphaZero (Silver et al. 2017, "Chess" in its Methods): 73 ways to move a
// piece from each of 64 squares, from the mover's point of view (the board is flipped for Black).
//
//     action = 64 * plane + from
//
// so that one plane of all 4672 is one bitboard of from-squares, and a policy network's output of
// shape (73, 8, 8) flattens to it.
//
//   planes 0..55: a queen's move (also king, rook, bishop, pawn; promotes to a queen)
//       plane = 8 * (distance - 1) + direction         7 0 1
//       castling is the king moving two squares        6 . 2     0 is north, the way the mover's
//                                                      5 4 3     pawns advance
//       (where the king is not on e1 or its rook not in a corner, which only Chess960 has, castling
//       is the king moving onto its rook)
//   planes 56..63: a knight's jump
//       plane = 56 + jump                               . 7 . 0 .
//                                                       6 . . . 1
//                                                       . . N . .
//                                                       5 . . . 2
//                                                       . 4 . 3 .
//   planes 64..72: a pawn promoting to less than a queen
//       plane = 64 + 3 * piece + way                   0 1 2   way: north-west, north, north-east
//       piece: 0 knight, 1 bishop, 2 rook                P
#pragma once
#include <cstring>

#include "position.hpp"

namespace rungs::chess {

using Action = std::int32_t;

constexpr int kPlanes = 73;
constexpr int kActions = 64 * kPlanes;
constexpr int kKnightPlane = 56;
constexpr int kUnderpromotionPlane = 64;

// The most legal actions of any position with no more pieces than promotions can make ("Why a
// reachable position can have at most 218 playable moves", Tobs40 on lichess.org, 2024).
constexpr int kMaxLegal = 218;

// The legal actions of a position: per plane, the squares from which it may be played.
struct LegalActions {
  Bitboard plane[kPlanes];

  bool contains(std::int64_t action) const {
    return action >= 0 && action < kActions && (plane[action >> 6] >> (action & 63) & 1);
  }
};

inline int count(const LegalActions& legal) {
  int total = 0;
  for (int i = 0; i < kPlanes; ++i) total += count(legal.plane[i]);
  return total;
}

constexpr int plane_of(Action a) { return a >> 6; }
constexpr int from_square(Action a) { return a & 63; }

namespace detail {
struct PlaneDeltas {
  std::int8_t of[kPlanes];
};
constexpr PlaneDeltas plane_deltas() {
  PlaneDeltas d{};
  const auto around = [](int rotation) { return rotation > 32 ? rotation - 64 : rotation; };
  for (int p = 0; p < 56; ++p)
    d.of[p] = static_cast<std::int8_t>(around(kStep[p % 8]) * (p / 8 + 1));
  for (int j = 0; j < 8; ++j) d.of[kKnightPlane + j] = static_cast<std::int8_t>(around(kJump[j]));
  for (int u = 0; u < 9; ++u) d.of[kUnderpromotionPlane + u] = static_cast<std::int8_t>(7 + u % 3);
  return d;
}
constexpr PlaneDeltas kPlaneDelta = plane_deltas();
}  // namespace detail

constexpr int to_square(Action a) { return from_square(a) + detail::kPlaneDelta.of[plane_of(a)]; }

// The piece on an occupied square.
inline Piece piece_on(const Position& p, int square) {
  int type = PAWN;
  for (int t = KNIGHT; t <= KING; ++t)
    if (p.piece[t] >> square & 1) type = t;
  return static_cast<Piece>(type);
}

// The piece that a pawn promotes to when it reaches the last rank by `a`.
constexpr Piece promoted_piece(Action a) {
  return plane_of(a) < kUnderpromotionPlane
             ? QUEEN
             : static_cast<Piece>(KNIGHT + (plane_of(a) - kUnderpromotionPlane) / 3);
}

// The action by which the king on `king_file` castles with the rook on `rook_file`.
constexpr Action castling_action(int king_file, int rook_file) {
  const bool classical = king_file == 4 && (rook_file == 0 || rook_file == 7);
  const int distance = classical               ? 2
                       : rook_file > king_file ? rook_file - king_file
                                               : king_file - rook_file;
  return 64 * (8 * (distance - 1) + (rook_file > king_file ? E : W)) + king_file;
}

}  // namespace rungs::chess
