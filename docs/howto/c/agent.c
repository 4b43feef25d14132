/* Searches a position by an agent's network, and prints what it would play.
 *
 *   cc -std=c99 -O2 agent.c $(pkg-config --cflags --libs rungs) -o agent
 *   ./agent agent.bin SIMULATIONS [FEN]
 *
 * The file is a line about the agent and its weights, as `rungs_course.agents.packed` writes it.
 */
#include <rungs.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char* const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

static void check(rungs_status status) {
  if (status == RUNGS_OK) return;
  fprintf(stderr, "%s\n", rungs_error_message());
  exit(1);
}

static rungs_network* network_of(const char* name) {
  static uint16_t weights[RUNGS_NETWORK_WEIGHTS];
  FILE* file = fopen(name, "rb");
  if (!file) perror(name), exit(1);
  for (int letter = 0; letter != '\n' && letter != EOF;) letter = fgetc(file);
  rungs_network_config config;
  rungs_network_config_init(&config, sizeof config);
  config.weights = weights;
  config.num_weights = (int64_t)fread(weights, sizeof *weights, RUNGS_NETWORK_WEIGHTS, file);
  config.type = RUNGS_WEIGHTS_FLOAT16;
  fclose(file);
  rungs_network* network;
  check(rungs_network_create(&config, &network));
  return network;
}

int main(int argc, char** arguments) {
  if (argc < 3) return fprintf(stderr, "agent FILE SIMULATIONS [FEN]\n"), 2;
  rungs_network* network = network_of(arguments[1]);
  rungs_search_config config;
  rungs_search_config_init(&config, sizeof config);
  config.policy = RUNGS_POLICY_PUCT;
  config.simulations = atoi(arguments[2]);
  config.keep = 0;
  config.nodes = config.simulations + 1;
  config.fraction = config.temperature = 0; /* no noise: it plays as well as it can */
  rungs_search* search;
  check(rungs_search_create(&config, &search));
  rungs_search_outputs out = {.size = sizeof out};
  check(rungs_search_get_outputs(search, &out));
  check(rungs_search_begin(search, 0, argc > 3 ? arguments[3] : start));

  const clock_t began = clock();
  check(rungs_search_run(search, network, NULL, 0));
  const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;

  printf("action %d, value %.4f, %d positions\n", (int)*out.chosen, (double)*out.value, *out.nodes);
  fprintf(stderr, "%.0f simulations a second\n", config.simulations / seconds);
  rungs_search_destroy(search);
  rungs_network_destroy(network);
  return 0;
}
