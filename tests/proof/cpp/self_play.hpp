// Random self-play through the serial rung.
#pragma once
#include <fstream>

#include "boards.hpp"
#include "chess/fen.hpp"

namespace rungs {

inline void check_mask(const Boards& boards, std::int64_t i) {
  const ChessBatch& batch = boards.batch;
  const chess::LegalActions taken = boards.taken(i);
  const std::uint8_t* row = batch.mask + i * env::mask_bytes(batch.config.mask);
  for (int action = 0; action < chess::kActions; ++action) {
    const bool set = batch.config.mask == env::MaskFormat::BOOL ? row[action]
                                                                : row[action / 8] >> action % 8 & 1;
    if (set != taken.contains(action)) fail("the mask is not what is taken");
  }
}

// What is taken is listed; of all that an ended board takes, the first.
inline void check_list(const Boards& boards, std::int64_t i) {
  const ChessBatch& batch = boards.batch;
  const chess::LegalActions legal = boards.taken(i);
  const auto* list = reinterpret_cast<const std::int16_t*>(batch.mask) + i * env::kMaxLegal;
  const int taken = chess::count(legal), listed = boards.ended(i) && taken ? 1 : taken;
  if (batch.action_count[i] != listed) fail("the count is not of what is listed");
  for (int place = 0; place < env::kMaxLegal; ++place)
    if (list[place] != (place < listed ? env::nth_action(legal, place) : -1))
      fail("the list is not what is taken");
}

// An action is checked without the others being generated, to the same end, on boards by themselves
// and together.
inline void check_every_action(const Boards& boards) {
  const ChessBatch& batch = boards.batch;
  const bool any_if_ended = batch.config.autoreset == env::Autoreset::NEXT_STEP;
  for (std::int64_t first = 0; first < batch.num_envs; first += kGroup) {
    const int number = batch.size_of_group(first);
    std::vector<chess::LegalActions> taken;
    for (int k = 0; k < number; ++k) taken.push_back(boards.taken(first + k));
    for (std::int64_t action = -1; action <= chess::kActions; ++action) {
      std::int64_t actions[kGroup];
      std::fill_n(actions, kGroup, action);
      const auto together = env::legal_on(batch.group<chess::Widest>(first), actions, any_if_ended);
      for (int k = 0; k < number; ++k) {
        const bool alone =
            env::legal_on(batch.group<chess::Bitboard>(first + k), {action}, any_if_ended);
        if (alone != taken[k].contains(action)) fail("an action is not checked as it is generated");
        if (alone != (together >> k & 1)) fail("boards together are checked in another way");
      }
    }
  }
}

inline void self_play(const env::ChessConfig& config, int steps) {
  constexpr std::int64_t kBoards = 7;
  Boards boards(kBoards, config);
  const ChessBatch& batch = boards.batch;
  std::vector<std::int64_t> actions(kBoards), &replies = boards.replies;
  serial::reset(batch, nullptr, 0);
  for (int step = 0; step < steps; ++step) {
    for (std::int64_t i = 0; i < kBoards; ++i) {
      const chess::Game game = boards.game(i);
      const bool ended = boards.ended(i);
      const chess::LegalActions legal = boards.taken(i);
      if (game.over() && !ended) fail("an episode began at its end");
      const std::uint32_t bits = env::philox(2, i, 0, step, env::Purpose::OPPONENT);
      actions[i] = env::nth_action(legal, env::below(bits, chess::count(legal)));
      if (!legal.contains(actions[i])) fail("nth_action is not legal");
      // The first of the caller's legal replies.
      chess::Game next = game;
      replies[i] = 0;
      if (!ended && (chess::play(next, actions[i]), !next.over()))
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
      ended[i] = boards.ended(i);
      if (config.mask == env::MaskFormat::LIST)
        check_list(boards, i);
      else
        check_mask(boards, i);
    }
    if (step % 16 == 0) check_every_action(boards);
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
  const int last = env::nth_action(boards.taken(0), env::kMaxLegal - 1);
  if (boards.batch.action_count[0] != 230 || list[env::kMaxLegal - 1] != last)
    fail("a list that is too short is not reported");
  env::SavedBoard saved = boards.saved(0);
  std::string why;
  if (serial::restore(config, 1, &saved, nullptr, why) != 0)
    fail("a state of more pieces than promotions make is taken");
}

// Steps of boards in every format and mode, from a file's positions or, without one, from the
// start.
inline int self_play(int steps, const char* path) {
  using env::Autoreset, env::MaskFormat, env::Opponent;
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
  for (int observation = 1; observation < env::kObservationFormats; ++observation)
    for (const auto autoreset : {Autoreset::SAME_STEP, Autoreset::NEXT_STEP, Autoreset::DISABLED}) {
      env::ChessConfig config = short_games(starts.data(), starts.size());
      config.mask = MaskFormat::LIST;
      config.observation = static_cast<env::ObservationFormat>(observation);
      config.autoreset = autoreset;
      self_play(config, steps);
    }
  std::printf("played\n");
  return 0;
}

}  // namespace rungs
