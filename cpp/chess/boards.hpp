// The move generator: all legal actions of several boards at once, straight into action planes.
//
// A plane is the set of squares from which one kind of move may be played, so all pieces of a kind
// move by shifting their bitboard: the result is the legal-action mask itself, not a list of moves.
// Legality follows from sets that are computed first: the squares that the opponent attacks (where
// the king may not go), the check mask (where any other piece must land when in check), and the pin
// masks (a pinned piece stays on its line). There is no table and no loop over pieces.
//
// V holds the same bitboard of each board, so that the code reads as if for one board (words.hpp).
// Boards take their branches together: where it says `any`, some board needs what follows, and what
// follows changes nothing on the others. "They" and `theirs` are the opponent.
#pragma once
#include <cstring>

#include "action.hpp"
#include "words.hpp"

#ifdef __CUDACC_RTC__
#define RUNGS_INLINE inline
#define RUNGS_NOINLINE __noinline__
#else
#define RUNGS_INLINE [[gnu::always_inline, gnu::flatten]] inline
#define RUNGS_NOINLINE [[gnu::noinline]] inline
#endif

namespace rungs::chess {

// Where parts of `Boards::state` begin. Castling comes first, 8 bits own and 8 theirs; then the
// file of en passant (8), the halfmove clock (8), the number of the move (16), and black (8).
constexpr int kEnPassantBit = 16, kClockBit = 24, kNumberBit = 32, kBlackBit = 48;
constexpr Bitboard kClock = Bitboard{255} << kClockBit;

// The words of a `Position`, each of several boards.
template <class V>
struct Boards {
  V piece[6], own, state;

  V occupied() const {
    return piece[PAWN] | piece[KNIGHT] | piece[BISHOP] | piece[ROOK] | piece[QUEEN] | piece[KING];
  }
  V theirs() const { return occupied() & ~own; }
};

// What decides whether an action is legal (legality.hpp).
template <class V>
struct Legality {
  V check_mask;  // where any piece but the king must land: anywhere, unless in check
  V attacks;     // the squares where the king may not go
  V pins[4];     // our pinned pieces, by line: from N to S, NE to SW, E to W, SE to NW
  V castling;    // the rooks that the king may castle with
  V en_passant;  // the pawns that may capture en passant
};

// What is found besides the legal actions. In `any` and `check` it matters only if a word is 0.
template <class V>
struct Found {
  V any;    // where at least one action is legal
  V check;  // the mover's king, where it is attacked
  Legality<V> legality;
};

// A ply on each board, by its squares; a pawn that arrives on the last rank becomes `promoted`.
template <class V>
struct Ply {
  V from, to, promoted;
};

namespace detail {

struct PlaneTable {
  Bitboard of[kPlanes];
};

// Where a plane's actions lead: what their from-square is rotated by.
constexpr PlaneTable kPlaneRotation = [] {
  PlaneTable rotations{};
  for (int plane = 0; plane < kPlanes; ++plane)
    rotations.of[plane] = static_cast<Bitboard>(kPlaneDelta.of[plane] & 63);
  return rotations;
}();

// What a pawn becomes that arrives on the last rank.
constexpr PlaneTable kPlanePromotion = [] {
  PlaneTable pieces{};
  for (int plane = 0; plane < kPlanes; ++plane)
    pieces.of[plane] = static_cast<Bitboard>(promoted_piece(64 * plane));
  return pieces;
}();

}  // namespace detail

// The plies of actions, of 0 to kActions - 1.
template <class V>
RUNGS_INLINE Ply<V> plies_of(V action) {
  const V plane = action >> 6, from = rotated(V{} + 1, action);
  return {from, rotated(from, looked_up<V>(detail::kPlaneRotation.of, plane)),
          looked_up<V>(detail::kPlanePromotion.of, plane)};
}

namespace boards {

// A direction of the compass, or one of the knight's jumps, as a constant.
template <int number>
struct Direction {
  constexpr operator int() const { return number; }
};
template <class Body>
RUNGS_INLINE void all_directions(const Body& body) {
  body(Direction<NW>()), body(Direction<W>()), body(Direction<SW>()), body(Direction<S>());
  body(Direction<SE>()), body(Direction<E>()), body(Direction<NE>()), body(Direction<N>());
}

template <int left, class V>
RUNGS_INLINE V shifted(V x) {
  if constexpr (left > 0)
    return x << left;
  else
    return x >> -left;
}
// Rotations to the left as shifts: squares that leave the board on one side don't come back.
constexpr int shift_of(int rotation) { return rotation > 32 ? rotation - 64 : rotation; }

template <int d>
constexpr int kShift = shift_of(kStep[d]);
template <int j>
constexpr int kJumpShift = shift_of(kJump[j]);

template <int d, class V>
RUNGS_INLINE V moved(V x) {
  return shifted<kShift<d>>(x) & kStepInside[d];
}

// Where sliders pass in direction d: the squares before which one, two and four are empty.
template <class V>
struct Open {
  V one, two, four;
};
template <int d, class V>
RUNGS_INLINE Open<V> open_in(V empty) {
  const V one = empty & kStepInside[d];
  const V two = one & shifted<kShift<d>>(one);
  return {one, two, two & shifted<2 * kShift<d>>(two)};
}

// The squares that sliders `from` attack in direction d. A Kogge-Stone fill: in three doublings
// instead of seven steps (see `fill`).
template <int d, class V>
RUNGS_INLINE V slide(V from, const Open<V>& open) {
  from |= open.one & shifted<kShift<d>>(from);
  from |= open.two & shifted<2 * kShift<d>>(from);
  from |= open.four & shifted<4 * kShift<d>>(from);
  return moved<d>(from);
}

template <class V>
RUNGS_INLINE V knight_attacks(V knights) {
  const V one = moved<E>(knights) | moved<W>(knights);
  const V two = (knights << 2 & ~kFileAB) | (knights >> 2 & ~kFileGH);
  return one << 16 | one >> 16 | two << 8 | two >> 8;
}
// With the king's own square, which is never a target.
template <class V>
RUNGS_INLINE V king_attacks(V king) {
  const V rank = king | moved<E>(king) | moved<W>(king);
  return rank | rank << 8 | rank >> 8;
}
// Of pawns that advance south.
template <class V>
RUNGS_INLINE V pawn_attacks(V pawns) {
  return moved<SE>(pawns) | moved<SW>(pawns);
}
// The squares from which pawns that advance south attack these.
template <class V>
RUNGS_INLINE V pawn_sources(V squares) {
  return moved<NE>(squares) | moved<NW>(squares);
}

// The sliders of both sides in direction d.
template <int d, class V>
RUNGS_INLINE V sliders(const Boards<V>& b) {
  return b.piece[QUEEN] | b.piece[d % 2 ? BISHOP : ROOK];
}

// Those of their pieces but the king that attack the square on each board, given what is `empty`.
template <class V>
RUNGS_INLINE V attackers(const Boards<V>& b, V square, V theirs, V empty) {
  V found = (knight_attacks(square) & b.piece[KNIGHT]) | (pawn_sources(square) & b.piece[PAWN]);
  all_directions([&](auto d) { found |= slide<d>(square, open_in<d>(empty)) & sliders<d>(b); });
  return found & theirs;
}

// What decides which moves are legal, computed before any is generated.
template <class V>
struct CheckInfo {
  V occupied, theirs, king;
  V check;               // the king, where it is attacked
  V attacks;             // squares where the king may not go
  V check_mask;          // where any piece but the king must land: anywhere, unless in check
  V pins[4], pinned;     // our pinned pieces, by line: from N to S, NE to SW, E to W, SE to NW
  V ray_east, ray_west;  // what the king sees on its rank, up to and including the first piece
};

template <class V>
RUNGS_INLINE CheckInfo<V> check_info_of(const Boards<V>& b) {
  CheckInfo<V> info;
  info.occupied = b.occupied();
  const V theirs = info.theirs = info.occupied & ~b.own, king = info.king = b.piece[KING] & b.own;
  const V knights = b.piece[KNIGHT] & theirs, pawns = b.piece[PAWN] & theirs;
  V attacks = knight_attacks(knights) | pawn_attacks(pawns) | king_attacks(b.piece[KING] & theirs);
  V rays[8], slides[8];
  all_directions([&](auto d) {
    const Open<V> open = open_in<d>(~info.occupied);
    slides[d] = slide<d>(sliders<d>(b) & theirs, open);
    rays[d] = slide<d>(king, open);
    attacks |= slides[d];
  });
  // The first of our pieces that the king sees and that a slider attacks along the same line.
  info.pinned = V{};
  for (int line = 0; line < 4; ++line) {
    info.pins[line] = (rays[line] & slides[line + 4]) | (rays[line + 4] & slides[line]);
    info.pinned |= info.pins[line];
  }
  info.check = attacks & king;
  info.check_mask = V{} + kAll;
  if (any(info.check)) {
    // The checkers and the squares between them and the king.
    V sources = (pawn_sources(king) & pawns) | (knight_attacks(king) & knights);
    all_directions([&](auto d) {
      sources |= where_meet(slides[(d + 4) % 8], king, rays[d]);
      // The king does not shield the square behind it.
      attacks |= where_meet(slides[d], king, moved<d>(king));
    });
    const V checkers = sources & theirs, two = checkers & (checkers - 1);
    info.check_mask = unless(info.check, info.check_mask) | unless(two, sources);
  }
  info.attacks = attacks;
  info.ray_east = rays[E];
  info.ray_west = rays[W];
  return info;
}

// The square that a pawn has just passed, where it may be captured there.
template <class V>
RUNGS_INLINE V en_passant_target(const Boards<V>& b) {
  const V file = b.state >> kEnPassantBit & 15;
  return (V{} + bit(40)) << file & kRank1 << 40;  // kNoFile is beyond the rank
}

// The pawns that may capture en passant, to the north-east and north-west.
template <class V>
struct EnPassant {
  V to_ne, to_nw;
};

// The capture removes two pawns from one rank at once, which pin masks do not cover, so the king's
// safety is tested on the board after the capture.
template <class V>
RUNGS_NOINLINE EnPassant<V> en_passant_captures(const Boards<V>& b, V target) {
  const V captured = target >> 8, theirs = b.theirs() & ~captured, king = b.piece[KING] & b.own;
  const V pawns = b.piece[PAWN] & b.own;
  V from[2] = {moved<SW>(target) & pawns, moved<SE>(target) & pawns};
  for (V& pawn : from)
    pawn = unless(attackers(b, king, theirs, ~(b.occupied() ^ pawn ^ target ^ captured)), pawn);
  return {from[0], from[1]};
}
template <class V>
RUNGS_INLINE EnPassant<V> en_passant(const Boards<V>& b) {
  const V target = en_passant_target(b);
  if (!any(pawn_attacks(target) & b.piece[PAWN] & b.own)) return {V{}, V{}};
  return en_passant_captures(b, target);
}

// The rooks that the king may castle with.
template <class V>
struct Castling {
  V east, west;
};

// The squares from one to another, both included; with any squares missing, anything.
template <class V>
RUNGS_INLINE V span(V a, V b) {
  const V is_above = more(a, b), low = (a & ~is_above) | (b & is_above);
  return (a ^ b ^ low) * 2 - low;
}

// Where castling with `rook` is blocked. The king goes to the g or c file and the rook next to it,
// wherever they stood (Chess960): every square that either crosses must be empty except for the two
// themselves, and none that the king crosses may be attacked.
template <class V>
RUNGS_INLINE V castling_blocked(const Boards<V>& b, V king, V attacks, V rook, int king_to,
                                int rook_to) {
  const V king_path = span(king, V{} + bit(king_to)), others = b.occupied() & ~(king | rook);
  return (king_path & attacks) | ((king_path | span(rook, V{} + bit(rook_to))) & others);
}

// Which of the rooks `east` and `west` the king may castle with: rooks with the right to, that a
// king that is not in check sees.
template <class V>
RUNGS_INLINE Castling<V> castling(const Boards<V>& b, V king, V attacks, V east, V west) {
  // A rook that does not come from a corner may have shielded the king on the first rank: from h1,
  // from b1, or, over an empty b1, from a1.
  const V straight = sliders<E>(b) & ~b.own, b1 = b.occupied() & ~(king | west) & bit(1);
  const V unshielded_west = straight & (bit(1) | (~b1 >> 1 & bit(0)));
  return {unless(castling_blocked(b, king, attacks, east, 6, 5) | (straight & bit(7)), east),
          unless(castling_blocked(b, king, attacks, west, 2, 3) | unshielded_west, west)};
}
template <class V>
RUNGS_INLINE Castling<V> castling(const Boards<V>& b, const CheckInfo<V>& info) {
  const V rights = unless(info.check, b.state & kRank1);
  const V east = rights & info.ray_east, west = rights & info.ray_west;
  if (!any(east | west)) return {V{}, V{}};
  return castling(b, info.king, info.attacks, east, west);
}

}  // namespace boards

// The number of legal actions of each board. No plane is computed: two sliders that move in one
// direction never reach the same square, as the first one blocks the other, so slider moves are
// counted by destination, all distances at once.
template <class V>
RUNGS_INLINE V action_counts(const Boards<V>& b) {
  using namespace boards;
  const CheckInfo<V> info = check_info_of(b);
  const V free = ~info.pinned, empty = ~info.occupied, destinations = ~b.own & info.check_mask;
  const V knights = b.piece[KNIGHT] & b.own & free;
  V total = counts_of(king_attacks(info.king) & ~b.own & ~info.attacks);
  all_directions([&](auto d) {
    const V from = sliders<d>(b) & b.own & (free | info.pins[d % 4]);
    total += counts_of(slide<d>(from, open_in<d>(empty)) & destinations);
    total += counts_of(shifted<kJumpShift<d>>(knights) & kJumpInside[d] & destinations);
  });
  const V pawns = b.piece[PAWN] & b.own, captures = info.theirs & destinations;
  const Castling<V> castles = castling(b, info);
  const EnPassant<V> passes = en_passant(b);
  const V one = (pawns & (free | info.pins[N])) << 8 & empty;
  const V two = (one & kRank1 << 16) << 8 & empty & destinations;
  const V ne = moved<NE>(pawns & (free | info.pins[NE])) & captures;
  const V nw = moved<NW>(pawns & (free | info.pins[NW % 4])) & captures;
  // Squares that no two of these share: empty ones, theirs, and our rooks'.
  const V north_or_ne = (one & destinations) | ne;
  if (any((north_or_ne | nw) & kRank8))
    total += (counts_of(north_or_ne & kRank8) + counts_of(nw & kRank8)) * 3;
  return total + counts_of(north_or_ne | two | castles.east | castles.west | passes.to_ne << 9) +
         counts_of(nw | passes.to_nw << 7);
}

// Calls `set(plane, squares)` for each of the 73 planes, in any order.
template <class V, class Set>
RUNGS_INLINE Found<V> generate(const Boards<V>& b, Set set) {
  using namespace boards;
  const CheckInfo<V> info = check_info_of(b);
  const V free = ~info.pinned, empty = ~info.occupied, destinations = ~b.own & info.check_mask;
  const V pawns = b.piece[PAWN] & b.own, captures = info.theirs & destinations;
  const V safe = ~b.own & ~info.attacks;
  const Castling<V> castles = castling(b, info);
  const EnPassant<V> passes = en_passant(b);
  V some = castles.east | castles.west;
  const auto add = [&](int plane, V squares) {
    some |= squares;
    set(plane, squares);
  };
  const V knights = b.piece[KNIGHT] & b.own & free;
  all_directions([&](auto j) {
    add(kKnightPlane + j, knights & shifted<-kJumpShift<j>>(destinations & kJumpInside[j]));
  });
  // Where castling kings go: onto their rook, or two squares from e1 with a corner's rook.
  const V e1 = info.king & bit(4);
  const V h1 = where(e1, castles.east & bit(7)), a1 = where(e1, castles.west & bit(0));
  const V to_east = (castles.east ^ h1) | h1 >> 1, to_west = (castles.west ^ a1) | a1 << 2;
  const bool chess960 = any((castles.east ^ h1) | (castles.west ^ a1));
  V promoting[3];  // to the north-west, north and north-east
  all_directions([&](auto d) {
    constexpr int kBack = -kShift<d>;
    const V line = free | info.pins[d % 4], sources = sliders<d>(b) & b.own & line;
    // The squares from which this many steps lead to a destination, over empty squares.
    V reaching = shifted<kBack>(destinations & kStepInside[d]);
    V first = (sources & reaching) | (info.king & shifted<kBack>(safe & kStepInside[d]));
    V second = sources & (reaching = shifted<kBack>(reaching & empty & kStepInside[d]));
    if constexpr (d == N || d == NE || d == NW) {
      const V to = d == N ? empty & destinations : captures & kStepInside[d];
      V pawn = pawns & line & shifted<kBack>(to);
      if constexpr (d == NE) pawn |= passes.to_ne;
      if constexpr (d == NW) pawn |= passes.to_nw;
      if constexpr (d == N)
        second |= pawns & line & kRank2 & shifted<kBack>(empty & shifted<kBack>(to));
      promoting[d == NW ? 0 : d == N ? 1 : 2] = pawn & kRank7;
      first |= pawn;
    }
    V squares[7] = {first, second};
    for (int distance = 3; distance <= 7; ++distance) {
      reaching = shifted<kBack>(reaching & empty & kStepInside[d]);
      squares[distance - 1] = sources & reaching;
    }
    if constexpr (d == E || d == W) {
      const V to = d == E ? to_east : to_west;
      squares[1] |= info.king & shifted<2 * kBack>(to);
      if (chess960)
        for (int distance = 1; distance <= 7; ++distance)
          squares[distance - 1] |= info.king & (d == E ? to >> distance : to << distance);
    }
    for (int distance = 1; distance <= 7; ++distance)
      add(8 * (distance - 1) + d, squares[distance - 1]);
  });
  for (int under = 0; under < 9; ++under) set(kUnderpromotionPlane + under, promoting[under % 3]);
  return {some,
          info.check,
          {info.check_mask,
           info.attacks,
           {info.pins[0], info.pins[1], info.pins[2], info.pins[3]},
           castles.east | castles.west,
           passes.to_ne | passes.to_nw}};
}

// Plays a legal ply on each board; the boards as the other side sees them. Where `ply` has no
// square, a board is only handed over.
template <class V>
RUNGS_INLINE Boards<V> play(const Boards<V>& b, const Ply<V>& ply) {
  using namespace boards;
  const V from = ply.from, to = ply.to, theirs = b.theirs();
  const V pawn = b.piece[PAWN] & from, king = b.piece[KING] & from;
  V emptied = from | to | where(pawn, en_passant_target(b) & to) >> 8;
  V placed[6];
  for (int type = PAWN; type <= KING; ++type) placed[type] = where_meet(b.piece[type], from, to);
  const V promotes = placed[PAWN] & kRank8;
  if (any(promotes)) {
    placed[PAWN] ^= promotes;
    for (int type = KNIGHT; type <= QUEEN; ++type)
      placed[type] |= unless(ply.promoted ^ static_cast<Bitboard>(type), promotes);
  }
  // The king lands on its own rook, or moves two squares, only in castling. King and rook end up
  // next to each other, wherever they stood (Chess960).
  const V onto_rook = b.piece[ROOK] & b.own & to;
  const V castles = where(onto_rook | ((from << 2 | from >> 2) & to), king);
  if (any(castles)) {
    const V east = more(to, from);
    const V corner = unless(onto_rook, where(castles, (east & bit(7)) | (~east & bit(0))));
    emptied |= corner;
    const auto place = [&](int type, int on_east, int on_west) {
      const V square = (east & bit(on_east)) | (~east & bit(on_west));
      placed[type] = unless(castles, placed[type]) | where(castles, square);
    };
    place(KING, 6, 2);
    place(ROOK, 5, 3);
  }

  Boards<V> next;
  for (int type = PAWN; type <= KING; ++type)
    next.piece[type] = flipped((b.piece[type] & ~emptied) | placed[type]);
  next.own = flipped(theirs & ~emptied);

  // A pawn that advances two squares may be captured by one that then stands next to it.
  const V beside = (moved<E>(to) | moved<W>(to)) & b.piece[PAWN] & theirs;
  const V passes = where_meet(from << 16, to, where(pawn, beside));
  const V file = counts_of(from - 1) & 7;
  // A rook's castling right ends when it moves or is captured, both rights when the king moves.
  const V own_rights = unless(king, b.state & ~from & kRank1);
  const V their_rights = b.state >> 8 & ~(to >> 56) & kRank1;
  constexpr Bitboard kNumber = Bitboard{0xFFFF} << kNumberBit;
  const V clock = b.state & kClock, black = b.state & bit(kBlackBit);
  const V ticked = clock + (~more(clock, V{} + (kClock - 1)) & bit(kClockBit));
  next.state = their_rights | own_rights << 8 |
               (where(passes, file) | unless(passes, V{} + kNoFile)) << kEnPassantBit |
               unless(pawn | (theirs & to), ticked) |
               ((b.state + (black >> (kBlackBit - kNumberBit))) & kNumber) |
               (black ^ bit(kBlackBit));
  return next;
}

// Boards of as many positions, and back.
template <class V>
inline Boards<V> load_boards(const Position* positions) {
  V word[8];
  if constexpr (kIsWord<V>) {
    std::memcpy(word, positions, sizeof word);
  }
#ifndef __CUDACC_RTC__
  else
    for (int first = 0; first < 8; first += kWidth<V>) {
      V(&rows)[kWidth<V>] = reinterpret_cast<V(&)[kWidth<V>]>(word[first]);
      for (int i = 0; i < kWidth<V>; ++i)
        std::memcpy(&rows[i], reinterpret_cast<const Bitboard*>(positions + i) + first, sizeof(V));
      transpose(rows);
    }
#endif
  return {{word[0], word[1], word[2], word[3], word[4], word[5]}, word[6], word[7]};
}
template <class V>
inline void store_boards(const Boards<V>& b, Position* positions) {
  V word[8] = {b.piece[0], b.piece[1], b.piece[2], b.piece[3],
               b.piece[4], b.piece[5], b.own,      b.state};
  if constexpr (kIsWord<V>) {
    std::memcpy(static_cast<void*>(positions), word, sizeof word);
  }
#ifndef __CUDACC_RTC__
  else
    for (int first = 0; first < 8; first += kWidth<V>) {
      V(&rows)[kWidth<V>] = reinterpret_cast<V(&)[kWidth<V>]>(word[first]);
      transpose(rows);
      for (int i = 0; i < kWidth<V>; ++i)
        std::memcpy(reinterpret_cast<Bitboard*>(static_cast<void*>(positions + i)) + first,
                    &rows[i], sizeof(V));
    }
#endif
}

// Plays the legal action `a` in `p` and writes the position as the other side sees it to `next`,
// which may be `p` itself.
inline void play(const Position& p, Action a, Position& next) {
  const Ply<Bitboard> ply = {bit(from_square(a)), bit(to_square(a)), promoted_piece(a)};
  store_boards(play(load_boards<Bitboard>(&p), ply), &next);
}

inline void play(Position& p, Action a) { play(p, a, p); }

// Writes all legal actions of `p` to `legal`.
inline Found<Bitboard> generate(const Position& p, LegalActions& legal) {
  return generate(load_boards<Bitboard>(&p),
                  [&](int plane, Bitboard squares) { legal.plane[plane] = squares; });
}

// Whether the mover's king is attacked.
inline bool king_attacked(const Position& p) {
  using namespace boards;
  const Boards<Bitboard> b = load_boards<Bitboard>(&p);
  const Bitboard king = p.piece[KING] & p.own, theirs = p.theirs();
  return attackers(b, king, theirs, ~p.occupied()) | (king_attacks(king) & p.piece[KING] & theirs);
}

// The number of legal actions of `p`.
inline std::uint64_t count_actions(const Position& p) {
  return action_counts(load_boards<Bitboard>(&p));
}

}  // namespace rungs::chess
