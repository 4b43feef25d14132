// Versions 7 and 8 of a step: the mask itself instead of a list of moves, plane by plane.
#pragma once
#include <type_traits>

#include "../env/mask.hpp"
#include "step_bitboards.hpp"

namespace rungs::steps {

// Version 7: the mask instead of a list. A plane of the mask is the set of squares from which one
// kind of move may be played, so all pieces of a kind move by rotating their bitboard: eight
// directions times seven distances, whatever stands on the board. The cost: work for pieces that
// are not there.
namespace planes {

// `Black` is a bool here, and a constant in the next version.
template <class Black>
struct Generator {
  const Sets& board;
  const Black black;  // who moves
  Bitboard plane[chess::kPlanes] = {};

  const Bitboard (&own)[6] = board.of[black], (&theirs)[6] = board.of[!black];
  const Bitboard ours = board.side(black), others = board.side(!black), empty = ~(ours | others);
  const Bitboard king = own[KING];
  Bitboard rays[8] = {}, pins[8] = {}, pinned = 0, attacks = 0, check_mask = chess::kAll;
  bool check = false;

  // All squares that a set of sliders attacks in a direction over empty squares, in three
  // doublings.
  static Bitboard fill(Bitboard from, Bitboard empty, int way) {
    Bitboard open = empty & step(chess::kAll, way);
    const int one = chess::kStep[way];
    from |= open & std::rotl(from, one);
    open &= std::rotl(open, one);
    from |= open & std::rotl(from, 2 * one);
    open &= std::rotl(open, 2 * one);
    from |= open & std::rotl(from, 4 * one);
    return step(from, way);
  }

  static Bitboard sliders(const Bitboard (&of)[6], int way) {
    return of[QUEEN] | of[way % 2 ? BISHOP : ROOK];
  }

  void find_checks_and_pins() {
    Bitboard slid[8], behind = 0, sources = 0;
    attacks =
        steps_around(theirs[KING]) | jumps(theirs[KNIGHT]) | pawn_attacks(theirs[PAWN], !black);
    for (int way = 0; way < 8; ++way) {
      slid[way] = fill(sliders(theirs, way), empty, way);
      rays[way] = fill(king, empty, way);
      attacks |= slid[way];
      if (slid[way] & king) {  // the king does not shield the square behind it
        behind |= step(king, way);
        sources |= fill(king, empty, (way + 4) % 8);
      }
    }
    for (int way = 0; way < 8; ++way) {
      pins[way] = rays[way] & ours & slid[(way + 4) % 8];
      pinned |= pins[way];
    }
    check = attacks & king;
    attacks |= behind;
    if (!check) return;
    const Bitboard near =
        (jumps(king) & theirs[KNIGHT]) | (pawn_attacks(king, black) & theirs[PAWN]);
    const Bitboard checkers = (sources & others) | near;
    check_mask = chess::count(checkers) > 1 ? 0 : sources | near;
  }

  // Pieces that may move in a direction: a pinned one stays on its line.
  Bitboard free(Bitboard pieces, int way) const {
    return pieces & (~pinned | pins[way] | pins[(way + 4) % 8]);
  }

  // Adds from-squares to a plane, flipped for Black, as the mask is seen from the side to move.
  void put(int at, Bitboard from) { plane[at] |= black ? chess::flip(from) : from; }
  int seen(int way) const { return black ? (12 - way) % 8 : way; }

  // The squares from which `k` steps lead to `to`.
  static Bitboard back(Bitboard to, int way, int k) {
    return std::rotr(to & step(chess::kAll, way), k * chess::kStep[way]);
  }

  void add_slides() {
    for (int way = 0; way < 8; ++way) {
      Bitboard from = free(sliders(own, way), way);
      for (int k = 1; k < 8; ++k) {
        put(8 * (k - 1) + seen(way), from & back(~ours & check_mask, way, k));
        from &= back(empty, way, k);
      }
    }
  }

  void add_king_and_knights() {
    for (int way = 0; way < 8; ++way) {
      put(seen(way), king & back(~ours & ~attacks, way, 1));
      constexpr Bitboard kEast1 = ~chess::kFileA, kEast2 = ~chess::kFileAB;
      constexpr Bitboard kWest1 = ~chess::kFileH, kWest2 = ~chess::kFileGH;
      constexpr Bitboard inside[8] = {kEast1 & ~chess::kRank12, kEast2 & ~chess::kRank1,
                                      kEast2 & ~chess::kRank8,  kEast1 & ~chess::kRank78,
                                      kWest1 & ~chess::kRank78, kWest2 & ~chess::kRank8,
                                      kWest2 & ~chess::kRank1,  kWest1 & ~chess::kRank12};
      const Bitboard destinations = ~ours & check_mask & inside[way];
      const int jump = black ? (11 - way) % 8 : way;
      put(chess::kKnightPlane + jump,
          own[KNIGHT] & ~pinned & std::rotr(destinations, chess::kJump[way]));
    }
    const int home = black ? 56 : 0;
    const Bitboard unsafe = attacks >> home;
    const Bitboard to = check ? 0 : castling_targets(board, ~empty) >> home;
    if ((to & 0x40) && !(unsafe & 0x60)) put(8 + chess::E, king);
    if ((to & 0x04) && !(unsafe & 0x0C)) put(8 + chess::W, king);
  }

  Bitboard en_passant_from(int way) const {
    if (board.en_passant < 0) return 0;
    const Bitboard to = bit(board.en_passant), from = back(to, way, 1) & own[PAWN];
    const Bitboard taken = black ? to << 8 : to >> 8;
    const Bitboard occupied = ~empty ^ from ^ to ^ taken;
    if (!from) return 0;
    Bitboard seen =
        (jumps(king) & theirs[KNIGHT]) | (pawn_attacks(king, black) & theirs[PAWN] & ~taken);
    for (int line = 0; line < 8; ++line)
      seen |= fill(king, ~occupied, line) & sliders(theirs, line);
    return seen ? 0 : from;
  }

  void add_pawns() {
    const int north = seen(chess::N);  // Black's go south
    const Bitboard pawns = free(own[PAWN], north), to = empty & check_mask;
    const Bitboard second = black ? chess::kRank7 : chess::kRank2;
    put_pawns(chess::N, pawns & back(to, north, 1));
    put(8 + chess::N, pawns & second & back(empty, north, 1) & back(to, north, 2));
    for (const int ahead : {chess::NE, chess::NW}) {
      const int way = seen(ahead);
      const Bitboard takes = free(own[PAWN], way) & back(others & check_mask, way, 1);
      put_pawns(ahead, takes | en_passant_from(way));
    }
  }
  void put_pawns(int way, Bitboard from) {
    put(way, from);
    const Bitboard promoting = from & (black ? chess::kRank2 : chess::kRank7);
    const int file = way == chess::NW ? 0 : way == chess::N ? 1 : 2;
    for (int piece = 0; piece < 3; ++piece)
      put(chess::kUnderpromotionPlane + 3 * piece + file, promoting);
  }

  Outcome write(std::uint8_t* mask) {
    find_checks_and_pins();
    add_slides();
    add_king_and_knights();
    add_pawns();
    return write_planes(plane, check, mask);
  }

  static Outcome write_planes(const Bitboard (&plane)[chess::kPlanes], bool check,
                              std::uint8_t* mask) {
    std::memset(mask, 0, chess::kActions);
    Bitboard any = 0;
    for (int i = 0; i < chess::kPlanes; ++i) {
      any |= plane[i];
      for (Bitboard left = plane[i]; left;) mask[64 * i + pop(left)] = 1;
    }
    return outcome(any, check);
  }
};

struct Board : Sets {
  using Sets::Sets;

  Outcome write_legal(std::uint8_t* mask) const {
    return Generator<bool>{*this, black}.write(mask);
  }
};

}  // namespace planes

// Version 8: one side instead of two colours. After each move the board is flipped, so that the
// side to move always goes north: the generator of version 7 with `black` a constant, from which
// the compiler removes every branch on colour, and no plane is flipped. The cost: flipping the
// board, twelve byte swaps a move.
namespace side {

struct Board : Sets {
  explicit Board(const chess::Position& position) : Sets(position) {
    if (black) turn();
  }

  void turn() {
    for (int type = PAWN; type <= KING; ++type) {
      const Bitboard own = of[0][type];
      of[0][type] = chess::flip(of[1][type]);
      of[1][type] = chess::flip(own);
    }
    rights = static_cast<std::uint8_t>(rights >> 2 | (rights & 3) << 2);
    if (en_passant >= 0) en_passant ^= 56;
    black = false;
  }

  void play(Action action) {
    Sets::play(action);
    turn();
  }

  Outcome write_legal(std::uint8_t* mask) const {
    return planes::Generator<std::false_type>{*this, {}}.write(mask);
  }
};

}  // namespace side

}  // namespace rungs::steps
