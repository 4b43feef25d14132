// A board that was saved and changed in any way is refused, or is one of which everything holds.
#pragma once
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

// The first bytes are settings, a seed and how long is played; then two for a place and one for
// what is written there, as often as there are.
inline void fuzz_states(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return;
  const chess::Position start = chess::start_position();
  const env::ChessConfig config = any_config(data[0], data[1], &start);
  Boards boards(1, config);
  serial::reset(boards.batch, nullptr, 0);
  play_on(boards.batch, boards.envs[0], data[2] % 64);
  std::vector<env::ChessEnv> saved = boards.envs;
  std::vector<env::History> past = boards.histories;
  auto* const env = reinterpret_cast<std::uint8_t*>(saved.data());
  auto* const history = reinterpret_cast<std::uint8_t*>(past.data());
  const std::size_t room = sizeof(env::ChessEnv) + past.size() * sizeof(env::History);
  for (std::size_t at = 3; at + 3 <= size; at += 3) {
    const std::size_t place = (data[at] + 256U * data[at + 1]) % room;
    const bool of_env = place < sizeof(env::ChessEnv);
    (of_env ? env[place] : history[place - sizeof(env::ChessEnv)]) = data[at + 2];
  }
  std::string why;
  const env::History* histories = past.empty() ? nullptr : past.data();
  if (serial::restore(boards.batch, saved.data(), histories, why) == 0) {
    if (why.empty()) fail("a board is refused without a reason");
    return;
  }
  serial::load(boards.batch, saved.data(), histories);
  if (!boards.envs[0].ended) chess::check(boards.envs[0].game);
  play_on(boards.batch, boards.envs[0], 8);
  boards.check_fences();
}

}  // namespace rungs
