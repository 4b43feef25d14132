// Ways to distribute a step among threads, for notebook 04. Each plays a legal action on every
// board and returns how many episodes ended; they differ only in which thread plays which board.
// The rung `openmp` (cpp/rungs/cpu_loops.hpp) also checks first that all actions are legal.
#pragma once
#include "../rungs/cpu_loops.hpp"

namespace rungs::steps {

inline bool play(const ChessBatch& batch, const std::int64_t* actions, std::int64_t i) {
  const auto action = static_cast<chess::Action>(actions[i]);
  return batch.env[i].step(batch.config, action, batch.streamed_rows(i));
}

// One thread: the loop that all others distribute.
inline std::int64_t alone(const ChessBatch& batch, const std::int64_t* actions, std::int32_t) {
  std::int64_t ended = 0;
  for (std::int64_t i = 0; i < batch.num_envs; ++i) ended += play(batch, actions, i);
  env::end_streams();
  return ended;
}

// One board at a time, round robin: neighbours are played by different threads.
inline std::int64_t naive(const ChessBatch& batch, const std::int64_t* actions,
                          std::int32_t threads) {
  std::int64_t ended = 0;
#pragma omp parallel num_threads(threads) reduction(+ : ended)
  {
#pragma omp for schedule(static, 1) nowait
    for (std::int64_t i = 0; i < batch.num_envs; ++i) ended += play(batch, actions, i);
    env::end_streams();
  }
  return ended;
}

// One run of neighbours per thread: two threads share a cache line only where runs meet.
inline std::int64_t chunked(const ChessBatch& batch, const std::int64_t* actions,
                            std::int32_t threads) {
  const std::int64_t run = (batch.num_envs + threads - 1) / threads;
  std::int64_t ended = 0;
#pragma omp parallel num_threads(threads) reduction(+ : ended)
  {
#pragma omp for schedule(static, run) nowait
    for (std::int64_t i = 0; i < batch.num_envs; ++i) ended += play(batch, actions, i);
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

// A board whose state begins on a cache line and shares none with other data.
struct alignas(64) PaddedEnv {
  env::ChessEnv env;
};

// Rows of board `i` in arrays where each board's part of each output begins on its own cache line.
inline env::ChessRows padded_rows(const ChessBatch& batch, std::int64_t i) {
  const env::ChessConfig& config = batch.config;
  env::ChessRows rows = batch.streamed_rows(0);
  const auto apart = [i](auto* first, std::int64_t count) {
    const std::int64_t bytes = (static_cast<std::int64_t>(sizeof *first) * count + 63) / 64 * 64;
    return first + i * (bytes / static_cast<std::int64_t>(sizeof *first));
  };
#define RUNGS_PADDED(type, name, count) rows.name = apart(batch.name, count);
  using namespace env;  // the list's own counts
  RUNGS_CHESS_OUTPUTS(RUNGS_PADDED)
#undef RUNGS_PADDED
  return rows;
}

namespace detail {

// Plays boards that share no cache line: `batch.env` points to `PaddedEnv`s, and the arrays have
// room for whole lines. Threads take turns at runs of `run` boards.
inline std::int64_t play_padded(const ChessBatch& batch, const std::int64_t* actions,
                                std::int32_t threads, std::int64_t run) {
  auto* board = reinterpret_cast<PaddedEnv*>(batch.env);
  std::int64_t ended = 0;
#pragma omp parallel num_threads(threads) reduction(+ : ended)
  {
#pragma omp for schedule(static, run) nowait
    for (std::int64_t i = 0; i < batch.num_envs; ++i)
      ended += board[i].env.step(batch.config, static_cast<chess::Action>(actions[i]),
                                 padded_rows(batch, i));
    env::end_streams();
  }
  return ended;
}

}  // namespace detail

// Two experiments, not meant for use: the orders of `naive` and of `chunked`, but no two boards
// share a cache line, so these two differ in the order alone.
inline std::int64_t padded(const ChessBatch& batch, const std::int64_t* actions,
                           std::int32_t threads) {
  return detail::play_padded(batch, actions, threads, 1);
}

inline std::int64_t padded_runs(const ChessBatch& batch, const std::int64_t* actions,
                                std::int32_t threads) {
  return detail::play_padded(batch, actions, threads, (batch.num_envs + threads - 1) / threads);
}

// As an MPI rank does it: one parallel region checks that all actions are legal, and another one
// plays them. The rung `openmp` has one region for both, with a barrier in between.
inline std::int64_t twice(const ChessBatch& batch, const std::int64_t* actions,
                          std::int32_t threads) {
  const openmp::LoopSettings settings{threads, openmp::Schedule::STATIC, 0};
  const std::int64_t illegal = openmp::first_illegal(batch, actions, settings);
  return illegal < batch.num_envs ? -1 - illegal : openmp::step_accepted(batch, settings);
}

// Another experiment: several steps whose actions are all known, (steps, N). Each thread plays all
// of them on its run of boards, and threads are joined once, at the end. No agent could play like
// this.
inline std::int64_t apart(const ChessBatch& batch, const std::int64_t* actions, std::int64_t steps,
                          std::int32_t threads) {
  const std::int64_t boards = batch.num_envs, run = (boards + threads - 1) / threads;
  std::int64_t ended = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : ended)
  for (std::int64_t first = 0; first < boards; first += run)
    for (std::int64_t step = 0; step < steps; ++step) {
      for (std::int64_t i = first; i < first + run && i < boards; ++i)
        ended += play(batch, actions + step * boards, i);
      env::end_streams();
    }
  return ended;
}

}  // namespace rungs::steps
