// Walks move trees and checks, at every node, what must hold of any position.
#pragma once
#include <fstream>
#include <string>
#include <unordered_map>

#include "invariants.hpp"

namespace rungs::chess {

// The position that each key was seen for, without its clocks.
inline std::unordered_map<std::uint64_t, Position> seen;

inline void check_key(const Game& game) {
  Position timeless = game.position;
  timeless.halfmove = 0;
  timeless.fullmove = 0;
  const auto [entry, fresh] = seen.try_emplace(key(timeless), timeless);
  CHECK(!std::memcmp(&entry->second, &timeless, sizeof timeless));
}

inline std::uint64_t walk(const Game& game, int depth) {
  check(game);
  check_key(game);
  if (depth == 0) return 1;
  std::uint64_t leaves = 0;
  for_each_action(game.legal, [&](Action a) {
    CHECK(game.legal.contains(a));
    Game next = game;
    next.num_past = 0;  // a tree may be deeper than a game is long
    play(next, a);
    leaves += walk(next, depth - 1);
  });
  return leaves;
}

// To `depth` plies from the position of each line of a file, and its leaf count.
inline int walk_trees(const char* path, int depth) {
  std::ifstream file(path);
  const std::string count_of = ";D" + std::to_string(depth) + " ";
  std::uint64_t nodes = 0;
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(count_of);
    if (line[0] == '#' || at == std::string::npos) continue;
    Position position;
    const std::string why = parse_fen(line.substr(0, line.find(" ;")), position);
    if (!why.empty()) {
      std::printf("%s: %s\n", line.c_str(), why.c_str());
      return 1;
    }
    Game game;
    start(game, position);
    seen.clear();
    const std::uint64_t leaves = walk(game, depth);
    if (leaves != std::strtoull(line.c_str() + at + count_of.size(), nullptr, 10)) {
      std::printf("%s: %lu leaves\n", line.c_str(), leaves);
      return 1;
    }
    nodes += leaves;
  }
  std::printf("%lu leaves\n", nodes);
  return 0;
}

}  // namespace rungs::chess
