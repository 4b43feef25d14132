// The trees of many games, so that their leaves are evaluated together as a batch. The caller owns
// all memory; nothing here allocates.
#pragma once
#include <cstring>

#include "../env/block.hpp"
#include "../rungs/thread_pool.hpp"
#include "game_tree.hpp"

namespace rungs::search {

struct TreeBatch {
  Settings settings;
  std::int64_t num_games;
  GameTree* game;
  env::History* history;  // null where observations show none
  // A tree per game, and where subtrees are kept then another of each. `settings.nodes` nodes a
  // tree, and `settings.edges` elements of each of the other arrays.
  TreeMemory trees;
  const std::int32_t* schedule;
  // Leaves to evaluate: those of games that are searched together are consecutive rows, from the
  // row of the first game on.
  std::uint8_t* observation;
  std::int16_t* actions;
  std::int16_t* counts;

  TreeView view(std::int64_t i) const {
    const auto tree = [&](std::int64_t number) -> TreeMemory {
      const std::int64_t first = number * settings.edges;
      return {trees.node + number * settings.nodes, trees.prior + first, trees.action + first,
              trees.stats + first};
    };
    return {settings,
            schedule,
            game[i],
            history ? history + i : nullptr,
            {tree(i), tree(settings.keep ? num_games + i : i)}};
  }

  LeafBuffers leaf_buffers(std::int64_t i) const {
    return {observation + i * env::observation_bytes(settings.observation),
            actions + i * env::kMaxLegal, counts + i};
  }
};

// The evaluation of leaves, in their order: logits (leaves, stride) and values (leaves,).
struct Evaluation {
  const float* logits;
  std::int64_t stride;  // floats per row of logits
  const float* values;
};

// A thread pool; `pool` is null for the caller alone.
struct Helpers {
  ThreadPool* pool;
  std::int32_t threads;

  // Calls `body(i)` for every game from `first` to `last` - 1.
  template <class Body>
  void each(std::int64_t first, std::int64_t last, const Body& body) const {
    constexpr std::int64_t kChunk = 8;
    if (!pool) {
      for (std::int64_t i = first; i < last; ++i) body(i);
      return;
    }
    pool->run(threads, (last - first + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
      const std::int64_t start = first + chunk * kChunk;
      for (std::int64_t i = start; i < std::min(start + kChunk, last); ++i) body(i);
      return std::int64_t{0};
    });
  }
};

namespace detail {

// Whether an evaluation is valid: a value in [-1, 1], and logits that are finite or -inf, at least
// one of them finite.
inline bool is_valid_evaluation(const float* logits, std::int32_t count, float value) {
  constexpr float kMaxFloat = std::numeric_limits<float>::max();
  int wrong = !(value >= -1 && value <= 1), finite = 0;
  for (std::int32_t k = 0; k < count; ++k) {
    wrong |= !(logits[k] <= kMaxFloat);
    finite |= logits[k] >= -kMaxFloat;
  }
  return finite && !wrong;
}

// Moves the rows of waiting games together, in their order; returns their number.
inline std::int64_t compact_rows(const TreeBatch& batch, std::int64_t first, std::int64_t last) {
  std::int64_t next = first;
  for (std::int64_t i = first; i < last; ++i) {
    if (!batch.game[i].waiting) continue;
    if (next < i) {
      const LeafBuffers from = batch.leaf_buffers(i), to = batch.leaf_buffers(next);
      std::memcpy(to.observation, from.observation,
                  static_cast<std::size_t>(env::observation_bytes(batch.settings.observation)));
      std::memcpy(to.actions, from.actions, env::kMaxLegal * sizeof *to.actions);
      *to.count = *from.count;
    }
    ++next;
  }
  return next - first;
}

}  // namespace detail

// Expands the waiting leaves of games `first` to `last` - 1 with their evaluations, backs these up,
// and simulates until every game waits again or has no simulations left. Returns how many wait;
// their leaves are in that many rows from `first` on. If the evaluation of game `i` is invalid,
// nothing is changed and -1 - i is returned.
inline std::int64_t simulate(const TreeBatch& batch, std::int64_t first, std::int64_t last,
                             const Evaluation& evaluation, const Helpers& helpers) {
  std::int64_t leaves = 0;
  for (std::int64_t i = first; i < last; ++i) {
    GameTree& game = batch.game[i];
    if (!game.waiting) continue;
    if (!detail::is_valid_evaluation(evaluation.logits + leaves * evaluation.stride,
                                     game.leaf.count, evaluation.values[leaves]))
      return -1 - i;
    game.evaluation_row = leaves++;
  }
  helpers.each(first, last, [&](std::int64_t i) {
    const TreeView view = batch.view(i);
    if (view.state.waiting) {
      const std::int64_t row = view.state.evaluation_row;
      expand_and_backup(view, evaluation.logits + row * evaluation.stride, evaluation.values[row]);
    }
    simulate(view, batch.leaf_buffers(i));
  });
  return detail::compact_rows(batch, first, last);
}

// Begins game `i` at a position, as its episode number `episode`.
inline void begin(const TreeBatch& batch, std::int64_t i, const chess::Position& position,
                  std::uint32_t episode) {
  const TreeView view = batch.view(i);
  chess::start(view.state.game, position);
  if (view.history) {
    view.history->clear();
    view.history->add(view.state.game.position, view.state.game.repetitions);
  }
  begin(view, {batch.settings.seed, static_cast<std::uint32_t>(i), episode, 0});
}

// Begins game `i` at the state of a board, with the board's random numbers.
inline void begin(const TreeBatch& batch, std::int64_t i, const env::SavedBoard& board,
                  const env::History* history) {
  const TreeView view = batch.view(i);
  view.state.game = env::game_of(board);
  if (view.history) *view.history = *history;
  begin(view, {batch.settings.seed, board.board, board.episode, board.ply});
}

// Begins `count` games, numbers at `which`, at the states of boards. If one may have more actions
// than a list holds nothing is changed, and for the first, number `k`, -1 - k is returned.
inline std::int64_t begin(const TreeBatch& batch, const std::int64_t* which, std::int64_t count,
                          const env::SavedBoard* boards, const env::History* histories) {
  for (std::int64_t k = 0; k < count; ++k)
    if (!env::fits_list(boards[k].position)) return -1 - k;
  for (std::int64_t k = 0; k < count; ++k)
    begin(batch, which[k], boards[k], histories ? histories + k : nullptr);
  return 0;
}

// Gives simulations to `count` games, numbers at `which`, and none to the others.
inline void start(const TreeBatch& batch, const std::int64_t* which, std::int64_t count,
                  std::int32_t simulations) {
  for (std::int64_t i = 0; i < batch.num_games; ++i) start(batch.view(i), 0);
  for (std::int64_t k = 0; k < count; ++k) start(batch.view(which[k]), simulations);
}

// Writes the results of `count` games, numbers at `which`.
inline void finish(const TreeBatch& batch, const std::int64_t* which, std::int64_t count,
                   const GameResult& results, const Helpers& helpers) {
  helpers.each(0, count,
               [&](std::int64_t k) { finish(batch.view(which[k]), results.of(which[k])); });
}

// Plays actions, where they are not -1. Unless all are legal nothing is changed, and for the first
// that is not, in game `i`, -1 - i is returned.
inline std::int64_t advance(const TreeBatch& batch, const std::int64_t* actions,
                            const Helpers& helpers) {
  for (std::int64_t i = 0; i < batch.num_games; ++i) {
    const chess::Game& game = batch.game[i].game;
    if (actions[i] != -1 && (game.over() || !game.legal.contains(actions[i]))) return -1 - i;
  }
  helpers.each(0, batch.num_games, [&](std::int64_t i) {
    if (actions[i] != -1) advance(batch.view(i), static_cast<chess::Action>(actions[i]));
  });
  return 0;
}

}  // namespace rungs::search
