// A game: a position, its legal actions, what came before it, and whether and why it is over.
//
// The game ends as python-chess's `outcome(claim_draw=True)` decides for the position reached: a
// draw is claimed for a repetition or 50 moves that has happened, not for one that a move could
// bring about.
#pragma once
#include "boards.hpp"
#include "key.hpp"

namespace rungs::chess {

enum class Reason : std::int8_t {
  ONGOING,
  CHECKMATE,
  STALEMATE,
  INSUFFICIENT_MATERIAL,
  FIFTY_MOVES,
  THREEFOLD_REPETITION,
};

constexpr int kFiftyMoves = 100;  // plies

struct Game {
  Position position;
  LegalActions legal;
  std::uint64_t now;  // this position's key
  std::uint8_t num_past;
  std::uint8_t repetitions;  // how often this position stood before
  Reason reason;
  std::uint64_t past[kFiftyMoves];  // keys of the positions since the last irreversible ply

  bool over() const { return reason != Reason::ONGOING; }
};

// Neither side can mate by any series of legal moves: bare kings, one knight, or bishops that all
// stand on one colour.
inline bool insufficient_material(const Position& p) {
  if (p.piece[PAWN] | p.piece[ROOK] | p.piece[QUEEN]) return false;
  const Bitboard knights = p.piece[KNIGHT], bishops = p.piece[BISHOP];
  if (knights) return !bishops && count(knights) == 1;
  return !(bishops & kDarkSquares) || !(bishops & ~kDarkSquares);
}

// Why a game is over in a position, which stood `repetitions` times before, if it is.
inline Reason reason_of(const Position& p, bool any_legal, bool check, int repetitions) {
  if (!any_legal && check) return Reason::CHECKMATE;
  if (insufficient_material(p)) return Reason::INSUFFICIENT_MATERIAL;
  if (!any_legal) return Reason::STALEMATE;
  if (p.halfmove >= kFiftyMoves) return Reason::FIFTY_MOVES;
  return repetitions >= 2 ? Reason::THREEFOLD_REPETITION : Reason::ONGOING;
}

namespace detail {

// Computes legal actions, key, repetitions and reason for the game's new position.
inline void examine(Game& game) {
  Position& p = game.position;
  const Found<Bitboard> found = generate(p, game.legal);
  if (!found.legality.en_passant) p.en_passant = kNoFile;
  const std::uint64_t now = game.now = key(p);
  // Only where the same side was to move, and no position comes again in less than four plies.
  int repetitions = 0;
  for (int ago = 4; ago <= game.num_past; ago += 2)
    repetitions += game.past[game.num_past - ago] == now;
  game.repetitions = static_cast<std::uint8_t>(repetitions);
  game.reason = reason_of(p, found.any != 0, found.check != 0, repetitions);
}

}  // namespace detail

// Begins a game at `position`.
inline void start(Game& game, const Position& position) {
  game.position = position;
  game.num_past = 0;
  detail::examine(game);
}

// Plays a legal action in a game that is not over.
inline void play(Game& game, Action action) {
  game.past[game.num_past++] = game.now;
  play(game.position, action);
  if (game.position.halfmove == 0) game.num_past = 0;
  detail::examine(game);
}

// Goes on from `position`, with the first `num_past` of the game's past keys.
inline void resume(Game& game, const Position& position, std::uint8_t num_past) {
  game.position = position;
  game.num_past = num_past;
  detail::examine(game);
}

}  // namespace rungs::chess
