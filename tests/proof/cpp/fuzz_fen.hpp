// Any text is refused with a reason, or is a position of which everything holds.
#pragma once
#include <string_view>

#include "invariants.hpp"

namespace rungs::chess {

inline void fuzz_fen(const std::uint8_t* data, std::size_t size) {
  Position position;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!parse_fen(text, position).empty()) return;
  Game game;
  start(game, position);
  check(game);
  for_each_action(game.legal, [&](Action a) {
    Game next = game;
    play(next, a);
    check(next);
  });
}

}  // namespace rungs::chess
