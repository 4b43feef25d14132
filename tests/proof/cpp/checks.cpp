// What is checked of the C++ by itself, under sanitizers; one program, as it takes long to compile.
//   trees FILE.epd DEPTH            invariants at every node, and the leaf counts
//   perft FILE.epd MOST             all counts of at most so many leaves, with each kind of vector
//   self-play STEPS [FILE.epd]      random games, which write only to their buffers
//   fen|actions|states|copies ROUNDS FILE...   the fuzzer's targets, given the files, changed
//   threads ROUNDS                  a thread pool, and boards that it steps
//   tiles                           products in tiles
//   search PLIES FILE.epd           searches of many games, and what holds of their trees
//   games SETTINGS BOARDS FILE      recorded games, and all that their steps put out
//   cartpole BYTES ENVS STEPS AUTORESET AT_ONCE    random play, and where it ended
#include <iterator>
#include <random>
#include <string>

#include "cartpole.hpp"
#include "copies.hpp"
#include "fuzz_targets.hpp"
#include "games.hpp"
#include "search.hpp"
#include "self_play.hpp"
#include "threads.hpp"
#include "tiles.hpp"
#include "trees.hpp"

using namespace rungs;

template <class Target>
int replay(Target target, int rounds, char** first, char** last) {
  std::mt19937 random(1);
  for (char** path = first; path < last; ++path) {
    std::ifstream file(*path, std::ios::binary);
    const std::vector<std::uint8_t> original{std::istreambuf_iterator<char>(file), {}};
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::uint8_t> input = original;
      for (int change = round % 4; change > 0 && !input.empty(); --change)
        input[random() % input.size()] = original[random() % original.size()];
      target(input.data(), input.size());
    }
  }
  std::printf("replayed\n");
  return 0;
}

int main(int count, char** arguments) {
  const std::string check = arguments[1];
  const auto number = [&](int i) { return std::strtoll(arguments[i], nullptr, 10); };
  char** const end = arguments + count;
  if (check == "trees") return chess::walk_trees(arguments[2], number(3));
  if (check == "perft") return chess::check_perft(arguments[2], number(3));
  if (check == "self-play") return self_play(number(2), count > 3 ? arguments[3] : nullptr);
  if (check == "fen") return replay(fuzz_fen, number(2), arguments + 3, end);
  if (check == "actions") return replay(fuzz_actions, number(2), arguments + 3, end);
  if (check == "states") return replay(fuzz_states, number(2), arguments + 3, end);
  if (check == "copies") return replay(fuzz_copies, number(2), arguments + 3, end);
  if (check == "threads") return check_threads(number(2));
  if (check == "tiles") return learn::check_tiles();
  if (check == "search") return check_search(number(2), arguments[3]);
  if (check == "games") return play_games(number(2), number(3), arguments[4]);
  if (check != "cartpole") fail("there is no such check");
  const auto play = number(2) == 8 ? play_cartpole<double> : play_cartpole<float>;
  play(number(3), number(4), static_cast<env::Autoreset>(number(5)), number(6));
}
