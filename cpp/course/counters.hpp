// Threads that do hardly anything but share, for notebook 04: counters a number of bytes apart,
// loops with even or uneven iterations, and threads pinned to cores.
#pragma once
#include <sched.h>

#include <chrono>
#include <cstdint>

#include "../rungs/cpu_loops.hpp"

namespace rungs::counters {

// Thread `t` increments the counter at `memory + t * stride` bytes, `times` times. Returns the
// seconds from when all threads are there until the last is done.
inline double count(std::uintptr_t memory, std::int64_t stride, std::int64_t times,
                    std::int32_t threads) {
  using std::chrono::steady_clock;
  steady_clock::time_point start;
#pragma omp parallel num_threads(threads)
  {
#pragma omp barrier
#pragma omp single
    start = steady_clock::now();
#pragma omp for schedule(static, 1)
    for (std::int32_t t = 0; t < threads; ++t) {
      auto& own = *reinterpret_cast<volatile std::int64_t*>(memory + t * stride);
      for (std::int64_t i = 0; i < times; ++i) own = own + 1;  // volatile: in memory each time
    }
  }
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

// Iteration `i` multiplies and adds `work[i]` times. Returns the sum of what they found, which
// depends neither on threads nor on the schedule.
inline std::int64_t loop(const std::int64_t* work, std::int64_t iterations,
                         const openmp::LoopSettings& settings) {
  std::uint64_t sum = 0;
#pragma omp parallel num_threads(settings.threads) reduction(+ : sum)
  openmp::detail::share(settings, settings.threads, iterations, [&](std::int64_t i) {
    std::uint64_t x = static_cast<std::uint64_t>(i);
    for (std::int64_t k = 0; k < work[i]; ++k) x = x * 6364136223846793005u + 1442695040888963407u;
    sum += x;
  });
  return static_cast<std::int64_t>(sum);
}

// Pins thread `t` of a team to the `each` cores of row `t` of `cores`, (threads, each). Returns how
// many threads the system did not pin.
inline std::int64_t pin(const std::int32_t* cores, std::int64_t each, std::int32_t threads) {
  std::int64_t refused = 0;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(+ : refused)
  for (std::int32_t t = 0; t < threads; ++t) {
    cpu_set_t own;
    CPU_ZERO(&own);
    for (std::int64_t k = 0; k < each; ++k) CPU_SET(cores[t * each + k], &own);
    refused += sched_setaffinity(0, sizeof own, &own) != 0;  // 0: of the calling thread
  }
  return refused;
}

}  // namespace rungs::counters
