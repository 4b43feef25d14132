// What is done to a batch of chess boards on one thread besides stepping them, and the OpenMP loops
// over a batch that the MPI rung calls.
#pragma once
#include <cstdint>
#include <string>

#include "../env/validate.hpp"
#include "batch.hpp"
#include "cpu_loops.hpp"

namespace rungs {

namespace serial {

// Writes the number of actions that each board accepts, (N,).
inline void count_actions(const ChessBatch& batch, std::int64_t* counts) {
  batch.examine_all(
      [&](const ChessEnvs& envs, int k, std::int64_t i) { counts[i] = envs.num_actions(k); });
}

// Replaces ranks below these numbers by the actions that have them, in order of id from 0.
inline void rank_to_action(const ChessBatch& batch, std::int64_t* ranks) {
  batch.examine_all([&](const ChessEnvs& envs, int k, std::int64_t i) {
    ranks[i] = envs.nth_action(k, static_cast<int>(ranks[i]));
  });
}

// Plays the engine's first ply on every board, where `replies` has one.
inline void open(const ChessBatch& batch) {
  for (std::int64_t i = 0; i < batch.num_envs; ++i) batch.open(i);
  env::end_streams();
}

// Validates saved boards in place; `past` has their histories, or is null. Returns the first that
// is invalid and sets `why`, or returns `count`.
inline std::int64_t restore(const env::ChessConfig& config, std::int64_t count,
                            env::SavedBoard* saved, const env::History* past, std::string& why) {
  for (std::int64_t k = 0; k < count; ++k) {
    why = env::restore(config, past ? past + k : nullptr, saved[k]);
    if (!why.empty()) return k;
  }
  return count;
}

// Copies boards number `which[k]` to `saved[k]`, and their histories to `past[k]` (null if they
// have none).
inline void save(const ChessBatch& batch, const std::int64_t* which, std::int64_t count,
                 env::SavedBoard* saved, env::History* past) {
  for (std::int64_t k = 0; k < count; ++k)
    batch.save(which[k], saved[k], past ? past + k : nullptr);
}

// Replaces boards number `which[k]` by what `save` copied: see `ChessBatch::put`.
inline void put(const ChessBatch& batch, const std::int64_t* which, std::int64_t count,
                const env::SavedBoard* saved, const env::History* past, bool own) {
  for (std::int64_t k = 0; k < count; ++k)
    batch.put(which[k], saved[k], past ? past + k : nullptr, own);
  env::end_streams();
}

}  // namespace serial

namespace openmp {

template void reset(const ChessBatch&, const bool*, std::int64_t, const LoopSettings&);
template std::int64_t first_illegal(const ChessBatch&, const std::int64_t*, const LoopSettings&);
template std::int64_t step_accepted(const ChessBatch&, const LoopSettings&);

}  // namespace openmp

}  // namespace rungs
