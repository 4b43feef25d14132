// What AlphaZero sees: 119 planes of 8 x 8 (Silver et al. 2018, "A general reinforcement learning
// algorithm that masters chess, shogi, and Go through self-play", supplement, table S1), all from
// the side to move: rank 1 is its own first rank, and "own" are its pieces, in every position.
//
//   14 t + 0..5    t = 0..7 plies ago: own pawns, knights, bishops, rooks, queens, king
//   14 t + 6..11   theirs
//   14 t + 12, 13  the position of t plies ago had stood before in the game: once or more, twice
//                  (all 14 are 0 where the episode is younger than t plies)
//   112            1 where Black is to move
//   113            number of the move: starts at 1, grows after Black's ply
//   114, 115       the right to castle: own short, own long
//   116, 117       theirs
//   118            halfmove clock: plies since the last capture or pawn move
//
// The last seven are the same on every square. As `bitplanes` a plane is one word, bit 8 * rank +
// file, all ones or none where it is constant; words 113 and 118 hold their number as it is.
#pragma once
#include <cstring>

#include "bytes.hpp"
#include "history.hpp"

namespace rungs::env {

constexpr int kPlanesPerPosition = 14;
constexpr int kConstantPlanes = kPlanesPerPosition * kHistory;
constexpr int kObservationPlanes = kConstantPlanes + 7;
constexpr int kMoveNumberPlane = kConstantPlanes + 1;
constexpr int kHalfmovePlane = kConstantPlanes + 6;

template <class Game>
inline void write_bitplanes(const Game& game, const History& history, std::uint64_t* out) {
  using namespace chess;
  const auto all_if = [](bool condition) { return condition ? kAll : 0; };
  for (std::uint32_t t = 0; t < kHistory; ++t, out += kPlanesPerPosition) {
    const bool known = t < history.length;
    const History::Snapshot& then = history.ago(t);
    const bool other_view = t % 2;  // the other side was to move, and saw the board turned over
    for (int type = PAWN; type <= KING; ++type) {
      const Bitboard movers = then.piece[type] & then.own, others = then.piece[type] & ~then.own;
      out[type] = !known ? 0 : other_view ? flip(others) : movers;
      out[6 + type] = !known ? 0 : other_view ? flip(movers) : others;
    }
    out[12] = all_if(known && then.repetitions >= 1);
    out[13] = all_if(known && then.repetitions >= 2);
  }
  const Position& p = game.position;
  out[0] = all_if(p.black);
  out[1] = p.fullmove;
  for (int side = 0; side < 2; ++side) {
    out[2 + 2 * side] = all_if(p.short_castling(side));
    out[3 + 2 * side] = all_if(p.long_castling(side));
  }
  out[6] = p.halfmove;
}

// 64 squares as 64 floats of 0 or 1.
inline void store_floats(chess::Bitboard bits, float* out) {
#if RUNGS_PLAIN
  for (int square = 0; square < 64; ++square) out[square] = static_cast<float>(bits >> square & 1);
#else
  using Words = std::uint32_t __attribute__((vector_size(64)));
  constexpr Words kBits = {1 << 0, 1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
                           1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  for (int row = 0; row < 4; ++row, bits >>= 16) {
    const Words all = Words{} + static_cast<std::uint32_t>(bits);
    const Words ones = (Words)((all & kBits) != 0) & 0x3F800000U;  // 1.0f
    std::memcpy(out + 16 * row, &ones, sizeof ones);
  }
#endif
}

template <class Game>
inline void write_planes(const Game& game, const History& history, float* out) {
  std::uint64_t words[kObservationPlanes];
  write_bitplanes(game, history, words);
  for (int plane = 0; plane < kObservationPlanes; ++plane, out += 64) {
    if (plane == kMoveNumberPlane || plane == kHalfmovePlane)
      for (int square = 0; square < 64; ++square) out[square] = static_cast<float>(words[plane]);
    else
      store_floats(words[plane], out);
  }
}

}  // namespace rungs::env
