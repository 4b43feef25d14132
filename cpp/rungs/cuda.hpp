// The CUDA rung: a thread per board. NVRTC compiles it from the headers of the other rungs
// (`-default-device`: functions without a mark run on the device).
//
// In a GPU's memory the words of all boards' games are interleaved (structure of arrays), so that
// neighbouring threads, each with one board, access neighbouring words (coalesced). Outputs are
// laid out as on every rung.
#pragma once
#include <cstring>

#include "../env/chess_env.hpp"
#ifndef __CUDACC_RTC__
#include "../env/validate.hpp"
#endif

namespace rungs {

// Words of one game, `apart` words from each other, with other games' words in between.
template <class Word>
struct Strided {
  Word* first;
  std::int64_t apart;

  Word& operator[](std::int64_t i) const { return first[i * apart]; }
};

// A game whose legal actions and past keys stay in global memory, while the rest is in registers.
using DeviceGame = chess::GameIn<Strided<chess::Bitboard>, Strided<std::uint64_t>>;
using DeviceEnv = env::ChessEnvIn<DeviceGame>;

// Words of a board besides its legal actions and past keys; the last two pack several numbers each.
enum DeviceWord { POSITION = 0, NOW = 8, COUNTS, EPISODE, NUM_DEVICE_WORDS };
static_assert(sizeof(chess::Position) == 8 * NOW);

struct DeviceBatch : env::ChessOutputs {
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

  bool is_legal(std::int64_t i, std::int64_t action) const {
    return chess::ActionsIn<Strided<chess::Bitboard>>{{legal + i, num_envs}}.contains(action);
  }

  bool step(std::int64_t i, std::int64_t action) const {
    DeviceEnv env = load(i);
    const bool ends = env.step(config, static_cast<chess::Action>(action), rows(i));
    store(i, env);
    return ends;
  }

#ifndef __CUDACC_RTC__
  // Validates a saved board in place, on the host. Returns "", or why it is invalid.
  std::string restore(std::int64_t i) const {
    DeviceEnv env = load(i);
    const std::string why = env::restore(config, history ? history + i : nullptr, env);
    if (why.empty()) store(i, env);
    return why;
  }
#endif

  // Plays `steps` random steps; returns how many episodes ended.
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

#ifdef __CUDACC_RTC__

// As the host has them: lib/rungs/_src/chess/boards/device.py.
static_assert(sizeof(rungs::DeviceBatch) == RUNGS_DEVICE_BATCH_BYTES);
static_assert(sizeof(rungs::env::History) == RUNGS_HISTORY_BYTES);

namespace {

__device__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

}  // namespace

extern "C" {

// Begins an episode on the boards that `which` marks (null: on all), as `rungs::serial::reset`.
__global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)
    rungs_chess_reset(const rungs::DeviceBatch* batch, const bool* which, std::int64_t episode) {
  const std::int64_t i = thread_number();
  if (i < batch->num_envs && (!which || which[i])) batch->reset(i, episode);
}

// Lowers `first` to the first board whose action is illegal, and copies the actions to `chosen`.
__global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)
    rungs_chess_check(const rungs::DeviceBatch* batch, const std::int64_t* actions,
                      std::int64_t* chosen, long long* first) {
  const std::int64_t i = thread_number();
  if (i < batch->num_envs && !batch->is_legal(i, chosen[i] = actions[i]))
    atomicMin(first, static_cast<long long>(i));
}

// Plays actions that are all legal, and adds the number of episodes that ended to `ended`.
__global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)
    rungs_chess_step(const rungs::DeviceBatch* batch, const std::int64_t* actions,
                     unsigned long long* ended) {
  const std::int64_t i = thread_number();
  if (i < batch->num_envs && batch->step(i, actions[i])) atomicAdd(ended, 1ULL);
}

// Plays random steps, and adds the number of episodes that ended to `ended`.
__global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)
    rungs_chess_step_many(const rungs::DeviceBatch* batch, std::int64_t steps,
                          unsigned long long* ended) {
  const std::int64_t i = thread_number();
  if (i >= batch->num_envs) return;
  const std::int64_t mine = batch->step_many(i, steps);
  if (mine) atomicAdd(ended, static_cast<unsigned long long>(mine));
}

// Writes observation, mask and player of the boards that `which` marks (null: of all).
__global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)
    rungs_chess_write(const rungs::DeviceBatch* batch, const bool* which) {
  const std::int64_t i = thread_number();
  if (i < batch->num_envs && (!which || which[i])) batch->write(i);
}

}  // extern "C"

#endif
