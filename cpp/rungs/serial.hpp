// The serial rung: one thread, one board after the other.
#pragma once
#include "../env/saved.hpp"
#include "batch.hpp"

namespace rungs::serial {

// Begins an episode on the boards that `which` marks (null: on all): number `episode`, or each
// board's next one where `episode` is -1.
inline void reset(const ChessBatch& batch, const bool* which, std::int64_t episode) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i)
    if (!which || which[i]) batch.reset(i, episode);
}

// One step of every board. Returns how many episodes ended. Unless every action is legal nothing is
// changed, and for the first board `i` whose action is not, -1 - i is returned.
inline std::int64_t step(const ChessBatch& batch, const std::int64_t* actions) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i)
    if (!batch.accepts(i, actions[i])) return -1 - i;
  std::int64_t ended = 0;
  for (std::int64_t i = 0; i < batch.num_envs; ++i) ended += batch.step(i);
  env::end_streams();
  return ended;
}

// How many actions each board takes.
inline void count_actions(const ChessBatch& batch, std::int64_t* counts) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i)
    counts[i] = batch.env[i].num_actions(batch.config);
}

// Replaces ranks among them by the actions that have them.
inline void rank_to_action(const ChessBatch& batch, std::int64_t* ranks) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i)
    ranks[i] = batch.env[i].action(static_cast<int>(ranks[i]));
}

// Plays the engine's first plies.
inline void open(const ChessBatch& batch) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i) batch.open(i);
}

// Makes boards of what was saved as such, in its place: `past` has the history of each, where they
// have one. Returns the first that can't be one, and says why; or their number.
inline std::int64_t restore(const ChessBatch& batch, env::ChessEnv* saved, const env::History* past,
                            std::string& why) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i) {
    why = env::restore(batch.config, past ? past + i : nullptr, saved[i]);
    if (!why.empty()) return i;
  }
  return batch.num_envs;
}

// Takes boards that `restore` made, and writes what is seen of them.
inline void load(const ChessBatch& batch, const env::ChessEnv* saved, const env::History* past) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i)
    batch.load(i, saved[i], past ? past + i : nullptr);
}

}  // namespace rungs::serial
