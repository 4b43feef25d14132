// What must hold of any position.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "chess/fen.hpp"
#include "chess/game.hpp"

namespace rungs::chess {

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::printf("%s fails in %s\n", #condition, to_fen(game.position).c_str()); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (false)

inline void check(const Game& game) {
  const Position& p = game.position;
  Bitboard all = 0;
  for (const Bitboard b : p.piece) {
    CHECK(!(all & b));
    all |= b;
  }
  CHECK(!(p.own & ~all));
  CHECK(count(p.piece[KING] & p.own) == 1 && count(p.piece[KING] & ~p.own) == 1);
  CHECK(!(p.piece[PAWN] & (kRank1 | kRank8)));

  // The generator's verdicts against what was generated.
  LegalActions legal;
  const Found<Bitboard> found = generate(p, legal);
  CHECK(!std::memcmp(&legal, &game.legal, sizeof legal));
  CHECK((found.any != 0) == (count(legal) > 0));
  CHECK(count_actions(p) == static_cast<std::uint64_t>(count(legal)));
  CHECK((found.check != 0) == king_attacked(p));
  CHECK((found.legality.en_passant != 0) == (p.en_passant != kNoFile));
  CHECK(game.over() || found.any);

  // The side that has just moved isn't in check.
  Position other = p;
  turn(other);
  CHECK(!king_attacked(other));

  // Castling rights only with king and rook on their first rank.
  for (const Position* side : {&p, static_cast<const Position*>(&other)}) {
    CHECK(!side->castling[0] || (side->piece[KING] & side->own & kRank1));
    CHECK(!(side->castling[0] & ~(side->piece[ROOK] & side->own & kRank1)));
  }

  // Turning twice, and text there and back, change nothing.
  turn(other);
  CHECK(!std::memcmp(&other, &p, sizeof p));
  Position parsed;
  CHECK(parse_fen(to_fen(p), parsed).empty());
  CHECK(!std::memcmp(&parsed, &p, sizeof p));
}

// Calls `visit` for each legal action in order of action id.
template <class Visit>
inline void each_action(const LegalActions& legal, const Visit& visit) {
  for (int plane = 0; plane < kPlanes; ++plane)
    for (Bitboard from = legal.plane[plane]; from;) visit(Action{64 * plane + pop(from)});
}

}  // namespace rungs::chess
