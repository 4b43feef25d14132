// A board as sets of squares: twelve bitboards, one for each kind of piece of either side.
#pragma once
#include "../chess/perft.hpp"
#include "move.hpp"

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

// A list of moves with room for the most that there are; nothing is allocated.
struct MoveList {
  Move move[chess::kMostActions];
  int number = 0;

  bool empty() const { return number == 0; }
  const Move* begin() const { return move; }
  const Move* end() const { return move + number; }

  // Adds moves from a square to each of a set.
  void add(int from, Bitboard targets) {
    while (targets) move[number++] = Move::between(from, pop(targets));
  }
  // Adds a pawn's moves, four where it is promoted.
  void add_pawn(int from, Bitboard targets) {
    while (targets) {
      const int to = pop(targets);
      if (to >= 8 && to < 56) {
        move[number++] = Move::between(from, to);
        continue;
      }
      for (const Piece promotion : {KNIGHT, BISHOP, ROOK, QUEEN})
        move[number++] = Move::between(from, to, promotion);
    }
  }
};

// One step in a direction of the compass; what would leave the board is gone.
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
  const Bitboard beside = step(b, chess::E) | step(b, chess::W);
  return black ? beside >> 8 : beside << 8;
}

// Squares that a piece of a type sees. `Line::of(square, way, occupied)` are those in one direction
// of the compass, up to the first piece and with it.
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

// Where a pawn may go.
inline Bitboard pawn_targets(const Sets& board, int from, Bitboard occupied, Bitboard theirs) {
  const auto ahead = [&](Bitboard b) { return (board.black ? b >> 8 : b << 8) & ~occupied; };
  const Bitboard third = board.black ? chess::kRank1 << 40 : chess::kRank1 << 16;
  const Bitboard passed = board.en_passant < 0 ? 0 : bit(board.en_passant);
  const Bitboard one = ahead(bit(from));
  return one | ahead(one & third) | (pawn_attacks(bit(from), board.black) & (theirs | passed));
}

// Where the king may castle to, as far as rights and empty squares go.
inline Bitboard castling_targets(const Sets& board, Bitboard occupied) {
  const int rights = board.black ? board.rights >> 2 : board.rights;
  const int home = board.black ? 56 : 0;
  Bitboard targets = 0;
  if ((rights & 1) && !(occupied >> home & 0x60)) targets |= bit(home + 6);
  if ((rights & 2) && !(occupied >> home & 0x0E)) targets |= bit(home + 2);
  return targets;
}

// Lists all moves of who is to move, whether or not they leave the king to be taken.
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

// Whether a move that `add_moves` listed is legal: it is made on a copy of the board.
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
Outcome write_tried(const Sets& board, std::uint8_t* mask) {
  MoveList moves, legal;
  add_moves<Line>(board, moves);
  for (const Move& move : moves)
    if (is_legal<Line>(board, move)) legal.move[legal.number++] = move;
  write_list(legal, board.black, mask);
  const int king = board.king(board.black);
  return outcome(!legal.empty(), attacked<Line>(board, king, !board.black, board.occupied()));
}

}  // namespace rungs::steps
