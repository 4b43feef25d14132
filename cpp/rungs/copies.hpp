// Copies of boards, kept for a while and put onto these boards or others.
#pragma once
#include <cstddef>
#include <cstring>

#include "batch.hpp"

namespace rungs::copies {

namespace detail {

// Copies a board; of the keys of past positions those in use, as most aren't.
inline void copy(const env::ChessEnv& from, env::ChessEnv& to) {
  constexpr std::size_t kPast = offsetof(chess::Game, past);
  constexpr std::size_t kRest = kPast + sizeof from.game.past;
  static_assert(offsetof(env::ChessEnv, game) == 0);
  const auto* source = reinterpret_cast<const char*>(&from);
  auto* target = reinterpret_cast<char*>(&to);
  std::memcpy(target, source, kPast + from.game.num_past * sizeof from.game.past[0]);
  std::memcpy(target + kRest, source + kRest, sizeof from - kRest);
}

}  // namespace detail

// Copies boards number `which[k]` to `saved[k]`, and their histories to `past[k]`, where they have
// any (else it is null).
inline void save(const ChessBatch& batch, const std::int64_t* which, std::int64_t count,
                 env::ChessEnv* saved, env::History* past) {
  for (std::int64_t k = 0; k < count; ++k) {
    detail::copy(batch.env[which[k]], saved[k]);
    if (past) past[k] = batch.history[which[k]];
  }
}

// Makes boards number `which[k]` what `save` kept, and writes what is seen of them, as after a
// reset. They draw the random numbers that their source would, or their `own`: then they keep their
// place in the batch and their episode's number.
inline void put(const ChessBatch& batch, const std::int64_t* which, std::int64_t count,
                const env::ChessEnv* saved, const env::History* past, bool own) {
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t i = which[k];
    env::ChessEnv& env = batch.env[i];
    const std::uint32_t episode = env.episode;
    detail::copy(saved[k], env);
    if (own) {
      env.board = static_cast<std::uint32_t>(batch.first_board + i);
      env.episode = episode;
    }
    if (past) batch.history[i] = past[k];
    batch.reward[i] = 0;
    batch.terminated[i] = batch.truncated[i] = false;
    batch.ended[i] = env.ended;
    batch.reason[i] = 0;
    batch.write(i);
  }
}

}  // namespace rungs::copies
