// Plays random games in 512 environments, as play.c does, with errors as exceptions.
//
//   c++ -std=c++17 -O2 play.cpp $(pkg-config --cflags --libs rungs) -o play
#include <rungs.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

void check(rungs_status status) {
  if (status != RUNGS_OK) throw std::runtime_error(rungs_error_message());
}

struct Destroy {
  void operator()(rungs_chess* envs) const { rungs_chess_destroy(envs); }
};

class Chess {
 public:
  explicit Chess(int num_envs) {
    rungs_chess_config config;
    rungs_chess_config_init(&config, sizeof config);
    config.num_envs = num_envs;
    config.mask = RUNGS_MASK_BITS;
    rungs_chess* made;
    check(rungs_chess_create(&config, &made));
    envs_.reset(made);
    out.size = sizeof out;
    check(rungs_chess_get_outputs(made, &out));
  }

  void reset(std::uint64_t seed) { check(rungs_chess_reset(envs_.get(), seed)); }
  void count_actions(std::vector<std::int64_t>& counts) const {
    check(rungs_chess_count_actions(envs_.get(), counts.data()));
  }
  // Plays the action of a rank among the legal ones, in each environment.
  std::int64_t step(std::vector<std::int64_t>& ranks) {
    std::int64_t ended;
    check(rungs_chess_choose_actions(envs_.get(), ranks.data(), ranks.data()));
    check(rungs_chess_step(envs_.get(), ranks.data(), &ended));
    return ended;
  }
  void fen(std::int64_t env, char (&text)[RUNGS_FEN_BYTES]) const {
    check(rungs_chess_get_fen(envs_.get(), env, text, sizeof text));
  }

  rungs_chess_outputs out{};

 private:
  std::unique_ptr<rungs_chess, Destroy> envs_;
};

int main() try {
  constexpr int kEnvs = 512, kSteps = 400;
  Chess envs(kEnvs);
  envs.reset(7);
  std::vector<std::int64_t> ranks(kEnvs);
  std::uint32_t random = 1;
  std::int64_t episodes = 0, mates = 0;
  for (int step = 0; step < kSteps; ++step) {
    envs.count_actions(ranks);
    for (auto& rank : ranks) {
      random = random * 1664525 + 1013904223;
      rank = (random >> 16) % rank;
    }
    episodes += envs.step(ranks);
    for (int i = 0; i < kEnvs; ++i) mates += envs.out.reason[i] == RUNGS_REASON_CHECKMATE;
  }
  char fen[RUNGS_FEN_BYTES];
  envs.fen(0, fen);
  std::printf("%d episodes ended, %d by mate; environment 0: %s\n", static_cast<int>(episodes),
              static_cast<int>(mates), fen);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
