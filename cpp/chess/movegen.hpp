// All legal actions of a position at once, straight into the action planes.
//
// A plane is the set of squares from which one kind of move may be played, so a whole army moves by
// shifting its bitboard: no list of moves is made, and what is made is the legal-action mask.
// Legality comes from three sets found first: the squares they attack (where the king may not go),
// the check mask (where any other piece must land to answer a check), and the pins (a pinned piece
// keeps to its line).
#pragma once
#include "action.hpp"
#include "lanes.hpp"
#include "position.hpp"

namespace rungs::chess {

struct Generated {
  bool any;         // at least one legal action
  bool check;       // the mover's king is attacked
  bool en_passant;  // an en-passant capture is among the actions
};

namespace detail {

// Rooks and queens in the four straight lanes, bishops and queens in the four diagonal ones.
inline Lanes sliders(const Position& p, Bitboard side) {
  const Lanes straight = everywhere((p.piece[ROOK] | p.piece[QUEEN]) & side);
  const Lanes diagonal = everywhere((p.piece[BISHOP] | p.piece[QUEEN]) & side);
  return (straight & kOrthogonal) | (diagonal & ~kOrthogonal);
}

// Every square their pieces attack. Their pawns advance south.
inline Bitboard attacked_by_them(const Position& p, Bitboard theirs, Bitboard empty) {
  constexpr Lanes kPawnLanes = {0, 0, 0, kAll, 0, kAll, 0, 0};
  const Lanes near =
      everywhere(p.piece[KING] & theirs) | (everywhere(p.piece[PAWN] & theirs) & kPawnLanes);
  return merge(step(fill(sliders(p, theirs), empty) | near) |
               jump(everywhere(p.piece[KNIGHT] & theirs)));
}

// The attackers of `king` along each lane, given what is `occupied`; knights are apart.
inline Lanes line_attackers(const Position& p, Bitboard king, Bitboard theirs, Bitboard occupied) {
  constexpr Lanes kPawnLanes = {0, kAll, 0, 0, 0, 0, 0, kAll};
  const Lanes rays = step(fill(everywhere(king), ~occupied));
  const Lanes pawns = step(everywhere(king)) & everywhere(p.piece[PAWN] & theirs) & kPawnLanes;
  return (rays & sliders(p, theirs)) | pawns;
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
    const Lanes lines = line_attackers(p, king, theirs, occupied);
    const Lanes knights = jump(everywhere(king)) & everywhere(p.piece[KNIGHT] & theirs);
    if (!merge(lines | knights)) capturers |= from;
  }
  return capturers;
}

// Adds castling with the rook on `rook_file`. The king goes to the g or c file and the rook beside
// it, wherever they stood (Chess960): all squares they cross must be free but for themselves, and
// none that the king crosses may be attacked. Returns whether it is legal.
inline bool add_castling(const Position& p, Bitboard king, Bitboard attacked, int rook_file,
                         LegalActions& legal) {
  const int king_file = lowest(king);
  const int king_to = rook_file > king_file ? 6 : 2, rook_to = rook_file > king_file ? 5 : 3;
  const auto span = [](int a, int b) {
    return a < b ? (bit(b + 1) - 1) & -bit(a) : (bit(a + 1) - 1) & -bit(b);
  };
  const Bitboard king_path = span(king_file, king_to), rook = bit(rook_file);
  const Bitboard others = p.occupied() & ~king & ~rook;
  if (((king_path | span(rook_file, rook_to)) & others) || (king_path & attacked)) return false;
  // A rook that leaves the corner's side of the king may have been its shield on the first rank.
  const Lanes lines = line_attackers(p, bit(king_to), p.theirs(), others | bit(rook_to));
  if (lines[E] | lines[W]) return false;
  const Action a = castling_action(king_file, rook_file);
  legal.plane[plane_of(a)] |= bit(from_square(a));
  return true;
}

}  // namespace detail

// Writes all legal actions of `p` to `legal`.
inline Generated generate(const Position& p, LegalActions& legal) {
  using namespace detail;
  const Bitboard occupied = p.occupied(), own = p.own, theirs = occupied & ~own;
  const Bitboard king = p.piece[KING] & own, pawns = p.piece[PAWN] & own;

  // The king may not step back along the line of its attacker: it is no shield to itself.
  const Bitboard attacked = attacked_by_them(p, theirs, ~occupied | king);

  // Checks: rays from the king up to and including the first piece in each direction.
  const Lanes rays = step(fill(everywhere(king), ~occupied));
  const Lanes line_checkers = line_attackers(p, king, theirs, occupied);
  const Bitboard knight_checkers =
      merge(jump(everywhere(king)) & everywhere(p.piece[KNIGHT] & theirs));
  const Bitboard checkers = merge(line_checkers) | knight_checkers;
  const Bitboard answer = !checkers ? kAll
                          : count(checkers) > 1
                              ? 0
                              : merge(rays & nonempty(line_checkers)) | knight_checkers;

  // Pins: the first piece is ours, and behind it one of theirs that slides along this lane.
  const Lanes shields = rays & everywhere(own);
  const Lanes behind = step(fill(shields, ~occupied));
  const Lanes pins = shields & nonempty(behind & sliders(p, theirs));
  const Bitboard pinned = merge(pins);
  const Lanes free = everywhere(~pinned) | pins | opposite(pins);

  // Queen planes: all sliders one square further in all directions, seven times. A plane is where
  // they came from, so each target set is rotated back by the way it went.
  const Lanes landing = everywhere(~own & answer);
  Lanes any = {};
  Lanes front = sliders(p, own) & free;
  Lanes planes[7];
  for (int distance = 1; distance <= 7; ++distance) {
    front = step(front) & everywhere(~own);
    planes[distance - 1] = rotate(front & landing, -(kStepLanes * distance) & 63);
    any |= planes[distance - 1];
    front &= everywhere(~theirs);
  }

  // The king, on the planes of distance 1.
  const Lanes king_targets = step(everywhere(king)) & everywhere(~own & ~attacked);
  const Lanes king_moves = everywhere(king) & nonempty(king_targets);

  // Pawns: one and two squares north, captures north-east and north-west.
  const Lanes pawn_sources = everywhere(pawns) & free;
  constexpr Lanes kPush = {kAll, 0, 0, 0, 0, 0, 0, 0};
  constexpr Lanes kCapture = {0, kAll, 0, 0, 0, 0, 0, kAll};
  const Lanes pawn_reach =
      step(pawn_sources) & ((everywhere(~occupied) & kPush) | (everywhere(theirs) & kCapture));
  Lanes pawn_moves = rotate(pawn_reach & everywhere(answer), -kStepLanes & 63);
  const Bitboard doubles = (pawn_reach[N] & kRank3) << 8 & ~occupied & answer;

  Bitboard en_passant = 0;
  if (p.en_passant != kNoFile) {
    en_passant = en_passant_capturers(p, king);
    const Bitboard target = bit(p.en_passant_square());
    pawn_moves |= Lanes{0, en_passant & target >> 9, 0, 0, 0, 0, 0, en_passant & target >> 7};
  }
  planes[0] |= king_moves | pawn_moves;
  planes[1] |= Lanes{doubles >> 16, 0, 0, 0, 0, 0, 0, 0};

  const Lanes knights =
      rotate(jump(everywhere(p.piece[KNIGHT] & own & ~pinned)) & landing, -kJumpLanes & 63);
  any |= planes[0] | planes[1] | knights;

  for (int i = 0; i < 7; ++i) __builtin_memcpy(legal.plane + 8 * i, &planes[i], sizeof(Lanes));
  __builtin_memcpy(legal.plane + kKnightPlane, &knights, sizeof(Lanes));
  for (int piece = 0; piece < 3; ++piece) {
    Bitboard* under = legal.plane + kUnderpromotionPlane + 3 * piece;
    under[0] = pawn_moves[NW] & kRank7;
    under[1] = pawn_moves[N] & kRank7;
    under[2] = pawn_moves[NE] & kRank7;
  }
  bool castling = false;
  if (p.castling[0] && !checkers)
    for (Bitboard rooks = p.castling[0]; rooks;)
      castling |= add_castling(p, king, attacked, pop(rooks), legal);
  return {merge(any) != 0 || castling, checkers != 0, en_passant != 0};
}

inline int count(const LegalActions& legal) {
  int total = 0;
  for (const Bitboard plane : legal.plane) total += count(plane);
  return total;
}

}  // namespace rungs::chess
