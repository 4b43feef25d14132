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
      const Legality<V>& all = found.legality;
      const Legality<Bitboard>& alone = one.legality;
      CHECK(word_of(all.check_mask, i) == alone.check_mask);
      for (int line = 0; line < 4; ++line) CHECK(word_of(all.pins[line], i) == alone.pins[line]);
      CHECK(word_of(all.castling, i) == alone.castling);
      CHECK(word_of(all.en_passant, i) == alone.en_passant);
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

// Every count of a file's lines of at most `most` leaves, with each number of boards at once.
inline int check_perft(const char* path, std::uint64_t most) {
  std::ifstream file(path);
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    Position position;
    if (line[0] == '#' || !parse_fen(line.substr(0, line.find(" ;")), position).empty()) continue;
    for (std::size_t at = line.find(";D"); at != std::string::npos; at = line.find(";D", at + 1)) {
      char* end;
      const int depth = static_cast<int>(std::strtol(line.c_str() + at + 2, &end, 10));
      const std::uint64_t leaves = std::strtoull(end, nullptr, 10);
      if (leaves > most) break;
      if (perft<Bitboard>(position, depth) != leaves || perft<Words4>(position, depth) != leaves ||
          perft<Words8>(position, depth) != leaves) {
        std::printf("%s: not at depth %d\n", line.c_str(), depth);
        return 1;
      }
      ++checked;
    }
  }
  std::printf("%d counts\n", checked);
  return 0;
}

}  // namespace rungs::chess
