// All legal actions of a position at once, straight into the action planes.
//
// A plane is the set of squares from which one kind of move may be played, so all pieces of a kind
// move by shifting their bitboard: the result is the legal-action mask itself, not a list of moves.
// Legality follows from three sets that are computed first: the squares that the opponent attacks
// (where the king may not go), the check mask (where any other piece must land when in check), and
// the pins (a pinned piece stays on its line). "They" and `theirs` are the opponent.
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
constexpr Lanes kForwardDiagonals = {0, kAll, 0, 0, 0, 0, 0, kAll};
constexpr Lanes kBackwardDiagonals = {0, 0, 0, kAll, 0, kAll, 0, 0};

// The sliders of both sides by direction: rooks and queens in the orthogonal lanes, bishops and
// queens in the diagonal ones.
inline Lanes sliders(const Position& p) {
  return (broadcast(p.piece[ROOK]) & kOrthogonal) | (broadcast(p.piece[BISHOP]) & ~kOrthogonal) |
         broadcast(p.piece[QUEEN]);
}

// The squares that their sliders attack, by direction, moving over `empty` squares only.
inline Lanes slider_attacks(const Position& p, Bitboard theirs, Bitboard empty) {
  return step(fill(sliders(p) & broadcast(theirs), empty));
}

// The squares that their pawns (which advance south), knights and king attack.
inline Lanes near_attacks(const Position& p, Bitboard theirs) {
  const Lanes pawns_and_king =
      broadcast(p.piece[KING] & theirs) | (broadcast(p.piece[PAWN] & theirs) & kBackwardDiagonals);
  return step(pawns_and_king) | jump(broadcast(p.piece[KNIGHT] & theirs));
}

// Whether they attack `square`, given what is `occupied`.
inline bool attacked(const Position& p, Bitboard square, Bitboard theirs, Bitboard occupied) {
  const Lanes all = slider_attacks(p, theirs, ~occupied) | near_attacks(p, theirs);
  return reduce_or(all & broadcast(square)) != 0;
}

// The pawns that may capture en passant. The capture removes two pawns from one rank at once, which
// pin masks do not cover, so the king's safety is tested on the board after the capture.
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

// Whether the king may castle with the rook on `rook_file`. The king goes to the g or c file and
// the rook next to it, wherever they stood (Chess960): every square that either crosses must be
// empty except for the two themselves, and none that the king crosses may be attacked.
inline bool may_castle(const Position& p, Bitboard king, Bitboard attacks, int rook_file) {
  const int king_file = lowest(king);
  const int king_to = rook_file > king_file ? 6 : 2, rook_to = rook_file > king_file ? 5 : 3;
  const auto span = [](int a, int b) {
    return a < b ? (bit(b + 1) - 1) & -bit(a) : (bit(a + 1) - 1) & -bit(b);
  };
  const Bitboard king_path = span(king_file, king_to), rook = bit(rook_file);
  const Bitboard others = p.occupied() & ~king & ~rook;
  if (((king_path | span(rook_file, rook_to)) & others) || (king_path & attacks)) return false;
  // A rook that does not come from a corner may have shielded the king on the first rank.
  return rook_file % 7 == 0 || !attacked(p, bit(king_to), p.theirs(), others | bit(rook_to));
}

// What decides which moves are legal, computed before any is generated.
struct CheckInfo {
  Lanes rays;           // what the king sees, by direction, up to and including the first piece
  Lanes attacks;        // in every lane: the squares they attack, where the king may not go
  Lanes pins;           // our pinned pieces, in the lane in which the king sees them
  Bitboard check_mask;  // where any piece but the king must land: anywhere, unless in check
  bool check;
};

// In check: the checker's square and those between it and the king; empty in double check. `lines`
// are the lanes in which a slider attacks the king.
inline Bitboard check_mask(const Position& p, Bitboard king, Lanes rays, Lanes lines) {
  const Bitboard theirs = p.theirs();
  const Bitboard knights = reduce_or(jump(broadcast(king))) & p.piece[KNIGHT] & theirs;
  const Lanes pawns = step(broadcast(king)) & broadcast(p.piece[PAWN] & theirs) & kForwardDiagonals;
  const Lanes sources = (rays & opposite(lines)) | pawns;
  const Bitboard checkers = (reduce_or(sources) & theirs) | knights;
  return count(checkers) > 1 ? 0 : reduce_or(sources) | knights;
}

inline CheckInfo check_info_of(const Position& p) {
  const Bitboard occupied = p.occupied(), theirs = p.theirs(), king = p.piece[KING] & p.own;
  const Lanes slides = slider_attacks(p, theirs, ~occupied);
  CheckInfo info;
  info.attacks = reduce_or_all(slides | near_attacks(p, theirs));
  info.rays = step(fill(broadcast(king), ~occupied));
  // The first of our pieces that the king sees and that a slider attacks along the same line.
  info.pins = info.rays & broadcast(p.own) & opposite(slides);
  info.check = info.attacks[0] & king;
  info.check_mask = kAll;
  if (info.check) {
    const Lanes lines = nonempty(slides & broadcast(king));
    // The king does not shield the square behind it.
    info.attacks |= reduce_or_all(step(broadcast(king)) & lines);
    info.check_mask = check_mask(p, king, info.rays, lines);
  }
  return info;
}

// The squares from which `distance` steps lead to `squares`, by direction. Moves are thus found by
// the square they come from, and the result is a plane of actions.
inline Lanes back(Lanes squares, int distance) {
  return rotate(squares, -(kStepLanes * distance) & 63);
}

// Where pieces may land, and the empty squares that sliders and pawns may cross; both without
// squares that would be reached round the edge of the board.
struct Targets {
  Lanes destinations, empty;
};

inline Targets targets_of(const Position& p, const CheckInfo& info) {
  return {broadcast(~p.own & info.check_mask) & kInside, broadcast(~p.occupied()) & kInside};
}

// Our pieces in the lanes in which pins let them move: a pinned piece stays on its line.
inline Lanes within_pins(const CheckInfo& info, Lanes pieces) {
  return pieces & (~reduce_or_all(info.pins) | info.pins | opposite(info.pins));
}

// Sliders by distance: plane k - 1 holds those that may move k squares.
inline void slides(const Position& p, const CheckInfo& info, const Targets& targets,
                   Lanes (&planes)[7]) {
  Lanes sources = within_pins(info, sliders(p) & broadcast(p.own));
  for (int distance = 1; distance <= 7; ++distance) {
    planes[distance - 1] = sources & back(targets.destinations, distance);
    sources &= back(targets.empty, distance);
  }
}

struct PawnMoves {
  Lanes single, twice;  // by direction
  bool en_passant;
};

// Pawns move north onto empty squares, one or (from the second rank) two, and capture diagonally.
inline PawnMoves pawn_moves(const Position& p, const CheckInfo& info, const Targets& targets) {
  const Lanes pawns = within_pins(info, broadcast(p.piece[PAWN] & p.own));
  const Lanes ahead = back(targets.empty, 1);
  PawnMoves moves;
  moves.single =
      pawns & back(targets.destinations, 1) & ((kNorth & ahead) | (kForwardDiagonals & ~ahead));
  moves.twice = pawns & kNorth & broadcast(kRank2) & ahead & back(targets.empty, 2) &
                back(targets.destinations, 2);
  moves.en_passant = false;
  if (p.en_passant != kNoFile) {
    const Bitboard capturers = en_passant_capturers(p, p.piece[KING] & p.own);
    const Bitboard target = bit(p.en_passant_square());
    moves.single |= Lanes{0, capturers & target >> 9, 0, 0, 0, 0, 0, capturers & target >> 7};
    moves.en_passant = capturers != 0;
  }
  return moves;
}

// The king moves to any adjacent square that is not attacked.
inline Lanes king_moves(const Position& p, const CheckInfo& info) {
  const Lanes safe = broadcast(~p.own) & ~info.attacks & kInside;
  return broadcast(p.piece[KING] & p.own) & back(safe, 1);
}

// A pinned knight cannot move: no jump stays on its line.
inline Lanes knight_moves(const Position& p, const CheckInfo& info) {
  const Lanes destinations = broadcast(~p.own & info.check_mask) & kJumpInside;
  return broadcast(p.piece[KNIGHT] & p.own) & ~reduce_or_all(info.pins) &
         rotate(destinations, -kJumpLanes & 63);
}

// The subset of `rooks` that the king may castle with.
RUNGS_NOINLINE_ON_GPU Bitboard castling_with(const Position& p, Bitboard attacks, Bitboard rooks) {
  Bitboard legal = 0;
  while (rooks) {
    const int file = pop(rooks);
    if (may_castle(p, p.piece[KING] & p.own, attacks, file)) legal |= bit(file);
  }
  return legal;
}

// The rooks that the king may castle with: only rooks that it sees, and never out of check.
inline Bitboard castling_rooks(const Position& p, const CheckInfo& info) {
  if (info.check || !p.castling[0]) return 0;
  const Bitboard seen = p.castling[0] & (info.rays[E] | info.rays[W]);
  return seen ? castling_with(p, info.attacks[0], seen) : 0;
}

}  // namespace detail

// Writes all legal actions of `p` to `legal`.
template <WordRow Planes>
inline Generated generate(const Position& p, ActionsIn<Planes>& legal) {
  using namespace detail;
  const CheckInfo info = check_info_of(p);
  const Targets targets = targets_of(p, info);
  Lanes planes[7];
  slides(p, info, targets, planes);
  const PawnMoves pawns = pawn_moves(p, info, targets);
  planes[0] |= king_moves(p, info) | pawns.single;
  planes[1] |= pawns.twice;
  const Lanes knights = knight_moves(p, info);

  Lanes any = knights;
  for (int i = 0; i < 7; ++i) {
    any |= planes[i];
    legal.set(8 * i, planes[i]);
  }
  legal.set(kKnightPlane, knights);
  const Lanes promoting = pawns.single & broadcast(kRank7);
  // Planes 64 to 71: underpromotions by piece and direction; plane 72 is the last of them.
  const Lanes under = shuffle<NW, N, NE, NW, N, NE, NW, N>(promoting);
  legal.set(kUnderpromotionPlane, under);
  legal.set_last(promoting[NE]);
  const Bitboard rooks = castling_rooks(p, info);
  for (Bitboard left = rooks; left;)
    legal.add(castling_action(lowest(p.piece[KING] & p.own), pop(left)));
  return {(reduce_or(any) | rooks) != 0, info.check, pawns.en_passant};
}

// The number of legal actions of `p`, as eight numbers to add up. No plane is computed: two sliders
// that move in one direction never reach the same square, as the first one blocks the other, so
// slider moves are counted by destination, all distances at once.
inline Lanes action_counts(const Position& p) {
  using namespace detail;
  const CheckInfo info = check_info_of(p);
  const Targets targets = targets_of(p, info);
  const Lanes sources = within_pins(info, sliders(p) & broadcast(p.own));
  const Lanes slid = step(fill(sources, ~p.occupied())) & targets.destinations;
  const PawnMoves pawns = pawn_moves(p, info, targets);
  const Lanes promotions = counts(pawns.single & broadcast(kRank7));
  const auto castlings = static_cast<std::uint64_t>(count(castling_rooks(p, info)));
  return counts(slid) + counts(pawns.single | king_moves(p, info)) + counts(pawns.twice) +
         counts(knight_moves(p, info)) + promotions + promotions + promotions +
         Lanes{castlings, 0, 0, 0, 0, 0, 0, 0};
}

// Calls `visit(action)` for each legal action in order of action id.
template <class Visit>
inline void for_each_action(const LegalActions& legal, Visit visit) {
  // A bit for each of the first 64 planes that is not empty. Most planes are empty, and a branch
  // for each would often be mispredicted.
  Lanes nonempties = {};
  for (int i = 0; i < 8; ++i) {
    Lanes planes;
    std::memcpy(&planes, legal.plane + 8 * i, sizeof planes);
    nonempties |= nonempty(planes) & Lanes{1, 2, 4, 8, 16, 32, 64, 128} << 8 * i;
  }
  const auto visit_plane = [&](int plane) {
    for (Bitboard from = legal.plane[plane]; from;) visit(Action{64 * plane + pop(from)});
  };
  for (Bitboard planes = reduce_or(nonempties); planes;) visit_plane(pop(planes));
  for (int plane = kUnderpromotionPlane; plane < kPlanes; ++plane) visit_plane(plane);
}

// Room for the legal actions of any position that a FEN can describe: no more than a king and
// fifteen queens could have on an empty board. (Positions of games have at most `kMaxLegal`.)
constexpr int kMaxMoves = 8 + 15 * 27;

inline std::uint64_t count_actions(const Position& p) { return sum(action_counts(p)); }

// Perft: the number of leaves of the legal-move tree at `depth` plies, the standard test of a move
// generator. They are counted in bulk one ply above them. All children are made before the first is
// searched, so that the processor overlaps work on positions that don't depend on each other.
inline std::uint64_t perft(const Position& p, int depth) {
  if (depth == 0) return 1;
  if (depth == 1) return count_actions(p);
  alignas(64) LegalActions legal;
  generate(p, legal);
  alignas(64) Position children[kMaxMoves];
  int num_children = 0;
  for_each_action(legal, [&](Action a) { play(p, a, children[num_children++]); });
  if (depth == 2) {
    Lanes leaves = {};
    for (int i = 0; i < num_children; ++i) leaves += action_counts(children[i]);
    return sum(leaves);
  }
  std::uint64_t leaves = 0;
  for (int i = 0; i < num_children; ++i) leaves += perft(children[i], depth - 1);
  return leaves;
}

}  // namespace rungs::chess
