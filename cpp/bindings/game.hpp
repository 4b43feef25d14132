// The functions that Python calls of a game of `rungs/game.hpp`. A source defines the struct, then
//   #define RUNGS_GAME ConnectFour
//   #include "bindings/game.hpp"
#pragma once
#include <exception>
#include <mutex>

#include "../rungs/cpu_loops.hpp"
#include "../rungs/game.hpp"
#include "abi.hpp"

namespace rungs {

// A batch of the game. What the game throws goes neither through C nor through a loop's threads:
// its text is kept, and the block that threw is left as it is.
struct Games : GameBatch<RUNGS_GAME> {
  static constexpr std::size_t kErrorBytes = 1024;

  char* error;  // (kErrorBytes,) the text of a call's first exception; empty: none

  void reset_block(std::int64_t b, const bool* which, std::int64_t number) const {
    keep_error([&] { GameBatch::reset_block(b, which, number); });
  }

  std::int64_t check_block(std::int64_t b, const std::int64_t* actions) const {
    std::int64_t first = b * kBlock;  // where it throws, as if this one were illegal
    keep_error([&] { first = GameBatch::check_block(b, actions); });
    return first;
  }

  std::int64_t step_block(std::int64_t b) const {
    std::int64_t ended = 0;
    keep_error([&] { ended = GameBatch::step_block(b); });
    return ended;
  }

 private:
  template <class Body>
  void keep_error(const Body& body) const {
    try {
      body();
    } catch (const std::exception& thrown) {
      keep(thrown.what());
    } catch (...) {
      keep("");
    }
  }

  void keep(const char* text) const {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (!*error)
      write_text(*text ? text : "an exception without a text",
                 reinterpret_cast<std::uintptr_t>(error), kErrorBytes);
  }
};

}  // namespace rungs

RUNGS_STRUCTURE(rungs::Games, num_envs, seed, seeds, autoreset, games, episode, drawn, chosen,
                observation, final_observation, action_mask, reward, terminated, truncated, ended,
                error)
RUNGS_CONSTANT(error_bytes, rungs::Games::kErrorBytes)
RUNGS_CONSTANT(game_bytes, sizeof(RUNGS_GAME))
RUNGS_CONSTANT(num_actions, RUNGS_GAME::kActions)
RUNGS_CONSTANT(num_cells, RUNGS_GAME::kCells)

RUNGS_FUNCTION(void, rungs_game_serial_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode) {
  rungs::serial::reset(rungs::at<const rungs::Games>(batch), reinterpret_cast<const bool*>(which),
                       episode);
}

RUNGS_FUNCTION(std::int64_t, rungs_game_serial_step, std::uintptr_t batch,
               const std::int64_t* actions) {
  return rungs::serial::step(rungs::at<const rungs::Games>(batch), actions);
}

RUNGS_FUNCTION(void, rungs_game_openmp_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode, std::uintptr_t settings) {
  rungs::openmp::reset(rungs::at<const rungs::Games>(batch), reinterpret_cast<const bool*>(which),
                       episode, rungs::at<const rungs::openmp::LoopSettings>(settings));
}

RUNGS_FUNCTION(std::int64_t, rungs_game_openmp_step, std::uintptr_t batch,
               const std::int64_t* actions, std::uintptr_t settings) {
  return rungs::openmp::step(rungs::at<const rungs::Games>(batch), actions,
                             rungs::at<const rungs::openmp::LoopSettings>(settings));
}

RUNGS_FUNCTION(void, rungs_game_threads_reset, std::uintptr_t batch, std::uintptr_t which,
               std::int64_t episode, std::uintptr_t pool, std::int64_t threads) {
  rungs::threads::reset(rungs::at<const rungs::Games>(batch), reinterpret_cast<const bool*>(which),
                        episode, rungs::at<rungs::ThreadPool>(pool),
                        static_cast<std::int32_t>(threads));
}

// `team_step`: the address of `rungs_game_openmp_step` in a library with OpenMP; 0: none.
RUNGS_FUNCTION(std::int64_t, rungs_game_threads_step, std::uintptr_t batch,
               const std::int64_t* actions, std::uintptr_t pool, std::int64_t threads,
               std::uintptr_t payoff, std::uintptr_t team_step, std::uintptr_t team_settings) {
  return rungs::threads::step(
      rungs::at<const rungs::Games>(batch), actions, rungs::at<rungs::ThreadPool>(pool),
      static_cast<std::int32_t>(threads), rungs::at<rungs::Payoff>(payoff),
      {reinterpret_cast<decltype(rungs::threads::Team::step)>(team_step), team_settings});
}
