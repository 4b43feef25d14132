// Copies of boards: what they hold, and where they are written.
#pragma once
#include <algorithm>
#include <numeric>

#include "boards.hpp"
#include "rungs/batch.hpp"

namespace rungs {

// Plays board `i` at random, by draws that depend on `turn` alone. What has ended begins anew.
inline std::int64_t turn_action(const Boards& boards, std::int64_t i, int turn) {
  if (boards.ended(i)) return 0;
  const chess::LegalActions legal = boards.taken(i);
  const std::uint32_t bits = env::philox(3, 0, 0, turn, env::Purpose::AGENT);
  const auto actions = static_cast<std::uint32_t>(chess::count(legal));
  return env::nth_action(legal, static_cast<int>(env::below(bits, actions)));
}

inline void play_turn(Boards& boards, int turn) {
  const ChessBatch& batch = boards.batch;
  std::vector<std::int64_t> actions;
  for (std::int64_t i = 0; i < batch.num_envs; ++i) {
    const bool ended = boards.ended(i);
    if (ended && batch.config.autoreset == env::Autoreset::DISABLED) {
      batch.reset(i, -1);
      batch.ended[i] = false;
    }
    actions.push_back(turn_action(boards, i, turn));
  }
  if (serial::step(batch, actions.data()) < 0) fail("a legal action was refused");
}

// Whether all outputs of a step are the same on two boards, but for a final observation.
inline bool alike(const ChessBatch& batch, std::int64_t i, std::int64_t j) {
  const env::ChessConfig& config = batch.config;
  const auto same = [&](const void* array, std::size_t bytes) {
    const auto* first = static_cast<const char*>(array);
    return !std::memcmp(first + i * bytes, first + j * bytes, bytes);
  };
  return same(batch.observation, env::observation_bytes(config.observation)) &&
         same(batch.mask, env::mask_bytes(config.mask)) && same(batch.reward, sizeof(float)) &&
         same(batch.terminated, 1) && same(batch.truncated, 1) && same(batch.ended, 1) &&
         same(batch.reason, 1) && same(batch.player, 1);
}

// Boards are saved, played on, and become others: those go on together. The first bytes are
// settings, a seed and how long is played; then one for each board's source.
inline void fuzz_copies(const std::uint8_t* data, std::size_t size) {
  constexpr std::int64_t kBoards = 5;
  if (size < 3 + kBoards) return;
  const chess::Position start = chess::start_position();
  Boards boards(kBoards, any_config(data[0], data[1], &start));
  const ChessBatch& batch = boards.batch;
  serial::reset(batch, nullptr, 0);
  int turn = 0;
  while (turn < data[2]) play_turn(boards, turn++);

  std::vector<std::int64_t> source, target(kBoards);
  for (std::int64_t k = 0; k < kBoards; ++k) source.push_back(data[3 + k] % kBoards);
  std::iota(target.begin(), target.end(), 0);
  std::rotate(target.begin(), target.begin() + data[1] % kBoards, target.end());
  // Keys that are not in use may be anything.
  std::vector<env::SavedBoard> saved(kBoards);
  std::memset(static_cast<void*>(saved.data()), 0xFF, kBoards * sizeof saved[0]);
  std::vector<env::History> past(boards.histories.size());
  env::History* const histories = past.empty() ? nullptr : past.data();
  serial::save(batch, source.data(), kBoards, saved.data(), histories);

  for (const bool own : {true, false}) {
    for (int last = turn + 3; turn < last; ++turn) play_turn(boards, turn);
    std::vector<env::SavedBoard> before;
    for (std::int64_t i = 0; i < kBoards; ++i) before.push_back(boards.saved(i));
    serial::put(batch, target.data(), kBoards, saved.data(), histories, own);
    for (std::int64_t k = 0; k < kBoards; ++k) {
      const env::SavedBoard env = boards.saved(target[k]);
      if (env.board != (own ? target[k] : saved[k].board)) fail("a copy draws other numbers");
      if (env.episode != (own ? before[target[k]] : saved[k]).episode) fail("another episode");
      if (batch.reward[target[k]] || batch.reason[target[k]]) fail("a copy has a reward");
      if (batch.ended[target[k]] != env.ended) fail("a copy has not ended as its source");
    }
    boards.check_fences();
  }
  // Copies of one board go on as one.
  for (int last = turn + 40; turn < last; ++turn) {
    play_turn(boards, turn);
    for (std::int64_t k = 0; k < kBoards; ++k) {
      const std::int64_t first =
          std::find(source.begin(), source.end(), source[k]) - source.begin();
      // Until a reset: then each has its own number.
      if (batch.config.autoreset == env::Autoreset::DISABLED &&
          saved[k].episode != boards.saved(target[k]).episode)
        continue;
      if (!alike(batch, target[first], target[k])) fail("copies have parted");
    }
  }
  boards.check_fences();
}

}  // namespace rungs
