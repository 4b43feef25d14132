// Any text is refused with a reason, or is a position of which everything holds.
#include <string_view>

#include "fuzz.hpp"
#include "invariants.hpp"

using namespace rungs::chess;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Position position;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!parse_fen(text, position).empty()) return 0;
  Game game;
  start(game, position);
  check(game);
  for_each_action(game.legal, [&](Action a) {
    Game next = game;
    advance(next, a);
    check(next);
  });
  return 0;
}
