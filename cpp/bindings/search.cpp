// The functions of cpp/search that Python calls: plain functions over addresses and numbers.
#include "../search/halving.hpp"
#include "../search/tree_batch.hpp"
#include "abi.hpp"

namespace rungs::search {

// `pool` is the address of a thread pool, 0 for the calling thread alone.
inline Helpers helpers(std::uintptr_t pool, std::int64_t threads) {
  return {reinterpret_cast<ThreadPool*>(pool), static_cast<std::int32_t>(threads)};
}

}  // namespace rungs::search

RUNGS_STRUCTURE(rungs::search::Settings,
                RUNGS_MEMBERS(seed, policy, observation, nodes, edges, kept_nodes, kept_edges, keep,
                              considered, scale, value_scale, maxvisit_init, c_init, c_base, alpha,
                              fraction, temperature))
RUNGS_STRUCTURE(rungs::search::TreeMemory, RUNGS_MEMBERS(node, prior, action, stats))
RUNGS_STRUCTURE(rungs::search::TreeBatch, RUNGS_MEMBERS(settings, num_games, game, history, trees,
                                                        schedule, observation, actions, counts))
RUNGS_STRUCTURE(rungs::search::Node,
                RUNGS_MEMBERS(position, key, unvisited_prior, raw_value, visits, parent, edge,
                              first, stats, count, num_visited, reason, repetitions))
RUNGS_STRUCTURE(rungs::search::Stats, RUNGS_MEMBERS(value_sum, visits, child))
RUNGS_STRUCTURE(rungs::search::GameResult, RUNGS_MEMBERS(actions, counts, visits, policy, priors,
                                                         action_values, value, raw_value, chosen))

RUNGS_FUNCTION(std::int64_t, rungs_search_game_bytes) { return sizeof(rungs::search::GameTree); }

// Begins game `i` at a position that a FEN was read to.
RUNGS_FUNCTION(void, rungs_search_begin_position, std::uintptr_t batch, std::int64_t i,
               std::uintptr_t position, std::int64_t episode) {
  rungs::search::begin(rungs::at<const rungs::search::TreeBatch>(batch), i,
                       rungs::at<const rungs::chess::Position>(position),
                       static_cast<std::uint32_t>(episode));
}

// Begins `count` games, indices at `which`, at the states of boards that `rungs_chess_save` copied.
// If one may have more actions than a list holds nothing is changed, and for the first, number `k`,
// -1 - k is returned.
RUNGS_FUNCTION(std::int64_t, rungs_search_begin_boards, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t count, std::uintptr_t saved, std::uintptr_t past) {
  const auto* games = reinterpret_cast<const std::int64_t*>(which);
  const auto* boards = reinterpret_cast<const rungs::env::SavedBoard*>(saved);
  const auto* histories = reinterpret_cast<const rungs::env::History*>(past);
  for (std::int64_t k = 0; k < count; ++k)
    if (!rungs::env::fits_list(boards[k].position)) return -1 - k;
  for (std::int64_t k = 0; k < count; ++k)
    rungs::search::begin(rungs::at<const rungs::search::TreeBatch>(batch), games[k], boards[k],
                         histories ? histories + k : nullptr);
  return 0;
}

// Writes the schedule of a search's halving to (considered + 1, simulations) int32 `schedule`.
RUNGS_FUNCTION(void, rungs_search_halving, std::int64_t considered, std::int64_t simulations,
               std::uintptr_t schedule) {
  rungs::search::write_halving(static_cast<std::int32_t>(considered),
                               static_cast<std::int32_t>(simulations),
                               &rungs::at<std::int32_t>(schedule));
}

// Gives simulations to `count` games, indices at `which`, and none to the others.
RUNGS_FUNCTION(void, rungs_search_start, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t count, std::int64_t simulations) {
  const auto& trees = rungs::at<const rungs::search::TreeBatch>(batch);
  const auto* games = reinterpret_cast<const std::int64_t*>(which);
  for (std::int64_t i = 0; i < trees.num_games; ++i) rungs::search::start(trees.view(i), 0);
  for (std::int64_t k = 0; k < count; ++k)
    rungs::search::start(trees.view(games[k]), static_cast<std::int32_t>(simulations));
}

// As `rungs::search::simulate`, with logits in rows of `stride` floats.
RUNGS_FUNCTION(std::int64_t, rungs_search_simulate, std::uintptr_t batch, std::int64_t first,
               std::int64_t last, std::uintptr_t logits, std::int64_t stride, std::uintptr_t values,
               std::uintptr_t pool, std::int64_t threads) {
  const rungs::search::Evaluation evaluation = {reinterpret_cast<const float*>(logits), stride,
                                                reinterpret_cast<const float*>(values)};
  return rungs::search::simulate(rungs::at<const rungs::search::TreeBatch>(batch), first, last,
                                 evaluation, rungs::search::helpers(pool, threads));
}

RUNGS_FUNCTION(void, rungs_search_finish, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t count, std::uintptr_t results, std::uintptr_t pool,
               std::int64_t threads) {
  const auto& trees = rungs::at<const rungs::search::TreeBatch>(batch);
  const auto& arrays = rungs::at<const rungs::search::GameResult>(results);
  const auto* games = reinterpret_cast<const std::int64_t*>(which);
  rungs::search::helpers(pool, threads).each(0, count, [&](std::int64_t k) {
    rungs::search::finish(trees.view(games[k]), arrays.of(games[k]));
  });
}

// As `rungs::search::look` in game `i`; returns how many nodes its tree has.
RUNGS_FUNCTION(std::int64_t, rungs_search_look, std::uintptr_t batch, std::int64_t i,
               std::uintptr_t path, std::int64_t length, std::uintptr_t results) {
  const auto view = rungs::at<const rungs::search::TreeBatch>(batch).view(i);
  rungs::search::look(view, reinterpret_cast<const std::int16_t*>(path), length,
                      rungs::at<const rungs::search::GameResult>(results).of(i));
  return view.state.used.nodes;
}

// Plays actions, where they are not -1. Unless all are legal nothing is changed, and for the first
// that is not, in game `i`, -1 - i is returned.
RUNGS_FUNCTION(std::int64_t, rungs_search_advance, std::uintptr_t batch,
               const std::int64_t* actions, std::uintptr_t pool, std::int64_t threads) {
  const auto& trees = rungs::at<const rungs::search::TreeBatch>(batch);
  const std::int64_t illegal = rungs::search::first_illegal(trees, actions);
  if (illegal < trees.num_games) return -1 - illegal;
  rungs::search::helpers(pool, threads).each(0, trees.num_games, [&](std::int64_t i) {
    if (actions[i] != -1)
      rungs::search::advance(trees.view(i), static_cast<rungs::chess::Action>(actions[i]));
  });
  return 0;
}

// Writes why each game is over to (G,) int8 `reasons`.
RUNGS_FUNCTION(void, rungs_search_reasons, std::uintptr_t batch, std::uintptr_t reasons) {
  const auto& trees = rungs::at<const rungs::search::TreeBatch>(batch);
  for (std::int64_t i = 0; i < trees.num_games; ++i)
    reinterpret_cast<std::int8_t*>(reasons)[i] =
        static_cast<std::int8_t>(trees.game[i].game.reason);
}

// The address of game `i`'s position.
RUNGS_FUNCTION(std::uintptr_t, rungs_search_position, std::uintptr_t batch, std::int64_t i) {
  const auto& trees = rungs::at<const rungs::search::TreeBatch>(batch);
  return reinterpret_cast<std::uintptr_t>(&trees.game[i].game.position);
}

// Opens all nodes of game `i`'s tree, so that all edges have priors and statistics, and writes four
// int64: which of its two buffers holds the tree, and how many nodes, edges and statistics it has.
RUNGS_FUNCTION(void, rungs_search_tree, std::uintptr_t batch, std::int64_t i, std::uintptr_t out) {
  const auto view = rungs::at<const rungs::search::TreeBatch>(batch).view(i);
  const auto& used = view.state.used;
  rungs::search::open_all(view);
  auto* to = reinterpret_cast<std::int64_t*>(out);
  to[0] = view.state.active_buffer;
  to[1] = used.nodes;
  to[2] = used.edges;
  to[3] = used.stats;
}
