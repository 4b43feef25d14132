// All legal actions of a position at once, straight into the action planes.
//
// A plane is the set of squares from which one kind of move may be played, so a whole army moves by
// shifting its bitboard: no list of moves is made, and what is made is the legal-action mask.
// Legality comes from three sets found first: the squares they attack (where the king may not go),
// the check mask (where any other piece must land to answer a check), and the pins (a pinned piece
// keeps to its line).
#pragma once
#include <cstring>

#include "action.hpp"

namespace rungs::chess {

struct Generated {
  bool any;         // at least one legal action
  bool check;       // the mover's king is attacked
  bool en_passant;  // an en-passant capture is among the actions
};

namespace detail {

constexpr Lanes kNorth = {kAll, 0, 0, 0, 0, 0, 0, 0};
constexpr Lanes kNorthEastWest = {0, kAll, 0, 0, 0, 0, 0, kAll};
constexpr Lanes kSouthEastWest = {0, 0, 0, kAll, 0, kAll, 0, 0};

// Rooks and queens in the four straight lanes, bishops and queens in the four diagonal ones; of
// both sides.
inline Lanes sliders(const Position& p) {
  return (everywhere(p.piece[ROOK]) & kOrthogonal) | (everywhere(p.piece[BISHOP]) & ~kOrthogonal) |
         everywhere(p.piece[QUEEN]);
}

// The squares that their sliders attack, by the way they go, where only `empty` squares let
// through.
inline Lanes slider_attacks(const Position& p, Bitboard theirs, Bitboard empty) {
  return step(fill(sliders(p) & everywhere(theirs), empty));
}

// The squares that their pawns, which advance south, their knights and their king attack.
inline Lanes near_attacks(const Position& p, Bitboard theirs) {
  const Lanes pawns_and_king =
      everywhere(p.piece[KING] & theirs) | (everywhere(p.piece[PAWN] & theirs) & kSouthEastWest);
  return step(pawns_and_king) | jump(everywhere(p.piece[KNIGHT] & theirs));
}

// Whether they attack `square`, given what is `occupied`.
inline bool attacked(const Position& p, Bitboard square, Bitboard theirs, Bitboard occupied) {
  const Lanes all = slider_attacks(p, theirs, ~occupied) | near_attacks(p, theirs);
  return merge(all & everywhere(square)) != 0;
}

// The pawns that may capture en passant. Two pawns leave one rank, which no pin describes, so the
// board after the capture is looked at as it would be.
inline Bitboard en_passant_capturers(const Position& p, Bitboard king) {
  const Bitboard target = bit(p.en_passant_square()), captured = target >> 8;
  const Bitboard theirs = p.theirs() & ~captured;
  Bitboard candidates = ((target & ~kFileA) >> 9 | (target & ~kFileH) >> 7) & p.piece[PAWN] & p.own;
  Bitboard capturers = 0;
  while (candidates) {
    const Bitboard from = bit(pop(candidates));
    const Bitboard occupied = p.occupied() ^ from ^ target ^ captured;
    if (!attacked(p, king, theirs, occupied)) capturers |= from;
  }
  return capturers;
}

// Whether the king may castle with the rook on `rook_file`. It goes to the g or c file and the rook
// beside it, wherever they stood (Chess960): all squares they cross must be free but for
// themselves, and none that the king crosses may be attacked.
inline bool may_castle(const Position& p, Bitboard king, Bitboard attacks, int rook_file) {
  const int king_file = lowest(king);
  const int king_to = rook_file > king_file ? 6 : 2, rook_to = rook_file > king_file ? 5 : 3;
  const auto span = [](int a, int b) {
    return a < b ? (bit(b + 1) - 1) & -bit(a) : (bit(a + 1) - 1) & -bit(b);
  };
  const Bitboard king_path = span(king_file, king_to), rook = bit(rook_file);
  const Bitboard others = p.occupied() & ~king & ~rook;
  if (((king_path | span(rook_file, rook_to)) & others) || (king_path & attacks)) return false;
  // A rook that doesn't come from a corner may have been the king's shield on the first rank.
  return rook_file % 7 == 0 || !attacked(p, bit(king_to), p.theirs(), others | bit(rook_to));
}

// What every move is bound by, found before any is made.
struct Bounds {
  Lanes rays;       // what the king sees, by direction, up to the first piece and with it
  Lanes attacks;    // in every lane: the squares they attack, where the king may not go
  Lanes pins;       // our pieces that alone shield the king, in the lane in which it sees them
  Bitboard answer;  // where another piece than the king must land: anywhere, unless in check
  bool check;
};

// In check, what answers it: the squares of the checker and between it and the king; none where two
// give check. `lines` are the lanes in which a slider attacks the king.
inline Bitboard check_mask(const Position& p, Bitboard king, Lanes rays, Lanes lines) {
  const Bitboard theirs = p.theirs();
  const Bitboard knights = merge(jump(everywhere(king))) & p.piece[KNIGHT] & theirs;
  const Lanes pawns = step(everywhere(king)) & everywhere(p.piece[PAWN] & theirs) & kNorthEastWest;
  const Lanes sources = (rays & opposite(lines)) | pawns;
  const Bitboard checkers = (merge(sources) & theirs) | knights;
  return count(checkers) > 1 ? 0 : merge(sources) | knights;
}

inline Bounds bounds_of(const Position& p) {
  const Bitboard occupied = p.occupied(), theirs = p.theirs(), king = p.piece[KING] & p.own;
  const Lanes slides = slider_attacks(p, theirs, ~occupied);
  Bounds bounds;
  bounds.attacks = spread(slides | near_attacks(p, theirs));
  bounds.rays = step(fill(everywhere(king), ~occupied));
  // The first of our pieces that the king sees, met by a slider that comes along the same line.
  bounds.pins = bounds.rays & everywhere(p.own) & opposite(slides);
  bounds.check = bounds.attacks[0] & king;
  bounds.answer = kAll;
  if (bounds.check) {
    const Lanes lines = nonempty(slides & everywhere(king));
    // The king is no shield to the square behind it.
    bounds.attacks |= spread(step(everywhere(king)) & lines);
    bounds.answer = check_mask(p, king, bounds.rays, lines);
  }
  return bounds;
}

// The squares from which so many steps lead to `squares`, by direction. So every kind of move is
// asked of the square it comes from, no distance waits for another, and what is found is the plane.
inline Lanes back(Lanes squares, int distance) {
  return rotate(squares, -(kStepLanes * distance) & 63);
}

// Where pieces may land, and what lets sliders and pawns through; both without what lies round the
// edge of the board.
struct Ways {
  Lanes landing, passing;
};

inline Ways ways_of(const Position& p, const Bounds& bounds) {
  return {everywhere(~p.own & bounds.answer) & kInside, everywhere(~p.occupied()) & kInside};
}

// Our pieces by the lanes in which they may move: a pinned one keeps to its line.
inline Lanes unpinned(const Bounds& bounds, Lanes pieces) {
  return pieces & (~spread(bounds.pins) | bounds.pins | opposite(bounds.pins));
}

// Sliders by distance: plane k - 1 holds those that may go k squares.
inline void slides(const Position& p, const Bounds& bounds, const Ways& ways, Lanes (&planes)[7]) {
  Lanes sources = unpinned(bounds, sliders(p) & everywhere(p.own));
  for (int distance = 1; distance <= 7; ++distance) {
    planes[distance - 1] = sources & back(ways.landing, distance);
    sources &= back(ways.passing, distance);
  }
}

struct PawnMoves {
  Lanes single, twice;  // by direction
  bool en_passant;
};

// Pawns go north onto empty squares, from the second rank over two, and capture beside.
inline PawnMoves pawn_moves(const Position& p, const Bounds& bounds, const Ways& ways) {
  const Lanes pawns = unpinned(bounds, everywhere(p.piece[PAWN] & p.own));
  const Lanes ahead = back(ways.passing, 1);
  PawnMoves moves;
  moves.single = pawns & back(ways.landing, 1) & ((kNorth & ahead) | (kNorthEastWest & ~ahead));
  moves.twice =
      pawns & kNorth & everywhere(kRank2) & ahead & back(ways.passing, 2) & back(ways.landing, 2);
  moves.en_passant = false;
  if (p.en_passant != kNoFile) {
    const Bitboard capturers = en_passant_capturers(p, p.piece[KING] & p.own);
    const Bitboard target = bit(p.en_passant_square());
    moves.single |= Lanes{0, capturers & target >> 9, 0, 0, 0, 0, 0, capturers & target >> 7};
    moves.en_passant = capturers != 0;
  }
  return moves;
}

// The king goes to any square that is not attacked.
inline Lanes king_moves(const Position& p, const Bounds& bounds) {
  const Lanes safe = everywhere(~p.own) & ~bounds.attacks & kInside;
  return everywhere(p.piece[KING] & p.own) & back(safe, 1);
}

// A pinned knight can't stay on its line.
inline Lanes knight_moves(const Position& p, const Bounds& bounds) {
  const Lanes landing = everywhere(~p.own & bounds.answer) & kJumpInside;
  return everywhere(p.piece[KNIGHT] & p.own) & ~spread(bounds.pins) &
         rotate(landing, -kJumpLanes & 63);
}

// Those of the `rooks` that the king may castle with.
RUNGS_ONCE Bitboard castling_with(const Position& p, Bitboard attacks, Bitboard rooks) {
  Bitboard legal = 0;
  while (rooks) {
    const int file = pop(rooks);
    if (may_castle(p, p.piece[KING] & p.own, attacks, file)) legal |= bit(file);
  }
  return legal;
}

// The rooks that the king may castle with: only those it sees, and not out of check.
inline Bitboard castling_rooks(const Position& p, const Bounds& bounds) {
  if (bounds.check || !p.castling[0]) return 0;
  const Bitboard seen = p.castling[0] & (bounds.rays[E] | bounds.rays[W]);
  return seen ? castling_with(p, bounds.attacks[0], seen) : 0;
}

}  // namespace detail

// Puts all legal actions of `p` into `legal`.
template <WordRow Planes>
inline Generated generate(const Position& p, ActionsIn<Planes>& legal) {
  using namespace detail;
  const Bounds bounds = bounds_of(p);
  const Ways ways = ways_of(p, bounds);
  Lanes planes[7];
  slides(p, bounds, ways, planes);
  const PawnMoves pawns = pawn_moves(p, bounds, ways);
  planes[0] |= king_moves(p, bounds) | pawns.single;
  planes[1] |= pawns.twice;
  const Lanes knights = knight_moves(p, bounds);

  Lanes any = knights;
  for (int i = 0; i < 7; ++i) {
    any |= planes[i];
    legal.set(8 * i, planes[i]);
  }
  legal.set(kKnightPlane, knights);
  const Lanes promoting = pawns.single & everywhere(kRank7);
  const Lanes under = shuffle<NW, N, NE, NW, N, NE, NW, N>(promoting);
  legal.set(kUnderpromotionPlane, under);
  legal.set_last(promoting[NE]);
  const Bitboard rooks = castling_rooks(p, bounds);
  for (Bitboard left = rooks; left;)
    legal.add(castling_action(lowest(p.piece[KING] & p.own), pop(left)));
  return {(merge(any) | rooks) != 0, bounds.check, pawns.en_passant};
}

// The number of legal actions of `p`, as eight numbers to add up. No plane is made: sliders that go
// the same way never land on the same square, as the first one stops whoever comes behind it, so
// they are counted by where they land, all distances at once.
inline Lanes action_counts(const Position& p) {
  using namespace detail;
  const Bounds bounds = bounds_of(p);
  const Ways ways = ways_of(p, bounds);
  const Lanes sources = unpinned(bounds, sliders(p) & everywhere(p.own));
  const Lanes slid = step(fill(sources, ~p.occupied())) & ways.landing;
  const PawnMoves pawns = pawn_moves(p, bounds, ways);
  const Lanes promotions = counts(pawns.single & everywhere(kRank7));
  const auto castlings = static_cast<std::uint64_t>(count(castling_rooks(p, bounds)));
  return counts(slid) + counts(pawns.single | king_moves(p, bounds)) + counts(pawns.twice) +
         counts(knight_moves(p, bounds)) + promotions + promotions + promotions +
         Lanes{castlings, 0, 0, 0, 0, 0, 0, 0};
}

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

// Perft: the number of leaves of the legal-move tree at `depth` plies, the standard proof of a move
// generator. They are counted in bulk one ply above them. All replies are played before the first
// is looked into, as a processor overlaps the work of positions that don't wait for another.
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
