/* Makes calls of the C API whose instructions are counted, and writes for how many plies, steps,
 * leaves or simulations they were.
 *
 *   work LIBRARY chess MASK ENVS STEPS
 *   work LIBRARY cartpole PRECISION ENVS STEPS
 *   work LIBRARY perft DEPTH
 *   work LIBRARY search POLICY GAMES MOVES
 *
 * The network of the search finds all actions equal and all positions drawn.
 */
#include <string.h>

#include "../anywhere/library.h"

static uint32_t random_state = 1;

static int64_t drawn(int64_t below) {
  random_state = random_state * 1664525 + 1013904223;
  return (random_state >> 16) % below;
}

static int64_t chess(int mask, int64_t envs, int64_t steps) {
  rungs_chess_config config;
  RUNGS(rungs_chess_config_init)(&config, sizeof config);
  config.num_envs = envs;
  config.mask = mask;
  rungs_chess* batch;
  check(RUNGS(rungs_chess_create)(&config, &batch));
  check(RUNGS(rungs_chess_reset)(batch, 7));
  int64_t *counts = calloc(envs, 8), *actions = calloc(envs, 8), ended;
  for (int64_t step = 0; step < steps; ++step) {
    check(RUNGS(rungs_chess_count_actions)(batch, counts));
    for (int64_t i = 0; i < envs; ++i) counts[i] = drawn(counts[i]);
    check(RUNGS(rungs_chess_choose_actions)(batch, counts, actions));
    check(RUNGS(rungs_chess_step)(batch, actions, &ended));
  }
  return envs * steps;
}

static int64_t cartpole(int precision, int64_t envs, int64_t steps) {
  rungs_cartpole_config config;
  RUNGS(rungs_cartpole_config_init)(&config, sizeof config);
  config.num_envs = envs;
  config.precision = precision;
  rungs_cartpole* batch;
  check(RUNGS(rungs_cartpole_create)(&config, &batch));
  check(RUNGS(rungs_cartpole_reset)(batch, 7));
  int64_t *actions = calloc(envs, 8), ended;
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t i = 0; i < envs; ++i) actions[i] = drawn(2);
    check(RUNGS(rungs_cartpole_step)(batch, actions, &ended));
  }
  return envs * steps;
}

static int64_t perft(int depth) {
  const char* const kiwipete =
      "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
  int64_t leaves;
  check(RUNGS(rungs_perft)(kiwipete, depth, 1, &leaves));
  return leaves;
}

static int64_t search(int policy, int64_t games, int moves) {
  const char* const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
  rungs_search_config config;
  RUNGS(rungs_search_config_init)(&config, sizeof config);
  config.num_games = games;
  config.policy = policy;
  rungs_search* trees;
  check(RUNGS(rungs_search_create)(&config, &trees));
  rungs_search_outputs out = {.size = sizeof out};
  check(RUNGS(rungs_search_get_outputs)(trees, &out));
  for (int64_t i = 0; i < games; ++i) check(RUNGS(rungs_search_begin)(trees, i, start));
  float* logits = calloc(games * RUNGS_CHESS_MAX_LEGAL, sizeof *logits);
  float* values = calloc(games, sizeof *values);
  int64_t leaves;
  for (int move = 0; move < moves; ++move) {
    check(RUNGS(rungs_search_start)(trees, NULL, 0));
    check(RUNGS(rungs_search_simulate)(trees, NULL, 0, NULL, &leaves));
    while (leaves > 0)
      check(RUNGS(rungs_search_simulate)(trees, logits, RUNGS_CHESS_MAX_LEGAL, values, &leaves));
    check(RUNGS(rungs_search_finish)(trees));
    check(RUNGS(rungs_search_advance)(trees, out.chosen));
  }
  return games * moves * config.simulations;
}

int main(int argc, char** arguments) {
  require(argc >= 4, "work LIBRARY WHAT NUMBER...");
  open_library(arguments[1]);
  const char* const what = arguments[2];
  int64_t number[3] = {0};
  for (int i = 3; i < argc && i < 6; ++i) number[i - 3] = atoll(arguments[i]);
  int64_t done = 0;
  if (!strcmp(what, "chess")) done = chess((int)number[0], number[1], number[2]);
  if (!strcmp(what, "cartpole")) done = cartpole((int)number[0], number[1], number[2]);
  if (!strcmp(what, "perft")) done = perft((int)number[0]);
  if (!strcmp(what, "search")) done = search((int)number[0], number[1], (int)number[2]);
  require(done > 0, "there is nothing to do");
  printf("%lld\n", (long long)done);
}
