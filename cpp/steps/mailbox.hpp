// A board as one would first write it: 64 squares and what stands on each.
#pragma once
#include <cstdlib>

#include "move.hpp"

namespace rungs::steps {

// A piece of White's is its type + 1, one of Black's the negative of that, an empty square 0.
struct Mailbox {
  std::int8_t square[64] = {};
  bool black;
  std::uint8_t rights;     // to castle
  std::int8_t en_passant;  // the square that a pawn has just passed, or -1

  explicit Mailbox(const chess::Position& position) : black(position.black) {
    const chess::Position p = as_white(position);
    for (int i = 0; i < 64; ++i)
      if (p.occupied() >> i & 1) {
        const int piece = chess::piece_on(p, i) + 1;
        square[i] = static_cast<std::int8_t>(p.own >> i & 1 ? piece : -piece);
      }
    rights = static_cast<std::uint8_t>(rights_of(p));
    const bool any = p.en_passant != chess::kNoFile;
    en_passant = static_cast<std::int8_t>(any ? (black ? 16 : 40) + p.en_passant : -1);
  }

  bool holds(int at, Piece type, bool blacks) const {
    return square[at] == (blacks ? -(type + 1) : type + 1);
  }
  bool is_empty(int at) const { return square[at] == 0; }
  bool is_side(int at, bool blacks) const { return blacks ? square[at] < 0 : square[at] > 0; }

  int king(bool blacks) const {
    int at = 0;
    while (!holds(at, KING, blacks)) ++at;
    return at;
  }

  void play(Move move) {
    const int from = move.from, to = move.to;
    const bool pawn = holds(from, PAWN, black), king = holds(from, KING, black);
    if (pawn && to == en_passant) square[to + (black ? 8 : -8)] = 0;
    if (king && std::abs(to - from) == 2) {
      const int corner = to > from ? from + 3 : from - 4;
      square[(from + to) / 2] = square[corner];
      square[corner] = 0;
    }
    square[to] = square[from];
    square[from] = 0;
    const int turned = move.promotion + 1;
    if (move.promotion != PAWN) square[to] = static_cast<std::int8_t>(black ? -turned : turned);
    en_passant = static_cast<std::int8_t>(pawn && std::abs(to - from) == 16 ? (from + to) / 2 : -1);
    rights &= static_cast<std::uint8_t>(~(rights_of(from) | rights_of(to)));
    black = !black;
  }

  void play(Action action) {
    const int from = view(chess::from_square(action), black);
    play(move_of(action, black, holds(from, PAWN, black)));
  }
};

// The square so many files to the east and ranks to the north, or -1 where the board ends.
inline int beside(int square, int east, int north) {
  const int file = square % 8 + east, rank = square / 8 + north;
  return file < 0 || file > 7 || rank < 0 || rank > 7 ? -1 : 8 * rank + file;
}

// East and north, in compass order, and the knight's jumps.
constexpr int kWay[8][2] = {{0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}};
constexpr int kKnight[8][2] = {{1, 2},   {2, 1},   {2, -1}, {1, -2},
                               {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

// Whether a piece slides in a direction of the compass: odd ones are diagonals.
constexpr bool slides(int type, int way) {
  return type == QUEEN || type == (way % 2 ? BISHOP : ROOK);
}

namespace detail {

template <class Moves>
void add_pawn(int from, int to, Moves& moves) {
  if (to >= 8 && to < 56) return moves.push_back(Move::between(from, to));
  for (const Piece promotion : {KNIGHT, BISHOP, ROOK, QUEEN})
    moves.push_back(Move::between(from, to, promotion));
}

template <class Moves>
void add_pawn_moves(const Mailbox& board, int from, Moves& moves) {
  const int north = board.black ? -1 : 1;
  const int one = from + 8 * north;
  if (board.is_empty(one)) {
    add_pawn(from, one, moves);
    if (from / 8 == (board.black ? 6 : 1) && board.is_empty(one + 8 * north))
      add_pawn(from, one + 8 * north, moves);
  }
  for (const int east : {-1, 1}) {
    const int to = beside(from, east, north);
    if (to >= 0 && (board.is_side(to, !board.black) || to == board.en_passant))
      add_pawn(from, to, moves);
  }
}

template <class Moves>
void add_castling(const Mailbox& board, int from, Moves& moves) {
  const int rights = board.black ? board.rights >> 2 : board.rights;
  const auto add = [&](int to) { moves.push_back(Move::between(from, to)); };
  if ((rights & 1) && board.is_empty(from + 1) && board.is_empty(from + 2)) add(from + 2);
  if ((rights & 2) && board.is_empty(from - 1) && board.is_empty(from - 2) &&
      board.is_empty(from - 3))
    add(from - 2);
}

}  // namespace detail

// Adds all moves of who is to move, whether or not they leave the king to be taken.
template <class Moves>
void add_moves(const Mailbox& board, Moves& moves) {
  // Adds a move unless it leaves the board or lands on an own piece; whether one may slide on.
  const auto add = [&](int from, int to) {
    if (to < 0 || board.is_side(to, board.black)) return false;
    moves.push_back(Move::between(from, to));
    return board.is_empty(to);
  };
  for (int from = 0; from < 64; ++from) {
    if (!board.is_side(from, board.black)) continue;
    const int type = std::abs(board.square[from]) - 1;
    if (type == PAWN) detail::add_pawn_moves(board, from, moves);
    if (type == KNIGHT)
      for (const auto& [east, north] : kKnight) add(from, beside(from, east, north));
    if (type == KING) {
      for (const auto& [east, north] : kWay) add(from, beside(from, east, north));
      detail::add_castling(board, from, moves);
    }
    for (int way = 0; way < 8; ++way) {
      if (!slides(type, way)) continue;
      const auto& [east, north] = kWay[way];
      int k = 1;
      while (add(from, beside(from, k * east, k * north))) ++k;
    }
  }
}

// Adds those that are legal: `hangs(board)` says whether the king of who has just moved can be
// taken. A king that castles may neither come from an attacked square nor cross one.
template <class Hangs, class Moves>
void add_legal(const Mailbox& board, const Moves& tried, Hangs hangs, Moves& legal) {
  const auto is_safe = [&](Move move) {
    Mailbox next = board;
    next.play(move);
    return !hangs(next);
  };
  const auto may_castle = [&](Move move) {
    Mailbox passed = board;
    passed.black = !board.black;
    return !hangs(passed) && is_safe(Move::between(move.from, (move.from + move.to) / 2));
  };
  for (const Move& move : tried) {
    const bool castles =
        board.holds(move.from, KING, board.black) && std::abs(move.to - move.from) == 2;
    if (is_safe(move) && (!castles || may_castle(move))) legal.push_back(move);
  }
}

}  // namespace rungs::steps
