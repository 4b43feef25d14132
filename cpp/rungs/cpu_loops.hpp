// The loops over a batch of environments on a CPU: on one thread, with OpenMP, and on our own
// thread pool. A batch, of chess or of any game, has `num_envs` boards in `num_blocks()` blocks,
// and functions for one of them: `reset_block`, `check_block` and `step_block` (see `ChessBatch`).
#pragma once
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "../env/stream_store.hpp"
#include "payoff.hpp"
#include "thread_pool.hpp"

namespace rungs {

// The serial rung: one thread, one block of boards after the other.
namespace serial {

// Begins an episode on the boards that `which` marks (null: on all): number `episode`, or each
// board's next one where `episode` is -1.
template <class Batch>
inline void reset(const Batch& batch, const bool* which, std::int64_t episode) {
  for (std::int64_t b = 0; b < batch.num_blocks(); ++b) batch.reset_block(b, which, episode);
  env::end_streams();
}

// One step of every board. Returns how many episodes ended. Unless every action is legal nothing is
// changed, and for the first board `i` whose action is not, -1 - i is returned.
template <class Batch>
inline std::int64_t step(const Batch& batch, const std::int64_t* actions) {
  const std::int64_t blocks = batch.num_blocks();
  for (std::int64_t b = 0; b < blocks; ++b)
    if (const std::int64_t illegal = batch.check_block(b, actions); illegal < batch.num_envs)
      return -1 - illegal;
  std::int64_t ended = 0;
  for (std::int64_t b = 0; b < blocks; ++b) ended += batch.step_block(b);
  env::end_streams();
  return ended;
}

}  // namespace serial

// The minimum of boards per thread for which another thread pays off. In a tight loop a quarter of
// this would suffice, but not where other work between two steps lets threads and caches go cold.
constexpr std::int64_t kBoardsPerThread = 128;

// The number of threads, up to `threads`, for which each has at least `min_boards`; at least 1.
inline std::int32_t useful_threads(std::int32_t threads, std::int64_t boards,
                                   std::int64_t min_boards = kBoardsPerThread) {
  const std::int64_t useful = boards / min_boards;
  if (useful < 2) return 1;
  return useful < threads ? static_cast<std::int32_t>(useful) : threads;
}

// The OpenMP rung: boards are distributed among threads by one of OpenMP's schedules.
//
// Which thread steps a board affects nothing but time. Its cost is false sharing: the outputs of
// neighbouring boards are adjacent, some a byte each, and two cores that write to one cache line
// take it from each other. So each thread gets long runs of boards (see `LoopSettings::chunk`).
//
// Only pragmas are used, no functions of <omp.h>: PyTorch loads an OpenMP runtime of its own into
// the process, and a call by name could reach that one.
namespace openmp {

enum class Schedule : std::int32_t { STATIC, DYNAMIC, GUIDED };

// Cling compiles pragmas correctly in the first code that has any, and wrongly afterwards. So
// functions that code compiled later calls, as the MPI rung's, are emitted earlier: templates are
// instantiated in `chess_loops.hpp`.
#define RUNGS_EMIT_HERE __attribute__((used, noinline))

struct LoopSettings {
  std::int32_t threads;
  Schedule schedule;
  std::int64_t chunk;  // blocks assigned at a time; 0: one even run per thread
};

namespace detail {

// Waits until the gate opens.
inline void* wait_at(void* gate) {
  auto* mutex = static_cast<pthread_mutex_t*>(gate);
  pthread_mutex_lock(mutex);
  pthread_mutex_unlock(mutex);
  return nullptr;
}

// Within a parallel region: calls `body(b)` for this thread's share of the blocks. Threads do not
// wait for each other at the end.
template <class Body>
inline void share(const LoopSettings& settings, std::int32_t threads, std::int64_t blocks,
                  Body body) {
  const std::int64_t chunk = settings.chunk ? settings.chunk : (blocks + threads - 1) / threads;
  switch (settings.schedule) {
    case Schedule::STATIC:
#pragma omp for schedule(static, chunk) nowait
      for (std::int64_t b = 0; b < blocks; ++b) body(b);
      break;
    case Schedule::DYNAMIC:
#pragma omp for schedule(dynamic, chunk) nowait
      for (std::int64_t b = 0; b < blocks; ++b) body(b);
      break;
    case Schedule::GUIDED:
#pragma omp for schedule(guided, chunk) nowait
      for (std::int64_t b = 0; b < blocks; ++b) body(b);
      break;
  }
  env::end_streams();
}

}  // namespace detail

// The number of threads that the system can start, including the calling one, up to `number`, each
// with a stack of `stack_bytes`. They are started and end at once. An OpenMP runtime that fails to
// start a thread ends the process, so this is checked before. Throws nothing.
inline std::int32_t startable_threads(std::int32_t number, std::size_t stack_bytes) {
  const std::unique_ptr<pthread_t[]> threads(new (std::nothrow)
                                                 pthread_t[static_cast<std::size_t>(number)]);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&gate);
  std::int32_t given = 1;
  while (threads && given < number &&
         !pthread_create(&threads[given], &attributes, detail::wait_at, &gate))
    ++given;
  pthread_mutex_unlock(&gate);
  for (std::int32_t t = 1; t < given; ++t) pthread_join(threads[t], nullptr);
  pthread_attr_destroy(&attributes);
  return given;
}

// The number of threads that OpenMP runs when `threads` are requested.
inline std::int32_t team_size(std::int32_t threads) {
  std::int32_t size = 0;
#pragma omp parallel num_threads(threads) reduction(+ : size)
  size += 1;
  return size;
}

// As `serial::reset`.
template <class Batch>
RUNGS_EMIT_HERE inline void reset(const Batch& batch, const bool* which, std::int64_t episode,
                                  const LoopSettings& settings) {
  const std::int32_t threads = useful_threads(settings.threads, batch.num_envs);
#pragma omp parallel num_threads(threads) if (threads > 1)
  detail::share(settings, threads, batch.num_blocks(),
                [&](std::int64_t b) { batch.reset_block(b, which, episode); });
}

// The first board whose action is illegal, or the number of boards.
template <class Batch>
RUNGS_EMIT_HERE inline std::int64_t first_illegal(const Batch& batch, const std::int64_t* actions,
                                                  const LoopSettings& settings) {
  const std::int64_t boards = batch.num_envs;
  const std::int32_t threads = useful_threads(settings.threads, boards);
  std::int64_t first = boards;
#pragma omp parallel num_threads(threads) if (threads > 1) reduction(min : first)
  detail::share(settings, threads, batch.num_blocks(),
                [&](std::int64_t b) { first = std::min(first, batch.check_block(b, actions)); });
  return first;
}

// Plays the actions that `first_illegal` found legal and kept; returns how many episodes ended.
template <class Batch>
RUNGS_EMIT_HERE inline std::int64_t step_accepted(const Batch& batch,
                                                  const LoopSettings& settings) {
  const std::int32_t threads = useful_threads(settings.threads, batch.num_envs);
  std::int64_t ended = 0;
#pragma omp parallel num_threads(threads) if (threads > 1) reduction(+ : ended)
  detail::share(settings, threads, batch.num_blocks(),
                [&](std::int64_t b) { ended += batch.step_block(b); });
  return ended;
}

// As serial::step. One parallel region does both: starting two takes longer than a barrier.
template <class Batch>
inline std::int64_t step(const Batch& batch, const std::int64_t* actions,
                         const LoopSettings& settings) {
  const std::int64_t boards = batch.num_envs;
  const std::int32_t threads = useful_threads(settings.threads, boards);
  if (threads == 1) return serial::step(batch, actions);
  std::int64_t illegal = boards, ended = 0;
#pragma omp parallel num_threads(threads) reduction(+ : ended)
  {
    std::int64_t first = boards;
    detail::share(settings, threads, batch.num_blocks(),
                  [&](std::int64_t b) { first = std::min(first, batch.check_block(b, actions)); });
    if (first < boards) {
#pragma omp critical
      if (first < illegal) illegal = first;
    }
#pragma omp barrier
    // All threads step their boards, or none does.
    if (illegal == boards)
      detail::share(settings, threads, batch.num_blocks(),
                    [&](std::int64_t b) { ended += batch.step_block(b); });
  }
  return illegal < boards ? -1 - illegal : ended;
}

}  // namespace openmp

// The rung `threads`: our own thread pool, which takes boards in chunks.
namespace threads {

// Blocks per chunk: few enough to wait for one, enough that claiming one costs nothing.
constexpr std::int64_t kChunk = 4;

namespace detail {

// Calls `body(pass, b)` for every block in each pass, and returns the sum of what it returned.
template <class Body>
inline std::int64_t for_each(ThreadPool& pool, std::int32_t threads, std::int64_t blocks,
                             int passes, const Body& body) {
  const std::int64_t chunks = (blocks + kChunk - 1) / kChunk;
  return pool.run_passes(threads, chunks, passes, [&](int pass, std::int64_t chunk) {
    const std::int64_t end = std::min((chunk + 1) * kChunk, blocks);
    std::int64_t sum = 0;
    for (std::int64_t b = chunk * kChunk; b < end; ++b) sum += body(pass, b);
    env::end_streams();
    return sum;
  });
}

}  // namespace detail

// As `serial::reset`.
template <class Batch>
inline void reset(const Batch& batch, const bool* which, std::int64_t episode, ThreadPool& pool,
                  std::int32_t threads) {
  detail::for_each(pool, threads, batch.num_blocks(), 1, [&](int, std::int64_t b) {
    batch.reset_block(b, which, episode);
    return 0;
  });
}

// As `serial::step`: the first pass checks all actions, the second plays them.
template <class Batch>
inline std::int64_t step(const Batch& batch, const std::int64_t* actions, ThreadPool& pool,
                         std::int32_t threads) {
  std::atomic<std::int64_t> illegal = batch.num_envs;  // the first
  const auto check = [&](std::int64_t b) {
    const std::int64_t found = batch.check_block(b, actions);
    std::int64_t first = illegal;
    while (found < first && !illegal.compare_exchange_weak(first, found)) {
    }
  };
  const std::int64_t ended = detail::for_each(
      pool, threads, batch.num_blocks(), 2, [&](int pass, std::int64_t b) -> std::int64_t {
        if (pass == 0) {
          check(b);
          return 0;
        }
        return illegal.load(std::memory_order_relaxed) == batch.num_envs ? batch.step_block(b) : 0;
      });
  return illegal < batch.num_envs ? -1 - illegal : ended;
}

// `openmp::step` of a library that was compiled with OpenMP, for the same batches; or none.
struct Team {
  std::int64_t (*step)(std::uintptr_t batch, const std::int64_t* actions, std::uintptr_t settings);
  std::uintptr_t settings;  // `openmp::LoopSettings`
};

// The same with those helpers that pay off, if any.
template <class Batch>
inline std::int64_t step(const Batch& batch, const std::int64_t* actions, ThreadPool& pool,
                         std::int32_t threads, Payoff& payoff, const Team& team) {
  const auto start = std::chrono::steady_clock::now();
  std::int64_t ended = 0;
  switch (payoff.next(team.step)) {
    case Helpers::NONE:
      ended = serial::step(batch, actions);
      break;
    case Helpers::POOL:
      ended = step(batch, actions, pool, threads);
      break;
    case Helpers::TEAM:
      ended = team.step(reinterpret_cast<std::uintptr_t>(&batch), actions, team.settings);
      break;
  }
  // The time of a step that was rejected says nothing about others.
  if (ended >= 0) payoff.add((std::chrono::steady_clock::now() - start).count(), team.step);
  return ended;
}

}  // namespace threads

}  // namespace rungs
