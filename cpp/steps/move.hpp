// What the versions share: a move as two squares, the action that it is, and the mask as bytes.
#pragma once
#include <cstdint>
#include <cstring>

#include "../chess/action.hpp"
#include "../chess/game.hpp"

namespace rungs::steps {

using chess::Action, chess::Bitboard, chess::Piece;
using chess::PAWN, chess::KNIGHT, chess::BISHOP, chess::ROOK, chess::QUEEN, chess::KING;
using Outcome = chess::Reason;  // of which only mate and stalemate are asked for here

struct Move {
  std::uint8_t from, to;
  std::uint8_t promotion;  // what a pawn turns into, else PAWN

  static constexpr Move between(int from, int to, int promotion = PAWN) {
    return {static_cast<std::uint8_t>(from), static_cast<std::uint8_t>(to),
            static_cast<std::uint8_t>(promotion)};
  }
};

// Black's actions are written as if the board were flipped: a1 is a8.
constexpr int view(int square, bool black) { return black ? square ^ 56 : square; }

namespace detail {
struct PlaneTable {
  std::int8_t of[15][15];  // by ranks to the north and files to the east, each from -7 to 7
};
constexpr PlaneTable plane_table() {
  PlaneTable table{};
  constexpr int east[8] = {0, 1, 1, 1, 0, -1, -1, -1}, north[8] = {1, 1, 0, -1, -1, -1, 0, 1};
  constexpr int far[8] = {1, 2, 2, 1, -1, -2, -2, -1}, high[8] = {2, 1, -1, -2, -2, -1, 1, 2};
  for (int way = 0; way < 8; ++way) {
    for (int k = 1; k < 8; ++k)
      table.of[7 + k * north[way]][7 + k * east[way]] = static_cast<std::int8_t>(8 * (k - 1) + way);
    table.of[7 + high[way]][7 + far[way]] = static_cast<std::int8_t>(chess::kKnightPlane + way);
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

// `pawn` says whether a pawn moves, which turns into a queen unless the action says otherwise.
inline Move move_of(Action action, bool black, bool pawn) {
  const int from = chess::from_square(action), to = chess::to_square(action);
  const Piece promotion = pawn && to >= 56 ? chess::promoted_piece(action) : PAWN;
  return Move::between(view(from, black), view(to, black), promotion);
}

// The rights to castle, a bit each: White's short and long, Black's short and long. These are lost
// when something leaves a square or lands on it.
constexpr int rights_of(int square) {
  constexpr int of_file[8] = {2, 0, 0, 0, 3, 0, 0, 1};
  const int rank = square / 8, rights = of_file[square % 8];
  return rank == 0 ? rights : rank == 7 ? rights << 2 : 0;
}

// The same of a position, which must be White's view. (The files of a and h are bits 1 and 128.)
inline int rights_of(const chess::Position& p) {
  const auto side = [](int files) { return files >> 7 | (files & 1) << 1; };
  return side(p.castling[0]) | side(p.castling[1]) << 2;
}

// A position as White sees it, whoever moves.
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

}  // namespace rungs::steps
