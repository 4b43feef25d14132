// The functions of chess that Python calls: plain functions over addresses and numbers, the same if
// Cling compiles them as they are loaded or another compiler did so ahead of time. Templates and
// classes stay behind them, as the interpreter lock can be released only around plain functions.
#include <vector>

#include "../chess/fen.hpp"
#include "../chess/perft.hpp"
#include "../rungs/chess_loops.hpp"
#include "abi.hpp"

namespace rungs {

// The leaves of a position's tree; the threads of a pool, if there is one, share out the boards two
// plies below the position.
inline std::int64_t perft(const chess::Position& root, int plies, ThreadPool* pool,
                          std::int32_t threads) {
  using namespace chess;
  if (!pool || plies < 4) return static_cast<std::int64_t>(chess::perft(root, plies));
  std::vector<Boards<Widest>> groups;
  for_each_below(first_of_boards<Widest>(root), 2, [&](const auto& b) { groups.push_back(b); });
  return pool->run(threads, static_cast<std::int64_t>(groups.size()), [&](std::int64_t i) {
    return static_cast<std::int64_t>(chess::perft(groups[static_cast<std::size_t>(i)], plies - 2));
  });
}

}  // namespace rungs

RUNGS_STRUCTURE(rungs::env::ChessConfig, RUNGS_CHESS_SETTINGS(RUNGS_LISTED_MEMBER))
RUNGS_STRUCTURE(rungs::ChessBatch, config, num_envs, first_board, seeds, history, replies,
                RUNGS_CHESS_OUTPUTS(RUNGS_LISTED_MEMBER) blocks, chosen)
RUNGS_CONSTANT(boards_per_block, rungs::env::kBlock)
RUNGS_CONSTANT(block_bytes, sizeof(rungs::env::Block))
RUNGS_CONSTANT(saved_board_bytes, sizeof(rungs::env::SavedBoard))
RUNGS_CONSTANT(history_bytes, sizeof(rungs::env::History))
RUNGS_CONSTANT(fifty_moves, rungs::chess::kFiftyMoves)
RUNGS_ENUMERATION(Reason, rungs::chess::Reason)
RUNGS_ENUMERATION(Purpose, rungs::env::Purpose)

RUNGS_FUNCTION(void, rungs_chess_serial_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode) {
  rungs::serial::reset(rungs::at<const rungs::ChessBatch>(batch),
                       reinterpret_cast<const bool*>(which), episode);
}

RUNGS_FUNCTION(std::int64_t, rungs_chess_serial_step, std::uintptr_t batch,
               std::uintptr_t actions) {
  return rungs::serial::step(rungs::at<const rungs::ChessBatch>(batch),
                             reinterpret_cast<const std::int64_t*>(actions));
}

RUNGS_FUNCTION(void, rungs_chess_serial_open, std::uintptr_t batch) {
  rungs::serial::open(rungs::at<const rungs::ChessBatch>(batch));
}

// How many actions each board takes, to (N,) int64 `counts`; `rungs_chess_rank_to_action` replaces
// ranks below them by actions.
RUNGS_FUNCTION(void, rungs_chess_count_actions, std::uintptr_t batch, std::uintptr_t counts) {
  rungs::serial::count_actions(rungs::at<const rungs::ChessBatch>(batch),
                               reinterpret_cast<std::int64_t*>(counts));
}

RUNGS_FUNCTION(void, rungs_chess_rank_to_action, std::uintptr_t batch, std::uintptr_t ranks) {
  rungs::serial::rank_to_action(rungs::at<const rungs::ChessBatch>(batch),
                                reinterpret_cast<std::int64_t*>(ranks));
}

RUNGS_FUNCTION(void, rungs_chess_openmp_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode, std::uintptr_t settings) {
  rungs::openmp::reset(rungs::at<const rungs::ChessBatch>(batch),
                       reinterpret_cast<const bool*>(which), episode,
                       rungs::at<const rungs::openmp::LoopSettings>(settings));
}

RUNGS_FUNCTION(std::int64_t, rungs_chess_openmp_step, std::uintptr_t batch,
               const std::int64_t* actions, std::uintptr_t settings) {
  return rungs::openmp::step(rungs::at<const rungs::ChessBatch>(batch), actions,
                             rungs::at<const rungs::openmp::LoopSettings>(settings));
}

RUNGS_FUNCTION(void, rungs_chess_threads_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode, std::uintptr_t pool, std::int64_t threads) {
  rungs::threads::reset(rungs::at<const rungs::ChessBatch>(batch),
                        reinterpret_cast<const bool*>(which), episode,
                        rungs::at<rungs::ThreadPool>(pool), static_cast<std::int32_t>(threads));
}

// `team_step`: the address of `rungs_chess_openmp_step` in a library with OpenMP; 0: none.
RUNGS_FUNCTION(std::int64_t, rungs_chess_threads_step, std::uintptr_t batch,
               const std::int64_t* actions, std::uintptr_t pool, std::int64_t threads,
               std::uintptr_t payoff, std::uintptr_t team_step, std::uintptr_t team_settings) {
  return rungs::threads::step(
      rungs::at<const rungs::ChessBatch>(batch), actions, rungs::at<rungs::ThreadPool>(pool),
      static_cast<std::int32_t>(threads), rungs::at<rungs::Payoff>(payoff),
      {reinterpret_cast<decltype(rungs::threads::Team::step)>(team_step), team_settings});
}

// Checks `count` saved boards at `saved`, and their histories at `past`, 0 where they have none,
// which `rungs_chess_put` takes afterwards. Returns the first that is invalid and writes why to
// `why`, of at most 255 characters; or returns `count`.
RUNGS_FUNCTION(std::int64_t, rungs_chess_restore, std::uintptr_t batch, std::int64_t count,
               std::uintptr_t saved, std::uintptr_t past, std::uintptr_t why) {
  std::string text;
  const std::int64_t board =
      rungs::serial::restore(rungs::at<const rungs::ChessBatch>(batch).config, count,
                             reinterpret_cast<rungs::env::SavedBoard*>(saved),
                             reinterpret_cast<const rungs::env::History*>(past), text);
  rungs::write_text(text, why, 256);
  return board;
}

// Copies boards, `count` indices at `which`, to `saved`, and their histories to `past`, 0 where
// they have none. `rungs_chess_put` puts them on any boards.
RUNGS_FUNCTION(void, rungs_chess_save, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t count, std::uintptr_t saved, std::uintptr_t past) {
  rungs::serial::save(rungs::at<const rungs::ChessBatch>(batch),
                      reinterpret_cast<const std::int64_t*>(which), count,
                      reinterpret_cast<rungs::env::SavedBoard*>(saved),
                      reinterpret_cast<rungs::env::History*>(past));
}

RUNGS_FUNCTION(void, rungs_chess_put, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t count, std::uintptr_t saved, std::uintptr_t past, std::int64_t own) {
  rungs::serial::put(rungs::at<const rungs::ChessBatch>(batch),
                     reinterpret_cast<const std::int64_t*>(which), count,
                     reinterpret_cast<const rungs::env::SavedBoard*>(saved),
                     reinterpret_cast<const rungs::env::History*>(past), own);
}

// Whether the agent plays Black on the board that `rungs_chess_save` copied to `saved`.
RUNGS_FUNCTION(std::int64_t, rungs_chess_agent_is_black, std::uintptr_t saved) {
  const auto& board = rungs::at<const rungs::env::SavedBoard>(saved);
  return rungs::env::agent_is_black(board.board, board.episode);
}

// Writes the FENs of `count` positions, `words` words of 8 bytes apart, 128 bytes apart: each has
// at most 127 characters.
RUNGS_FUNCTION(void, rungs_chess_fens, std::uintptr_t positions, std::int64_t words,
               std::int64_t count, std::uintptr_t out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uintptr_t position = positions + static_cast<std::uintptr_t>(8 * words * i);
    const std::string fen = rungs::chess::to_fen(rungs::at<const rungs::chess::Position>(position));
    rungs::write_text(fen, out + static_cast<std::uintptr_t>(128 * i), 128);
  }
}

// Sets the position at `position` from the text at `fen`, or writes why not to `why`, of at most
// 255 characters; "" where it is set.
RUNGS_FUNCTION(void, rungs_chess_parse_fen, std::uintptr_t fen, std::uintptr_t position,
               std::uintptr_t why) {
  rungs::write_text(rungs::chess::parse_fen(reinterpret_cast<const char*>(fen),
                                            rungs::at<rungs::chess::Position>(position)),
                    why, 256);
}

// `pool` is the address of a thread pool, 0 for the calling thread alone.
RUNGS_FUNCTION(std::int64_t, rungs_chess_perft, std::uintptr_t position, std::int64_t depth,
               std::uintptr_t pool, std::int64_t threads) {
  return rungs::perft(rungs::at<const rungs::chess::Position>(position), static_cast<int>(depth),
                      reinterpret_cast<rungs::ThreadPool*>(pool),
                      static_cast<std::int32_t>(threads));
}
