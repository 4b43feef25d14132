// Validation of saved boards. A checksum proves that a state is as it was written, not who wrote
// it: derived fields are recomputed, and states that no game can reach are rejected, so that no
// later step writes out of bounds.
#pragma once
#include <cstring>
#include <string>

#include "../chess/fen.hpp"
#include "block.hpp"
#include "outputs.hpp"

namespace rungs::env {

// More plies than any game has, as 50 moves without a capture or a pawn's move end it.
constexpr std::uint32_t kMaxGamePlies = 12000;

namespace detail {

inline bool is_position(const History::Snapshot& then) {
  using namespace chess;
  Bitboard occupied = 0;
  for (const Bitboard piece : then.piece) {
    if (occupied & piece) return false;
    occupied |= piece;
  }
  return !(then.own & ~occupied) && count(then.piece[KING] & then.own) == 1 &&
         count(then.piece[KING] & ~then.own) == 1 && !(then.piece[PAWN] & (kRank1 | kRank8)) &&
         then.repetitions <= 2;
}

// Whether `history` ends with the current position of `game`.
inline bool leads_to(const History& history, const chess::Game& game) {
  if (history.newest >= kHistory || history.length < 1 || history.length > kHistory) return false;
  for (std::uint32_t plies = 0; plies < history.length; ++plies)
    if (!is_position(history.ago(plies))) return false;
  const History::Snapshot& now = history.ago(0);
  return !std::memcmp(now.piece, game.position.piece, sizeof now.piece) &&
         now.own == game.position.own && now.repetitions == game.repetitions;
}

}  // namespace detail

// Validates a saved board in place and recomputes its derived fields. Returns "", or why it cannot
// be a board of an environment with this `config`. `board.board` may be any number: a copy draws
// the random numbers of its source.
inline std::string restore(const ChessConfig& config, const History* history, SavedBoard& board) {
  chess::Position position;
  const std::string why = chess::parse_fen(chess::to_fen(board.position), position);
  if (!why.empty()) return why;
  if (position != board.position) return "its position is impossible";
  // Each ply since the last irreversible one is a past position, but for those before a start.
  if (position.halfmove > chess::kFiftyMoves || board.num_past > position.halfmove)
    return "it has more past positions than plies since the last capture or pawn's move";
  if (board.ply > kMaxGamePlies) return "its episode is longer than any game";
  if (config.mask == MaskFormat::LIST && !fits_list(position))
    return "it has more pieces than promotions make, and maybe more moves than are listed";
  const chess::Game game = game_of(board);
  if (game.repetitions > 2) return "its position was repeated too often";
  const bool over = game.over() || (config.max_plies && board.ply >= config.max_plies);
  if (board.ended > 1 || board.ended != (over ? 1 : 0))
    return over ? "its episode is over, but not marked as ended"
                : "its episode is marked as ended, but not over";
  if (over && config.autoreset == Autoreset::SAME_STEP)
    return "its episode has ended, where the next begins at once";
  if (history && !detail::leads_to(*history, game)) return "its history does not lead to it";
  board.position = position;
  board.now = game.now;
  board.repetitions = game.repetitions;
  board.reason = static_cast<std::uint8_t>(game.reason);
  return "";
}

}  // namespace rungs::env
