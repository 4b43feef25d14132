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

// The most legal actions that a position has whose pieces promotions could have made ("Why a
// reachable position can have at most 218 playable moves", Tobs40 on lichess.org, 2024).
constexpr int kMaxLegal = 218;

// The legal actions of a position: per plane, the squares from which it may be played. `Planes` is
// how the 73 words are stored.
template <WordRow Planes>
struct ActionsIn {
  Planes plane;

  void set(int first, const Lanes& planes) { store_lanes(planes, plane, first); }
  void set_last(Bitboard last) { plane[kPlanes - 1] = last; }
  void add(Action a) { plane[a >> 6] |= bit(a & 63); }
  void fill(bool legal) {
    for (int i = 0; i < kPlanes; ++i) plane[i] = legal ? kAll : 0;
  }

  bool contains(std::int64_t action) const {
    return action >= 0 && action < kActions && (plane[action >> 6] >> (action & 63) & 1);
  }
};
using LegalActions = ActionsIn<Bitboard[kPlanes]>;

template <WordRow Planes>
inline int count(const ActionsIn<Planes>& legal) {
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

// The rook's file if `a` castles, else -1. The king lands on its own rook, or moves two squares,
// only in castling; and with a rook two squares from e1, castling with the corner rook is
// impossible.
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

namespace detail {

// Which words of a position are bitboards, and which one of them is `own`.
constexpr Lanes kBoards = {kAll, kAll, kAll, kAll, kAll, kAll, kAll, 0};
constexpr Lanes kOwn = {0, 0, 0, 0, 0, 0, kAll, 0};

// What a ply does to all bitboards at once.
struct Change {
  Bitboard emptied;  // these squares are cleared on all bitboards first,
  Lanes placed;      // then these pieces are set, each on the bitboard of its type
};

// The king and the rook on `rook_file` end up next to each other, wherever they stood (Chess960).
inline Change castle(Bitboard king, int rook_file) {
  const bool east = bit(rook_file) > king;
  const Bitboard king_to = bit(east ? 6 : 2), rook_to = bit(east ? 5 : 3);
  return {king | bit(rook_file),
          (broadcast(king_to) & lane_mask(KING)) | (broadcast(rook_to) & lane_mask(ROOK))};
}

}  // namespace detail

// Plays the legal action `a` in `p` and writes the position as the other side sees it to `next`,
// which may be `p` itself.
inline void play(const Position& p, Action a, Position& next) {
  constexpr int kTwoNorth = 8 + N;
  const int to = to_square(a);
  const Bitboard from_bit = bit(from_square(a)), to_bit = bit(to), theirs = p.theirs();
  const bool pawn = p.piece[PAWN] & from_bit, king = p.piece[KING] & from_bit;
  const bool zeroing = pawn || (theirs & to_bit);

  Lanes words;
  std::memcpy(&words, &p, sizeof words);
  // The opponent's pieces become the next mover's own.
  words = (words & ~detail::kOwn) | (broadcast(theirs) & detail::kOwn);
  // The moving piece's type is that of the bitboard which has its square.
  const Lanes holding = nonempty(words & broadcast(from_bit) & detail::kBoards);
  detail::Change change = {from_bit | to_bit, broadcast(to_bit) & holding};

  const int rook_file = king ? castling_rook(p, a) : -1;
  if (rook_file >= 0) change = detail::castle(from_bit, rook_file);
  std::uint8_t en_passant = kNoFile;
  if (pawn) {
    if (p.en_passant != kNoFile && to == p.en_passant_square()) change.emptied |= to_bit >> 8;
    if (to >= 56) change.placed = broadcast(to_bit) & lane_mask(promoted_piece(a));
    const Bitboard neighbours = (to_bit & ~kFileA) >> 1 | (to_bit & ~kFileH) << 1;
    if (plane_of(a) == kTwoNorth && (neighbours & p.piece[PAWN] & theirs))
      en_passant = static_cast<std::uint8_t>(to & 7);
  }
  words = (words & ~(broadcast(change.emptied) & detail::kBoards)) | change.placed;
  words = (flip(words) & detail::kBoards) | (words & ~detail::kBoards);

  // A rook's castling right ends when it moves or is captured, both rights when the king moves.
  // Everything is read before anything is written: loading a vector right after writing parts of it
  // would stall store forwarding.
  const int own_castling = king ? 0 : p.castling[0] & ~static_cast<int>(from_bit & kRank1);
  const int their_castling = p.castling[1] & ~static_cast<int>(to_bit >> 56);
  const int halfmove = zeroing ? 0 : p.halfmove + (p.halfmove < 255);
  const int fullmove = p.fullmove + p.black, black = p.black ^ 1;
  std::memcpy(static_cast<void*>(&next), &words, sizeof words);
  next.castling[0] = static_cast<std::uint8_t>(their_castling);
  next.castling[1] = static_cast<std::uint8_t>(own_castling);
  next.en_passant = en_passant;
  next.halfmove = static_cast<std::uint8_t>(halfmove);
  next.fullmove = static_cast<std::uint16_t>(fullmove);
  next.black = static_cast<std::uint8_t>(black);
}

inline void play(Position& p, Action a) { play(p, a, p); }

}  // namespace rungs::chess
