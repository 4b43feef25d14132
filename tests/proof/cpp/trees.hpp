// Walks move trees and checks, at every node, what must hold of any position.
#pragma once
#include <algorithm>
#include <fstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "chess/perft.hpp"
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

// Plays actions of a position on as many boards at once as V holds, the last of them again where
// there are fewer, and finds the replies on each: all as for one position.
template <class V>
void check_boards(const Game& game, const std::vector<Action>& actions) {
  constexpr int n = kWidth<V>;
  for (std::size_t first = 0; first < actions.size(); first += n) {
    Position before[n], expected[n], after[n];
    Ply<V> ply;
    Action played[n];
    for (int i = 0; i < n; ++i) {
      const Action a = played[i] = actions[std::min(first + i, actions.size() - 1)];
      before[i] = game.position;
      play(game.position, a, expected[i]);
    }
    ply.from = each_board<V>([&](int i) { return bit(from_square(played[i])); });
    ply.to = each_board<V>([&](int i) { return bit(to_square(played[i])); });
    ply.promoted = each_board<V>([&](int i) { return Bitboard{promoted_piece(played[i])}; });
    const Boards<V> next = play(load_boards<V>(before), ply);
    store_boards(next, after);
    CHECK(!std::memcmp(after, expected, sizeof after));

    V plane[kPlanes];
    const Found<V> found = generate(next, [&](int i, V squares) { plane[i] = squares; });
    const V counts = action_counts(next);
    for (int i = 0; i < n; ++i) {
      LegalActions legal;
      const Found<Bitboard> one = generate(expected[i], legal);
      for (int each = 0; each < kPlanes; ++each)
        CHECK(word_of(plane[each], i) == legal.plane[each]);
      CHECK((word_of(found.any, i) != 0) == (one.any != 0));
      CHECK(word_of(found.check, i) == one.check);
      CHECK(word_of(counts, i) == static_cast<Bitboard>(count(legal)));
    }
  }
}

inline std::uint64_t walk(const Game& game, int depth) {
  check(game);
  check_key(game);
  if (depth == 0) return 1;
  std::uint64_t leaves = 0;
  std::vector<Action> actions;
  each_action(game.legal, [&](Action a) {
    CHECK(game.legal.contains(a));
    actions.push_back(a);
    Game next = game;
    next.num_past = 0;  // a tree may be deeper than a game is long
    play(next, a);
    leaves += walk(next, depth - 1);
  });
  check_boards<Bitboard>(game, actions);
  check_boards<Words4>(game, actions);
  check_boards<Words8>(game, actions);
  return leaves;
}

// To `depth` plies from the position of each line of a file, and its leaf count, which `perft`
// finds with each number of boards at once.
inline int walk_trees(const char* path, int depth) {
  std::ifstream file(path);
  const std::string count_of = ";D" + std::to_string(depth) + " ";
  std::uint64_t nodes = 0;
  for (std::string line; std::getline(file, line);) {
    const auto at = line.find(count_of);
    if (line[0] == '#' || at == std::string::npos) continue;
    Position position;
    if (!parse_fen(line.substr(0, line.find(" ;")), position).empty()) return 1;
    Game game;
    start(game, position);
    seen.clear();
    const std::uint64_t leaves = walk(game, depth);
    for (const std::uint64_t counted :
         {std::uint64_t{std::strtoull(line.c_str() + at + count_of.size(), nullptr, 10)},
          perft<Bitboard>(position, depth), perft<Words4>(position, depth),
          perft<Words8>(position, depth)}) {
      if (leaves == counted) continue;
      std::printf("%s: %lu leaves, not %lu\n", line.c_str(), leaves, counted);
      return 1;
    }
    nodes += leaves;
  }
  std::printf("%lu leaves\n", nodes);
  return 0;
}

}  // namespace rungs::chess
