// Versions 1 to 3 of a step: a board of 64 squares that says what stands on each, and lists of
// moves.
//
// First what all versions share: a move as two squares, its action, and the mask as bytes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "../chess/game.hpp"

namespace rungs::steps {

using chess::Action, chess::Bitboard, chess::Piece;
using chess::PAWN, chess::KNIGHT, chess::BISHOP, chess::ROOK, chess::QUEEN, chess::KING;
using Outcome = chess::Reason;  // only mate, stalemate and neither are used here

struct Move {
  std::uint8_t from, to;
  std::uint8_t promotion;  // the piece that a pawn promotes to, else PAWN

  static constexpr Move between(int from, int to, int promotion = PAWN) {
    return {static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to),
            static_cast<std::uint8_t>(promotion)};
  }
};

// Black's actions are those of the flipped board: a1 is a8.
constexpr int view(int square, bool black) { return black ? square ^ 56 : square; }

// Files to the east and ranks to the north: of the directions of the compass, and of the knight's
// jumps.
constexpr int kWay[8][2] = {{0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}};
constexpr int kKnight[8][2] = {{1, 2},   {2, 1},   {2, -1}, {1, -2},
                               {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

namespace detail {
struct PlaneTable {
  std::int8_t of[15][15];  // by ranks to the north and files to the east, each from -7 to 7
};
constexpr PlaneTable plane_table() {
  PlaneTable table{};
  const auto set = [&](const int (&way)[2], int k, int plane) {
    table.of[7 + k * way[1]][7 + k * way[0]] = static_cast<std::int8_t>(plane);
  };
  for (int way = 0; way < 8; ++way) {
    for (int k = 1; k < 8; ++k) set(kWay[way], k, 8 * (k - 1) + way);
    set(kKnight[way], 1, chess::kKnightPlane + way);
  }
  return table;
}
constexpr PlaneTable kPlaneOf = plane_table();
}  // namespace detail

inline Action action_of(Move move, bool black) {
  const int from = view(move.from, black), to = view(move.to, black);
  const int east = to % 8 - from % 8;
  if (move.promotion != PAWN && move.promotion != QUEEN)
    return 64 * (chess::kUnderpromotionPlane + 3 * (move.promotion - KNIGHT) + east + 1) + from;
  return 64 * detail::kPlaneOf.of[7 + to / 8 - from / 8][7 + east] + from;
}

// `pawn`: whether a pawn moves; on the last rank it promotes to a queen unless the action is an
// underpromotion.
inline Move move_of(Action action, bool black, bool pawn) {
  const int from = chess::from_square(action), to = chess::to_square(action);
  const Piece promotion = pawn && to >= 56 ? chess::promoted_piece(action) : PAWN;
  return Move::between(view(from, black), view(to, black), promotion);
}

// Castling rights, a bit each: White's short and long, Black's short and long. Returns those that
// are lost when a piece leaves `square` or lands on it.
constexpr int rights_of(int square) {
  constexpr int of_file[8] = {2, 0, 0, 0, 3, 0, 0, 1};
  const int rank = square / 8, rights = of_file[square % 8];
  return rank == 0 ? rights : rank == 7 ? rights << 2 : 0;
}

// The rights of a position, which must be seen from White's side. (Files a and h are bits 1 and
// 128.)
inline int rights_of(const chess::Position& p) {
  const auto side = [](int files) { return files >> 7 | (files & 1) << 1; };
  return side(p.castling[0]) | side(p.castling[1]) << 2;
}

// A position as White sees it, whichever side moves.
inline chess::Position as_white(chess::Position p) {
  if (p.black) chess::turn(p), p.black = 1;
  return p;
}

// The mask, a byte for each of the 4672 actions, from a list of moves.
template <class Moves>
inline void write_list(const Moves& moves, bool black, std::uint8_t* mask) {
  std::memset(mask, 0, chess::kActions);
  for (const Move& move : moves) mask[action_of(move, black)] = 1;
}

inline Outcome outcome(bool can_move, bool check) {
  if (can_move) return Outcome::ONGOING;
  return check ? Outcome::CHECKMATE : Outcome::STALEMATE;
}

// A board as one would first write it: 64 squares and what stands on each.
//
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

// The square `east` files and `north` ranks away, or -1 if it is off the board.
inline int offset(int square, int east, int north) {
  const int file = square % 8 + east, rank = square / 8 + north;
  return file < 0 || file > 7 || rank < 0 || rank > 7 ? -1 : 8 * rank + file;
}

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
    const int to = offset(from, east, north);
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

// Adds all moves of the side to move, whether or not they leave its king in check (pseudo-legal).
template <class Moves>
void add_moves(const Mailbox& board, Moves& moves) {
  // Adds a move unless it leaves the board or lands on an own piece; returns whether a slider may
  // go on.
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
      for (const auto& [east, north] : kKnight) add(from, offset(from, east, north));
    if (type == KING) {
      for (const auto& [east, north] : kWay) add(from, offset(from, east, north));
      detail::add_castling(board, from, moves);
    }
    for (int way = 0; way < 8; ++way) {
      if (!slides(type, way)) continue;
      const auto& [east, north] = kWay[way];
      int k = 1;
      while (add(from, offset(from, k * east, k * north))) ++k;
    }
  }
}

// Adds those of the `tried` moves that are legal: `hangs(board)` says whether the king of the side
// that has just moved can be captured. A king that castles may neither leave an attacked square nor
// cross one.
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

// Version 1: as one would first write it. A move is legal if, once it is made on a copy of the
// board, no reply captures the king. The cost: a list of all replies to every single move.
namespace first {

inline bool takes_king(const Mailbox& board) {
  std::vector<Move> replies;
  add_moves(board, replies);
  const int king = board.king(!board.black);
  return std::any_of(replies.begin(), replies.end(), [&](Move reply) { return reply.to == king; });
}

struct Board : Mailbox {
  using Mailbox::Mailbox;

  Outcome write_legal(std::uint8_t* mask) const {
    std::vector<Move> moves, legal;
    add_moves(*this, moves);
    add_legal(*this, moves, takes_king, legal);
    write_list(legal, black, mask);
    Mailbox passed = *this;
    passed.black = !black;
    return outcome(!legal.empty(), takes_king(passed));
  }
};

}  // namespace first

// Version 2: look out from the king. Whatever could capture it stands on the lines and jumps that
// lead away from it, so no reply is listed. The cost: a few lookups for every move.
namespace king {

// Whether a side attacks a square: looks for each kind of piece where it would have to stand.
inline bool attacked(const Mailbox& board, int square, bool by_black) {
  const auto holds = [&](int at, Piece type) { return at >= 0 && board.holds(at, type, by_black); };
  for (const auto& [east, north] : kKnight)
    if (holds(offset(square, east, north), KNIGHT)) return true;
  for (const int east : {-1, 1})
    if (holds(offset(square, east, by_black ? 1 : -1), PAWN)) return true;
  for (int way = 0; way < 8; ++way) {
    const auto& [east, north] = kWay[way];
    if (holds(offset(square, east, north), KING)) return true;
    int k = 1, at = offset(square, east, north);
    while (at >= 0 && board.is_empty(at)) ++k, at = offset(square, k * east, k * north);
    if (holds(at, QUEEN) || holds(at, way % 2 ? BISHOP : ROOK)) return true;
  }
  return false;
}

inline bool hangs(const Mailbox& board) {
  return attacked(board, board.king(!board.black), board.black);
}

struct Board : Mailbox {
  using Mailbox::Mailbox;

  Outcome write_legal(std::uint8_t* mask) const {
    std::vector<Move> moves, legal;
    add_moves(*this, moves);
    add_legal(*this, moves, hangs, legal);
    write_list(legal, black, mask);
    return outcome(!legal.empty(), attacked(*this, Mailbox::king(black), !black));
  }
};

}  // namespace king

// Version 3: no allocation. Lists of moves are on the stack, with room for the longest that any
// position has; `std::vector` allocates again and again as it grows. The cost: a kilobyte.
namespace arrays {

// Room for the legal actions of any position that a FEN can describe: no more than a king and
// fifteen queens could have on an empty board.
constexpr int kMaxMoves = 8 + 15 * 27;

// As much of the interface of `std::vector` as is used here.
struct Moves {
  Move move[kMaxMoves];
  int number = 0;

  void push_back(Move added) { move[number++] = added; }
  bool empty() const { return number == 0; }
  const Move* begin() const { return move; }
  const Move* end() const { return move + number; }
};

struct Board : Mailbox {
  using Mailbox::Mailbox;

  Outcome write_legal(std::uint8_t* mask) const {
    Moves moves, legal;
    add_moves(*this, moves);
    add_legal(*this, moves, king::hangs, legal);
    write_list(legal, black, mask);
    return outcome(!legal.empty(), king::attacked(*this, Mailbox::king(black), !black));
  }
};

}  // namespace arrays

}  // namespace rungs::steps
