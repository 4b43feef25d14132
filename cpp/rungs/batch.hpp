// A batch of chess environments as processors keep it: each board's state in one piece. The caller
// owns all the memory; nothing here allocates.
#pragma once
#include <cstddef>

#include "outputs.hpp"

namespace rungs {

struct ChessBatch : ChessOutputs {
  env::ChessEnv* env;
  std::int16_t* chosen;  // (N,) the actions that `accepts` found legal

  // What a rung does to board `i`; boards know nothing of each other, so in any order at any time.

  // Begins episode number `episode`, or the next one where that is -1.
  void reset(std::int64_t i, std::int64_t episode) const {
    env[i].board = static_cast<std::uint32_t>(first_board + i);
    env[i].episode = episode < 0 ? env[i].episode + 1 : static_cast<std::uint32_t>(episode);
    env[i].begin(config, rows(i));
    write(i);
  }

  // Whether an action is legal; it is what `step` plays then. Each is read once: it may lie where a
  // step writes, or where another thread does.
  bool accepts(std::int64_t i, std::int64_t action) const {
    if (!env[i].game.legal.contains(action)) return false;
    chosen[i] = static_cast<std::int16_t>(action);
    return true;
  }

  // Plays what was accepted; returns whether an episode ended. Behind the last of a thread's boards
  // comes `env::end_streams`.
  bool step(std::int64_t i) const {
    if (i + kAhead < num_envs) fetch(env[i + kAhead]);
    return env[i].step(config, chosen[i], streamed_rows(i));
  }

  // Plays the engine's first ply of an episode, where it has one and not -1.
  void open(std::int64_t i) const {
    if (replies[i] < 0) return;
    env[i].begin_with(static_cast<chess::Action>(replies[i]), rows(i));
    write(i);
  }

  void write(std::int64_t i) const { env[i].write(config, rows(i)); }

  // Takes a board that was checked, and writes its outputs.
  void load(std::int64_t i, const env::ChessEnv& saved, const env::History* past) const {
    env[i] = saved;
    if (past) history[i] = *past;
    ended[i] = saved.ended;
    write(i);
  }

 private:
  // A board takes about as long to come from memory as two take to step. No prefetcher sees it
  // coming, as each is read in an order of its own.
  static constexpr std::int64_t kAhead = 2;

  // Asks for what every step needs of a board; of the keys of past positions most are unused.
  static void fetch(const env::ChessEnv& soon) {
    const auto* game = reinterpret_cast<const char*>(&soon.game);
    for (std::size_t at = 0; at < offsetof(chess::Game, past); at += 64)
      __builtin_prefetch(game + at, 1);
    __builtin_prefetch(&soon.game.num_past, 1);
  }
};

}  // namespace rungs
