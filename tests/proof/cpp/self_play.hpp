// Random self-play through the serial rung.
#pragma once
#include <fstream>

#include "boards.hpp"
#include "chess/fen.hpp"

namespace rungs {

inline void check_mask(const ChessBatch& batch, std::int64_t i) {
  const std::uint8_t* row = batch.mask + i * env::mask_bytes(batch.config.mask);
  for (int action = 0; action < chess::kActions; ++action) {
    const bool set = batch.config.mask == env::MaskFormat::BOOL ? row[action]
                                                                : row[action / 8] >> action % 8 & 1;
    if (set != batch.env[i].game.legal.contains(action)) fail("the mask is not what is taken");
  }
}

// What is taken is listed; of all that an ended board takes, the first.
inline void check_list(const ChessBatch& batch, std::int64_t i) {
  const env::ChessEnv& env = batch.env[i];
  const auto* list = reinterpret_cast<const std::int16_t*>(batch.mask) + i * env::kMaxLegal;
  const int taken = chess::count(env.game.legal), listed = env.ended && taken ? 1 : taken;
  if (batch.action_count[i] != listed) fail("the count is not of what is listed");
  for (int place = 0; place < env::kMaxLegal; ++place)
    if (list[place] != (place < listed ? env::nth_action(env.game.legal, place) : -1))
      fail("the list is not what is taken");
}

inline void self_play(const env::ChessConfig& config, int steps) {
  constexpr std::int64_t kBoards = 7;
  Boards boards(kBoards, config);
  const ChessBatch& batch = boards.batch;
  std::vector<std::int64_t> actions(kBoards), &replies = boards.replies;
  serial::reset(batch, nullptr, 0);
  for (int step = 0; step < steps; ++step) {
    for (std::int64_t i = 0; i < kBoards; ++i) {
      const env::ChessEnv& env = boards.envs[i];
      const chess::LegalActions& legal = env.game.legal;
      if (env.game.over() && !env.ended) fail("an episode began at its end");
      const std::uint32_t bits = env::philox(2, i, 0, step, env::Purpose::OPPONENT);
      actions[i] = env::nth_action(legal, env::below(bits, chess::count(legal)));
      if (!legal.contains(actions[i])) fail("nth_action is not legal");
      // The first of the caller's legal replies.
      chess::Game next = env.game;
      replies[i] = 0;
      if (!env.ended && (chess::play(next, actions[i]), !next.over()))
        replies[i] = env::nth_action(next.legal, 0);
    }
    // A board's illegal action is found, and nothing has moved.
    const std::int64_t bad = step % kBoards, good = actions[bad];
    actions[bad] = 64 * chess::kPlanes;
    if (serial::step(batch, actions.data()) != -1 - bad) fail("an illegal action passed");
    actions[bad] = good;
    if (serial::step(batch, actions.data()) < 0) fail("a legal one was refused");

    boards.check_fences();
    bool ended[kBoards];
    for (std::int64_t i = 0; i < kBoards; ++i) {
      ended[i] = boards.envs[i].ended;
      if (config.mask == env::MaskFormat::LIST)
        check_list(batch, i);
      else
        check_mask(batch, i);
    }
    if (config.autoreset == env::Autoreset::DISABLED) serial::reset(batch, ended, -1);
  }
}

inline std::vector<chess::Position> read_starts(const char* path) {
  std::vector<chess::Position> starts;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    chess::Position position;
    chess::Game game;
    if (!chess::parse_fen(line.substr(0, line.find(" ;")), position).empty()) continue;
    chess::start(game, position);
    if (!game.over()) starts.push_back(position);
  }
  if (starts.empty()) fail("no position to start from");
  return starts;
}

// What a list has no room for is neither written nor kept from the count, and no state brings it.
inline void check_list_that_is_too_short() {
  chess::Position queens;
  if (!chess::parse_fen("knQ1QQ2/nn5Q/1Q6/3QQ1Q1/Q7/Q6Q/4QQ2/1QQ4K w - - 0 1", queens).empty())
    fail("a position of many queens is refused");
  env::ChessConfig config = {};
  config.mask = env::MaskFormat::LIST;
  config.num_starts = 1;
  config.starts = &queens;
  Boards boards(2, config);
  serial::reset(boards.batch, nullptr, 0);
  boards.check_fences();
  const auto* list = reinterpret_cast<const std::int16_t*>(boards.batch.mask);
  const int last = env::nth_action(boards.envs[0].game.legal, env::kMaxLegal - 1);
  if (boards.batch.action_count[0] != 230 || list[env::kMaxLegal - 1] != last)
    fail("a list that is too short is not reported");
  std::vector<env::ChessEnv> saved = boards.envs;
  std::string why;
  if (serial::restore(boards.batch, saved.data(), nullptr, why) != 0)
    fail("a state of more pieces than promotions make is taken");
}

// Steps of boards in every format and mode, from a file's positions or, without one, from the
// start.
inline int self_play(int steps, const char* path) {
  using env::Autoreset, env::MaskFormat, env::ObservationFormat, env::Opponent;
  // Random123's published answer for the digits of pi.
  if (env::philox(0x299F31D0A4093822, 0x243F6A88, 0x85A308D3, 0x13198A2E,
                  static_cast<env::Purpose>(0x03707344)) != 0xD16CFE09)
    fail("Philox");
  check_list_that_is_too_short();
  const std::vector<chess::Position> starts =
      path ? read_starts(path) : std::vector{chess::start_position()};
  for (const auto mask : {MaskFormat::BOOL, MaskFormat::BITS, MaskFormat::LIST})
    for (const auto opponent : {Opponent::NONE, Opponent::RANDOM, Opponent::ENGINE}) {
      env::ChessConfig config = short_games(starts.data(), starts.size());
      config.mask = mask;
      config.opponent = opponent;
      self_play(config, steps);
    }
  for (const auto observation :
       {ObservationFormat::PLANES, ObservationFormat::BITPLANES, ObservationFormat::PLANES_UINT8,
        ObservationFormat::PLANES_BFLOAT16})
    for (const auto autoreset : {Autoreset::SAME_STEP, Autoreset::NEXT_STEP, Autoreset::DISABLED}) {
      env::ChessConfig config = short_games(starts.data(), starts.size());
      config.mask = MaskFormat::LIST;
      config.observation = observation;
      config.autoreset = autoreset;
      self_play(config, steps);
    }
  std::printf("played\n");
  return 0;
}

}  // namespace rungs
