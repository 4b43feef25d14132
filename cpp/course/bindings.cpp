// The functions that the course's Python calls, of teaching code that is in no wheel: threads that
// count (notebook 04).
#include "../bindings/abi.hpp"
#include "counters.hpp"

// Threads increment a counter each, `stride` bytes apart, in turns; `begin` and `end` get the times
// of each, (turns, threads) seconds.
RUNGS_FUNCTION(void, rungs_counters_count, std::uintptr_t memory, std::int64_t stride,
               std::int64_t times, std::int64_t turns, std::int64_t threads, double* begin,
               double* end) {
  rungs::counters::count(memory, stride, times, turns, static_cast<std::int32_t>(threads), begin,
                         end);
}

// A loop of uneven iterations by a `Schedule`; `chunk` is how many are assigned at a time.
RUNGS_FUNCTION(std::int64_t, rungs_counters_loop, const std::int64_t* work, std::int64_t iterations,
               std::int64_t schedule, std::int64_t chunk, std::int64_t threads) {
  return rungs::counters::loop(
      work, iterations,
      {static_cast<std::int32_t>(threads), static_cast<rungs::openmp::Schedule>(schedule), chunk});
}
