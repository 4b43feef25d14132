/* Rungs in C: batches of chess and CartPole environments, tree search over chess games, and the
 * network that evaluates positions for it.
 *
 * Version 1 of the interface, for C99 and every language that calls C. What an environment means
 * (actions, observations, rewards, when episodes end) is Rungs' own, as its documentation says:
 * games are the same, bit for bit, as in Python, on every processor and with every number of
 * threads.
 *
 * Handles. A batch of environments, a search and a network are opaque. A `create` function makes
 * one, which owns all its memory and threads until its `destroy`, which accepts null, too. A handle
 * must have one caller at a time; different handles may be used by different threads at the same
 * time. After a fork only the parent may use them.
 *
 * Arrays. Outputs are in arrays that the handle owns. `get_outputs` gives their addresses, which
 * stay the same until `destroy`. Each begins on a cache line (64 bytes), and has a row for each
 * environment or game, without gaps. The next call overwrites them: copy what you keep, and write
 * nothing there. Arrays that a caller passes need only the alignment of their elements, are read
 * before the call returns, and are not kept. Bools are bytes, 0 or 1.
 *
 * Errors. A function that can fail returns a `rungs_status`: RUNGS_OK, which is 0, or a negative
 * code. It checks before it changes anything: after an error a handle is as it was, unless the
 * function says otherwise. `rungs_error_message` says in words what was wrong.
 *
 * Versions. Fields are added only at the end of structures. So each structure begins with its
 * size, which the caller sets (`sizeof`) or passes to an `init` function: a library uses the
 * defaults of fields that it does not receive, and rejects fields that it does not know unless they
 * are 0. RUNGS_ABI_VERSION is increased when a program must be compiled again.
 */
#ifndef RUNGS_H
#define RUNGS_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(RUNGS_BUILD)
#define RUNGS_API __declspec(dllexport)
#elif defined(_WIN32)
#define RUNGS_API __declspec(dllimport)
#else
#define RUNGS_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Versions and errors ------------------------------------------------------------------- */

#define RUNGS_ABI_VERSION 1

/* Returns the RUNGS_ABI_VERSION of the library: a program compares it with its own. */
RUNGS_API int32_t rungs_abi_version(void);

typedef int32_t rungs_status;
enum {
  RUNGS_OK = 0,
  RUNGS_ERROR_ARGUMENT = -1,       /* a null pointer, a setting or an index out of range */
  RUNGS_ERROR_ILLEGAL_ACTION = -2, /* the message names environment or game, action and position */
  RUNGS_ERROR_FEN = -3,            /* malformed, impossible, or of a game that is over */
  RUNGS_ERROR_STATE = -4,          /* a saved state of something else, or a damaged one */
  RUNGS_ERROR_ORDER = -5,          /* another function must be called before */
  RUNGS_ERROR_MEMORY = -6,         /* the system has too little */
  RUNGS_ERROR_THREADS = -7         /* the system gives fewer threads */
};

/* Returns why the last call of this thread that failed did so: a text in English, of at most 511
 * bytes, "" before any. The next failure on this thread overwrites it. */
RUNGS_API const char* rungs_error_message(void);

/* ---- Chess environments -------------------------------------------------------------------- */

/* A batch of chess environments, numbered from 0. An action is one of RUNGS_CHESS_ACTIONS,
 * AlphaZero's, from the mover's point of view. */
typedef struct rungs_chess rungs_chess;

enum {
  RUNGS_CHESS_ACTIONS = 4672,
  RUNGS_CHESS_MAX_LEGAL = 218, /* the most actions that are legal in a position */
  RUNGS_FEN_BYTES = 128        /* room for any FEN and the 0 behind it */
};

/* Who plays the other side: nobody, and one step is one ply of self-play; or random legal actions,
 * and one step is the agent's ply and the reply. */
enum { RUNGS_OPPONENT_NONE = 0, RUNGS_OPPONENT_RANDOM = 1 };

/* An environment's row of the observation. Planes are AlphaZero's 119, with eight positions of
 * history. */
enum {
  RUNGS_OBSERVATION_BOARD = 0,          /* 72 int8 */
  RUNGS_OBSERVATION_PLANES = 1,         /* 119 x 8 x 8 float */
  RUNGS_OBSERVATION_BITPLANES = 2,      /* 119 uint64_t, a plane each */
  RUNGS_OBSERVATION_PLANES_UINT8 = 3,   /* 119 x 8 x 8 uint8_t */
  RUNGS_OBSERVATION_PLANES_BFLOAT16 = 4 /* 119 x 8 x 8 bfloat16 */
};

/* An environment's row of the mask, which says what actions the next step accepts. */
enum {
  RUNGS_MASK_BOOL = 0, /* 4672 uint8_t */
  RUNGS_MASK_BITS = 1, /* 73 uint64_t: bit a % 64 of word a / 64 is action a */
  RUNGS_MASK_LIST = 2  /* 218 int16_t: the actions in ascending order, then -1 */
};

/* When the next episode begins: in the step that ends one; in the step after that, which ignores
 * the action; or only by a reset, before which the environment accepts no action. */
enum { RUNGS_AUTORESET_SAME_STEP = 0, RUNGS_AUTORESET_NEXT_STEP = 1, RUNGS_AUTORESET_DISABLED = 2 };

/* Why an episode ended. */
enum {
  RUNGS_REASON_NONE = 0, /* it has not */
  RUNGS_REASON_CHECKMATE = 1,
  RUNGS_REASON_STALEMATE = 2,
  RUNGS_REASON_INSUFFICIENT_MATERIAL = 3,
  RUNGS_REASON_FIFTY_MOVES = 4,
  RUNGS_REASON_THREEFOLD_REPETITION = 5,
  RUNGS_REASON_MAX_PLIES = 6 /* truncated, by `max_plies` */
};

typedef struct rungs_chess_config {
  size_t size;         /* of this structure, in bytes */
  int64_t num_envs;    /* 1 to 2^31 - 1; by default 1 */
  int32_t opponent;    /* RUNGS_OPPONENT_...; by default NONE */
  int32_t observation; /* RUNGS_OBSERVATION_...; by default BOARD */
  int32_t mask;        /* RUNGS_MASK_...; by default BOOL */
  int32_t autoreset;   /* RUNGS_AUTORESET_...; by default SAME_STEP */
  int32_t max_plies;   /* an episode of this many plies is truncated; by default 0: never */
  int32_t opening_min; /* at least this many random plies are played before an episode, */
  int32_t opening_max; /* and at most this many; by default 0 */
  int32_t num_threads; /* 1 to 1024; by default 1, the caller alone. They affect only the time:
                        * small batches use fewer, and helpers are used while they pay off. They
                        * sleep between calls. */
  /* Positions that episodes start from, `num_start_fens` FENs (docs/library.md has their grammar),
   * one chosen at random each time. Read before the call returns. By default null, which is the
   * start of classical chess. */
  const char* const* start_fens;
  int64_t num_start_fens;
  int64_t first_env; /* the number of the first environment, 0 to 2^31 - 1, if the batch is part of
                      * a larger one: it plays as that part; by default 0 */
} rungs_chess_config;

/* Sets all fields to their defaults, in the first `size` bytes: sizeof(rungs_chess_config). */
RUNGS_API void rungs_chess_config_init(rungs_chess_config* config, size_t size);

/* The arrays of a batch, N rows each. After a reset `reward`, `terminated`, `truncated` and
 * `reason` of all rows are 0, and `ended` of the rows where an episode began. */
typedef struct rungs_chess_outputs {
  size_t size;                   /* of this structure, in bytes */
  const void* observation;       /* in the configured format, from the side to move */
  size_t observation_bytes;      /* of a row */
  const void* mask;              /* in the configured format, of the same position */
  size_t mask_bytes;             /* of a row */
  const int16_t* action_count;   /* how many actions a list has; null with other masks */
  const int8_t* player;          /* the side to move: 0 White, 1 Black */
  const float* reward;           /* of the last step: 1 for the agent's mate, -1 for its
                                  * opponent's, else 0. Without an opponent the agent is the side
                                  * that has just moved. */
  const uint8_t* terminated;     /* whether the last step ended the game */
  const uint8_t* truncated;      /* whether it ended the episode otherwise */
  const uint8_t* ended;          /* whether it did either */
  const int8_t* reason;          /* RUNGS_REASON_... of the episode that the last step ended */
  const void* final_observation; /* like `observation`. With SAME_STEP, the last of the episode that
                                  * a step ended, where one did. */
} rungs_chess_outputs;

/* Makes a batch, and sets *envs to it (null after an error). `rungs_chess_reset` comes next.
 * Errors: ARGUMENT, FEN (a start's), MEMORY, THREADS. */
RUNGS_API rungs_status rungs_chess_create(const rungs_chess_config* config, rungs_chess** envs);

/* Frees a batch and ends its threads; null is allowed. */
RUNGS_API void rungs_chess_destroy(rungs_chess* envs);

/* Writes the arrays' addresses to the first `outputs->size` bytes of *outputs. Errors: ARGUMENT. */
RUNGS_API rungs_status rungs_chess_get_outputs(const rungs_chess* envs,
                                               rungs_chess_outputs* outputs);

/* Begins episode 0 of a seed in every environment. All that is random is a function of the seed,
 * the environment's number, the episode's and the ply's. Errors: ARGUMENT. */
RUNGS_API rungs_status rungs_chess_reset(rungs_chess* envs, uint64_t seed);

/* The same with a seed for each environment, (N,): each then plays as environment 0 of a batch with
 * that seed. Errors: ARGUMENT. */
RUNGS_API rungs_status rungs_chess_reset_seeds(rungs_chess* envs, const uint64_t* seeds);

/* Begins the next episode in the environments that `which` marks, (N,), or in all if it is null;
 * the others stay as they are. Errors: ARGUMENT; ORDER (no other reset came before). */
RUNGS_API rungs_status rungs_chess_reset_some(rungs_chess* envs, const uint8_t* which);

/* Plays an action in every environment, and writes how many episodes ended to *num_ended, unless
 * that is null. `actions`: (N,). Errors: ARGUMENT; ORDER (no reset came before); ILLEGAL_ACTION
 * (the message names the first such environment, and none has changed). */
RUNGS_API rungs_status rungs_chess_step(rungs_chess* envs, const int64_t* actions,
                                        int64_t* num_ended);

/* Writes how many actions each environment accepts next to (N,) `counts`, 0 if it accepts none.
 * Errors: ARGUMENT, ORDER. */
RUNGS_API rungs_status rungs_chess_count_actions(const rungs_chess* envs, int64_t* counts);

/* Writes the action of rank `ranks[i]`, from 0, among those that environment i accepts, ascending,
 * to (N,) `actions`, which may be `ranks`. So random ranks give random legal actions,
 * whatever the mask's format. Errors: ARGUMENT (a rank is not below its count), ORDER. */
RUNGS_API rungs_status rungs_chess_choose_actions(const rungs_chess* envs, const int64_t* ranks,
                                                  int64_t* actions);

/* Writes the position of environment `env` as a FEN with a 0 behind it to `fen`, which has room for
 * `size` bytes: RUNGS_FEN_BYTES are enough. Errors: ARGUMENT, ORDER. */
RUNGS_API rungs_status rungs_chess_get_fen(const rungs_chess* envs, int64_t env, char* fen,
                                           size_t size);

/* Continues the current episode of environment `env` from a position, with the agent to move, no
 * positions before it and no plies played. Errors: ARGUMENT, FEN, ORDER. */
RUNGS_API rungs_status rungs_chess_set_fen(rungs_chess* envs, int64_t env, const char* fen);

/* Returns the bytes that `rungs_chess_save` writes; 0 if `envs` is null. */
RUNGS_API size_t rungs_chess_state_bytes(const rungs_chess* envs);

/* Copies all that later steps depend on to `state`, `rungs_chess_state_bytes(envs)` of any
 * alignment. Errors: ARGUMENT, ORDER. */
RUNGS_API rungs_status rungs_chess_save(const rungs_chess* envs, void* state);

/* Continues from a saved state of `bytes` bytes: of this batch or one of the same configuration, in
 * which the mask's format may differ, of the same version of the interface, and from a processor
 * with the same byte order. Every board is validated. Errors: ARGUMENT; STATE. */
RUNGS_API rungs_status rungs_chess_restore(rungs_chess* envs, const void* state, size_t bytes);

/* Counts the leaves of the tree of legal moves, `depth` plies below a position (0 to 100), to
 * *leaves, on `num_threads` threads (1 to 1024). Errors: ARGUMENT, FEN, THREADS. */
RUNGS_API rungs_status rungs_perft(const char* fen, int32_t depth, int32_t num_threads,
                                   int64_t* leaves);

/* ---- Search -------------------------------------------------------------------------------- */

/* The trees of a batch of chess games, numbered from 0. A network evaluates their leaves:
 * `rungs_network`, below, or one of the caller's.
 *
 *   rungs_search_begin for each game; then for each move:
 *   rungs_search_start, rungs_search_simulate(search, null, 0, null, &n) and, while n > 0,
 *     evaluate the first n leaves and call rungs_search_simulate with what was found;
 *   rungs_search_finish, rungs_search_advance with the chosen actions.
 *
 * With a `rungs_network`, `rungs_search_run` does all from start to finish.
 */
typedef struct rungs_search rungs_search;

/* How actions are selected: by Gumbel noise and sequential halving at the root, or by PUCT. */
enum { RUNGS_POLICY_GUMBEL = 0, RUNGS_POLICY_PUCT = 1 };

typedef struct rungs_search_config {
  size_t size;          /* of this structure, in bytes */
  int64_t num_games;    /* 1 to 2^31 - 1; by default 1 */
  uint64_t seed;        /* noise is a function of it, the game, its episode, ply and action */
  int32_t simulations;  /* 1 to 100000, of a search; by default 32 */
  int32_t nodes;        /* a tree's, simulations + 1 to 400000; by default 0: 2 simulations + 1 */
  int32_t policy;       /* RUNGS_POLICY_...; by default GUMBEL */
  int32_t observation;  /* RUNGS_OBSERVATION_... of the leaves; by default BOARD */
  int32_t keep;         /* whether the tree below an action that is played is kept; by default 1 */
  int32_t num_threads;  /* 1 to 1024; by default 1, the caller alone */
  int32_t considered;   /* Gumbel: root actions that the halving begins with, 1 to 218; 16 */
  double scale;         /* of its noise, 0 to 1e3; by default 1 */
  double value_scale;   /* weight of values against logits, 1e-6 to 1e3; 1 */
  double maxvisit_init; /* added to the most visits in that weight, 0 to 1e6; 50 */
  double c_init;        /* PUCT: weight of exploration, 0 to 1e3; by default 1.25 */
  double c_base;        /* how slowly it grows with visits, 1 to 1e9; 19652 */
  double alpha;         /* of the Dirichlet noise at the root, 1e-2 to 1e3; 0.3 */
  double fraction;      /* of noise in the root's priors, 0 to 1; 0.25 */
  double temperature;   /* of the action that is chosen by its visits, 0 to 1e3; 1 */
} rungs_search_config;

/* Sets all fields to their defaults, in the first `size` bytes: sizeof(rungs_search_config). */
RUNGS_API void rungs_search_config_init(rungs_search_config* config, size_t size);

/* The arrays of a search. Leaves are in the first rows, whose number `rungs_search_simulate` gives;
 * results have a row for each game. Lists have K = RUNGS_CHESS_MAX_LEGAL elements: one for each
 * legal action in ascending order, then 0, or -1 in lists of actions. */
typedef struct rungs_search_outputs {
  size_t size;                 /* of this structure, in bytes */
  const void* observation;     /* of the leaves, to the side to move */
  size_t observation_bytes;    /* of a row */
  const int16_t* leaf_actions; /* (K,) what is legal there */
  const int16_t* leaf_counts;  /* how many actions that is */
  const int8_t* reason;        /* RUNGS_REASON_... of each game, as it is now */
  /* Written by rungs_search_finish; 0 and -1 if a game was not searched. Also written by
   * rungs_search_look, of a node instead of the root. */
  const int16_t* actions;     /* (K,) what is legal at the root */
  const int16_t* counts;      /* how many actions that is */
  const int32_t* visits;      /* (K,) with those of a kept tree */
  const float* policy;        /* (K,) the target of a network's policy, which sums to 1 */
  const float* priors;        /* (K,) the network's, without noise */
  const float* action_values; /* (K,) mean value of the visits, to the side to move */
  const float* value;         /* mean value of the root's visits, to that side */
  const float* raw_value;     /* the network's value of the root */
  const int64_t* chosen;      /* the action to play; -1 if the game was not searched */
  const int32_t* nodes;       /* how many positions the game's tree holds */
} rungs_search_outputs;

/* Makes a search, and sets *search to it (null after an error). Errors: ARGUMENT, MEMORY,
 * THREADS. */
RUNGS_API rungs_status rungs_search_create(const rungs_search_config* config,
                                           rungs_search** search);

/* Frees a search and ends its threads; null is allowed. */
RUNGS_API void rungs_search_destroy(rungs_search* search);

/* Writes the arrays' addresses to the first `outputs->size` bytes of *outputs. Errors: ARGUMENT. */
RUNGS_API rungs_status rungs_search_get_outputs(const rungs_search* search,
                                                rungs_search_outputs* outputs);

/* Begins a game at a position, as its next episode. Errors: ARGUMENT, FEN. */
RUNGS_API rungs_status rungs_search_begin(rungs_search* search, int64_t game, const char* fen);

/* Begins the games that `which` marks, (num_games,), or all if it is null, at the positions of the
 * environments of the same numbers, with their past and their random numbers. Planes need
 * environments that observe planes. Errors: ARGUMENT; ORDER (they were not reset); FEN (more pieces
 * than promotions make: a list might not hold all actions). */
RUNGS_API rungs_status rungs_search_begin_envs(rungs_search* search, const rungs_chess* envs,
                                               const uint8_t* which);

/* Begins a search of `simulations`, 1 to the configuration's, or 0 for that, in the games that
 * `which` marks, or in all if it is null; not in those that are over. Until a game is advanced or
 * begun again its next search adds to the same tree. Errors: ARGUMENT; ORDER (a marked game has not
 * begun). */
RUNGS_API rungs_status rungs_search_start(rungs_search* search, const uint8_t* which,
                                          int32_t simulations);

/* Backs up the evaluations of the waiting leaves, and simulates until every game waits for its next
 * or has no simulations left; writes how many wait now to *num_leaves. `logits`: (leaves, stride),
 * of which a row's first `leaf_counts` belong to its `leaf_actions`, finite or -infinity; `values`:
 * (leaves,), -1 to 1, to the side to move. Both are null in the first call after
 * `rungs_search_start`. Errors: ARGUMENT (no tree has changed); ORDER. */
RUNGS_API rungs_status rungs_search_simulate(rungs_search* search, const float* logits,
                                             int64_t stride, const float* values,
                                             int64_t* num_leaves);

/* Writes the results of a search in which no leaf waits any more. Errors: ARGUMENT, ORDER. */
RUNGS_API rungs_status rungs_search_finish(rungs_search* search);

/* Writes what a game's tree holds of one node to the game's row of the results, even in the middle
 * of a search. The node is `length` actions below the root, along `path`, which may be null if
 * `length` is 0. Policy and choice are 0 and -1; so is everything if no simulation has reached the
 * node. Errors: ARGUMENT; ORDER (the game has not begun). */
RUNGS_API rungs_status rungs_search_look(rungs_search* search, int64_t game, const int16_t* path,
                                         int64_t length);

/* Plays an action in each game, (num_games,), or none where it is -1, and keeps the tree below it
 * if the configuration says so. Errors: ARGUMENT; ILLEGAL_ACTION (no game has changed); ORDER. */
RUNGS_API rungs_status rungs_search_advance(rungs_search* search, const int64_t* actions);

/* Writes the position of a game, as `rungs_chess_get_fen`. Errors: ARGUMENT; ORDER (it has not
 * begun). */
RUNGS_API rungs_status rungs_search_get_fen(const rungs_search* search, int64_t game, char* fen,
                                            size_t size);

/* ---- Networks ------------------------------------------------------------------------------ */

/* A network that scores legal actions and values positions, as Rungs' agents have: it evaluates the
 * leaves of a search that observes boards. Numbers are float32. They equal those of Rungs' learner
 * bit for bit on the same kind of processor: with fused multiply-adds (AVX2 and later, ARM) the
 * last bits differ from those without (SSE4.2, WebAssembly). */
typedef struct rungs_network rungs_network;

/* The weights, tensor after tensor; of a matrix (outputs, inputs) row after row:
 *   squares                        (840, 128): of each input the row that it adds; 13 inputs for a
 *                                  square, from a black king on it (-6) to a white one (6), then 8
 *   squares, bias                  (128,)
 *   2 blocks, each of              LayerNorm's gamma and beta (128,), (128,); first matrix
 *                                  (128, 128) and bias (128,); second matrix and bias likewise
 *   LayerNorm's gamma and beta     (128,), (128,)
 *   query                          (64, 128) and bias (64,)
 *   keys of actions                (4672, 64)
 *   keys of moved, captured pieces (13 * 13 * 9, 64), by the attacks on the target
 *   attacks                        (64 * 13 * 9, 128): the second row that a square adds if it has
 *                                  a piece or is attacked, by the attacks on it
 *   value                          (1, 128) and bias (1,)
 * Attacks on a square are 3 * own + theirs: how often each side attacks it, 2 standing for more.
 */
enum {
  RUNGS_NETWORK_WEIGHTS = 1537665,
  RUNGS_NETWORK_INPUTS = 72 /* int8 of a position: a row of RUNGS_OBSERVATION_BOARD */
};

enum { RUNGS_WEIGHTS_FLOAT32 = 0, RUNGS_WEIGHTS_FLOAT16 = 1 /* IEEE's, which is widened */ };

typedef struct rungs_network_config {
  size_t size;         /* of this structure, in bytes */
  const void* weights; /* copied before the call returns; by default null, which is rejected */
  int64_t num_weights; /* RUNGS_NETWORK_WEIGHTS; by default 0, which is rejected */
  int32_t type;        /* RUNGS_WEIGHTS_...; by default FLOAT32 */
  int32_t num_threads; /* 1 to 1024; by default 1, the caller alone. Each takes 64 rows at once. */
} rungs_network_config;

/* Sets all fields to their defaults, in the first `size` bytes: sizeof(rungs_network_config). */
RUNGS_API void rungs_network_config_init(rungs_network_config* config, size_t size);

/* Makes a network, and sets *network to it (null after an error). Errors: ARGUMENT (also a weight
 * that is not finite, which the message names); MEMORY; THREADS. */
RUNGS_API rungs_status rungs_network_create(const rungs_network_config* config,
                                            rungs_network** network);

/* Frees a network and ends its threads; null is allowed. */
RUNGS_API void rungs_network_destroy(rungs_network* network);

/* Evaluates positions, such as the leaves of a search, for `rungs_search_simulate`.
 * `observations`: (rows, RUNGS_NETWORK_INPUTS). `actions`: (rows, K), K = RUNGS_CHESS_MAX_LEGAL, of
 * which a row's first `counts`, 0 to `stride`, are scored. Writes `logits`, (rows, stride), of
 * which a row's first `counts` are written, and `values`, (rows,), -1 to 1, to the side to move.
 * Errors: ARGUMENT (a row is invalid; what was written is undefined). */
RUNGS_API rungs_status rungs_network_evaluate(rungs_network* network, const int8_t* observations,
                                              const int16_t* actions, const int16_t* counts,
                                              int64_t rows, float* logits, int64_t stride,
                                              float* values);

/* Searches with a network: `rungs_search_start` with `which` and `simulations`, all simulations
 * with their evaluations, and `rungs_search_finish`. The search observes boards. Errors: as
 * `rungs_search_start`; ARGUMENT (another observation; or the network's numbers overflow, which
 * ends the search where it is). */
RUNGS_API rungs_status rungs_search_run(rungs_search* search, rungs_network* network,
                                        const uint8_t* which, int32_t simulations);

/* ---- CartPole environments ----------------------------------------------------------------- */

/* A batch of Gymnasium's CartPole-v1, numbered from 0. Actions are 0, to the left, and 1. */
typedef struct rungs_cartpole rungs_cartpole;

typedef struct rungs_cartpole_config {
  size_t size;               /* of this structure, in bytes */
  int64_t num_envs;          /* 1 to 2^31 - 1; by default 1 */
  int32_t precision;         /* bytes of a number of the state: 8, by default, or 4 */
  int32_t autoreset;         /* RUNGS_AUTORESET_...; by default SAME_STEP */
  int32_t max_episode_steps; /* an episode of this many is truncated, 1 to 2^31 - 1; 500 */
  int32_t workload;          /* steps of Euler's method per step, 1 to 1000000; by default 1 */
  int64_t num_threads;       /* 1 to 1024; by default 1, the caller alone */
} rungs_cartpole_config;

/* Sets all fields to their defaults, in the first `size` bytes: sizeof(rungs_cartpole_config). */
RUNGS_API void rungs_cartpole_config_init(rungs_cartpole_config* config, size_t size);

/* The arrays of a batch, of N elements each; observations are four rows of them, x, its speed,
 * theta, its speed, and row r begins at element r * stride. */
typedef struct rungs_cartpole_outputs {
  size_t size;    /* of this structure, in bytes */
  int64_t stride; /* N or more */
  const float* observation;
  const float* reward;            /* of the last step: 1 */
  const uint8_t* terminated;      /* whether the last step let the pole fall or left the rail */
  const uint8_t* truncated;       /* whether it was the last that an episode may have */
  const uint8_t* ended;           /* whether it was either */
  const float* final_observation; /* with SAME_STEP, the last of the episode that a step ended */
} rungs_cartpole_outputs;

/* As the functions of chess environments of the same names. After an episode has ended with
 * DISABLED, a step fails with ORDER until that environment is reset. An action that is neither 0
 * nor 1 is ILLEGAL_ACTION. */
RUNGS_API rungs_status rungs_cartpole_create(const rungs_cartpole_config* config,
                                             rungs_cartpole** envs);
/* As rungs_chess_destroy. */
RUNGS_API void rungs_cartpole_destroy(rungs_cartpole* envs);
/* As rungs_chess_get_outputs. */
RUNGS_API rungs_status rungs_cartpole_get_outputs(const rungs_cartpole* envs,
                                                  rungs_cartpole_outputs* outputs);
/* As rungs_chess_reset. */
RUNGS_API rungs_status rungs_cartpole_reset(rungs_cartpole* envs, uint64_t seed);
/* As rungs_chess_reset_seeds. */
RUNGS_API rungs_status rungs_cartpole_reset_seeds(rungs_cartpole* envs, const uint64_t* seeds);
/* As rungs_chess_reset_some. */
RUNGS_API rungs_status rungs_cartpole_reset_some(rungs_cartpole* envs, const uint8_t* which);
/* As rungs_chess_step. */
RUNGS_API rungs_status rungs_cartpole_step(rungs_cartpole* envs, const int64_t* actions,
                                           int64_t* num_ended);

/* ---- Rungs' own ---------------------------------------------------------------------------- */

/* Returns a description of the functions that Rungs' Python package calls, with their addresses.
 * They change from release to release: a program calls what is above instead. */
RUNGS_API const char* rungs_abi(void);

#ifdef __cplusplus
}
#endif

#endif /* RUNGS_H */
