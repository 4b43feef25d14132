// The OpenMP rung: a team of threads that share the boards out as the schedule says.
//
// Which thread steps a board changes nothing but time. What it costs is sharing: the outputs of
// neighbouring boards lie side by side, some a byte each, and two cores that write to one cache
// line take it from each other. So boards are dealt out in long runs (see `Team::chunk`).
//
// Only pragmas are used, none of the functions of <omp.h>: PyTorch brings an OpenMP of its own into
// the process, and a function of that name could be the other one's.
#pragma once
#include "serial.hpp"
#include "useful_threads.hpp"

namespace rungs::openmp {

enum class Schedule : std::int32_t { STATIC, DYNAMIC, GUIDED };

// Cling compiles pragmas right in the first code that has any, and wrongly from then on. So what
// code that is compiled later calls, as the MPI rung's, is compiled with the rest of this header.
#define RUNGS_COMPILED_NOW __attribute__((used, noinline))

struct Team {
  std::int32_t threads;
  Schedule schedule;
  std::int64_t chunk;  // boards dealt out at a time; 0: one even run per thread
};

// How many threads really run where `threads` are asked for.
inline std::int32_t team_size(std::int32_t threads) {
  std::int32_t size = 0;
#pragma omp parallel num_threads(threads) reduction(+ : size)
  size += 1;
  return size;
}

namespace detail {

// Within a parallel region: calls `body(i)` for this thread's share of the boards. Threads don't
// wait for each other at the end.
template <class Body>
inline void share(const Team& team, std::int32_t threads, std::int64_t boards, Body body) {
  const std::int64_t chunk = team.chunk ? team.chunk : (boards + threads - 1) / threads;
  switch (team.schedule) {
    case Schedule::STATIC:
#pragma omp for schedule(static, chunk) nowait
      for (std::int64_t i = 0; i < boards; ++i) body(i);
      break;
    case Schedule::DYNAMIC:
#pragma omp for schedule(dynamic, chunk) nowait
      for (std::int64_t i = 0; i < boards; ++i) body(i);
      break;
    case Schedule::GUIDED:
#pragma omp for schedule(guided, chunk) nowait
      for (std::int64_t i = 0; i < boards; ++i) body(i);
      break;
  }
  env::end_streams();
}

}  // namespace detail

RUNGS_COMPILED_NOW inline void reset(const ChessBatch& batch, const bool* which,
                                     std::int64_t episode, const Team& team) {
  const std::int32_t threads = useful_threads(team.threads, batch.num_envs);
#pragma omp parallel num_threads(threads) if (threads > 1)
  detail::share(team, threads, batch.num_envs, [&](std::int64_t i) {
    if (!which || which[i]) batch.reset(i, episode);
  });
}

// The first board whose action is illegal, or the number of boards.
RUNGS_COMPILED_NOW inline std::int64_t first_illegal(const ChessBatch& batch,
                                                     const std::int64_t* actions,
                                                     const Team& team) {
  const std::int64_t boards = batch.num_envs;
  const std::int32_t threads = useful_threads(team.threads, boards);
  std::int64_t first = boards;
#pragma omp parallel num_threads(threads) if (threads > 1) reduction(min : first)
  detail::share(team, threads, boards, [&](std::int64_t i) {
    if (!batch.accepts(i, actions[i]) && i < first) first = i;
  });
  return first;
}

// Plays actions that were all accepted; returns how many episodes ended.
RUNGS_COMPILED_NOW inline std::int64_t step_accepted(const ChessBatch& batch, const Team& team) {
  const std::int32_t threads = useful_threads(team.threads, batch.num_envs);
  std::int64_t ended = 0;
#pragma omp parallel num_threads(threads) if (threads > 1) reduction(+ : ended)
  detail::share(team, threads, batch.num_envs, [&](std::int64_t i) { ended += batch.step(i); });
  return ended;
}

// As serial::step. One team does both: to wake it twice takes longer than to wait at a barrier.
inline std::int64_t step(const ChessBatch& batch, const std::int64_t* actions, const Team& team) {
  const std::int64_t boards = batch.num_envs;
  const std::int32_t threads = useful_threads(team.threads, boards);
  if (threads == 1) return serial::step(batch, actions);
  std::int64_t illegal = boards, ended = 0;
#pragma omp parallel num_threads(threads) reduction(+ : ended)
  {
    std::int64_t first = boards;
    detail::share(team, threads, boards, [&](std::int64_t i) {
      if (!batch.accepts(i, actions[i]) && i < first) first = i;
    });
    if (first < boards) {
#pragma omp critical
      if (first < illegal) illegal = first;
    }
#pragma omp barrier
    // All threads go on, or none does.
    if (illegal == boards)
      detail::share(team, threads, boards, [&](std::int64_t i) { ended += batch.step(i); });
  }
  return illegal < boards ? -1 - illegal : ended;
}

}  // namespace rungs::openmp
