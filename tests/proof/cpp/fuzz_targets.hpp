// The fuzzer's targets: whatever bytes they are given, all holds, and nothing is written outside
// the outputs.
#pragma once
#include <map>
#include <string_view>

#include "boards.hpp"
#include "invariants.hpp"

namespace rungs {

// Any text is refused with a reason, or is a position of which everything holds.
inline void fuzz_fen(const std::uint8_t* data, std::size_t size) {
  chess::Position position;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!chess::parse_fen(text, position).empty()) return;
  chess::Game game;
  chess::start(game, position);
  chess::check(game);
  chess::each_action(game.legal, [&](chess::Action a) {
    chess::Game next = game;
    chess::play(next, a);
    chess::check(next);
  });
}

// Any bytes are settings and actions of two boards: illegal actions change nothing, legal ones
// leave positions of which everything holds.
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
      const chess::LegalActions legal = boards.taken(i);
      const int number = chess::count(legal);
      const std::int64_t byte = data[at + i];
      actions[i] = byte < 250 && number ? env::nth_action(legal, byte % number) : byte * 20 - 100;
    }
    const std::vector<env::Block> before = boards.blocks;
    chess::LegalActions taken[2] = {boards.taken(0), boards.taken(1)};
    const std::int64_t illegal = -1 - serial::step(boards.batch, actions);
    boards.check_fences();
    if (illegal >= 0) {
      if (taken[illegal].contains(actions[illegal])) fail("a legal action was refused");
      if (!boards.same_state(before)) fail("an illegal action changed a board");
    }
    bool ended[2];
    for (int i = 0; i < 2; ++i) {
      ended[i] = boards.ended(i);
      if (!ended[i]) chess::check(boards.game(i));
    }
    if (config.autoreset == env::Autoreset::DISABLED) serial::reset(boards.batch, ended, -1);
  }
}

// Plays random steps; what has ended begins anew.
inline void play_on(const Boards& boards, int steps) {
  const ChessBatch& batch = boards.batch;
  for (; steps > 0; --steps) {
    const bool ended = boards.ended(0);
    if (ended && batch.config.autoreset == env::Autoreset::DISABLED)
      serial::reset(batch, &ended, -1);
    ChessEnv env = batch.env_at(0);
    env.examine();
    const std::int64_t action = env.any_action(0);
    if (serial::step(batch, &action) < 0) fail("a random action is illegal");
    if (!boards.ended(0)) chess::check(boards.game(0));
  }
}

// A board of some settings and what was saved of it, which is played once: most inputs are refused
// at once, and to come to their board would take nearly all the time.
struct Saved {
  Saved(std::uint8_t settings, std::uint8_t seed, int steps)
      : boards(1, any_config(settings, seed, &start)) {
    serial::reset(boards.batch, nullptr, 0);
    play_on(boards, steps);
    env = boards.saved(0);
    history = boards.histories;
  }

  const chess::Position start = chess::start_position();
  Boards boards;
  env::SavedBoard env;
  std::vector<env::History> history;
};

inline Saved& saved_board(std::uint8_t settings, std::uint8_t seed, int steps) {
  static std::map<std::array<int, 3>, Saved> all;
  const std::array<int, 3> which{settings, seed, steps};
  return all.try_emplace(which, settings, seed, steps).first->second;
}

// A board that was saved and changed in any way is refused, or is one of which everything holds.
// The first bytes are settings, one of four seeds and how long is played; then two for a place and
// one for what is written there, as often as there are.
inline void fuzz_states(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return;
  Saved& saved = saved_board(data[0], data[1] % 4, data[2] % 6 * 12);
  const ChessBatch& batch = saved.boards.batch;
  env::SavedBoard changed = saved.env;
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
  if (serial::restore(batch.config, 1, &changed, histories, why) == 0) {
    if (why.empty()) fail("a board is refused without a reason");
    return;
  }
  const std::int64_t which = 0;
  serial::put(batch, &which, 1, &changed, histories, false);
  if (!saved.boards.ended(0)) chess::check(saved.boards.game(0));
  play_on(saved.boards, 8);
  saved.boards.check_fences();
}

}  // namespace rungs
