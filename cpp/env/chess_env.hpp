// One chess environment: what reinforcement learning adds to a game.
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

// Every setting, a line each: its type and its name.
#define RUNGS_CHESS_SETTINGS(SETTING)                                 \
  SETTING(std::uint64_t, seed)                                        \
  SETTING(Opponent, opponent)                                         \
  SETTING(ObservationFormat, observation)                             \
  SETTING(MaskFormat, mask)                                           \
  SETTING(Autoreset, autoreset)                                       \
  /* an episode is truncated once it has this many plies; 0: never */ \
  SETTING(std::uint32_t, max_plies)                                   \
  /* random plies before an episode begins */                         \
  SETTING(std::uint32_t, opening_min)                                 \
  SETTING(std::uint32_t, opening_max)                                 \
  SETTING(std::uint32_t, num_starts)                                  \
  SETTING(const chess::Position*, starts)

struct ChessConfig {
#define RUNGS_FIELD(type, name) type name;
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

// One environment's rows of the arrays that the caller owns.
struct ChessRows {
  History* history;           // null where observations don't show any
  const std::int64_t* reply;  // the engine's reply to the action, where one plays
#define RUNGS_FIELD(type, name, count) type* name;
  RUNGS_CHESS_OUTPUTS(RUNGS_FIELD)
#undef RUNGS_FIELD
  bool streamed_observation, streamed_mask;
};

// What every batch of chess environments reads and writes: settings, and one array per output
// (structure of arrays), which the caller owns.
struct ChessOutputs {
  ChessConfig config;
  std::int64_t num_envs;
  std::int64_t first_board;     // the number of the batch's first board among all
  History* history;             // null where observations don't show any
  const std::int64_t* replies;  // (N,) an engine's; null where none plays
#define RUNGS_FIELD(type, name, count) type* name;
  RUNGS_CHESS_OUTPUTS(RUNGS_FIELD)
#undef RUNGS_FIELD

  ChessRows rows(std::int64_t i) const {
#define RUNGS_ROW(type, name, count) name + i*(count),
    return {history ? history + i : nullptr, replies ? replies + i : nullptr,
            RUNGS_CHESS_OUTPUTS(RUNGS_ROW) false, false};
#undef RUNGS_ROW
  }

  // The same for callers that call `end_streams` after writing boards.
  ChessRows streamed_rows(std::int64_t i) const {
    ChessRows row = rows(i);
    row.streamed_observation =
        streams(observation, num_envs, observation_bytes(config.observation));
    row.streamed_mask = streams(mask, num_envs, mask_bytes(config.mask));
    return row;
  }
};

template <chess::AnyGame Game>
struct ChessEnvIn {
  std::uint32_t
      board;  // whose random numbers are drawn: its index among all, or its source's in a copy
  std::uint32_t episode;  // counts from 0
  std::uint32_t ply;      // of the episode after its opening, both sides counted
  std::uint32_t ended;    // 1 if the episode has ended and the next has not begun
  Game game;

  // The agent's colour alternates by episode and by board, so that any batch is balanced.
  bool agent_is_black() const { return (board + episode) & 1; }

  // Starts the current episode.
  void begin(const ChessConfig& config, const ChessRows& rows) {
    ply = ended = 0;
    chess::start(game, config.starts[draw(config, Purpose::START, config.num_starts)]);
    if (rows.history) {
      rows.history->clear();
      rows.history->add(game);
    }
    const std::uint32_t opening =
        config.opening_min +
        draw(config, Purpose::OPENING_LENGTH, config.opening_max - config.opening_min + 1);
    while (ply < opening && begin_with(random_action(config, Purpose::OPENING), rows)) {
    }
    ply = 0;
    if (config.opponent == Opponent::RANDOM && game.position.black != agent_is_black())
      begin_with(random_action(config, Purpose::OPPONENT), rows);
  }

  // Plays a ply before the agent's first, unless it would end the game; returns whether it was
  // played.
  bool begin_with(chess::Action action, const ChessRows& rows) {
    const chess::Position before = game.position;
    const std::uint8_t num_past = game.num_past;
    chess::play(game, action);
    if (game.over()) {
      chess::resume(game, before, num_past);
      return false;
    }
    ++ply;
    if (rows.history) rows.history->add(game);
    return true;
  }

  // Plays an action that the mask allows, and the opponent's reply, and writes every output. Where
  // an episode ends, config.autoreset decides when the next begins. Returns whether one ended.
  bool step(const ChessConfig& config, chess::Action action, const ChessRows& rows) {
    *rows.reward = 0;
    *rows.terminated = *rows.truncated = *rows.ended = false;
    *rows.reason = 0;
    bool ends = false;
    if (ended)
      begin_next(config, rows);
    else
      ends = play_turn(config, action, rows);
    write(config, rows);
    return ends;
  }

  void begin_next(const ChessConfig& config, const ChessRows& rows) {
    ++episode;
    begin(config, rows);
  }

  // A random legal action, for play without an agent. An ended board has none, and takes any.
  chess::Action any_action(const ChessConfig& config) const {
    return ended ? 0 : random_action(config, Purpose::AGENT);
  }

  // The number of actions that a step takes, and the `rank`-th of them in order of id, from 0. An
  // ended board takes (and ignores) any action; a list names the first.
  int num_actions(const ChessConfig& config) const {
    const int taken = chess::count(game.legal);
    return ended && config.mask == MaskFormat::LIST ? taken > 0 : taken;
  }
  chess::Action action(int rank) const { return nth_action(game.legal, rank); }

  // Writes observation, mask, its count and player of the current position.
  void write(const ChessConfig& config, const ChessRows& rows) const {
    observe(game, rows.history, config.observation, rows.streamed_observation, rows.observation);
    if (config.mask == MaskFormat::LIST)
      write_list(rows);
    else
      write_mask(game.legal, config.mask, rows.streamed_mask, rows.mask);
    *rows.player = static_cast<std::int8_t>(game.position.black);
  }

 private:
  bool play_turn(const ChessConfig& config, chess::Action action, const ChessRows& rows) {
    play(action, rows);
    float sign = 1;  // +1 if the agent moved last, -1 if its opponent did: the last mover mates
    if (config.opponent != Opponent::NONE && !game.over()) {
      play(config.opponent == Opponent::RANDOM ? random_action(config, Purpose::OPPONENT)
                                               : static_cast<chess::Action>(*rows.reply),
           rows);
      sign = -1;
    }
    const bool over = game.over(), truncated = !over && config.max_plies && ply >= config.max_plies;
    if (!over && !truncated) return false;

    *rows.reward = game.reason == chess::Reason::CHECKMATE ? sign : 0;
    *rows.terminated = over;
    *rows.truncated = truncated;
    *rows.ended = true;
    *rows.reason = truncated ? kMaxPlies : static_cast<std::int8_t>(game.reason);
    if (config.autoreset == Autoreset::SAME_STEP) {
      observe(game, rows.history, config.observation, false, rows.final_observation);
      begin_next(config, rows);
    } else {
      // The next `step` ignores its action, so any is legal; or none is before a reset.
      ended = 1;
      game.legal.fill(config.autoreset == Autoreset::NEXT_STEP);
    }
    return true;
  }

  // An ended board takes (and ignores) any action; a list names the first.
  void write_list(const ChessRows& rows) const {
    auto* list = reinterpret_cast<std::int16_t*>(rows.mask);
    const int legal = env::write_list(game.legal, ended ? 1 : kMaxLegal, list);
    *rows.action_count = static_cast<std::int16_t>(ended ? legal > 0 : legal);
  }

  void play(chess::Action action, const ChessRows& rows) {
    chess::play(game, action);
    ++ply;
    if (rows.history) rows.history->add(game);
  }

  // An integer in [0, n): a pure function of seed, board, episode, ply and purpose.
  std::uint32_t draw(const ChessConfig& config, Purpose purpose, std::uint32_t n) const {
    return below(philox(config.seed, board, episode, ply, purpose), n);
  }

  chess::Action random_action(const ChessConfig& config, Purpose purpose) const {
    const auto actions = static_cast<std::uint32_t>(chess::count(game.legal));
    return nth_action(game.legal, static_cast<int>(draw(config, purpose, actions)));
  }
};
using ChessEnv = ChessEnvIn<chess::Game>;
static_assert(sizeof(ChessEnv) <= 1536, "a board with its repetition history fits in 1.5 KB");

}  // namespace rungs::env
