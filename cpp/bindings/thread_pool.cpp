// What Python calls of a thread pool. A pool is run by the library that started it: where its
// threads sleep is known to that library alone.
#include "../rungs/thread_pool.hpp"

#include "abi.hpp"

// Starts a pool of `threads` threads and returns its address; or, where the system gives only `n`
// of them, returns -n.
RUNGS_FUNCTION(std::int64_t, rungs_pool_start, std::int64_t threads) {
  auto* pool = new (std::nothrow) rungs::ThreadPool(static_cast<std::int32_t>(threads));
  const std::int64_t given = pool ? pool->size() : 1;
  if (given == threads) return reinterpret_cast<std::int64_t>(pool);
  delete pool;
  return -given;
}

RUNGS_FUNCTION(void, rungs_pool_end, std::uintptr_t pool) {
  delete &rungs::at<rungs::ThreadPool>(pool);
}

// Calls `work(body, task)` for every task, for another library. One pool for all libraries: its
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

// Where other libraries find it.
RUNGS_FUNCTION(std::uintptr_t, rungs_pool_runner) {
  return reinterpret_cast<std::uintptr_t>(&rungs_pool_run);
}
