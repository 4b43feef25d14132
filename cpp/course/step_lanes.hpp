// Versions 9 to 11 of a step: all eight directions of one position in a register. The rare moves,
// en passant and castling, are the library's. "They" and `theirs` are the opponent.
#pragma once
#include "step_planes.hpp"

namespace rungs::steps {

// Version 9: eight directions in one register. What version 8 does for one direction after the
// other, an instruction on 512 bits does for all of them, on the library's position of eight words
// instead of twelve. The cost: it needs a processor with such registers; with narrower ones the
// compiler uses two or four instructions.
namespace lanes {

using namespace chess;
using chess::step;  // not that of one bitboard

// Every lane moved to the opposite direction.
inline Lanes opposite(Lanes x) { return shuffle<4, 5, 6, 7, 0, 1, 2, 3>(x); }

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
  if (p.en_passant != kNoFile) {
    const auto [to_ne, to_nw] = boards::en_passant(load_boards<Bitboard>(&p));
    moves.single |= Lanes{0, to_ne, 0, 0, 0, 0, 0, to_nw};
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
  const Lanes destinations = broadcast(~p.own & info.check_mask) & kJumpInsideLanes;
  return broadcast(p.piece[KNIGHT] & p.own) & ~reduce_or_all(info.pins) &
         rotate(destinations, -kJumpLanes & 63);
}

// The rooks that the king may castle with.
inline Bitboard castling_rooks(const Position& p, const CheckInfo& info) {
  const Bitboard east = p.castling[0] & info.rays[E], west = p.castling[0] & info.rays[W];
  if (info.check || !(east | west)) return 0;
  const auto [with_east, with_west] = boards::castling(
      load_boards<Bitboard>(&p), p.piece[KING] & p.own, info.attacks[0], east, west);
  return with_east | with_west;
}

struct Verdict {
  bool any, check;  // whether an action is legal, and whether the king is in check
};

inline Verdict generate(const Position& p, LegalActions& legal) {
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
    store_lanes(planes[i], legal.plane, 8 * i);
  }
  store_lanes(knights, legal.plane, kKnightPlane);
  const Lanes promoting = pawns.single & broadcast(kRank7);
  // Planes 64 to 71: underpromotions by piece and direction; plane 72 is the last of them.
  store_lanes(shuffle<NW, N, NE, NW, N, NE, NW, N>(promoting), legal.plane, kUnderpromotionPlane);
  legal.plane[kPlanes - 1] = promoting[NE];
  const Bitboard rooks = castling_rooks(p, info);
  for (Bitboard left = rooks; left;) {
    const Action castles = castling_action(lowest(p.piece[KING] & p.own), pop(left));
    legal.plane[plane_of(castles)] |= bit(from_square(castles));
  }
  return {(reduce_or(any) | rooks) != 0, info.check};
}

struct Board {
  Position position;

  explicit Board(const Position& position) : position(position) {}

  void play(Action action) { chess::play(position, action); }

  Outcome write_legal(std::uint8_t* mask) const {
    chess::LegalActions legal;
    const lanes::Verdict verdict = lanes::generate(position, legal);
    return planes::Generator<bool>::write_planes(legal.plane, verdict.check, mask);
  }
};

}  // namespace lanes

// Version 10: 64 bytes at once. A plane's 64 bits become 64 bytes of the mask by one comparison of
// a register, instead of writing zeros and then looping over the bits. The cost: none, as empty
// planes had to be written before, too.
namespace bytes {

struct Board : lanes::Board {
  using lanes::Board::Board;

  Outcome write_legal(std::uint8_t* mask) const {
    chess::LegalActions legal;
    const lanes::Verdict verdict = lanes::generate(position, legal);
    env::write_masks(legal.plane, 1, env::MaskFormat::BOOL, false, mask);
    return outcome(verdict.any, verdict.check);
  }
};

}  // namespace bytes

// Version 12: past the caches, a variant of version 10. A store to a line that no cache holds first
// fetches it, only to overwrite it. A plane of the mask is a whole line, so it can be written to
// memory without a fetch. The cost: a reader of the mask must load it from memory. The library does
// so only where all outputs together are larger than the caches.
namespace memory {

struct alignas(64) Board : lanes::Board {
  using lanes::Board::Board;

  // `mask` begins on a cache line.
  Outcome write_legal(std::uint8_t* mask) const {
    chess::LegalActions legal;
    const lanes::Verdict verdict = lanes::generate(position, legal);
    env::write_masks(legal.plane, 1, env::MaskFormat::BOOL, RUNGS_CAN_STREAM, mask);
    return outcome(verdict.any, verdict.check);
  }
};

}  // namespace memory

}  // namespace rungs::steps
