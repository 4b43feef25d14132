// How long a team of threads takes, each with its own share of the same work.
//
// Threads are started for each measurement, by hand: Cling compiles OpenMP's pragmas right only in
// the first code that it compiles with any, which is the rungs'.
#pragma once
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace rungs::machine {

namespace detail {

// Keeps the calling thread on one of the cores it may use: threads just started often share one.
inline void stay_on_core(std::int32_t number) {
  cpu_set_t usable, own;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable)) return;
  std::int32_t left = number % CPU_COUNT(&usable);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &usable) && left-- == 0) {
      CPU_ZERO(&own);
      CPU_SET(cpu, &own);
      pthread_setaffinity_np(pthread_self(), sizeof own, &own);
      return;
    }
}

}  // namespace detail

// Seconds from when all threads are ready until the last is done. `prepare(t)` and then, on the
// same thread, `work(t)` are called for t = 0 ... threads - 1; only `work` is timed.
template <class Prepare, class Work>
double seconds_of(std::int32_t threads, Prepare prepare, Work work) {
  using std::chrono::steady_clock;
  std::atomic<std::int32_t> ready = 0;
  std::atomic<bool> go = false;
  std::vector<steady_clock::time_point> ends(static_cast<std::size_t>(threads));
  std::vector<std::thread> team;
  for (std::int32_t t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      detail::stay_on_core(t);
      prepare(t);
      ++ready;
      while (!go) {
      }
      work(t);
      ends[t] = steady_clock::now();
    });
  while (ready < threads) std::this_thread::yield();
  const auto start = steady_clock::now();
  go = true;
  for (std::thread& thread : team) thread.join();
  return std::chrono::duration<double>(*std::max_element(ends.begin(), ends.end()) - start).count();
}

}  // namespace rungs::machine
