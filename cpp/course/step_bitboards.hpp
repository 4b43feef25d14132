// Versions 4 to 6 of a step: a board as sets of squares, twelve bitboards, one for each kind of
// piece of either side, and lists of moves that are not allocated.
#pragma once
#include "step_mailbox.hpp"

namespace rungs::steps {

using chess::bit, chess::pop, chess::lowest;

struct Sets {
  Bitboard of[2][6];       // White's, Black's
  bool black;              // who moves
  std::uint8_t rights;     // to castle
  std::int8_t en_passant;  // the square that a pawn has just passed, or -1

  explicit Sets(const chess::Position& position) : black(position.black) {
    const chess::Position p = as_white(position);
    for (int type = PAWN; type <= KING; ++type) {
      of[0][type] = p.piece[type] & p.own;
      of[1][type] = p.piece[type] & ~p.own;
    }
    rights = static_cast<std::uint8_t>(rights_of(p));
    const bool any = p.en_passant != chess::kNoFile;
    en_passant = static_cast<std::int8_t>(any ? (black ? 16 : 40) + p.en_passant : -1);
  }

  Bitboard side(bool blacks) const {
    const auto& b = of[blacks];
    return b[PAWN] | b[KNIGHT] | b[BISHOP] | b[ROOK] | b[QUEEN] | b[KING];
  }
  Bitboard occupied() const { return side(false) | side(true); }
  int king(bool blacks) const { return lowest(of[blacks][KING]); }

  void play(Move move) {
    const Bitboard from = bit(move.from), to = bit(move.to);
    Bitboard *const own = of[black], *const theirs = of[!black];
    int type = PAWN;
    while (!(own[type] & from)) ++type;
    for (int taken = PAWN; taken <= KING; ++taken) theirs[taken] &= ~to;
    if (type == PAWN && move.to == en_passant) theirs[PAWN] &= ~(black ? to << 8 : to >> 8);
    own[type] ^= from;
    own[move.promotion != PAWN ? move.promotion : type] |= to;
    const int distance = move.to > move.from ? move.to - move.from : move.from - move.to;
    if (type == KING && distance == 2) {
      const bool east = move.to > move.from;
      own[ROOK] ^= bit(east ? move.from + 3 : move.from - 4) | bit((move.from + move.to) / 2);
    }
    const bool twice = type == PAWN && distance == 16;
    en_passant = static_cast<std::int8_t>(twice ? (move.from + move.to) / 2 : -1);
    rights &= static_cast<std::uint8_t>(~(rights_of(move.from) | rights_of(move.to)));
    black = !black;
  }

  void play(Action action) {
    const int from = view(chess::from_square(action), black);
    play(move_of(action, black, of[black][PAWN] >> from & 1));
  }
};

// Version 3's list of moves, to which sets of squares are added.
struct MoveList : arrays::Moves {
  // Adds moves from a square to each of a set.
  void add(int from, Bitboard targets) {
    while (targets) push_back(Move::between(from, pop(targets)));
  }
  // Adds a pawn's moves, four for each promotion.
  void add_pawn(int from, Bitboard targets) {
    while (targets) detail::add_pawn(from, pop(targets), *this);
  }
};

// One step in a direction of the compass; pieces that would leave the board are dropped.
constexpr Bitboard step(Bitboard b, int way) {
  constexpr Bitboard inside[8] = {~chess::kRank1, ~(chess::kRank1 | chess::kFileA),
                                  ~chess::kFileA, ~(chess::kRank8 | chess::kFileA),
                                  ~chess::kRank8, ~(chess::kRank8 | chess::kFileH),
                                  ~chess::kFileH, ~(chess::kRank1 | chess::kFileH)};
  return std::rotl(b, chess::kStep[way]) & inside[way];
}

constexpr Bitboard jumps(Bitboard b) {
  const Bitboard one = step(b, chess::E) | step(b, chess::W);
  const Bitboard two = step(step(b, chess::E), chess::E) | step(step(b, chess::W), chess::W);
  return one << 16 | one >> 16 | two << 8 | two >> 8;
}

constexpr Bitboard steps_around(Bitboard b) {
  const Bitboard row = b | step(b, chess::E) | step(b, chess::W);
  return (row | row << 8 | row >> 8) & ~b;
}

// The squares that pawns on `b` attack.
constexpr Bitboard pawn_attacks(Bitboard b, bool black) {
  const Bitboard neighbours = step(b, chess::E) | step(b, chess::W);
  return black ? neighbours >> 8 : neighbours << 8;
}

// The squares that a slider attacks. `Line::of(square, way, occupied)` gives those in one direction
// of the compass, up to and including the first piece.
template <class Line>
Bitboard sliding(int type, int square, Bitboard occupied) {
  Bitboard seen = 0;
  for (int way = type == BISHOP; way < 8; way += type == QUEEN ? 1 : 2)
    seen |= Line::of(square, way, occupied);
  return seen;
}

template <class Line>
bool attacked(const Sets& board, int square, bool by_black, Bitboard occupied) {
  const auto& by = board.of[by_black];
  const Bitboard at = bit(square);
  return (jumps(at) & by[KNIGHT]) || (steps_around(at) & by[KING]) ||
         (pawn_attacks(at, !by_black) & by[PAWN]) ||
         (sliding<Line>(BISHOP, square, occupied) & (by[BISHOP] | by[QUEEN])) ||
         (sliding<Line>(ROOK, square, occupied) & (by[ROOK] | by[QUEEN]));
}

// The squares that a pawn may move to.
inline Bitboard pawn_targets(const Sets& board, int from, Bitboard occupied, Bitboard theirs) {
  const auto ahead = [&](Bitboard b) { return (board.black ? b >> 8 : b << 8) & ~occupied; };
  const Bitboard third = board.black ? chess::kRank1 << 40 : chess::kRank1 << 16;
  const Bitboard passed = board.en_passant < 0 ? 0 : bit(board.en_passant);
  const Bitboard one = ahead(bit(from));
  return one | ahead(one & third) | (pawn_attacks(bit(from), board.black) & (theirs | passed));
}

// The squares that the king may castle to, judged by rights and empty squares alone.
inline Bitboard castling_targets(const Sets& board, Bitboard occupied) {
  const int rights = board.black ? board.rights >> 2 : board.rights;
  const int home = board.black ? 56 : 0;
  Bitboard targets = 0;
  if ((rights & 1) && !(occupied >> home & 0x60)) targets |= bit(home + 6);
  if ((rights & 2) && !(occupied >> home & 0x0E)) targets |= bit(home + 2);
  return targets;
}

// Lists all moves of the side to move, whether or not they leave its king in check (pseudo-legal).
template <class Line>
void add_moves(const Sets& board, MoveList& moves) {
  const Bitboard own = board.side(board.black), theirs = board.side(!board.black);
  const Bitboard occupied = own | theirs;
  const auto& pieces = board.of[board.black];
  for (Bitboard left = pieces[PAWN]; left;) {
    const int from = pop(left);
    moves.add_pawn(from, pawn_targets(board, from, occupied, theirs));
  }
  for (Bitboard left = pieces[KNIGHT]; left;) {
    const int from = pop(left);
    moves.add(from, jumps(bit(from)) & ~own);
  }
  for (int type = BISHOP; type <= QUEEN; ++type)
    for (Bitboard left = pieces[type]; left;) {
      const int from = pop(left);
      moves.add(from, sliding<Line>(type, from, occupied) & ~own);
    }
  const int king = board.king(board.black);
  moves.add(king, (steps_around(bit(king)) & ~own) | castling_targets(board, occupied));
}

// Whether a move that `add_moves` listed is legal: tried on a copy of the board.
template <class Line>
bool is_legal(const Sets& board, Move move) {
  Sets next = board;
  next.play(move);
  const auto safe = [&](int square) {
    return !attacked<Line>(next, square, next.black, next.occupied());
  };
  if (!safe(next.king(board.black))) return false;
  const bool castles = move.from == board.king(board.black) &&
                       (move.to == move.from + 2 || move.to == move.from - 2);
  return !castles || (safe(move.from) && safe((move.from + move.to) / 2));
}

// The versions that try every move: list, try, write.
template <class Line>
struct TryingBoard : Sets {
  using Sets::Sets;

  Outcome write_legal(std::uint8_t* mask) const {
    MoveList moves, legal;
    add_moves<Line>(*this, moves);
    for (const Move& move : moves)
      if (is_legal<Line>(*this, move)) legal.push_back(move);
    write_list(legal, black, mask);
    return outcome(!legal.empty(), attacked<Line>(*this, king(black), !black, occupied()));
  }
};

// Version 4: sets of squares. The board is twelve 64-bit numbers, and one instruction works on all
// squares at once; a piece is found by its bit instead of by searching 64 squares. Sliders still
// walk square by square. The cost: a square no longer says what stands on it.
namespace bitboards {

struct Walk {
  static Bitboard of(int square, int way, Bitboard occupied) {
    Bitboard seen = 0, at = step(bit(square), way);
    while (at) {
      seen |= at;
      at = step(at & ~occupied, way);
    }
    return seen;
  }
};

using Board = TryingBoard<Walk>;

}  // namespace bitboards

// Version 5: sliders by table. The whole line from a square to the board's edge is read from a
// table, and what lies behind the first piece on it is taken away: no walk, no loop whose end the
// processor must guess. The cost: 4 KB of the L1 cache.
namespace rays {

struct Table {
  Bitboard from[8][64];
};
constexpr Table table() {
  Table rays{};
  for (int way = 0; way < 8; ++way)
    for (int square = 0; square < 64; ++square)
      for (Bitboard at = step(bit(square), way); at; at = step(at, way))
        rays.from[way][square] |= at;
  return rays;
}
constexpr Table kRays = table();

struct Lookup {
  // The first piece is the lowest bit where the line goes up in numbers (N, NE, E, NW), else the
  // highest.
  static Bitboard of(int square, int way, Bitboard occupied) {
    const Bitboard ray = kRays.from[way][square], met = ray & occupied;
    const bool up = way <= chess::E || way == chess::NW;
    if (!met) return ray;
    const int first = up ? lowest(met) : 63 - std::countl_zero(met);
    return ray ^ kRays.from[way][first];
  }
};

using Board = TryingBoard<Lookup>;

}  // namespace rays

// Version 6: legality without trying. Three sets tell beforehand what is legal: the squares that
// the opponent attacks (for the king), the check mask (for the other pieces), and the line on which
// a pinned piece stays. No move is made and tested, except en passant. The cost: eight lookups from
// the king.
namespace pins {

using Line = rays::Lookup;

struct CheckInfo {
  Bitboard check_mask = chess::kAll;  // where other pieces must land: anywhere, unless in check
  Bitboard pinned = 0;
  Bitboard line[64];  // where each pinned piece may land
  int checkers = 0;

  explicit CheckInfo(const Sets& board) {
    const Bitboard own = board.side(board.black), occupied = board.occupied();
    const auto& theirs = board.of[!board.black];
    const int king = board.king(board.black);
    const Bitboard near =
        (jumps(bit(king)) & theirs[KNIGHT]) | (pawn_attacks(bit(king), board.black) & theirs[PAWN]);
    for (Bitboard left = near; left;) check(bit(pop(left)));
    for (int way = 0; way < 8; ++way) {
      const Bitboard sliders = theirs[QUEEN] | theirs[way % 2 ? BISHOP : ROOK];
      const Bitboard seen = Line::of(king, way, occupied), first = seen & occupied;
      if (first & sliders) check(seen);
      if (!(first & own)) continue;
      const Bitboard beyond = Line::of(lowest(first), way, occupied);
      if (!(beyond & sliders)) continue;
      pinned |= first;
      line[lowest(first)] = seen | beyond;
    }
  }

  Bitboard allowed(int from) const {
    return pinned >> from & 1 ? check_mask & line[from] : check_mask;
  }

 private:
  // In check other pieces must land on these squares; in double check only the king moves.
  void check(Bitboard squares) { check_mask = checkers++ ? 0 : squares; }
};

inline void add_king_moves(const Sets& board, const CheckInfo& info, MoveList& moves) {
  const Bitboard own = board.side(board.black), occupied = board.occupied();
  const int king = board.king(board.black);
  const auto safe = [&](int square) {  // as the king does not shield the square behind it
    return !attacked<Line>(board, square, !board.black, occupied ^ bit(king));
  };
  for (Bitboard left = steps_around(bit(king)) & ~own; left;) {
    const int to = pop(left);
    if (safe(to)) moves.add(king, bit(to));
  }
  if (info.checkers) return;
  for (Bitboard left = castling_targets(board, occupied); left;) {
    const int to = pop(left);
    if (safe(to) && safe((king + to) / 2)) moves.add(king, bit(to));
  }
}

inline void add_legal(const Sets& board, const CheckInfo& info, MoveList& moves) {
  const Bitboard own = board.side(board.black), theirs = board.side(!board.black);
  const Bitboard occupied = own | theirs;
  const auto& pieces = board.of[board.black];
  add_king_moves(board, info, moves);
  if (info.checkers > 1) return;
  for (Bitboard left = pieces[KNIGHT] & ~info.pinned; left;) {
    const int from = pop(left);
    moves.add(from, jumps(bit(from)) & ~own & info.check_mask);
  }
  for (int type = BISHOP; type <= QUEEN; ++type)
    for (Bitboard left = pieces[type]; left;) {
      const int from = pop(left);
      moves.add(from, sliding<Line>(type, from, occupied) & ~own & info.allowed(from));
    }
  const Bitboard passed = board.en_passant < 0 ? 0 : bit(board.en_passant);
  for (Bitboard left = pieces[PAWN]; left;) {
    const int from = pop(left);
    const Bitboard targets = pawn_targets(board, from, occupied, theirs);
    moves.add_pawn(from, targets & ~passed & info.allowed(from));
    // Two pawns leave one rank at once, which pins do not cover: this move is tried.
    if ((targets & passed) && is_legal<Line>(board, Move::between(from, board.en_passant)))
      moves.add(from, passed);
  }
}

struct Board : Sets {
  using Sets::Sets;

  Outcome write_legal(std::uint8_t* mask) const {
    const CheckInfo info(*this);
    MoveList legal;
    add_legal(*this, info, legal);
    write_list(legal, black, mask);
    return outcome(!legal.empty(), info.checkers > 0);
  }
};

}  // namespace pins

}  // namespace rungs::steps
