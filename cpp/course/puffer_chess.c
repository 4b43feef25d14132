// PufferLib's chess for a batch of games whose arrays Python owns, made and stepped as its own
// binding.c and vecenv.h do in self-play: two agents a game, whose places are swapped in every
// other one. What is included is `ocean/chess/chess.h` of the user's clone, whose folder is passed
// to the compiler.
#include "chess.h"

#define RUNGS_PUFFER __attribute__((visibility("default")))

static const char kInitial[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

// Makes games, to be begun by reset; NULL where there is no memory. Rows of the arrays are agents':
// those of game `i` are 2 * i and 2 * i + 1.
RUNGS_PUFFER Chess* rungs_puffer_open(int num_envs, uint8_t* observations, unsigned char* masks,
                                      float* actions, float* rewards, float* terminals) {
  Chess* games = (Chess*)calloc(num_envs, sizeof(Chess));
  if (!games) return NULL;
  init_bitboards();
  for (int i = 0; i < num_envs; ++i) {
    Chess* game = &games[i];
    // All as in config/chess.ini, but for positions to begin with.
    game->mode = CHESS_MODE_SELFPLAY;
    game->max_moves = 5000;
    game->enable_50_move_rule = game->enable_threefold_repetition = 1;
    game->log_pgn_choice_made = 1;
    game->num_agents = 2;
    game->rng = i;
    game->slot_for_color[CHESS_WHITE] = i % 2;
    game->slot_for_color[CHESS_BLACK] = 1 - i % 2;
    game->action_mask = masks;
    strcpy(game->starting_fen, kInitial);
    for (int slot = 0; slot < 2; ++slot) {
      const size_t agent = 2 * (size_t)i + slot;
      game->obs_ptr[slot] = observations + agent * OBS_SIZE;
      game->action_mask_ptr[slot] = masks + agent * NUM_ACTIONS;
      game->action_ptr[slot] = actions + agent;
      game->reward_ptr[slot] = rewards + agent;
      game->terminal_ptr[slot] = terminals + agent;
    }
  }
  return games;
}

RUNGS_PUFFER void rungs_puffer_reset(Chess* games, int num_envs) {
  for (int i = 0; i < num_envs; ++i) c_reset(&games[i]);
}

// Begins one game with a position, as all of its next ones; NULL is the initial one.
RUNGS_PUFFER void rungs_puffer_begin(Chess* game, const char* fen) {
  snprintf(game->starting_fen, sizeof game->starting_fen, "%s", fen ? fen : kInitial);
  c_reset(game);
}

// Takes every game's next action, which picks a piece or places it.
RUNGS_PUFFER void rungs_puffer_step(Chess* games, int num_envs, int threads, float* rewards,
                                    float* terminals) {
  memset(rewards, 0, 2 * (size_t)num_envs * sizeof(float));
  memset(terminals, 0, 2 * (size_t)num_envs * sizeof(float));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int i = 0; i < num_envs; ++i) c_step(&games[i]);
}

// Writes how many legal moves each game has, and (num_envs, 256) which: the square from, plus 64
// times the one to, plus 4096 times the piece (2 knight .. 5 queen) that a pawn becomes, or 0.
RUNGS_PUFFER void rungs_puffer_legal(const Chess* games, int num_envs, int* counts,
                                     uint16_t* moves) {
  for (int i = 0; i < num_envs; ++i) {
    const MoveList* legal = &games[i].legal_moves;
    counts[i] = legal->count;
    for (int k = 0; k < legal->count; ++k) {
      const Move move = legal->moves[k].move;
      const int piece = type_of_m(move) == PROMOTION ? promotion_type(move) : 0;
      moves[256 * (size_t)i + k] = from_sq(move) + 64 * to_sq(move) + 4096 * piece;
    }
  }
}

RUNGS_PUFFER void rungs_puffer_close(Chess* games) { free(games); }
