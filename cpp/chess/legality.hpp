// Whether one action is legal on each of several boards, without generating the others: from the
// sets that `generate` computes first. So a board needs to keep eight words instead of 73 planes.
#pragma once
#include "boards.hpp"

namespace rungs::chess {

namespace detail {

// What a plane's actions have in common.
enum PlaneKind : Bitboard {
  STRAIGHT = 1 << 0,     // rooks and queens
  DIAGONAL = 1 << 1,     // bishops and queens
  JUMP = 1 << 2,         // knights
  STEP = 1 << 3,         // kings
  ADVANCE = 1 << 4,      // pawns, onto an empty square
  ADVANCE_TWO = 1 << 5,  // likewise, from the second rank
  CAPTURE = 1 << 6,      // pawns, onto one of their pieces
};

// From this bit on, four for the lines of `Legality::pins`: the one that the actions stay on.
constexpr int kLineBit = 7;

constexpr int direction_of(int plane) {
  constexpr int kPromotions[3] = {NW, N, NE};
  return plane < kUnderpromotionPlane ? plane % 8 : kPromotions[(plane - kUnderpromotionPlane) % 3];
}
constexpr bool jumps(int plane) { return plane >= kKnightPlane && plane < kUnderpromotionPlane; }
constexpr int distance_of(int plane) { return plane < kKnightPlane ? plane / 8 + 1 : 1; }

constexpr PlaneTable kPlaneKind = [] {
  PlaneTable kinds{};
  for (int plane = 0; plane < kPlanes; ++plane) {
    Bitboard& kind = kinds.of[plane];
    if (jumps(plane)) {
      kind = JUMP;
      continue;
    }
    const int d = direction_of(plane), distance = distance_of(plane);
    kind = Bitboard{1} << (kLineBit + d % 4);
    if (plane < kKnightPlane) kind |= d % 2 ? DIAGONAL : STRAIGHT;
    if (plane < 8) kind |= STEP;
    if (d == N && distance == 1) kind |= ADVANCE;
    if (d == N && distance == 2) kind |= ADVANCE_TWO;
    if (distance == 1 && (d == NE || d == NW)) kind |= CAPTURE;
  }
  return kinds;
}();

// The squares that a plane's action from a1 passes, to be rotated to other squares.
constexpr PlaneTable kPlanePath = [] {
  PlaneTable paths{};
  for (int plane = 0; plane < kKnightPlane; ++plane)
    for (int passed = 1; passed < distance_of(plane); ++passed)
      paths.of[plane] |= bit(kStep[direction_of(plane)] * passed & 63);
  return paths;
}();

// The squares from which a plane's actions end on the board.
constexpr PlaneTable kPlaneSources = [] {
  PlaneTable sources{};
  const auto arrives = [](Bitboard at, int rotation, Bitboard inside, int times) {
    for (; times > 0; --times) at = (at << rotation | at >> (64 - rotation)) & inside;
    return at != 0;
  };
  for (int plane = 0; plane < kPlanes; ++plane)
    for (int from = 0; from < 64; ++from) {
      const int d = direction_of(plane);
      const bool on_board = jumps(plane)
                                ? arrives(bit(from), kJump[d], kJumpInside[d], 1)
                                : arrives(bit(from), kStep[d], kStepInside[d], distance_of(plane));
      if (on_board && (plane < kUnderpromotionPlane || bit(from) & kRank7))
        sources.of[plane] |= bit(from);
    }
  return sources;
}();

// All squares where the kinds have a bit.
template <Bitboard kind, class V>
RUNGS_INLINE V where_kind(V kinds) {
  return V{} - (kinds / kind & 1);
}

}  // namespace detail

// Returns the square that the ply leaves on boards where `action`, of 0 to kActions - 1, is legal.
template <class V>
RUNGS_INLINE V legal_from(const Boards<V>& b, const Legality<V>& legality, V action) {
  using namespace detail;
  const V plane = action >> 6, kind = looked_up<V>(kPlaneKind.of, plane);
  const V from = rotated(V{} + 1, action) & b.own & looked_up<V>(kPlaneSources.of, plane);
  const V to = rotated(from, looked_up<V>(kPlaneRotation.of, plane));
  const V occupied = b.occupied(), free = to & ~b.own;
  const V path = rotated(looked_up<V>(kPlanePath.of, plane), action) & occupied;

  // Pieces but the king: a pinned one stays on its line.
  V unpinned = from, on_line{};
  for (int line = 0; line < 4; ++line) {
    unpinned &= ~legality.pins[line];
    on_line |= legality.pins[line] & (V{} - (kind >> (kLineBit + line) & 1));
  }
  const V straight = where_kind<STRAIGHT>(kind), diagonal = where_kind<DIAGONAL>(kind);
  const V pieces = (b.piece[ROOK] & straight) | (b.piece[BISHOP] & diagonal) |
                   (b.piece[QUEEN] & (straight | diagonal)) |
                   (b.piece[KNIGHT] & where_kind<JUMP>(kind));
  const V advances = where_kind<ADVANCE>(kind) | (where_kind<ADVANCE_TWO>(kind) & kRank2);
  const V pawns = b.piece[PAWN] & (where(to & ~occupied, advances) |
                                   where(to & occupied, where_kind<CAPTURE>(kind)));
  V legal = where(free & legality.check_mask,
                  unless(path, (unpinned | (from & on_line)) & (pieces | pawns)));

  const V king = from & b.piece[KING], step = where_kind<STEP>(kind);
  legal |= where(free & ~legality.attacks, king & step);
  legal |= where(boards::en_passant_target(b) & to,
                 from & legality.en_passant & where_kind<CAPTURE>(kind));
  if (any(where(king, legality.castling)))  // rare: one board at a time
    legal |= each_board<V>([&](int board) {
      const Bitboard castling_king = word_of(king, board);
      for (Bitboard rooks = castling_king ? word_of(legality.castling, board) : 0; rooks;) {
        const Action castles = castling_action(lowest(castling_king), pop(rooks));
        if (static_cast<Bitboard>(castles) == word_of(action, board)) return castling_king;
      }
      return Bitboard{0};
    });
  return legal;
}

}  // namespace rungs::chess
