// What Python calls of a team of threads. A team is run by the library that started it: where a
// thread sleeps is known to that one alone.
#include "../rungs/thread_pool.hpp"
#include "abi.hpp"

// The address of a team of so many threads; or, where the system gives only `n` of them, -n.
RUNGS_FUNCTION(std::int64_t, rungs_team_start, std::int64_t threads) {
  auto* team = new (std::nothrow) rungs::Team(static_cast<std::int32_t>(threads));
  const std::int64_t given = team ? team->size() : 1;
  if (given == threads) return reinterpret_cast<std::int64_t>(team);
  delete team;
  return -given;
}

RUNGS_FUNCTION(void, rungs_team_end, std::uintptr_t team) { delete &rungs::at<rungs::Team>(team); }

// Calls `work(body, task)` for every task: what another library computes. With one team for all of
// them threads stay awake from one call to the next, and none waits for a core on which another
// team's stays awake.
RUNGS_FUNCTION(void, rungs_team_run, std::uintptr_t team, std::int64_t threads, std::int64_t tasks,
               std::uintptr_t work, std::uintptr_t body) {
  const auto call = reinterpret_cast<void (*)(const void*, std::int64_t)>(work);
  rungs::at<rungs::Team>(team).run(static_cast<std::int32_t>(threads), tasks,
                                   [&](std::int64_t task) -> std::int64_t {
                                     call(reinterpret_cast<const void*>(body), task);
                                     return 0;
                                   });
}

// Where other libraries find it.
RUNGS_FUNCTION(std::uintptr_t, rungs_team_runner) {
  return reinterpret_cast<std::uintptr_t>(&rungs_team_run);
}
