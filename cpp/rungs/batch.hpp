// A batch of chess environments. The caller owns all memory; nothing here allocates.
#pragma once
#include <cstring>

#include "../env/chess_env.hpp"

namespace rungs {

// The boards that are stepped together: a part of a block, or all of it.
constexpr int kGroup = chess::kWidth<chess::Widest>;
using ChessEnvs = env::ChessEnvs<chess::Widest>;
using ChessEnv = env::ChessEnvs<chess::Bitboard>;  // of a single board

// Fewer boards than this are stepped one by one: a vector takes as long as three of them alone.
constexpr int kFewBoards = 3;

struct ChessBatch : env::ChessOutputs {
  env::Block* blocks;    // of all boards; the last one may have room for more
  std::int16_t* chosen;  // (N,) the actions of the next step

  // What a rung on a CPU does to block `b`. Blocks are independent: it may do so in any order and
  // on any thread.

  std::int64_t num_blocks() const { return (num_envs + env::kBlock - 1) / env::kBlock; }

  // Keeps the actions of the block's boards; returns the first board whose action is illegal, or
  // `num_envs`.
  std::int64_t check_block(std::int64_t b, const std::int64_t* actions) const {
    const Run boards = boards_of(b);
    if (boards.last < num_envs) fetch(&blocks[b + 1], blocks[b + 1].now);
    for (std::int64_t first = boards.first; first < boards.last; first += kGroup)
      if (const std::int64_t illegal = check_group(first, actions); illegal < num_envs)
        return illegal;
    return num_envs;
  }

  // Keeps the actions of the block's boards, which are legal, without a check.
  void keep_block(std::int64_t b, const std::int64_t* actions) const {
    const Run boards = boards_of(b);
    for (std::int64_t i = boards.first; i < boards.last; ++i)
      chosen[i] = static_cast<std::int16_t>(actions[i]);
  }

  // Plays the actions that were kept; returns how many episodes ended. After the last of its blocks
  // a thread calls `env::end_streams`.
  std::int64_t step_block(std::int64_t b) const {
    const Run boards = boards_of(b);
    if (boards.last < num_envs) fetch(&blocks[b + 1], blocks[b + 1].past + kFetchedKeys);
    std::int64_t ended = 0;
    for (std::int64_t first = boards.first; first < boards.last; first += kGroup)
      ended += step_group(first);
    return ended;
  }

  // Begins an episode on the block's boards that `which` marks (null: on all); see `reset`.
  void reset_block(std::int64_t b, const bool* which, std::int64_t episode) const {
    const Run boards = boards_of(b);
    for (std::int64_t i = boards.first; i < boards.last; ++i)
      if (!which || which[i]) reset(i, episode);
  }

  // What a GPU's thread does to its group, which begins with board `first` and is that board alone.

  // Keeps the actions of the group's boards; returns the first board whose action is illegal, or
  // `num_envs`.
  std::int64_t check_group(std::int64_t first, const std::int64_t* actions) const {
    const int number = size_of_group(first);
    if constexpr (kGroup > 1)
      if (number >= kFewBoards) return check<chess::Widest>(first, number, actions);
    for (std::int64_t i = first; i < first + number; ++i)
      if (check<chess::Bitboard>(i, 1, actions) < num_envs) return i;
    return num_envs;
  }

  // Plays the actions that were kept; returns how many episodes ended.
  int step_group(std::int64_t first) const {
    const int number = size_of_group(first);
    if constexpr (kGroup > 1)
      if (number >= kFewBoards) return step<chess::Widest>(first, number);
    int ended = 0;
    for (std::int64_t i = first; i < first + number; ++i) ended += step<chess::Bitboard>(i, 1);
    return ended;
  }

  // Plays `steps` random steps on a group of one board; returns how many episodes ended.
  std::int64_t step_many(std::int64_t i, std::int64_t steps) const {
    ChessEnv env = env_at(i);
    env.examine();
    std::int64_t ended = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      const std::int16_t actions[1] = {static_cast<std::int16_t>(env.any_action(0))};
      ended += env.step(1, actions);
    }
    return ended;
  }

  // What is done to board `i` alone.

  // Begins episode number `episode`, or the next one where that is -1.
  void reset(std::int64_t i, std::int64_t episode) const {
    std::uint32_t& current = block_of(i).episode[lane_of(i)];
    draw_own(i);
    current = episode < 0 ? current + 1 : static_cast<std::uint32_t>(episode);
    ChessEnv env = env_at(i);
    env.begin();
    env.write(1);
  }

  // Plays the engine's first ply of an episode, unless its reply is -1.
  void open(std::int64_t i) const {
    if (replies[i] < 0) return;
    ChessEnv env = env_at(i);
    env.examine();
    env.begin_with(static_cast<chess::Action>(replies[i]));
    env.write(1);
  }

  // Copies a board, and its history to `past` (null if it has none).
  void save(std::int64_t i, env::SavedBoard& saved, env::History* past) const {
    env::get_board(block_of(i), lane_of(i), saved);
    if (past) *past = history[i];
  }

  // Replaces a board by what `save` copied, and writes its outputs as after a reset. It draws the
  // random numbers that its source would, or, with `own`, its own: then it keeps its index in the
  // batch and its episode's number.
  void put(std::int64_t i, const env::SavedBoard& saved, const env::History* past, bool own) const {
    env::Block& block = block_of(i);
    const int lane = lane_of(i);
    const std::uint32_t episode = block.episode[lane];
    env::put_board(saved, block, lane);
    if (own) {
      draw_own(i);
      block.episode[lane] = episode;
    }
    if (past) history[i] = *past;
    reward[i] = 0;
    terminated[i] = truncated[i] = false;
    ended[i] = saved.ended;
    reason[i] = 0;
    write(i);
  }

  void write(std::int64_t i) const {
    ChessEnv env = env_at(i);
    env.examine();
    env.write(1);
  }

  // Calls `body(envs, k, i)` for each board `i`, which is examined and is board `k` of `envs`.
  template <class Body>
  void examine_all(const Body& body) const {
    for (std::int64_t first = 0; first < num_envs; first += kGroup) {
      ChessEnvs envs(*this, first, group<chess::Widest>(first));
      envs.examine();
      for (int k = 0; k < size_of_group(first); ++k) body(envs, k, first + k);
    }
  }

  env::Block& block_of(std::int64_t i) const { return blocks[i / env::kBlock]; }
  static int lane_of(std::int64_t i) { return static_cast<int>(i % env::kBlock); }
  template <class V>
  env::Group<V> group(std::int64_t first) const {
    return {block_of(first), lane_of(first)};
  }
  ChessEnv env_at(std::int64_t i) const { return {*this, i, group<chess::Bitboard>(i)}; }

  // The number of boards of the group that begins with board `first`.
  int size_of_group(std::int64_t first) const {
    return num_envs - first < kGroup ? static_cast<int>(num_envs - first) : kGroup;
  }

 private:
  // Makes board `i` draw its own random numbers. A board with its own seed draws those of board 0
  // of a batch with that seed.
  void draw_own(std::int64_t i) const {
    block_of(i).seed[lane_of(i)] = seeds ? seeds[i] : config.seed;
    block_of(i).board[lane_of(i)] = seeds ? 0 : static_cast<std::uint32_t>(first_board + i);
  }

  // As the functions of groups, for the first `number` of as many boards as V holds.

  // Each action is read only once, as its memory may be written meanwhile: by a step, or by another
  // thread.
  template <class V>
  std::int64_t check(std::int64_t first, int number, const std::int64_t* actions) const {
    std::int64_t read[chess::kWidth<V>] = {};
    if (number == chess::kWidth<V>)  // a length that the compiler knows takes an instruction
      std::memcpy(read, actions + first, sizeof read);
    else
      std::memcpy(read, actions + first, static_cast<std::size_t>(number) * sizeof read[0]);
    for (int k = 0; k < number; ++k) chosen[first + k] = static_cast<std::int16_t>(read[k]);
    const bool any_if_ended = config.autoreset == env::Autoreset::NEXT_STEP;
    const chess::BoardSet legal = env::legal_on(group<V>(first), read, any_if_ended);
    const int illegal = chess::lowest(~chess::Bitboard{legal});
    return illegal < number ? first + illegal : num_envs;
  }

  template <class V>
  int step(std::int64_t first, int number) const {
    std::int16_t actions[chess::kWidth<V>] = {};
    if (number == chess::kWidth<V>)
      std::memcpy(actions, chosen + first, sizeof actions);
    else
      std::memcpy(actions, chosen + first, static_cast<std::size_t>(number) * sizeof actions[0]);
    return env::ChessEnvs<V>(*this, first, group<V>(first)).step(number, actions);
  }

  struct Run {
    std::int64_t first, last;
  };
  Run boards_of(std::int64_t b) const {
    const std::int64_t first = b * env::kBlock, end = first + env::kBlock;
    return {first, end < num_envs ? end : num_envs};
  }

  // The number of rows of past keys that a step prefetches: most boards need no more.
  static constexpr int kFetchedKeys = 8;

  // Prefetches memory from `first` up to `last`, of the block after the current one. Outputs are
  // not prefetched: that makes a step slower. Always inlined, as g++ drops calls of functions that
  // only prefetch.
#ifndef __CUDACC_RTC__
  [[gnu::always_inline]] static void fetch(const void* first, const void* last) {
    for (auto* line = static_cast<const char*>(first); line < last; line += 64)
      __builtin_prefetch(line, 1);
  }
#else
  static void fetch(const void*, const void*) {}  // a GPU has other threads to run meanwhile
#endif
};

}  // namespace rungs
