// The last eight positions of a game, for observations that show them.
#pragma once
#include <cstring>

#include "../chess/game.hpp"

namespace rungs::env {

constexpr int kHistory = 8;

struct History {
  struct Snapshot {
    chess::Bitboard piece[6];  // by type, both sides, as the side saw it that was to move then
    chess::Bitboard own;
    std::uint64_t repetitions;  // how often the position stood before in its game
  };
  Snapshot ring[kHistory];
  std::uint32_t newest;
  std::uint32_t length;  // positions of this episode, at most kHistory

  void clear() { length = 0; }

  template <class Game>
  void add(const Game& game) {
    newest = (newest + 1) % kHistory;
    length += length < kHistory;
    Snapshot& now = ring[newest];
    std::memcpy(now.piece, game.position.piece, sizeof now.piece);
    now.own = game.position.own;
    now.repetitions = game.repetitions;
  }

  // The position `plies` ago, from 0 to length - 1.
  const Snapshot& ago(std::uint32_t plies) const {
    return ring[(newest + kHistory - plies) % kHistory];
  }
};

}  // namespace rungs::env
