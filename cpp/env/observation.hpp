// What the agent observes, from the side to move: the board as 72 int8, or AlphaZero's planes
// (below).
//
//   0..63   squares a1..h8 with the mover's own side at the bottom (the board is flipped for
//           Black): own pawn, knight, bishop, rook, queen, king 1..6, theirs -1..-6, empty 0
//   64..67  castling rights 0/1: own short, own long, their short, their long
//   68      file 0..7 of a legal en-passant capture, else -1
//   69      halfmove clock: plies since the last capture or pawn move, at most 127
//   70      how often the position occurred before in this game, 0..2
//   71      side to move: 0 White, 1 Black
#pragma once
#include <cstring>

#include "../chess/game.hpp"
#include "mask.hpp"

namespace rungs::env {

// The last eight positions of a game, for observations that include them.
constexpr int kHistory = 8;

struct History {
  struct Snapshot {
    chess::Bitboard piece[6];  // by type, both sides, as seen by the side to move at the time
    chess::Bitboard own;
    std::uint64_t repetitions;  // how often the position occurred before in its game
  };
  Snapshot ring[kHistory];
  std::uint32_t newest;
  std::uint32_t length;  // positions of this episode, at most kHistory

  void clear() { length = 0; }

  // Adds a position that occurred before `repetitions` times.
  void add(const chess::Position& position, std::uint64_t repetitions) {
    newest = (newest + 1) % kHistory;
    length += length < kHistory;
    Snapshot& now = ring[newest];
    std::memcpy(now.piece, position.piece, sizeof now.piece);
    now.own = position.own;
    now.repetitions = repetitions;
  }

  // The position `plies` ago, from 0 to length - 1.
  const Snapshot& ago(std::uint32_t plies) const {
    return ring[(newest + kHistory - plies) % kHistory];
  }
};

// What AlphaZero sees: 119 planes of 8 x 8 (Silver et al. 2018, "A general reinforcement learning
// algorithm that masters chess, shogi, and Go through self-play", supplement, table S1), all from
// the side to move: rank 1 is its own first rank, and "own" are its pieces, in every position.
//
//   14 t + 0..5    t = 0..7 plies ago: own pawns, knights, bishops, rooks, queens, king
//   14 t + 6..11   theirs
//   14 t + 12, 13  the position of t plies ago had occurred before: once or more, twice
//                  (all 14 are 0 where the episode is younger than t plies)
//   112            1 where Black is to move
//   113            number of the move: starts at 1, grows after Black's ply
//   114, 115       the right to castle: own short, own long
//   116, 117       theirs
//   118            halfmove clock: plies since the last capture or pawn move
//
// The last seven are constant over the squares. Planes are float32; or uint8, where both numbers
// saturate at 255; or bfloat16, rounded to nearest, ties to even.
//
// In BITPLANES a plane is one word, bit 8 * rank + file; words 113 and 118 hold their number
// itself.
constexpr int kPlanesPerPosition = 14;
constexpr int kConstantPlanes = kPlanesPerPosition * kHistory;
constexpr int kObservationPlanes = kConstantPlanes + 7;
constexpr int kMoveNumberPlane = kConstantPlanes + 1;
constexpr int kHalfmovePlane = kConstantPlanes + 6;

// Every format, a line each, numbered from 0: the type of an element, its name, and the number of
// elements. bfloat16 is given by its bits.
#define RUNGS_OBSERVATIONS(OBSERVATION)                            \
  OBSERVATION(std::int8_t, BOARD, 72)                              \
  OBSERVATION(float, PLANES, kObservationPlanes * 64)              \
  OBSERVATION(std::uint64_t, BITPLANES, kObservationPlanes)        \
  OBSERVATION(std::uint8_t, PLANES_UINT8, kObservationPlanes * 64) \
  OBSERVATION(std::uint16_t, PLANES_BFLOAT16, kObservationPlanes * 64)

#define RUNGS_FORMAT(type, name, count) name,
enum class ObservationFormat : std::int32_t { RUNGS_OBSERVATIONS(RUNGS_FORMAT) };
#undef RUNGS_FORMAT

#define RUNGS_ONE(type, name, count) +1
constexpr int kObservationFormats = RUNGS_OBSERVATIONS(RUNGS_ONE);
#undef RUNGS_ONE

// A switch, as a table in memory makes a step of 512 boards 8 % slower.
constexpr std::int64_t observation_bytes(ObservationFormat format) {
#define RUNGS_BYTES(type, name, count) \
  case ObservationFormat::name:        \
    return (count) * sizeof(type);
  switch (format) {
    default:
      RUNGS_OBSERVATIONS(RUNGS_BYTES)
  }
#undef RUNGS_BYTES
}

// The last eight of the 72 numbers, as the bytes of a word.
template <class V>
inline V board_numbers(const chess::Boards<V>& b, V repetitions) {
  using namespace chess;
  V numbers{};
  const V kings[2] = {b.piece[KING] & b.own, b.piece[KING] & ~b.own};
  for (int side = 0; side < 2; ++side) {
    V king = kings[side] | kings[side] >> 32;
    king |= king >> 16;
    king = (king | king >> 8) & kRank1;  // on its file
    const V rooks = b.state >> (8 * side) & kRank1, west = rooks & (king - 1);
    numbers |= (where(rooks ^ west, V{} + 1) | where(west, V{} + 256)) << (16 * side);
  }
  const V file = b.state >> kEnPassantBit & 255, clock = b.state >> kClockBit & 255;
  const V black = b.state >> kBlackBit & 1;
  const V no_file = more(file, V{} + (kNoFile - 1)), over = more(clock, V{} + 127);
  return numbers | ((file | no_file) & 255) << 32 | ((clock & ~over) | (over & 127)) << 40 |
         repetitions << 48 | black << 56;
}

inline void write_board(const chess::Position& p, std::uint64_t numbers, std::int8_t* out) {
  using namespace chess;
  // An own piece is type + 1, one of theirs -(type + 1), which is ~type.
  Lanes board = {};
  for (int type = KNIGHT; type <= KING; ++type)
    board |= expand_bits_to_bytes(p.piece[type]) & kOnes * type;
  put((board ^ expand_bits_to_bytes(p.theirs())) + expand_bits_to_ones(p.own), out, false);
  std::memcpy(out + 64, &numbers, sizeof numbers);
}

inline void write_bitplanes(const chess::Position& p, const History& history, std::uint64_t* out) {
  using namespace chess;
  const auto all_if = [](bool condition) { return condition ? kAll : 0; };
  for (std::uint32_t t = 0; t < kHistory; ++t, out += kPlanesPerPosition) {
    const bool known = t < history.length;
    const History::Snapshot& then = history.ago(t);
    const bool other_view = t % 2;  // the other side was to move, and saw the board flipped
    for (int type = PAWN; type <= KING; ++type) {
      const Bitboard movers = then.piece[type] & then.own, others = then.piece[type] & ~then.own;
      out[type] = !known ? 0 : other_view ? flip(others) : movers;
      out[6 + type] = !known ? 0 : other_view ? flip(movers) : others;
    }
    out[12] = all_if(known && then.repetitions >= 1);
    out[13] = all_if(known && then.repetitions >= 2);
  }
  out[0] = all_if(p.black);
  out[1] = p.fullmove;
  for (int side = 0; side < 2; ++side) {
    out[2 + 2 * side] = all_if(p.short_castling(side));
    out[3 + 2 * side] = all_if(p.long_castling(side));
  }
  out[6] = p.halfmove;
}

// A number as an element of a plane: the bits of a float32, of a bfloat16, or a byte.
template <class Word>
inline Word written(std::uint64_t number) {
  if constexpr (sizeof(Word) == 1) return static_cast<Word>(number < 255 ? number : 255);
  const auto value = static_cast<float>(number);
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<Word>(sizeof(Word) == 4 ? bits : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// 64 squares as 64 numbers, 0 or 1.
template <class Word>
inline void put_squares(chess::Bitboard bits, Word* out, [[maybe_unused]] bool streamed) {
#if RUNGS_SCALAR_LANES
  for (int square = 0; square < 64; ++square)
    out[square] = bits >> square & 1 ? written<Word>(1) : Word{0};
#else
  // As wide as the processor's registers: g++ computes wider vectors number by number.
  constexpr int kBytes = sizeof(chess::Widest) < 16 ? 16 : sizeof(chess::Widest);
  constexpr int kBits = 8 * sizeof(Word), kFit = kBytes / sizeof(Word);
  constexpr int kNumbers = kFit < kBits ? kFit : kBits;
  typedef Word Words __attribute__((vector_size(kNumbers * sizeof(Word))));  // GCC: no `using` here
  for (int first = 0; first < 64; first += kBits, bits >>= kBits) {
    const Words all = Words{} + static_cast<Word>(bits);
    for (int part = 0; part < kBits; part += kNumbers) {
      Words place{};
      for (int i = 0; i < kNumbers; ++i) place[i] = static_cast<Word>(Word{1} << (part + i));
      const Words ones = (Words)((all & place) != 0) & written<Word>(1);
      put(ones, out + first + part, streamed);
    }
  }
#endif
}
inline void put_squares(chess::Bitboard bits, std::uint8_t* out, bool streamed) {
  put(expand_bits_to_ones(bits), out, streamed);
}

template <class Word>
inline void write_planes(const chess::Position& p, const History& history, bool streamed,
                         Word* out) {
  std::uint64_t words[kObservationPlanes];
  write_bitplanes(p, history, words);
  for (int plane = 0; plane < kObservationPlanes; ++plane, out += 64) {
    if (plane == kMoveNumberPlane || plane == kHalfmovePlane)
      for (int square = 0; square < 64; ++square) out[square] = written<Word>(words[plane]);
    else
      put_squares(words[plane], out, streamed);
  }
}

// Writes an observation of a position that occurred before `repetitions` times. `history` is not
// read for BOARD, and may be null.
RUNGS_NOINLINE_ON_GPU void observe(const chess::Position& p, int repetitions,
                                   const History* history, ObservationFormat format, bool streamed,
                                   void* out) {
  switch (format) {
    case ObservationFormat::PLANES:
      return write_planes(p, *history, streamed, static_cast<std::uint32_t*>(out));
    case ObservationFormat::PLANES_UINT8:
      return write_planes(p, *history, streamed, static_cast<std::uint8_t*>(out));
    case ObservationFormat::PLANES_BFLOAT16:
      return write_planes(p, *history, streamed, static_cast<std::uint16_t*>(out));
    case ObservationFormat::BITPLANES:
      return write_bitplanes(p, *history, static_cast<std::uint64_t*>(out));
    default:
      const auto numbers = board_numbers(chess::load_boards<chess::Bitboard>(&p),
                                         static_cast<chess::Bitboard>(repetitions));
      return write_board(p, numbers, static_cast<std::int8_t*>(out));
  }
}

}  // namespace rungs::env
