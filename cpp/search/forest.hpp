// The trees of many games, which grow side by side, and the batches of their leaves. The caller
// owns all the memory; nothing here allocates.
#pragma once
#include <cstring>

#include "../env/chess_env.hpp"
#include "../rungs/team.hpp"
#include "game_tree.hpp"

namespace rungs::search {

struct Forest {
  Settings settings;
  std::int64_t num_games;
  GameTree* game;
  env::History* history;  // null where observations don't show any
  Node* node;             // of each game two halves of `settings.nodes`
  Edge* edge;             // likewise
  const std::int32_t* schedule;
  // Rows for leaves: batch by batch, from the row of the batch's first game on.
  std::uint8_t* observation;
  std::int16_t* actions;
  std::int16_t* counts;

  Searched searched(std::int64_t i) const {
    Node* nodes = node + 2 * i * settings.nodes;
    Edge* edges = edge + 2 * i * settings.edges;
    return {settings,
            schedule,
            game[i],
            history ? history + i : nullptr,
            {{nodes, edges}, {nodes + settings.nodes, edges + settings.edges}}};
  }

  Row row(std::int64_t i) const {
    return {observation + i * env::observation_bytes(settings.observation),
            actions + i * env::kMostListed, counts + i};
  }
};

// The evaluation of a batch's leaves, in their order.
struct Evaluation {
  const float* logits;
  std::int64_t stride;  // of its rows
  const float* values;
};

// Threads to share work with; none where `team` is null.
struct Helpers {
  Team* team;
  std::int32_t threads;

  // Calls `body(i)` for every game from `first` to `last` - 1.
  template <class Body>
  void each(std::int64_t first, std::int64_t last, const Body& body) const {
    constexpr std::int64_t kChunk = 8;
    if (!team) {
      for (std::int64_t i = first; i < last; ++i) body(i);
      return;
    }
    team->run(threads, (last - first + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
      const std::int64_t start = first + chunk * kChunk;
      for (std::int64_t i = start; i < std::min(start + kChunk, last); ++i) body(i);
      return std::int64_t{0};
    });
  }
};

namespace detail {

// Whether an evaluation is one: a value from -1 to 1, and logits that are numbers, or -inf, but not
// all of them.
inline bool is_number(const float* logits, std::int32_t count, float value) {
  constexpr float kMost = std::numeric_limits<float>::max();
  bool right = value >= -1 && value <= 1;
  float most = -std::numeric_limits<float>::infinity();
  for (std::int32_t k = 0; k < count; ++k) {
    right = right && logits[k] <= kMost;
    most = logits[k] > most ? logits[k] : most;
  }
  return right && most >= -kMost;
}

// Moves the rows of games that wait together, in their order; returns how many there are.
inline std::int64_t gather(const Forest& forest, std::int64_t first, std::int64_t last) {
  std::int64_t next = first;
  for (std::int64_t i = first; i < last; ++i) {
    if (!forest.game[i].waits) continue;
    if (next < i) {
      const Row from = forest.row(i), to = forest.row(next);
      std::memcpy(to.observation, from.observation,
                  static_cast<std::size_t>(env::observation_bytes(forest.settings.observation)));
      std::memcpy(to.actions, from.actions, env::kMostListed * sizeof *to.actions);
      *to.count = *from.count;
    }
    ++next;
  }
  return next - first;
}

}  // namespace detail

// Puts an evaluation, or none where no tree waits, into the trees of games from `first` to `last` -
// 1, which grow until each waits again or has had its simulations. Returns how many wait, their
// leaves in as many rows from `first` on; or, where the evaluation of game `i` is none and nothing
// was changed, -1 - i.
inline std::int64_t grow(const Forest& forest, std::int64_t first, std::int64_t last,
                         const Evaluation& evaluation, const Helpers& helpers) {
  std::int64_t leaves = 0;
  for (std::int64_t i = first; i < last; ++i) {
    GameTree& game = forest.game[i];
    if (!game.waits) continue;
    if (!detail::is_number(evaluation.logits + leaves * evaluation.stride, game.leaf.count,
                           evaluation.values[leaves]))
      return -1 - i;
    game.row = leaves++;
  }
  helpers.each(first, last, [&](std::int64_t i) {
    const Searched searched = forest.searched(i);
    if (searched.own.waits) {
      const std::int64_t row = searched.own.row;
      absorb(searched, evaluation.logits + row * evaluation.stride, evaluation.values[row]);
    }
    grow(searched, forest.row(i));
  });
  return detail::gather(forest, first, last);
}

// Begins a game at a position, as its number's next.
inline void begin(const Forest& forest, std::int64_t i, const chess::Position& position,
                  std::uint32_t episode) {
  const Searched searched = forest.searched(i);
  chess::start(searched.own.game, position);
  if (searched.history) {
    searched.history->clear();
    searched.history->add(searched.own.game);
  }
  begin(searched, {forest.settings.seed, static_cast<std::uint32_t>(i), episode, 0});
}

// Begins a game where a board is, whose numbers it draws.
inline void begin(const Forest& forest, std::int64_t i, const env::ChessEnv& board,
                  const env::History* history) {
  const Searched searched = forest.searched(i);
  chess::Game& game = searched.own.game;
  for (int k = 0; k < board.game.num_past; ++k) game.past[k] = board.game.past[k];
  // Its mask may say what an episode that has ended takes, not what is legal.
  chess::resume(game, board.game.position, board.game.num_past);
  if (searched.history) *searched.history = *history;
  begin(searched, {forest.settings.seed, board.board, board.episode, board.ply});
}

// The first game in which an action is neither legal nor -1, or their number.
inline std::int64_t first_illegal(const Forest& forest, const std::int64_t* actions) {
  std::int64_t i = 0;
  for (; i < forest.num_games; ++i) {
    const chess::Game& game = forest.game[i].game;
    if (actions[i] != -1 && (game.over() || !game.legal.contains(actions[i]))) break;
  }
  return i;
}

}  // namespace rungs::search
