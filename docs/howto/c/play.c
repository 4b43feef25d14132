/* Plays random games in 512 environments.
 *
 *   cc -std=c99 -O2 play.c $(pkg-config --cflags --libs rungs) -o play
 */
#include <rungs.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 512, STEPS = 400 };

static void check(rungs_status status) {
  if (status == RUNGS_OK) return;
  fprintf(stderr, "%s\n", rungs_error_message());
  exit(1);
}

int main(void) {
  rungs_chess_config config;
  rungs_chess_config_init(&config, sizeof config);
  config.num_envs = N;
  config.mask = RUNGS_MASK_LIST;
  config.num_threads = 2;

  rungs_chess* envs;
  check(rungs_chess_create(&config, &envs));
  rungs_chess_outputs out = {.size = sizeof out};
  check(rungs_chess_get_outputs(envs, &out)); /* these arrays stay where they are */
  const int16_t* lists = out.mask;            /* (N, RUNGS_CHESS_MAX_LEGAL) */

  check(rungs_chess_reset(envs, 7));
  uint32_t random = 1;
  int64_t actions[N], ended, episodes = 0, mates = 0;
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < N; ++i) {
      random = random * 1664525 + 1013904223;
      uint32_t rank = (random >> 16) % (uint32_t)out.action_count[i];
      actions[i] = lists[i * RUNGS_CHESS_MAX_LEGAL + rank];
    }
    check(rungs_chess_step(envs, actions, &ended));
    episodes += ended;
    for (int i = 0; i < N; ++i) mates += out.reason[i] == RUNGS_REASON_CHECKMATE;
  }

  char fen[RUNGS_FEN_BYTES];
  check(rungs_chess_get_fen(envs, 0, fen, sizeof fen));
  printf("%d episodes ended, %d by mate; environment 0: %s\n", (int)episodes, (int)mates, fen);
  rungs_chess_destroy(envs);
  return 0;
}
