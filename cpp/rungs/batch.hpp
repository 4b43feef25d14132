// A batch of chess environments in a processor's memory: each board's state in one piece (array of
// structures). The caller owns all memory; nothing here allocates.
#pragma once
#include <cstddef>
#include <cstring>

#include "../env/chess_env.hpp"

namespace rungs {

struct ChessBatch : env::ChessOutputs {
  env::ChessEnv* env;
  std::int16_t* chosen;  // (N,) the actions that `check_and_latch` found legal

  // What a rung does to board `i`. Boards are independent, so in any order and on any thread.

  // Begins episode number `episode`, or the next one where that is -1.
  void reset(std::int64_t i, std::int64_t episode) const {
    env[i].board = static_cast<std::uint32_t>(first_board + i);
    env[i].episode = episode < 0 ? env[i].episode + 1 : static_cast<std::uint32_t>(episode);
    env[i].begin(config, rows(i));
    write(i);
  }

  // Returns whether an action is legal, and if so keeps it for `step`. Each action is read only
  // once, as its memory may be written meanwhile: by a step, or by another thread.
  bool check_and_latch(std::int64_t i, std::int64_t action) const {
    if (!env[i].game.legal.contains(action)) return false;
    chosen[i] = static_cast<std::int16_t>(action);
    return true;
  }

  // Plays the action that `check_and_latch` kept; returns whether an episode ended. After the last
  // of its boards a thread calls `env::end_streams`.
  bool step(std::int64_t i) const {
    if (i + kAhead < num_envs) fetch(env[i + kAhead]);
    return env[i].step(config, chosen[i], streamed_rows(i));
  }

  // Plays the engine's first ply of an episode, unless its reply is -1.
  void open(std::int64_t i) const {
    if (replies[i] < 0) return;
    env[i].begin_with(static_cast<chess::Action>(replies[i]), rows(i));
    write(i);
  }

  void write(std::int64_t i) const { env[i].write(config, rows(i)); }

  // Loads a validated board, and writes its outputs.
  void load(std::int64_t i, const env::ChessEnv& saved, const env::History* past) const {
    env[i] = saved;
    if (past) history[i] = *past;
    ended[i] = saved.ended;
    write(i);
  }

 private:
  // How many boards ahead to prefetch: loading a board from memory takes about as long as stepping
  // two, and hardware prefetchers do not recognize the access pattern.
  static constexpr std::int64_t kAhead = 2;

  // Prefetches what most steps touch of a board: all but the keys of past positions after the first
  // few. A step waits for each line that is left out. Outputs are not prefetched: that makes a step
  // slower. Always inlined, as g++ drops calls of functions that only prefetch.
  [[gnu::always_inline]] static void fetch(const env::ChessEnv& soon) {
    const auto* first = reinterpret_cast<const char*>(&soon);
    const auto* last = reinterpret_cast<const char*>(soon.game.past + 16);
    for (; first < last; first += 64) __builtin_prefetch(first, 1);
  }
};

// Copies of boards, which can be put onto the same boards or others.
namespace copies {

namespace detail {

// Copies a board; of the keys of past positions, which come last, only those in use.
inline void copy(const env::ChessEnv& from, env::ChessEnv& to) {
  constexpr std::size_t kPast = offsetof(env::ChessEnv, game) + offsetof(chess::Game, past);
  static_assert(kPast + sizeof from.game.past == sizeof from);
  std::memcpy(static_cast<void*>(&to), &from,
              kPast + from.game.num_past * sizeof from.game.past[0]);
}

}  // namespace detail

// Copies boards number `which[k]` to `saved[k]`, and their histories to `past[k]` (null if they
// have none).
inline void save(const ChessBatch& batch, const std::int64_t* which, std::int64_t count,
                 env::ChessEnv* saved, env::History* past) {
  for (std::int64_t k = 0; k < count; ++k) {
    detail::copy(batch.env[which[k]], saved[k]);
    if (past) past[k] = batch.history[which[k]];
  }
}

// Replaces boards number `which[k]` by what `save` copied, and writes their outputs as after a
// reset. They draw the random numbers that their source would, or, with `own`, their own: then they
// keep their index in the batch and their episode's number.
inline void put(const ChessBatch& batch, const std::int64_t* which, std::int64_t count,
                const env::ChessEnv* saved, const env::History* past, bool own) {
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t i = which[k];
    env::ChessEnv& env = batch.env[i];
    const std::uint32_t episode = env.episode;
    detail::copy(saved[k], env);
    if (own) {
      env.board = static_cast<std::uint32_t>(batch.first_board + i);
      env.episode = episode;
    }
    if (past) batch.history[i] = past[k];
    batch.reward[i] = 0;
    batch.terminated[i] = batch.truncated[i] = false;
    batch.ended[i] = env.ended;
    batch.reason[i] = 0;
    batch.write(i);
  }
}

}  // namespace copies

}  // namespace rungs
