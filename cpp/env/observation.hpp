// What the agent sees, from the side to move: AlphaZero's planes (planes.hpp), or the board as
// 72 int8.
//
//   0..63   squares a1..h8 with the mover's own side at the bottom (the board is flipped for
//           Black): own pawn, knight, bishop, rook, queen, king 1..6, theirs -1..-6, empty 0
//   64..67  castling rights 0/1: own short, own long, their short, their long
//   68      file 0..7 of a legal en-passant capture, else -1
//   69      halfmove clock: plies since the last capture or pawn move, at most 127
//   70      how often the position stood before in this game, 0..2
//   71      side to move: 0 White, 1 Black
#pragma once
#include "planes.hpp"

namespace rungs::env {

enum class ObservationFormat : std::int32_t { BOARD, PLANES, BITPLANES };

constexpr std::int64_t observation_bytes(ObservationFormat format) {
  switch (format) {
    case ObservationFormat::PLANES:
      return kObservationPlanes * 64 * sizeof(float);
    case ObservationFormat::BITPLANES:
      return kObservationPlanes * sizeof(std::uint64_t);
    default:
      return 72;
  }
}

template <class Game>
inline void write_board(const Game& game, std::int8_t* out) {
  using namespace chess;
  const Position& p = game.position;
  // A piece of ours is type + 1, and one of theirs -(type + 1), which is ~type.
  Lanes board = {};
  for (int type = KNIGHT; type <= KING; ++type) board |= where(p.piece[type]) & kOnes * type;
  store((board ^ where(p.theirs())) + (where(p.own) & kOnes), out);
  for (int side = 0; side < 2; ++side) {
    out[64 + 2 * side] = p.short_castling(side) != 0;
    out[65 + 2 * side] = p.long_castling(side) != 0;
  }
  out[68] = static_cast<std::int8_t>(p.en_passant == kNoFile ? -1 : p.en_passant);
  out[69] = static_cast<std::int8_t>(p.halfmove < 127 ? p.halfmove : 127);
  out[70] = static_cast<std::int8_t>(game.repetitions);
  out[71] = static_cast<std::int8_t>(p.black);
}

// `history` is not looked at for BOARD, and may be null.
template <class Game>
RUNGS_ONCE void observe(const Game& game, const History* history, ObservationFormat format,
                        void* out) {
  switch (format) {
    case ObservationFormat::PLANES:
      return write_planes(game, *history, static_cast<float*>(out));
    case ObservationFormat::BITPLANES:
      return write_bitplanes(game, *history, static_cast<std::uint64_t*>(out));
    default:
      return write_board(game, static_cast<std::int8_t*>(out));
  }
}

}  // namespace rungs::env
