// Whether an action is legal, without the others. What limits a position's moves is found when all
// of them are made (movegen.hpp), and takes a cache line, where a bit for each of the 4672 actions
// takes ten. So a game keeps this, and its legal actions go no further than the mask.
#pragma once
#include "action.hpp"

namespace rungs::chess {

struct Limits {
  Bitboard attacked;    // the squares they attack, where the king may not go
  Bitboard answer;      // where another piece must land: anywhere, unless in check
  Bitboard held[4];     // our pinned pieces that may not move north or south, and so on clockwise
  Bitboard castling;    // the rooks that the king may castle with
  Bitboard en_passant;  // the pawns that may capture en passant
};

namespace detail {

// How a plane's actions go: some equal steps, each of which rotates the board by `step` and ends
// `inside`, on squares that are empty but for the last; and who may go so.
struct Way {
  Bitboard inside;
  Bitboard pawns, knights, straight, diagonal;  // from where
  std::uint8_t step, steps_before;
  std::uint8_t axes[2];  // who is held along one of these doesn't
};

struct WayOfPlane {
  Way of[kPlanes];
};

constexpr WayOfPlane way_of_plane() {
  WayOfPlane ways{};
  for (int plane = 0; plane < kPlanes; ++plane) {
    const bool knight = plane >= kKnightPlane && plane < kUnderpromotionPlane;
    const bool under = plane >= kUnderpromotionPlane;
    const int d = under ? (NW + (plane - kUnderpromotionPlane) % 3) % 8 : plane % 8;
    const int distance = knight || under ? 1 : plane / 8 + 1;
    Way& way = ways.of[plane];
    way.step = static_cast<std::uint8_t>(knight ? kJump[d] : kStep[d]);
    way.steps_before = static_cast<std::uint8_t>(distance - 1);
    way.inside = knight ? kJumpsInside[d] : kStepInside[d];
    // A pin that allows a knight neither axis holds it, and there is none that allows both.
    way.axes[0] = static_cast<std::uint8_t>(knight ? N : d % 4);
    way.axes[1] = static_cast<std::uint8_t>(knight ? E : d % 4);
    if (knight) {
      way.knights = kAll;
      continue;
    }
    if (d == N && distance == 2) way.pawns = kRank2;
    if ((d == NW || d == N || d == NE) && distance == 1) way.pawns = under ? kRank7 : kAll;
    if (!under) (d % 2 ? way.diagonal : way.straight) = kAll;
  }
  return ways;
}
constexpr WayOfPlane kWay = way_of_plane();

constexpr Bitboard turned(Bitboard b, int left) { return b << (left & 63) | b >> (-left & 63); }

// `from` and what is reached from it over `open` squares by equal steps, as `fill` (simd.hpp).
constexpr Bitboard reached(Bitboard from, Bitboard open, int step) {
  from |= open & turned(from, step);
  open &= turned(open, step);
  from |= open & turned(from, 2 * step);
  open &= turned(open, 2 * step);
  return from | (open & turned(from, 4 * step));
}

inline bool king_may(const Position& p, const Limits& limits, Action a) {
  const int rook_file = castling_rook(p, a);
  if (rook_file >= 0)
    return (limits.castling & bit(rook_file)) && a == castling_action(p.king_file(0), rook_file);
  const Way& way = kWay.of[plane_of(a)];
  const Bitboard to = turned(bit(from_square(a)), way.step) & way.inside;
  return plane_of(a) < 8 && (to & ~p.own & ~limits.attacked);
}

}  // namespace detail

// Whether any number is a legal action of `p`. Which piece goes which way can't be foreseen, so all
// but the king are asked without a branch.
inline bool is_legal(const Position& p, const Limits& limits, std::int64_t number) {
  using namespace detail;
  if (number < 0 || number >= kActions) return false;
  const auto a = static_cast<Action>(number);
  Bitboard from = bit(from_square(a)) & p.own;
  if (from & p.piece[KING]) return king_may(p, limits, a);

  const Way& way = kWay.of[plane_of(a)];
  const Bitboard movers = (way.pawns & p.piece[PAWN]) | (way.knights & p.piece[KNIGHT]) |
                          (way.diagonal & p.piece[BISHOP]) | (way.straight & p.piece[ROOK]) |
                          ((way.diagonal | way.straight) & p.piece[QUEEN]);
  from &= movers & ~limits.held[way.axes[0]] & ~limits.held[way.axes[1]];
  const Bitboard empty = ~p.occupied();
  const Bitboard path = reached(from, empty & way.inside, way.step);
  const Bitboard before = turned(from, way.step * way.steps_before) & path;

  // Pawns capture beside and nowhere else.
  const Bitboard pawns_landing = way.axes[0] == N ? empty : ~empty;
  Bitboard landing = ~p.own & limits.answer & (from & p.piece[PAWN] ? pawns_landing : kAll);
  if (from & limits.en_passant & way.pawns) landing |= bit(p.en_passant_square());
  return turned(before, way.step) & way.inside & landing;
}

}  // namespace rungs::chess
