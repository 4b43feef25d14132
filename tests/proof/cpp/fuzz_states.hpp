// A board that was saved and changed in any way is refused, or is one of which everything holds.
#pragma once
#include <map>

#include "boards.hpp"
#include "invariants.hpp"

namespace rungs {

// Plays random steps; what has ended begins anew.
inline void play_on(const ChessBatch& batch, env::ChessEnv& env, int steps) {
  for (; steps > 0; --steps) {
    const bool ended = env.ended;
    if (ended && batch.config.autoreset == env::Autoreset::DISABLED)
      serial::reset(batch, &ended, -1);
    const std::int64_t action = env.any_action(batch.config);
    if (serial::step(batch, &action) < 0) fail("a random action is illegal");
    if (!env.ended) chess::check(env.game);
  }
}

// A board of some settings and what was saved of it, which is played once: most inputs are refused
// at once, and to come to their board would take nearly all the time.
struct Saved {
  Saved(std::uint8_t settings, std::uint8_t seed, int steps)
      : boards(1, any_config(settings, seed, &start)) {
    serial::reset(boards.batch, nullptr, 0);
    play_on(boards.batch, boards.envs[0], steps);
    env = boards.envs[0];
    history = boards.histories;
  }

  const chess::Position start = chess::start_position();
  Boards boards;
  env::ChessEnv env;
  std::vector<env::History> history;
};

inline Saved& saved_board(std::uint8_t settings, std::uint8_t seed, int steps) {
  static std::map<std::array<int, 3>, Saved> all;
  const std::array<int, 3> which{settings, seed, steps};
  return all.try_emplace(which, settings, seed, steps).first->second;
}

// The first bytes are settings, one of four seeds and how long is played; then two for a place and
// one for what is written there, as often as there are.
inline void fuzz_states(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return;
  Saved& saved = saved_board(data[0], data[1] % 4, data[2] % 6 * 12);
  const ChessBatch& batch = saved.boards.batch;
  env::ChessEnv changed = saved.env;
  std::vector<env::History> past = saved.history;
  auto* const env = reinterpret_cast<std::uint8_t*>(&changed);
  auto* const history = reinterpret_cast<std::uint8_t*>(past.data());
  const std::size_t room = sizeof changed + past.size() * sizeof(env::History);
  for (std::size_t at = 3; at + 3 <= size; at += 3) {
    const std::size_t place = (data[at] + 256U * data[at + 1]) % room;
    (place < sizeof changed ? env[place] : history[place - sizeof changed]) = data[at + 2];
  }
  std::string why;
  const env::History* histories = past.empty() ? nullptr : past.data();
  if (serial::restore(batch, &changed, histories, why) == 0) {
    if (why.empty()) fail("a board is refused without a reason");
    return;
  }
  serial::load(batch, &changed, histories);
  if (!saved.boards.envs[0].ended) chess::check(saved.boards.envs[0].game);
  play_on(batch, saved.boards.envs[0], 8);
  saved.boards.check_fences();
}

}  // namespace rungs
