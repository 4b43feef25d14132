// What Python calls of cpp/search, beside `chess.hpp`: plain functions over addresses and numbers.
#pragma once
#include "../search/forest.hpp"
#include "at.hpp"

namespace rungs::search {

// What is found in all games; each array has a row for each game.
struct ResultArrays {
  GameResult base;

  GameResult of(std::int64_t i) const {
    const std::int64_t lists = i * env::kMaxLegal;
    const GameResult& f = base;
    return {f.actions + lists, f.counts + i,     f.visits + lists,
            f.policy + lists,  f.priors + lists, f.action_values + lists,
            f.value + i,       f.raw_value + i,  f.chosen + i};
  }
};

// `team` is the address of a team of ours, 0 for the calling thread alone.
inline Helpers helpers(std::uintptr_t team, std::int64_t threads) {
  return {reinterpret_cast<Team*>(team), static_cast<std::int32_t>(threads)};
}

}  // namespace rungs::search

extern "C" {

// What Python compares with its picture of the structs; at most 4095 characters.
void rungs_search_layout(std::uintptr_t out) {
  using namespace rungs;
  using search::Edge, search::Forest, search::Node, search::ResultArrays;
  std::string text = layout("Forest", sizeof(Forest),
                            {RUNGS_MIRRORED(Forest, settings.seed),
                             RUNGS_MIRRORED(Forest, settings.policy),
                             RUNGS_MIRRORED(Forest, settings.observation),
                             RUNGS_MIRRORED(Forest, settings.nodes),
                             RUNGS_MIRRORED(Forest, settings.edges),
                             RUNGS_MIRRORED(Forest, settings.kept_nodes),
                             RUNGS_MIRRORED(Forest, settings.kept_edges),
                             RUNGS_MIRRORED(Forest, settings.keep),
                             RUNGS_MIRRORED(Forest, settings.considered),
                             RUNGS_MIRRORED(Forest, settings.scale),
                             RUNGS_MIRRORED(Forest, settings.value_scale),
                             RUNGS_MIRRORED(Forest, settings.maxvisit_init),
                             RUNGS_MIRRORED(Forest, settings.c_init),
                             RUNGS_MIRRORED(Forest, settings.c_base),
                             RUNGS_MIRRORED(Forest, settings.alpha),
                             RUNGS_MIRRORED(Forest, settings.fraction),
                             RUNGS_MIRRORED(Forest, settings.temperature),
                             RUNGS_MIRRORED(Forest, num_games),
                             RUNGS_MIRRORED(Forest, game),
                             RUNGS_MIRRORED(Forest, history),
                             RUNGS_MIRRORED(Forest, node),
                             RUNGS_MIRRORED(Forest, edge),
                             RUNGS_MIRRORED(Forest, schedule),
                             RUNGS_MIRRORED(Forest, observation),
                             RUNGS_MIRRORED(Forest, actions),
                             RUNGS_MIRRORED(Forest, counts)});
  text += layout(
      "Node", sizeof(Node),
      {RUNGS_MIRRORED(Node, position), RUNGS_MIRRORED(Node, key),
       RUNGS_MIRRORED(Node, unvisited_prior), RUNGS_MIRRORED(Node, raw_value),
       RUNGS_MIRRORED(Node, visits), RUNGS_MIRRORED(Node, parent), RUNGS_MIRRORED(Node, edge),
       RUNGS_MIRRORED(Node, first), RUNGS_MIRRORED(Node, count), RUNGS_MIRRORED(Node, num_visited),
       RUNGS_MIRRORED(Node, reason), RUNGS_MIRRORED(Node, repetitions)});
  text += layout(
      "Edge", sizeof(Edge),
      {RUNGS_MIRRORED(Edge, value_sum), RUNGS_MIRRORED(Edge, prior), RUNGS_MIRRORED(Edge, visits),
       RUNGS_MIRRORED(Edge, child), RUNGS_MIRRORED(Edge, action), RUNGS_MIRRORED(Edge, padding)});
  text += layout(
      "ResultArrays", sizeof(ResultArrays),
      {RUNGS_MIRRORED(ResultArrays, base.actions), RUNGS_MIRRORED(ResultArrays, base.counts),
       RUNGS_MIRRORED(ResultArrays, base.visits), RUNGS_MIRRORED(ResultArrays, base.policy),
       RUNGS_MIRRORED(ResultArrays, base.priors), RUNGS_MIRRORED(ResultArrays, base.action_values),
       RUNGS_MIRRORED(ResultArrays, base.value), RUNGS_MIRRORED(ResultArrays, base.raw_value),
       RUNGS_MIRRORED(ResultArrays, base.chosen)});
  rungs::write_text(text, out, 4096);
}

std::int64_t rungs_search_game_bytes() { return sizeof(rungs::search::GameTree); }

// Begins game `i` at a position that a FEN was read to.
void rungs_search_begin_position(std::uintptr_t forest, std::int64_t i, std::uintptr_t position,
                                 std::int64_t episode) {
  rungs::search::begin(rungs::at<const rungs::search::Forest>(forest), i,
                       rungs::at<const rungs::chess::Position>(position),
                       static_cast<std::uint32_t>(episode));
}

// Begins `count` games, indices at `which`, where boards are that `rungs_chess_save` copied.
void rungs_search_begin_boards(std::uintptr_t forest, std::uintptr_t which, std::int64_t count,
                               std::uintptr_t saved, std::uintptr_t past) {
  const auto* games = reinterpret_cast<const std::int64_t*>(which);
  const auto* boards = reinterpret_cast<const rungs::env::ChessEnv*>(saved);
  const auto* histories = reinterpret_cast<const rungs::env::History*>(past);
  for (std::int64_t k = 0; k < count; ++k)
    rungs::search::begin(rungs::at<const rungs::search::Forest>(forest), games[k], boards[k],
                         histories ? histories + k : nullptr);
}

// Gives simulations to `count` games, indices at `which`, and none to the others.
void rungs_search_start(std::uintptr_t forest, std::uintptr_t which, std::int64_t count,
                        std::int64_t simulations) {
  const auto& trees = rungs::at<const rungs::search::Forest>(forest);
  const auto* games = reinterpret_cast<const std::int64_t*>(which);
  for (std::int64_t i = 0; i < trees.num_games; ++i) rungs::search::start(trees.view(i), 0);
  for (std::int64_t k = 0; k < count; ++k)
    rungs::search::start(trees.view(games[k]), static_cast<std::int32_t>(simulations));
}

// As `rungs::search::grow`, with logits in rows of `stride` floats.
std::int64_t rungs_search_simulate(std::uintptr_t forest, std::int64_t first, std::int64_t last,
                                   std::uintptr_t logits, std::int64_t stride,
                                   std::uintptr_t values, std::uintptr_t team,
                                   std::int64_t threads) {
  const rungs::search::Evaluation evaluation = {reinterpret_cast<const float*>(logits), stride,
                                                reinterpret_cast<const float*>(values)};
  return rungs::search::simulate(rungs::at<const rungs::search::Forest>(forest), first, last,
                                 evaluation, rungs::search::helpers(team, threads));
}

void rungs_search_finish(std::uintptr_t forest, std::uintptr_t which, std::int64_t count,
                         std::uintptr_t results, std::uintptr_t team, std::int64_t threads) {
  const auto& trees = rungs::at<const rungs::search::Forest>(forest);
  const auto& arrays = rungs::at<const rungs::search::ResultArrays>(results);
  const auto* games = reinterpret_cast<const std::int64_t*>(which);
  rungs::search::helpers(team, threads).each(0, count, [&](std::int64_t k) {
    rungs::search::finish(trees.view(games[k]), arrays.of(games[k]));
  });
}

// Plays actions, where they are not -1. Unless all are legal nothing is changed, and for the first
// that is not, in game `i`, -1 - i is returned.
std::int64_t rungs_search_advance(std::uintptr_t forest, const std::int64_t* actions,
                                  std::uintptr_t team, std::int64_t threads) {
  const auto& trees = rungs::at<const rungs::search::Forest>(forest);
  const std::int64_t illegal = rungs::search::first_illegal(trees, actions);
  if (illegal < trees.num_games) return -1 - illegal;
  rungs::search::helpers(team, threads).each(0, trees.num_games, [&](std::int64_t i) {
    if (actions[i] != -1)
      rungs::search::advance(trees.view(i), static_cast<rungs::chess::Action>(actions[i]));
  });
  return 0;
}

// Writes why each game is over to (G,) int8 `reasons`.
void rungs_search_reasons(std::uintptr_t forest, std::uintptr_t reasons) {
  const auto& trees = rungs::at<const rungs::search::Forest>(forest);
  for (std::int64_t i = 0; i < trees.num_games; ++i)
    reinterpret_cast<std::int8_t*>(reasons)[i] =
        static_cast<std::int8_t>(trees.game[i].game.reason);
}

// Where game `i`'s position is.
std::uintptr_t rungs_search_position(std::uintptr_t forest, std::int64_t i) {
  const auto& trees = rungs::at<const rungs::search::Forest>(forest);
  return reinterpret_cast<std::uintptr_t>(&trees.game[i].game.position);
}

// Writes where game `i`'s tree is, to three int64: which half of its memory, how many nodes, how
// many edges.
void rungs_search_tree(std::uintptr_t forest, std::int64_t i, std::uintptr_t out) {
  const auto& game = rungs::at<const rungs::search::Forest>(forest).game[i];
  auto* to = reinterpret_cast<std::int64_t*>(out);
  to[0] = game.active_buffer;
  to[1] = game.used.nodes;
  to[2] = game.used.edges;
}

}  // extern "C"
