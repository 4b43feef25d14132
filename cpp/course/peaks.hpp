// What the machine can do at most: multiply-adds, integer operations and cycles of its cores, and
// how fast bytes move from and to whichever cache holds them. For notebook 08.
//
// A loop over operations does one kind of them and nothing else, in chains that don't depend on
// each other, as many as it takes to hide the latency of each, and each with values of its own, or
// the compiler would make one of all.
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
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "../learn/vectors.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace rungs::machine {

using learn::kLanes, learn::kVectorBytes;

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

// A multiply-add takes up to five cycles, and a core begins up to two a cycle.
constexpr int kChains = 12;

// The kinds of operation.
enum class Peak : std::int32_t { FLOAT32, FLOAT64, VECTOR_INTEGER, SCALAR_INTEGER, CYCLE };

namespace detail {

constexpr int kScalarChains = 8;
constexpr int kCycles = 16;  // so that the loop's own instructions overlap with the chain

template <class T>
double multiply_adds(std::int32_t t, std::int64_t iterations) {
  using Vector = learn::Vector<T>;
  const Vector factor = Vector{} + static_cast<T>(0.5), term = Vector{} + static_cast<T>(t + 1);
  Vector chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = Vector{} + static_cast<T>(c);
  for (std::int64_t i = 0; i < iterations; ++i)
    for (int c = 0; c < kChains; ++c) chain[c] = chain[c] * factor + term;
  Vector sum = {};
  for (int c = 0; c < kChains; ++c) sum += chain[c];
  return static_cast<double>(sum[0]);
}

inline double vector_integers(std::int32_t t, std::int64_t iterations) {
  using Vector = learn::Vector<std::uint64_t>;
  const Vector term = Vector{} + static_cast<std::uint64_t>(t + 1), bits = term * 3;
  Vector chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = Vector{} + static_cast<std::uint64_t>(c);
  for (std::int64_t i = 0; i < iterations; ++i)
    for (int c = 0; c < kChains; ++c) chain[c] = (chain[c] + term) ^ bits;
  Vector sum = {};
  for (int c = 0; c < kChains; ++c) sum += chain[c];
  return static_cast<double>(sum[0]);
}

inline double scalar_integers(std::int32_t t, std::int64_t iterations) {
  const std::uint64_t term = static_cast<std::uint64_t>(t + 1), bits = term * 3;
  std::uint64_t chain[kScalarChains] = {};
  for (std::int64_t i = 0; i < iterations; ++i)
    for (int c = 0; c < kScalarChains; ++c) {
      chain[c] = (chain[c] + term) ^ bits;
      asm volatile("" : "+r"(chain[c]));  // or the compiler makes vectors of them
    }
  std::uint64_t sum = 0;
  for (int c = 0; c < kScalarChains; ++c) sum += chain[c];
  return static_cast<double>(sum);
}

// Exclusive ors in one chain, each a cycle after the last on any core.
inline double cycles(std::int32_t t, std::int64_t iterations) {
  const std::uint64_t bits = static_cast<std::uint64_t>(t + 1);
  std::uint64_t chain = 0;
  for (std::int64_t i = 0; i < iterations; ++i)
    for (int c = 0; c < kCycles; ++c) {
      chain ^= bits;
      asm volatile("" : "+r"(chain));
    }
  return static_cast<double>(chain);
}

// A loop's result is stored to memory, or the compiler would remove the loop.
struct Result {
  alignas(64) volatile double value;
};

}  // namespace detail

// One thread's work per iteration: floating-point operations, two per multiply-add; operations on
// 64-bit integers, additions and exclusive ors alternating; or cycles.
inline std::int64_t operations(Peak peak) {
  switch (peak) {
    case Peak::FLOAT32:
      return 2 * kChains * kLanes<float>;
    case Peak::FLOAT64:
      return 2 * kChains * kLanes<double>;
    case Peak::VECTOR_INTEGER:
      return 2 * kChains * kLanes<std::uint64_t>;
    case Peak::SCALAR_INTEGER:
      return 2 * detail::kScalarChains;
    default:
      return detail::kCycles;
  }
}

// Seconds that all threads take for `iterations` iterations each.
inline double peak_seconds(Peak peak, std::int32_t threads, std::int64_t iterations) {
  std::vector<detail::Result> results(static_cast<std::size_t>(threads));
  const auto loop = [peak, iterations](std::int32_t t) {
    switch (peak) {
      case Peak::FLOAT32:
        return detail::multiply_adds<float>(t, iterations);
      case Peak::FLOAT64:
        return detail::multiply_adds<double>(t, iterations);
      case Peak::VECTOR_INTEGER:
        return detail::vector_integers(t, iterations);
      case Peak::SCALAR_INTEGER:
        return detail::scalar_integers(t, iterations);
      default:
        return detail::cycles(t, iterations);
    }
  };
  return seconds_of(
      threads, [](std::int32_t) {}, [&](std::int32_t t) { results[t].value = loop(t); });
}

// How bytes are moved: read, copied, as in STREAM's triad, or only written; and written past the
// caches.
enum class Stream : std::int32_t { READ, COPY, TRIAD, WRITE, WRITE_PAST_CACHES };

namespace detail {

struct Free {
  void operator()(double* memory) const { std::free(memory); }
};

using Doubles = learn::Vector<double>;

// Eight sums, so that loads do not wait for additions.
inline double read(const Doubles* a, std::int64_t vectors) {
  Doubles sum[8] = {};
  for (std::int64_t i = 0; i + 8 <= vectors; i += 8)
    for (int s = 0; s < 8; ++s) sum[s] += a[i + s];
  Doubles all = {};
  for (int s = 0; s < 8; ++s) all += sum[s];
  return all[0];
}

inline void copy(Doubles* a, const Doubles* b, std::int64_t vectors) {
  for (std::int64_t i = 0; i < vectors; ++i) a[i] = b[i];
}

inline void triad(Doubles* a, const Doubles* b, const Doubles* c, std::int64_t vectors) {
  const Doubles factor = Doubles{} + 3.0;
  for (std::int64_t i = 0; i < vectors; ++i) a[i] = b[i] + factor * c[i];
}

inline void write(Doubles* a, double value, std::int64_t vectors) {
  for (std::int64_t i = 0; i < vectors; ++i) a[i] = Doubles{} + value;
}

// Non-temporal stores of whole lines, which are not read first.
inline void write_past_caches(Doubles* a, double value, std::int64_t vectors) {
#ifdef __x86_64__
  auto* const out = reinterpret_cast<double*>(a);
  for (std::int64_t i = 0; i < vectors * kVectorBytes / 8; i += 2)
    _mm_stream_pd(out + i, _mm_set1_pd(value));
  _mm_sfence();
#else
  write(a, value, vectors);
#endif
}

inline std::int64_t arrays(Stream stream) {
  return stream == Stream::COPY ? 2 : stream == Stream::TRIAD ? 3 : 1;
}

// The length in vectors of each array within `bytes`: whole blocks of eight.
inline std::int64_t vectors(Stream stream, std::int64_t bytes) {
  return bytes / arrays(stream) / kVectorBytes / 8 * 8;
}

}  // namespace detail

// Bytes that a thread moves in one pass over `bytes` of its own. Counted as by STREAM: what the
// loop reads and writes, not what a cache fetches in addition.
inline std::int64_t bytes_moved(Stream stream, std::int64_t bytes) {
  return detail::arrays(stream) * detail::vectors(stream, bytes) * kVectorBytes;
}

// Seconds that all threads take for `repeats` passes over `bytes` of their own; -1 if memory cannot
// be allocated.
inline double stream_seconds(Stream stream, std::int32_t threads, std::int64_t bytes,
                             std::int64_t repeats) {
  using detail::Doubles;
  const std::int64_t arrays = detail::arrays(stream), vectors = detail::vectors(stream, bytes);
  const std::int64_t array_bytes = vectors * kVectorBytes;
  std::vector<std::unique_ptr<double, detail::Free>> memory(static_cast<std::size_t>(threads));
  std::vector<detail::Result> results(static_cast<std::size_t>(threads));
  const auto array = [&](std::int32_t t, std::int64_t number) {
    return reinterpret_cast<Doubles*>(memory[t].get()) + number * vectors;
  };
  const double seconds = seconds_of(
      threads,
      [&](std::int32_t t) {
        // Allocated and first touched by the thread that uses it, so that it is on its NUMA node.
        const auto size = static_cast<std::size_t>(arrays * array_bytes + 64);
        memory[t].reset(static_cast<double*>(std::aligned_alloc(64, (size + 63) / 64 * 64)));
        if (memory[t])
          for (std::int64_t i = 0; i < arrays * vectors; ++i) array(t, 0)[i] = Doubles{} + 1.0;
      },
      [&](std::int32_t t) {
        if (!memory[t]) return;
        double sum = 0;
        for (std::int64_t repeat = 0; repeat < repeats; ++repeat) {
          if (stream == Stream::READ) sum += detail::read(array(t, 0), vectors);
          if (stream == Stream::WRITE) detail::write(array(t, 0), sum, vectors);
          if (stream == Stream::WRITE_PAST_CACHES)
            detail::write_past_caches(array(t, 0), sum, vectors);
          if (stream == Stream::COPY) detail::copy(array(t, 0), array(t, 1), vectors);
          if (stream == Stream::TRIAD)
            detail::triad(array(t, 0), array(t, 1), array(t, 2), vectors);
          asm volatile("" ::: "memory");  // so that no pass is optimized away
        }
        results[t].value = sum + memory[t].get()[0];
      });
  for (const auto& own : memory)
    if (!own) return -1;
  return seconds;
}

}  // namespace rungs::machine
