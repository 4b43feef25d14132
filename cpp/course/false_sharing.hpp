// Ways to distribute a step among threads, for notebook 04. Each plays a legal action on every
// board and returns how many episodes ended; they differ only in which thread plays which block of
// eight boards. The rung `openmp` (cpp/rungs/cpu_loops.hpp) also checks first that all actions are
// legal.
#pragma once
#include "../rungs/chess_loops.hpp"

namespace rungs::sharing {

inline std::int64_t play(const ChessBatch& batch, const std::int64_t* actions, std::int64_t b) {
  batch.keep_block(b, actions);
  return batch.step_block(b);
}

// One thread: the loop that all others distribute.
inline std::int64_t alone(const ChessBatch& batch, const std::int64_t* actions, std::int32_t) {
  std::int64_t ended = 0;
  for (std::int64_t b = 0; b < batch.num_blocks(); ++b) ended += play(batch, actions, b);
  env::end_streams();
  return ended;
}

// One block at a time, round robin: neighbours are played by different threads.
inline std::int64_t naive(const ChessBatch& batch, const std::int64_t* actions,
                          std::int32_t threads) {
  const std::int64_t blocks = batch.num_blocks();
  std::int64_t ended = 0;
#pragma omp parallel num_threads(threads) reduction(+ : ended)
  {
#pragma omp for schedule(static, 1) nowait
    for (std::int64_t b = 0; b < blocks; ++b) ended += play(batch, actions, b);
    env::end_streams();
  }
  return ended;
}

// One run of neighbours per thread: two threads share a cache line only where runs meet.
inline std::int64_t chunked(const ChessBatch& batch, const std::int64_t* actions,
                            std::int32_t threads) {
  const std::int64_t blocks = batch.num_blocks(), run = (blocks + threads - 1) / threads;
  std::int64_t ended = 0;
#pragma omp parallel num_threads(threads) reduction(+ : ended)
  {
#pragma omp for schedule(static, run) nowait
    for (std::int64_t b = 0; b < blocks; ++b) ended += play(batch, actions, b);
    env::end_streams();
  }
  return ended;
}

// The same, but with fewer threads where each would have too few boards to pay off.
inline std::int64_t gated(const ChessBatch& batch, const std::int64_t* actions,
                          std::int32_t threads) {
  const std::int32_t useful = useful_threads(threads, batch.num_envs);
  return useful > 1 ? chunked(batch, actions, useful) : alone(batch, actions, 1);
}

// Block `b` as a batch of its own, in arrays where each block's part of each output begins on its
// own cache line.
inline ChessBatch padded_block(const ChessBatch& batch, std::int64_t b) {
  const env::ChessConfig& config = batch.config;
  const std::int64_t left = batch.num_envs - b * env::kBlock;
  ChessBatch block = batch;
  const auto apart = [b](auto* first, std::int64_t count) {
    const std::int64_t bytes =
        (static_cast<std::int64_t>(sizeof *first) * count * env::kBlock + 63) / 64 * 64;
    return first + b * (bytes / static_cast<std::int64_t>(sizeof *first));
  };
#define RUNGS_PADDED(type, name, count) block.name = apart(batch.name, count);
  using namespace env;  // the list's own counts
  RUNGS_CHESS_OUTPUTS(RUNGS_PADDED)
#undef RUNGS_PADDED
  block.num_envs = left < kBlock ? left : kBlock;
  block.first_board += b * kBlock;
  block.blocks += b;
  block.chosen = apart(batch.chosen, 1);
  return block;
}

namespace detail {

// Plays blocks that share no cache line: the outputs and `chosen` have room for whole lines.
// Threads take turns at runs of `run` blocks.
inline std::int64_t play_padded(const ChessBatch& batch, const std::int64_t* actions,
                                std::int32_t threads, std::int64_t run) {
  const std::int64_t blocks = batch.num_blocks();
  std::int64_t ended = 0;
#pragma omp parallel num_threads(threads) reduction(+ : ended)
  {
#pragma omp for schedule(static, run) nowait
    for (std::int64_t b = 0; b < blocks; ++b)
      ended += play(padded_block(batch, b), actions + b * env::kBlock, 0);
    env::end_streams();
  }
  return ended;
}

// Each thread keeps the actions of its run of blocks, and then plays them. With `kMeet` no thread
// plays before all have kept theirs.
template <bool kMeet>
std::int64_t keep_then_play(const ChessBatch& batch, const std::int64_t* actions,
                            std::int32_t threads) {
  const openmp::LoopSettings runs{threads, openmp::Schedule::STATIC, 0};
  const std::int64_t blocks = batch.num_blocks();
  std::int64_t ended = 0;
#pragma omp parallel num_threads(threads) reduction(+ : ended)
  {
    openmp::detail::share(runs, threads, blocks,
                          [&](std::int64_t b) { batch.keep_block(b, actions); });
    if constexpr (kMeet) {
#pragma omp barrier
    }
    openmp::detail::share(runs, threads, blocks,
                          [&](std::int64_t b) { ended += batch.step_block(b); });
  }
  return ended;
}

}  // namespace detail

// Two experiments, not meant for use: the orders of `naive` and of `chunked`, but no two blocks
// share a cache line, so these two differ in the order alone.
inline std::int64_t padded(const ChessBatch& batch, const std::int64_t* actions,
                           std::int32_t threads) {
  return detail::play_padded(batch, actions, threads, 1);
}

inline std::int64_t padded_runs(const ChessBatch& batch, const std::int64_t* actions,
                                std::int32_t threads) {
  return detail::play_padded(batch, actions, threads, (batch.num_blocks() + threads - 1) / threads);
}

// As an MPI rank does it: one parallel region checks that all actions are legal, and another one
// plays them. The rung `openmp` has one region for both, with a barrier in between.
inline std::int64_t twice(const ChessBatch& batch, const std::int64_t* actions,
                          std::int32_t threads) {
  const openmp::LoopSettings settings{threads, openmp::Schedule::STATIC, 0};
  const std::int64_t illegal = openmp::first_illegal(batch, actions, settings);
  return illegal < batch.num_envs ? -1 - illegal : openmp::step_accepted(batch, settings);
}

// Two that differ in a barrier alone: all threads meet at the end of the step, or also in the
// middle of it, as those of the rung `openmp` do, which checks actions in its first pass.
inline std::int64_t one_barrier(const ChessBatch& batch, const std::int64_t* actions,
                                std::int32_t threads) {
  return detail::keep_then_play<false>(batch, actions, threads);
}

inline std::int64_t two_barriers(const ChessBatch& batch, const std::int64_t* actions,
                                 std::int32_t threads) {
  return detail::keep_then_play<true>(batch, actions, threads);
}

// Another experiment: several steps whose actions are all known, (steps, N). Each thread plays all
// of them on its run of boards, and threads are joined once, at the end. No agent could play like
// this.
inline std::int64_t apart(const ChessBatch& batch, const std::int64_t* actions, std::int64_t steps,
                          std::int32_t threads) {
  const std::int64_t blocks = batch.num_blocks(), run = (blocks + threads - 1) / threads;
  std::int64_t ended = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : ended)
  for (std::int64_t first = 0; first < blocks; first += run)
    for (std::int64_t step = 0; step < steps; ++step) {
      for (std::int64_t b = first; b < first + run && b < blocks; ++b)
        ended += play(batch, actions + step * batch.num_envs, b);
      env::end_streams();
    }
  return ended;
}

}  // namespace rungs::sharing
