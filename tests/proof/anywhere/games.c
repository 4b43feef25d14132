/* Plays recorded games by the C API of a library, and writes all that the steps put out.
 *
 *   games LIBRARY OUT FILE...
 *
 * So it tries a library where Rungs' Python package can't run. A file begins with eight int64:
 * whether the games are of chess; the format of the observation, or CartPole's precision; the
 * format of the mask; the opponent; the numbers of starts, of environments and of steps; the seed.
 * The starts follow, RUNGS_FEN_BYTES each, and an int64 for each environment of each step.
 */
#include "library.h"

enum { CHESS, FORMAT, MASK, OPPONENT, STARTS, ENVS, STEPS, SEED, HEAD };

static FILE* out;

static void read_all(void* to, size_t bytes, FILE* file) {
  require(fread(to, 1, bytes, file) == bytes, "a file of games is too short");
}

static void write_all(const void* from, size_t bytes) {
  require(fwrite(from, 1, bytes, out) == bytes, "what is put out can't be written");
}

static void play_chess(const int64_t* head, FILE* file) {
  const size_t num_envs = (size_t)head[ENVS], num_starts = (size_t)head[STARTS];
  char (*fens)[RUNGS_FEN_BYTES] = calloc(num_starts + 1, RUNGS_FEN_BYTES);
  const char** starts = calloc(num_starts + 1, sizeof *starts);
  int64_t* actions = calloc(num_envs, sizeof *actions);
  read_all(fens, num_starts * RUNGS_FEN_BYTES, file);
  for (size_t i = 0; i < num_starts; ++i) starts[i] = fens[i];
  rungs_chess_config config;
  RUNGS(rungs_chess_config_init)(&config, sizeof config);
  config.num_envs = head[ENVS];
  config.observation = (int32_t)head[FORMAT];
  config.mask = (int32_t)head[MASK];
  config.opponent = (int32_t)head[OPPONENT];
  config.num_threads = 2;
  config.start_fens = num_starts ? starts : NULL; /* by default the classical one */
  config.num_start_fens = head[STARTS];
  rungs_chess* envs;
  check(RUNGS(rungs_chess_create)(&config, &envs));
  rungs_chess_outputs now = {.size = sizeof now};
  check(RUNGS(rungs_chess_get_outputs)(envs, &now));
  check(RUNGS(rungs_chess_reset)(envs, (uint64_t)head[SEED]));
  for (int64_t step = 0; step < head[STEPS]; ++step) {
    read_all(actions, num_envs * sizeof *actions, file);
    check(RUNGS(rungs_chess_step)(envs, actions, NULL));
    write_all(now.observation, num_envs * now.observation_bytes);
    write_all(now.reward, num_envs * sizeof *now.reward);
    write_all(now.terminated, num_envs);
    write_all(now.truncated, num_envs);
    write_all(now.mask, num_envs * now.mask_bytes);
  }
  RUNGS(rungs_chess_destroy)(envs);
  free(actions);
  free(starts);
  free(fens);
}

static void play_cartpole(const int64_t* head, FILE* file) {
  const size_t num_envs = (size_t)head[ENVS];
  int64_t* actions = calloc(num_envs, sizeof *actions);
  rungs_cartpole_config config;
  RUNGS(rungs_cartpole_config_init)(&config, sizeof config);
  config.num_envs = head[ENVS];
  config.precision = (int32_t)head[FORMAT];
  config.num_threads = 2;
  rungs_cartpole* envs;
  check(RUNGS(rungs_cartpole_create)(&config, &envs));
  rungs_cartpole_outputs now = {.size = sizeof now};
  check(RUNGS(rungs_cartpole_get_outputs)(envs, &now));
  check(RUNGS(rungs_cartpole_reset)(envs, (uint64_t)head[SEED]));
  for (int64_t step = 0; step < head[STEPS]; ++step) {
    read_all(actions, num_envs * sizeof *actions, file);
    check(RUNGS(rungs_cartpole_step)(envs, actions, NULL));
    for (size_t i = 0; i < num_envs; ++i)
      for (int row = 0; row < 4; ++row)
        write_all(&now.observation[row * now.stride + (int64_t)i], sizeof *now.observation);
    write_all(now.reward, num_envs * sizeof *now.reward);
    write_all(now.terminated, num_envs);
    write_all(now.truncated, num_envs);
  }
  RUNGS(rungs_cartpole_destroy)(envs);
  free(actions);
}

int main(int count, char** arguments) {
  require(count > 3, "games LIBRARY OUT FILE...");
  open_library(arguments[1]);
  out = fopen(arguments[2], "wb");
  require(out != NULL, "there is no place for what is put out");
  for (int i = 3; i < count; ++i) {
    FILE* file = fopen(arguments[i], "rb");
    require(file != NULL, "there are no such games");
    int64_t head[HEAD];
    read_all(head, sizeof head, file);
    (head[CHESS] ? play_chess : play_cartpole)(head, file);
    fclose(file);
  }
  require(fclose(out) == 0, "what is put out can't be written");
  return 0;
}
