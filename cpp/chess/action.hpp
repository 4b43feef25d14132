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
//       (in Chess960, where it may not stand on e1: the king moving onto its rook)
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
#include <algorithm>
#include <string>
#include <string_view>

#include "lanes.hpp"
#include "position.hpp"

namespace rungs::chess {

using Action = std::int32_t;

constexpr int kPlanes = 73;
constexpr int kActions = 64 * kPlanes;
constexpr int kKnightPlane = 56;
constexpr int kUnderpromotionPlane = 64;

// The legal actions of a position: per plane, the squares from which it may be played.
struct LegalActions {
  Bitboard plane[kPlanes];

  void set(int first, Lanes planes) { __builtin_memcpy(plane + first, &planes, sizeof planes); }
  void set_last(Bitboard last) { plane[kPlanes - 1] = last; }
  void add(Action a) { plane[a >> 6] |= bit(a & 63); }
  void fill(bool legal) {
    for (Bitboard& each : plane) each = legal ? kAll : 0;
  }

  bool contains(std::int64_t action) const {
    return action >= 0 && action < kActions && (plane[action >> 6] >> (action & 63) & 1);
  }
};

inline int count(const LegalActions& legal) {
  int total = 0;
  for (const Bitboard plane : legal.plane) total += count(plane);
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

// What a pawn turns into that reaches the last rank by `a`.
constexpr Piece promoted_piece(Action a) {
  return plane_of(a) < kUnderpromotionPlane
             ? QUEEN
             : static_cast<Piece>(KNIGHT + (plane_of(a) - kUnderpromotionPlane) / 3);
}

// The rook's file where `a` castles, else -1. The king never lands on its own rook otherwise, nor
// moves two squares.
inline int castling_rook(const Position& p, Action a) {
  if (!(p.piece[KING] & p.own & bit(from_square(a)))) return -1;
  if (p.piece[ROOK] & p.own & bit(to_square(a))) return to_square(a) & 7;
  constexpr int kTwoEast = 8 + E, kTwoWest = 8 + W;
  return plane_of(a) == kTwoEast ? 7 : plane_of(a) == kTwoWest ? 0 : -1;
}

// The action by which the king on `king_file` castles with the rook on `rook_file`.
constexpr Action castling_action(int king_file, int rook_file) {
  const bool classical = king_file == 4 && (rook_file == 0 || rook_file == 7);
  const int distance = classical               ? 2
                       : rook_file > king_file ? rook_file - king_file
                                               : king_file - rook_file;
  return 64 * (8 * (distance - 1) + (rook_file > king_file ? E : W)) + king_file;
}

// A legal action as UCI writes it: "e2e4", "e7e8q".
inline std::string to_uci(const Position& p, Action a) {
  const int view = p.black ? 56 : 0;
  std::string uci;
  for (const int square : {from_square(a) ^ view, to_square(a) ^ view}) {
    uci += static_cast<char>('a' + square % 8);
    uci += static_cast<char>('1' + square / 8);
  }
  if ((p.piece[PAWN] & bit(from_square(a))) && to_square(a) >= 56)
    uci += "pnbrqk"[promoted_piece(a)];
  return uci;
}

// The action that UCI's `uci` names, legal or not; -1 where no piece of any kind moves so.
inline Action from_uci(const Position& p, std::string_view uci) {
  if (uci.size() != 4 && uci.size() != 5) return -1;
  int square[2];
  for (int i = 0; i < 2; ++i) {
    const int file = uci[2 * i] - 'a', rank = uci[2 * i + 1] - '1';
    if (file < 0 || file > 7 || rank < 0 || rank > 7) return -1;
    square[i] = (8 * rank + file) ^ (p.black ? 56 : 0);
  }
  const int across = square[1] % 8 - square[0] % 8, up = square[1] / 8 - square[0] / 8;
  const bool promotes = (p.piece[PAWN] >> square[0] & 1) && square[1] >= 56;
  if (promotes != (uci.size() == 5)) return -1;
  if (promotes && uci[4] != 'q') {
    const auto piece = std::string_view("nbr").find(uci[4]);
    if (piece == std::string_view::npos || up != 1 || across < -1 || across > 1) return -1;
    return 64 * (kUnderpromotionPlane + 3 * static_cast<int>(piece) + across + 1) + square[0];
  }
  const int file_steps = across < 0 ? -across : across, rank_steps = up < 0 ? -up : up;
  const int distance = std::max(file_steps, rank_steps);
  if (across == 0 || up == 0 || file_steps == rank_steps) {
    if (distance == 0) return -1;
    constexpr int kCompass[3][3] = {{SW, S, SE}, {W, -1, E}, {NW, N, NE}};
    const int direction = kCompass[up / distance + 1][across / distance + 1];
    return 64 * (8 * (distance - 1) + direction) + square[0];
  }
  for (int plane = kKnightPlane; plane < kUnderpromotionPlane; ++plane)
    if (distance == 2 && to_square(64 * plane + square[0]) == square[1])
      return 64 * plane + square[0];
  return -1;
}

}  // namespace rungs::chess
