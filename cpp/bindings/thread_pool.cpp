// The functions of threads that Python calls, for all games: OpenMP's, and those of a pool. A pool
// is run by the library that started it, as only that library knows where the pool's threads sleep.
#include "../rungs/thread_pool.hpp"

#include "../rungs/cpu_loops.hpp"
#include "abi.hpp"

RUNGS_STRUCTURE(rungs::openmp::LoopSettings, threads, schedule, chunk)
RUNGS_CONSTANT(payoff_bytes, sizeof(rungs::Payoff))

// The version of OpenMP these functions were compiled for, 0 where the compiler ignored it.
RUNGS_FUNCTION(std::int64_t, rungs_openmp_version) {
#ifdef _OPENMP
  return _OPENMP;
#else
  return 0;
#endif
}

// Whether their pragmas call Clang's OpenMP runtime, and not GCC's.
RUNGS_FUNCTION(bool, rungs_openmp_is_clangs) {
#ifdef __clang__
  return true;
#else
  return false;
#endif
}

RUNGS_FUNCTION(std::int64_t, rungs_openmp_team_size, std::int64_t threads) {
  return rungs::openmp::team_size(static_cast<std::int32_t>(threads));
}

RUNGS_FUNCTION(std::int64_t, rungs_startable_threads, std::int64_t number,
               std::int64_t stack_bytes) {
  return rungs::openmp::startable_threads(static_cast<std::int32_t>(number),
                                          static_cast<std::size_t>(stack_bytes));
}

// The number of threads, up to `threads`, that pay off for `boards` boards.
RUNGS_FUNCTION(std::int64_t, rungs_useful_threads, std::int64_t threads, std::int64_t boards) {
  return rungs::useful_threads(static_cast<std::int32_t>(threads), boards);
}

// Starts a pool of `threads` threads and returns its address; or, where the system gives only `n`
// of them, returns -n.
RUNGS_FUNCTION(std::int64_t, rungs_pool_start, std::int64_t threads) {
  std::int32_t given = 0;
  const rungs::ThreadPool* pool = rungs::start_pool(static_cast<std::int32_t>(threads), given);
  return pool ? reinterpret_cast<std::int64_t>(pool) : -given;
}

RUNGS_FUNCTION(void, rungs_pool_end, std::uintptr_t pool) {
  delete &rungs::at<rungs::ThreadPool>(pool);
}

// Calls `work(body, task)` for every task, for another library. All libraries share one pool: its
// threads keep spinning from one call to the next, and no other pool's spinning thread takes a core
// from them.
RUNGS_FUNCTION(void, rungs_pool_run, std::uintptr_t pool, std::int64_t threads, std::int64_t tasks,
               std::uintptr_t work, std::uintptr_t body) {
  const auto call = reinterpret_cast<void (*)(const void*, std::int64_t)>(work);
  rungs::at<rungs::ThreadPool>(pool).run(static_cast<std::int32_t>(threads), tasks,
                                         [&](std::int64_t task) -> std::int64_t {
                                           call(reinterpret_cast<const void*>(body), task);
                                           return 0;
                                         });
}

// The address of `rungs_pool_run`, for other libraries.
RUNGS_FUNCTION(std::uintptr_t, rungs_pool_runner) {
  return reinterpret_cast<std::uintptr_t>(&rungs_pool_run);
}
