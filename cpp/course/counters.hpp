// Threads that do hardly anything but share, for notebook 04: counters a number of bytes apart, and
// loops with even or uneven iterations.
#pragma once
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "../rungs/cpu_loops.hpp"

namespace rungs::counters {

// Keeps the calling thread on one core, number `index` of those that it may use, while this lives.
class Pinned {
 public:
  explicit Pinned(int index) {
    sched_getaffinity(0, sizeof all_, &all_);
    index %= CPU_COUNT(&all_);
    int core = 0;
    while (!CPU_ISSET(core, &all_) || index--) ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~Pinned() { sched_setaffinity(0, sizeof all_, &all_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t all_;
};

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Thread `t` increments its counter, at `memory + t * stride` bytes, `times` times in each turn.
// All threads begin a turn together. Writes when each began and ended it, (turns, threads) seconds.
inline void count(std::uintptr_t memory, std::int64_t stride, std::int64_t times,
                  std::int64_t turns, std::int32_t threads, double* begin, double* end) {
#pragma omp parallel num_threads(threads)
  {
    std::int32_t t = 0;  // this thread's number
#pragma omp for schedule(static, 1)
    for (std::int32_t i = 0; i < threads; ++i) t = i;
    const Pinned pinned(t);
    std::atomic_ref counter(*reinterpret_cast<std::int64_t*>(memory + t * stride));
    for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma omp barrier
      begin[turn * threads + t] = now();
      for (std::int64_t i = 0; i < times; ++i) counter.fetch_add(1, std::memory_order_relaxed);
      end[turn * threads + t] = now();
    }
  }
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

}  // namespace rungs::counters
