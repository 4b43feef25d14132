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

// Adds castling with the rook on `rook_file`. The king goes to the g or c file and the rook beside
// it, wherever they stood (Chess960): all squares they cross must be free but for themselves, and
// none that the king crosses may be attacked. Returns whether it is legal.
template <class Actions>
inline bool add_castling(const Position& p, Bitboard king, Bitboard attacks, int rook_file,
                         Actions& legal) {
  const int king_file = lowest(king);
  const int king_to = rook_file > king_file ? 6 : 2, rook_to = rook_file > king_file ? 5 : 3;
  const auto span = [](int a, int b) {
    return a < b ? (bit(b + 1) - 1) & -bit(a) : (bit(a + 1) - 1) & -bit(b);
  };
  const Bitboard king_path = span(king_file, king_to), rook = bit(rook_file);
  const Bitboard others = p.occupied() & ~king & ~rook;
  if (((king_path | span(rook_file, rook_to)) & others) || (king_path & attacks)) return false;
  // A rook that doesn't come from a corner may have been the king's shield on the first rank.
  if (rook_file % 7 && attacked(p, bit(king_to), p.theirs(), others | bit(rook_to))) return false;
  const Action a = castling_action(king_file, rook_file);
  legal.add(a);
  return true;
}

}  // namespace detail

// Puts all legal actions of `p` into `legal`, by `set` eight planes at a time.
template <class Actions>
inline Generated generate(const Position& p, Actions& legal) {
  using namespace detail;
  const Bitboard occupied = p.occupied(), own = p.own, theirs = occupied & ~own;
  const Bitboard king = p.piece[KING] & own;

  const Lanes slides = slider_attacks(p, theirs, ~occupied);
  Lanes attacks = spread(slides | near_attacks(p, theirs));

  // Pins: the first of our pieces that the king sees in a lane, met by a slider coming along it.
  const Lanes rays = step(fill(everywhere(king), ~occupied));
  const Lanes pins = rays & everywhere(own) & opposite(slides);
  const Lanes free = ~spread(pins) | pins | opposite(pins);

  // In check, other pieces than the king must capture the checker or step between.
  Bitboard answer = kAll;
  const bool check = attacks[0] & king;
  if (check) {
    // The king is no shield to the square behind it.
    const Lanes lines = nonempty(slides & everywhere(king));
    attacks |= spread(step(everywhere(king)) & lines);
    const Bitboard knights = merge(jump(everywhere(king))) & p.piece[KNIGHT] & theirs;
    const Lanes pawns =
        step(everywhere(king)) & everywhere(p.piece[PAWN] & theirs) & kNorthEastWest;
    const Lanes sources = (rays & opposite(lines)) | pawns;
    const Bitboard checkers = (merge(sources) & theirs) | knights;
    answer = count(checkers) > 1 ? 0 : merge(sources) | knights;
  }

  // Every kind of move is asked of the square it comes from: what would it meet at distance k?
  // So no distance waits for another, and what is found is the plane.
  const Lanes landing = everywhere(~own & answer);
  const Lanes reached = landing & kInside, passing = everywhere(~occupied) & kInside;
  const Lanes safe = everywhere(~own) & ~attacks & kInside;
  const auto back = [](Lanes squares, int distance) {
    return rotate(squares, -(kStepLanes * distance) & 63);
  };
  Lanes planes[7];
  Lanes sources = sliders(p) & everywhere(own) & free;
  for (int distance = 1; distance <= 7; ++distance) {
    planes[distance - 1] = sources & back(reached, distance);
    sources &= back(passing, distance);
  }
  // Pawns go north onto empty squares and capture beside; they are on planes of distance 1 and 2.
  const Lanes pawns = everywhere(p.piece[PAWN] & own) & free;
  const Lanes ahead = back(passing, 1);
  Lanes pawn_moves = pawns & back(reached, 1) & ((kNorth & ahead) | (kNorthEastWest & ~ahead));
  planes[1] |= pawns & kNorth & everywhere(kRank2) & ahead & back(passing, 2) & back(reached, 2);

  Bitboard en_passant = 0;
  if (p.en_passant != kNoFile) {
    en_passant = en_passant_capturers(p, king);
    const Bitboard target = bit(p.en_passant_square());
    pawn_moves |= Lanes{0, en_passant & target >> 9, 0, 0, 0, 0, 0, en_passant & target >> 7};
  }
  planes[0] |= (everywhere(king) & back(safe, 1)) | pawn_moves;

  // A pinned knight can't stay on its line.
  const Lanes knights = everywhere(p.piece[KNIGHT] & own) & ~spread(pins) &
                        rotate(landing & kJumpInside, -kJumpLanes & 63);

  Lanes any = knights;
  for (int i = 0; i < 7; ++i) {
    any |= planes[i];
    legal.set(8 * i, planes[i]);
  }
  legal.set(kKnightPlane, knights);
  const Lanes promoting = pawn_moves & everywhere(kRank7);
  const Lanes under = shuffle<NW, N, NE, NW, N, NE, NW, N>(promoting);
  legal.set(kUnderpromotionPlane, under);
  legal.set_last(promoting[NE]);

  bool castling = false;
  // A king castles only with a rook that it sees.
  if (p.castling[0] && !check)
    for (Bitboard rooks = p.castling[0] & (rays[E] | rays[W]); rooks;)
      castling |= add_castling(p, king, attacks[0], pop(rooks), legal);
  return {merge(any) != 0 || castling, check, en_passant != 0};
}

}  // namespace rungs::chess
