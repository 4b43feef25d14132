// Any bytes, taken as settings and actions of two boards: illegal actions change nothing, legal
// ones leave positions of which everything holds, and nothing is written outside the outputs.
#pragma once
#include "boards.hpp"
#include "invariants.hpp"

namespace rungs {

inline void fuzz_actions(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return;
  const chess::Position start = chess::start_position();
  const env::ChessConfig config = any_config(data[0], data[1], &start);
  Boards boards(2, config);
  serial::reset(boards.batch, nullptr, 0);
  for (std::size_t at = 2; at + 2 <= size; at += 2) {
    std::int64_t actions[2];
    for (int i = 0; i < 2; ++i) {
      // Mostly one of the legal actions, else any number near them.
      const chess::LegalActions& legal = boards.envs[i].game.legal;
      const int number = chess::count(legal);
      const std::int64_t byte = data[at + i];
      actions[i] = byte < 250 && number ? env::nth_action(legal, byte % number) : byte * 20 - 100;
    }
    const std::vector<env::ChessEnv> before = boards.envs;
    const std::int64_t illegal = -1 - serial::step(boards.batch, actions);
    boards.check_fences();
    if (illegal >= 0) {
      if (before[illegal].game.legal.contains(actions[illegal])) fail("a legal action was refused");
      if (std::memcmp(before.data(), boards.envs.data(), 2 * sizeof(env::ChessEnv)))
        fail("an illegal action changed a board");
    }
    bool ended[2];
    for (int i = 0; i < 2; ++i) {
      ended[i] = boards.envs[i].ended;
      if (!ended[i]) chess::check(boards.envs[i].game);
    }
    if (config.autoreset == env::Autoreset::DISABLED) serial::reset(boards.batch, ended, -1);
  }
}

}  // namespace rungs
