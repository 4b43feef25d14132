// A batch of chess environments as a GPU keeps it: the words of all boards' games side by side, so
// that threads next to each other, a board each, read and write lines of memory together. Outputs
// are as on every rung.
#pragma once
#include <cstring>

#ifndef __CUDACC_RTC__
#include "../env/saved.hpp"
#endif
#include "outputs.hpp"

namespace rungs {

// Words that lie apart, with other games' words in between (structure of arrays): what threads that
// step a game each read and write together then lies side by side.
template <class Word>
struct Strided {
  Word* first;
  std::int64_t apart;

  Word& operator[](std::int64_t i) const { return first[i * apart]; }
};

// A game whose legal actions and past keys stay where they are, while the rest is in registers.
using DeviceGame = chess::GameIn<Strided<chess::Bitboard>, Strided<std::uint64_t>>;
using DeviceEnv = env::ChessEnvIn<DeviceGame>;

// Words of a board beside its legal actions and past keys; the last two are several numbers each.
enum DeviceWord { POSITION = 0, NOW = 8, COUNTS, EPISODE, NUM_DEVICE_WORDS };
static_assert(sizeof(chess::Position) == 8 * NOW);

struct DeviceBatch : ChessOutputs {
  std::uint64_t* words;    // (NUM_DEVICE_WORDS, num_envs)
  chess::Bitboard* legal;  // (kPlanes, num_envs)
  std::uint64_t* past;     // (kFiftyMoves, num_envs)

  DeviceEnv load(std::int64_t i) const {
    std::uint64_t word[NUM_DEVICE_WORDS];
    for (int each = 0; each < NUM_DEVICE_WORDS; ++each) word[each] = words[each * num_envs + i];
    DeviceEnv env;
    std::memcpy(&env.game.position, word + POSITION, sizeof env.game.position);
    env.game.legal.plane = {legal + i, num_envs};
    env.game.past = {past + i, num_envs};
    env.game.now = word[NOW];
    env.game.num_past = static_cast<std::uint8_t>(word[COUNTS]);
    env.game.repetitions = static_cast<std::uint8_t>(word[COUNTS] >> 8);
    env.game.reason = static_cast<chess::Reason>(word[COUNTS] >> 16 & 255);
    env.ended = word[COUNTS] >> 24 & 255;
    env.ply = static_cast<std::uint32_t>(word[COUNTS] >> 32);
    env.episode = static_cast<std::uint32_t>(word[EPISODE]);
    env.board = static_cast<std::uint32_t>(word[EPISODE] >> 32);
    return env;
  }

  void store(std::int64_t i, const DeviceEnv& env) const {
    std::uint64_t word[NUM_DEVICE_WORDS];
    std::memcpy(word + POSITION, &env.game.position, sizeof env.game.position);
    word[NOW] = env.game.now;
    word[COUNTS] = env.game.num_past | std::uint64_t{env.game.repetitions} << 8 |
                   static_cast<std::uint64_t>(env.game.reason) << 16 |
                   std::uint64_t{env.ended} << 24 | std::uint64_t{env.ply} << 32;
    word[EPISODE] = env.episode | std::uint64_t{env.board} << 32;
    for (int each = 0; each < NUM_DEVICE_WORDS; ++each) words[each * num_envs + i] = word[each];
  }

  // What a rung does to board `i`, as `ChessBatch` does.

  void reset(std::int64_t i, std::int64_t episode) const {
    DeviceEnv env = load(i);
    env.board = static_cast<std::uint32_t>(first_board + i);
    env.episode = episode < 0 ? env.episode + 1 : static_cast<std::uint32_t>(episode);
    env.begin(config, rows(i));
    env.write(config, rows(i));
    store(i, env);
  }

  void write(std::int64_t i) const { load(i).write(config, rows(i)); }

  bool accepts(std::int64_t i, std::int64_t action) const {
    return chess::ActionsIn<Strided<chess::Bitboard>>{{legal + i, num_envs}}.contains(action);
  }

  bool step(std::int64_t i, std::int64_t action) const {
    DeviceEnv env = load(i);
    const bool ends = env.step(config, static_cast<chess::Action>(action), rows(i));
    store(i, env);
    return ends;
  }

#ifndef __CUDACC_RTC__
  // Makes a board of what was saved as one, in its place, on the host. Returns why it can't be one.
  std::string restore(std::int64_t i) const {
    DeviceEnv env = load(i);
    const std::string why = env::restore(config, history ? history + i : nullptr, env);
    if (why.empty()) store(i, env);
    return why;
  }
#endif

  // Plays so many random steps; returns how many episodes ended.
  std::int64_t step_many(std::int64_t i, std::int64_t steps) const {
    DeviceEnv env = load(i);
    std::int64_t ended = 0;
    for (std::int64_t step = 0; step < steps; ++step)
      ended += env.step(config, env.any_action(config), rows(i));
    store(i, env);
    return ended;
  }
};

}  // namespace rungs
