// The CUDA rung: a thread per board. NVRTC compiles it from the headers of the other rungs
// (`-default-device`: functions without a mark run on the device). A thread's vector is a word, so
// its group of boards is one board.
#pragma once
#include "batch.hpp"

// The same as on the host: lib/rungs/_src/chess/boards/device.py.
static_assert(sizeof(rungs::ChessBatch) == RUNGS_BATCH_BYTES);
static_assert(sizeof(rungs::env::Block) == RUNGS_BLOCK_BYTES);
static_assert(sizeof(rungs::env::SavedBoard) == RUNGS_SAVED_BOARD_BYTES);
static_assert(sizeof(rungs::env::History) == RUNGS_HISTORY_BYTES);

namespace {

__device__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

}  // namespace

#define RUNGS_KERNEL __global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)

extern "C" {

// Begins an episode on the boards that `which` marks (null: on all), as `rungs::serial::reset`.
RUNGS_KERNEL rungs_chess_reset(const rungs::ChessBatch* batch, const bool* which,
                               std::int64_t episode) {
  const std::int64_t i = thread_number();
  if (i < batch->num_envs && (!which || which[i])) batch->reset(i, episode);
}

// Keeps actions for a step, and lowers `first` to the first board whose action is illegal.
RUNGS_KERNEL rungs_chess_check(const rungs::ChessBatch* batch, const std::int64_t* actions,
                               long long* first) {
  const std::int64_t i = thread_number();
  if (i < batch->num_envs && batch->check_group(i, actions) < batch->num_envs)
    atomicMin(first, static_cast<long long>(i));
}

// Plays actions that are all legal, or (null) those that were kept, and adds the number of episodes
// that ended to `ended`.
RUNGS_KERNEL rungs_chess_step(const rungs::ChessBatch* batch, const std::int64_t* actions,
                              unsigned long long* ended) {
  const std::int64_t i = thread_number();
  if (i >= batch->num_envs) return;
  if (actions) batch->chosen[i] = static_cast<std::int16_t>(actions[i]);
  if (batch->step_group(i)) atomicAdd(ended, 1ULL);
}

// Plays random steps, and adds the number of episodes that ended to `ended`.
RUNGS_KERNEL rungs_chess_step_many(const rungs::ChessBatch* batch, std::int64_t steps,
                                   unsigned long long* ended) {
  const std::int64_t i = thread_number();
  if (i >= batch->num_envs) return;
  const std::int64_t mine = batch->step_many(i, steps);
  if (mine) atomicAdd(ended, static_cast<unsigned long long>(mine));
}

// As `ChessBatch::save` and `put`, of `count` boards, number `which[k]` each.

RUNGS_KERNEL rungs_chess_save(const rungs::ChessBatch* batch, const std::int64_t* which,
                              std::int64_t count, rungs::env::SavedBoard* saved,
                              rungs::env::History* past) {
  const std::int64_t k = thread_number();
  if (k < count) batch->save(which[k], saved[k], past ? past + k : nullptr);
}

RUNGS_KERNEL rungs_chess_put(const rungs::ChessBatch* batch, const std::int64_t* which,
                             std::int64_t count, const rungs::env::SavedBoard* saved,
                             const rungs::env::History* past, std::int64_t own) {
  const std::int64_t k = thread_number();
  if (k < count) batch->put(which[k], saved[k], past ? past + k : nullptr, own);
}

}  // extern "C"
