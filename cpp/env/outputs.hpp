// The settings and outputs of a batch of chess environments; each output is an array.
#pragma once
#include "../chess/game.hpp"
#include "mask.hpp"
#include "observation.hpp"
#include "philox.hpp"

namespace rungs::env {

// Who plays the other side: the agent (self-play), the environment at random, or an engine, whose
// replies the caller supplies.
enum class Opponent : std::int32_t { NONE, RANDOM, ENGINE };

// The reason of a truncated episode, numbered after those by which a game ends.
constexpr std::int8_t kMaxPlies = static_cast<std::int8_t>(chess::Reason::THREEFOLD_REPETITION) + 1;

// Every setting, a line each: its type and its name. What the C API has by the same name has also
// its lowest and highest number there; `config` is the C API's.
#define RUNGS_CHESS_SETTINGS(SETTING)  \
  SETTING(std::uint64_t, seed)         \
  RUNGS_CHESS_GAME_SETTINGS(SETTING)   \
  RUNGS_CHESS_FORMAT_SETTINGS(SETTING) \
  SETTING(std::uint32_t, num_starts)   \
  SETTING(const chess::Position*, starts)
// Those that a saved state depends on.
#define RUNGS_CHESS_GAME_SETTINGS(SETTING)                            \
  SETTING(Opponent, opponent, 0, env::Opponent::RANDOM)               \
  SETTING(Autoreset, autoreset, 0, env::Autoreset::DISABLED)          \
  /* an episode is truncated once it has this many plies; 0: never */ \
  SETTING(std::uint32_t, max_plies, 0, INT32_MAX)                     \
  /* random plies before an episode begins */                         \
  SETTING(std::uint32_t, opening_min, 0, INT32_MAX)                   \
  SETTING(std::uint32_t, opening_max, config.opening_min, INT32_MAX)
#define RUNGS_CHESS_FORMAT_SETTINGS(SETTING)                               \
  SETTING(ObservationFormat, observation, 0, env::kObservationFormats - 1) \
  SETTING(MaskFormat, mask, 0, env::MaskFormat::LIST)

struct ChessConfig {
#define RUNGS_FIELD(type, name, ...) type name;
  RUNGS_CHESS_SETTINGS(RUNGS_FIELD)
#undef RUNGS_FIELD
};

// Every output, a line each: the type of an element, its name, and the number of elements per
// board. A reset writes those of the position, too: of the current one, with the actions that the
// next `step` takes.
#define RUNGS_CHESS_POSITION_OUTPUTS(OUTPUT)                                   \
  OUTPUT(std::uint8_t, observation, observation_bytes(config.observation))     \
  OUTPUT(std::uint8_t, mask, mask_bytes(config.mask))                          \
  /* the length of a mask of format LIST; other formats have no such output */ \
  OUTPUT(std::int16_t, action_count, mask_counts(config.mask))                 \
  /* the side to move: 0 White, 1 Black */                                     \
  OUTPUT(std::int8_t, player, 1)
#define RUNGS_CHESS_STEP_OUTPUTS(OUTPUT)                                                      \
  /* +1, 0, -1 from the agent's side; the game is over; it is not, but has reached max_plies; \
     terminated or truncated: this step ended an episode */                                   \
  OUTPUT(float, reward, 1)                                                                    \
  OUTPUT(bool, terminated, 1)                                                                 \
  OUTPUT(bool, truncated, 1)                                                                  \
  OUTPUT(bool, ended, 1)                                                                      \
  /* why it ended: chess::Reason, or kMaxPlies */                                             \
  OUTPUT(std::int8_t, reason, 1)                                                              \
  /* with SAME_STEP, the last observation of an episode that ended */                         \
  OUTPUT(std::uint8_t, final_observation, observation_bytes(config.observation))
#define RUNGS_CHESS_OUTPUTS(OUTPUT) \
  RUNGS_CHESS_POSITION_OUTPUTS(OUTPUT) RUNGS_CHESS_STEP_OUTPUTS(OUTPUT)

// What every batch of chess environments reads and writes: settings, and one array per output
// (structure of arrays), which the caller owns.
struct ChessOutputs {
  ChessConfig config;
  std::int64_t num_envs;
  std::int64_t first_board;     // the number of the batch's first board among all
  const std::uint64_t* seeds;   // (N,) each board's; null: all have config.seed
  History* history;             // null where observations don't show any
  const std::int64_t* replies;  // (N,) an engine's; null where none plays
#define RUNGS_FIELD(type, name, count) type* name;
  RUNGS_CHESS_OUTPUTS(RUNGS_FIELD)
#undef RUNGS_FIELD
};

}  // namespace rungs::env
