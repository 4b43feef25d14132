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

RUNGS_STRUCTURE(rungs::search::Settings, seed, policy, observation, nodes, edges, kept_nodes,
                kept_edges, keep, considered, scale, value_scale, maxvisit_init, c_init, c_base,
                alpha, fraction, temperature)
RUNGS_STRUCTURE(rungs::search::TreeMemory, node, prior, action, stats)
RUNGS_STRUCTURE(rungs::search::TreeBatch, settings, num_games, game, history, trees, schedule,
                observation, actions, counts)
RUNGS_STRUCTURE(rungs::search::Node, position, key, unvisited_prior, raw_value, visits, parent,
                edge, first, stats, count, num_visited, reason, repetitions)
RUNGS_STRUCTURE(rungs::search::Stats, value_sum, visits, child)
RUNGS_STRUCTURE(rungs::search::GameResult, actions, counts, visits, policy, priors, action_values,
                value, raw_value, chosen)

RUNGS_FUNCTION(std::int64_t, rungs_search_game_bytes) { return sizeof(rungs::search::GameTree); }

// Begins game `i` at a position that a FEN was read to.
RUNGS_FUNCTION(void, rungs_search_begin_position, std::uintptr_t batch, std::int64_t i,
               std::uintptr_t position, std::int64_t episode) {
  rungs::search::begin(rungs::at<const rungs::search::TreeBatch>(batch), i,
                       rungs::at<const rungs::chess::Position>(position),
                       static_cast<std::uint32_t>(episode));
}

RUNGS_FUNCTION(std::int64_t, rungs_search_begin_boards, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t count, std::uintptr_t saved, std::uintptr_t past) {
  return rungs::search::begin(rungs::at<const rungs::search::TreeBatch>(batch),
                              reinterpret_cast<const std::int64_t*>(which), count,
                              reinterpret_cast<const rungs::env::SavedBoard*>(saved),
                              reinterpret_cast<const rungs::env::History*>(past));
}

// Writes the schedule of a search's halving to (considered + 1, simulations) int32 `schedule`.
RUNGS_FUNCTION(void, rungs_search_halving, std::int64_t considered, std::int64_t simulations,
               std::uintptr_t schedule) {
  rungs::search::write_halving(static_cast<std::int32_t>(considered),
                               static_cast<std::int32_t>(simulations),
                               &rungs::at<std::int32_t>(schedule));
}

RUNGS_FUNCTION(void, rungs_search_start, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t count, std::int64_t simulations) {
  rungs::search::start(rungs::at<const rungs::search::TreeBatch>(batch),
                       reinterpret_cast<const std::int64_t*>(which), count,
                       static_cast<std::int32_t>(simulations));
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
  rungs::search::finish(rungs::at<const rungs::search::TreeBatch>(batch),
                        reinterpret_cast<const std::int64_t*>(which), count,
                        rungs::at<const rungs::search::GameResult>(results),
                        rungs::search::helpers(pool, threads));
}

// As `rungs::search::look` in game `i`; returns how many nodes its tree has.
RUNGS_FUNCTION(std::int64_t, rungs_search_look, std::uintptr_t batch, std::int64_t i,
               std::uintptr_t path, std::int64_t length, std::uintptr_t results) {
  const auto view = rungs::at<const rungs::search::TreeBatch>(batch).view(i);
  rungs::search::look(view, reinterpret_cast<const std::int16_t*>(path), length,
                      rungs::at<const rungs::search::GameResult>(results).of(i));
  return view.state.used.nodes;
}

RUNGS_FUNCTION(std::int64_t, rungs_search_advance, std::uintptr_t batch,
               const std::int64_t* actions, std::uintptr_t pool, std::int64_t threads) {
  return rungs::search::advance(rungs::at<const rungs::search::TreeBatch>(batch), actions,
                                rungs::search::helpers(pool, threads));
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
