// Walks move trees and checks, at every node, what must hold of any position.
//   invariants FILE.epd DEPTH: to DEPTH plies from each line's position, and its leaf count.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unordered_map>

#include "chess/fen.hpp"
#include "chess/game.hpp"
#include "chess/perft.hpp"

using namespace rungs::chess;

#define CHECK(condition)                                                          \
  do {                                                                            \
    if (!(condition)) {                                                           \
      std::printf("%s fails in %s\n", #condition, to_fen(game.position).c_str()); \
      std::exit(1);                                                               \
    }                                                                             \
  } while (false)

// The position that each key was seen for, without its clocks.
std::unordered_map<std::uint64_t, Position> seen;

bool king_attacked(const Position& p) {
  return detail::attacked(p, p.piece[KING] & p.own, p.theirs(), p.occupied());
}

void check(const Game& game) {
  const Position& p = game.position;
  Bitboard all = 0;
  for (const Bitboard b : p.piece) {
    CHECK(!(all & b));
    all |= b;
  }
  CHECK(!(p.own & ~all));
  CHECK(count(p.piece[KING] & p.own) == 1 && count(p.piece[KING] & ~p.own) == 1);
  CHECK(!(p.piece[PAWN] & (kRank1 | kRank8)));

  // The generator's verdicts against what was generated.
  LegalActions legal;
  const Generated found = generate(p, legal);
  CHECK(!std::memcmp(&legal, &game.legal, sizeof legal));
  CHECK(found.any == (count(legal) > 0));
  CHECK(count_actions(p) == static_cast<std::uint64_t>(count(legal)));
  CHECK(found.check == king_attacked(p));
  CHECK(found.en_passant == (p.en_passant != kNoFile));
  CHECK(game.over() || found.any);

  // Whoever has just moved isn't in check.
  Position other = p;
  turn(other);
  CHECK(!king_attacked(other));

  // Castling rights only with king and rook on their first rank.
  for (const Position* side : {&p, static_cast<const Position*>(&other)}) {
    CHECK(!side->castling[0] || (side->piece[KING] & side->own & kRank1));
    CHECK(!(side->castling[0] & ~(side->piece[ROOK] & side->own & kRank1)));
  }

  // Turning twice, and text there and back, change nothing.
  turn(other);
  CHECK(!std::memcmp(&other, &p, sizeof p));
  Position parsed;
  CHECK(parse_fen(to_fen(p), parsed).empty());
  CHECK(!std::memcmp(&parsed, &p, sizeof p));

  Position timeless = p;
  timeless.halfmove = 0;
  timeless.fullmove = 0;
  const auto [entry, fresh] = seen.try_emplace(key(p), timeless);
  CHECK(!std::memcmp(&entry->second, &timeless, sizeof timeless));
}

std::uint64_t walk(const Game& game, int depth) {
  check(game);
  if (depth == 0) return 1;
  std::uint64_t leaves = 0;
  for_each_action(game.legal, [&](Action a) {
    CHECK(game.legal.contains(a));
    CHECK(from_uci(game.position, to_uci(game.position, a)) == a);
    Game next = game;
    next.num_past = 0;  // a tree may be deeper than a game is long
    advance(next, a);
    leaves += walk(next, depth - 1);
  });
  return leaves;
}

int main(int, char** arguments) {
  std::ifstream file(arguments[1]);
  const int depth = std::atoi(arguments[2]);
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
}
