// What a machine can do at most: multiply-adds, integer operations and cycles of its cores, and how
// fast bytes move from and to whichever cache holds them, for notebook 08.
//
// A loop over operations does one kind of them and nothing else, in chains that don't depend on
// each other: as many as hide the latency of each, and each with values of its own, or the compiler
// would merge them.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "../bindings/abi.hpp"
#include "../learn/amx.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace rungs::machine {

using learn::kLanes, learn::kTile, learn::kVectorBytes;

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

// Seconds from when all threads are ready until the last is done. `prepare(t)` and then, on the
// same thread, `work(t)` are called for t = 0 ... threads - 1; only `work` is timed. The calling
// thread sleeps meanwhile: the last thread that is ready starts all.
template <class Prepare, class Work>
double seconds_of(std::int32_t threads, Prepare prepare, Work work) {
  using std::chrono::steady_clock;
  std::atomic<std::int32_t> ready = 0;
  std::atomic<bool> go = false;
  steady_clock::time_point start;
  std::vector<steady_clock::time_point> ends(static_cast<std::size_t>(threads));
  std::vector<std::thread> started;
  for (std::int32_t t = 0; t < threads; ++t)
    started.emplace_back([&, t] {
      stay_on_core(t);
      prepare(t);
      if (++ready == threads) {
        start = steady_clock::now();
        go = true;
      }
      while (!go) {
      }
      work(t);
      ends[t] = steady_clock::now();
    });
  for (std::thread& thread : started) thread.join();
  return std::chrono::duration<double>(*std::max_element(ends.begin(), ends.end()) - start).count();
}

// A multiply-add takes up to five cycles, and a core begins up to two a cycle.
constexpr int kChains = 12;

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

#if RUNGS_BF16
// Each instruction adds two products to every lane.
inline double bfloat16_products(std::int32_t t, std::int64_t iterations) {
  const auto factor = learn::broadcast(learn::to_bf16(0.5F));
  const auto term = learn::broadcast(learn::to_bf16(static_cast<float>(t + 1)));
  learn::Vector<float> chain[kChains];
  for (int c = 0; c < kChains; ++c) chain[c] = learn::broadcast(static_cast<float>(c));
  for (std::int64_t i = 0; i < iterations; ++i)
    for (int c = 0; c < kChains; ++c) chain[c] = learn::multiply_add(factor, term, chain[c]);
  learn::Vector<float> sum = {};
  for (int c = 0; c < kChains; ++c) sum += chain[c];
  return static_cast<double>(sum[0]);
}
#endif

#if RUNGS_AMX
// An instruction takes 52 cycles, and the next may begin after 16.
constexpr int kTileChains = 4;

inline double tile_products(std::int32_t t, std::int64_t iterations) {
  using learn::Amx;
  const learn::Tiles tiles(true);
  const auto ones = learn::broadcast(learn::to_bf16(static_cast<float>(t + 1)));
  learn::Vector<learn::bf16x2> operand[kTile];
  for (auto& row : operand) row = ones;
  Amx::load<6>(operand, kTile);
  Amx::load<7>(operand, kTile);
  Amx::clear<0>();
  Amx::clear<1>();
  Amx::clear<2>();
  Amx::clear<3>();
  for (std::int64_t i = 0; i < iterations; ++i) {
    Amx::multiply_add<0, 6, 7>();
    Amx::multiply_add<1, 6, 7>();
    Amx::multiply_add<2, 6, 7>();
    Amx::multiply_add<3, 6, 7>();
  }
  learn::Vector<float> sums[kTile];
  Amx::store<0>(sums, kTile);
  return static_cast<double>(sums[0][0]);
}
#endif

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

// Eight variables by name: as an array they would stay in memory, with a load and a store in every
// operation of a chain.
inline double scalar_integers(std::int32_t t, std::int64_t iterations) {
  const std::uint64_t term = static_cast<std::uint64_t>(t + 1), bits = term * 3;
  std::uint64_t a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7;
  for (std::int64_t i = 0; i < iterations; ++i) {
    a = (a + term) ^ bits;
    b = (b + term) ^ bits;
    c = (c + term) ^ bits;
    d = (d + term) ^ bits;
    e = (e + term) ^ bits;
    f = (f + term) ^ bits;
    g = (g + term) ^ bits;
    h = (h + term) ^ bits;
    // Or the compiler makes vectors of them.
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
  }
  return static_cast<double>(a + b + c + d + e + f + g + h);
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

// The kinds of operation.
enum class Peak : std::int32_t {
  FLOAT32,
  FLOAT64,
  VECTOR_INTEGER,
  SCALAR_INTEGER,
  CYCLE,
  BFLOAT16,
  BFLOAT16_TILES
};

// Their loops, in that order, and one thread's work per iteration: floating-point operations, two
// per multiply-add; operations on 64-bit integers, additions and exclusive ors alternating; or
// cycles. No operations: the processor has no such instruction.
struct Loop {
  std::int64_t operations;
  double (*run)(std::int32_t thread, std::int64_t iterations);
};
constexpr Loop kLoops[] = {{2 * kChains * kLanes<float>, multiply_adds<float>},
                           {2 * kChains * kLanes<double>, multiply_adds<double>},
                           {2 * kChains * kLanes<std::uint64_t>, vector_integers},
                           {2 * kScalarChains, scalar_integers},
                           {kCycles, cycles},
#if RUNGS_BF16
                           {4 * kChains * kLanes<float>, bfloat16_products},
#else
                           {0, nullptr},
#endif
#if RUNGS_AMX
                           {kTileChains * 4 * kTile * kTile * kTile, tile_products}};
#else
                           {0, nullptr}};
#endif

// A loop's result is stored to memory, or the compiler would remove the loop.
struct alignas(64) Result {
  volatile double value;
};

// How bytes are moved: read, copied, as in STREAM's triad, or only written; and written past the
// caches.
enum class Stream : std::int32_t { READ, COPY, TRIAD, WRITE, WRITE_PAST_CACHES };

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

// Memory of several threads: each has a part of its own, and parts begin `apart` bytes apart.
struct Parts {
  std::uintptr_t start;
  std::int64_t apart;

  Doubles* of(std::int32_t t) const {
    return &rungs::at<Doubles>(start + static_cast<std::uintptr_t>(t * apart));
  }
};

// Seconds that all threads take for `passes` passes over the first `bytes` of their parts. A pass
// that is not timed comes first, so that what fits into a cache is there.
inline double stream_seconds(Stream stream, Parts parts, std::int32_t threads, std::int64_t bytes,
                             std::int64_t passes) {
  const std::int64_t length = vectors(stream, bytes);
  std::vector<Result> results(static_cast<std::size_t>(threads));
  const auto run = [&](std::int32_t t, std::int64_t number) {
    Doubles* const a = parts.of(t);
    double sum = 0;
    for (std::int64_t pass = 0; pass < number; ++pass) {
      if (stream == Stream::READ) sum += read(a, length);
      if (stream == Stream::WRITE) write(a, sum, length);
      if (stream == Stream::WRITE_PAST_CACHES) write_past_caches(a, sum, length);
      if (stream == Stream::COPY) copy(a, a + length, length);
      if (stream == Stream::TRIAD) triad(a, a + length, a + 2 * length, length);
      asm volatile("" ::: "memory");  // so that no pass is optimized away
    }
    results[t].value = sum + a[0][0];
  };
  return seconds_of(
      threads, [&](std::int32_t t) { run(t, 1); }, [&](std::int32_t t) { run(t, passes); });
}

}  // namespace rungs::machine

RUNGS_ENUMERATION(Peak, rungs::machine::Peak)
RUNGS_ENUMERATION(Stream, rungs::machine::Stream)

RUNGS_FUNCTION(std::int64_t, rungs_peak_operations, std::int32_t peak) {
  using namespace rungs::machine;
  const bool in_tiles = static_cast<Peak>(peak) == Peak::BFLOAT16_TILES;
  return in_tiles && !rungs::learn::request_amx() ? 0 : kLoops[peak].operations;
}

// Seconds that all threads take for `iterations` iterations each.
RUNGS_FUNCTION(double, rungs_peak_seconds, std::int32_t peak, std::int32_t threads,
               std::int64_t iterations) {
  using namespace rungs::machine;
  std::vector<Result> results(static_cast<std::size_t>(threads));
  return seconds_of(
      threads, [](std::int32_t) {},
      [&](std::int32_t t) { results[t].value = kLoops[peak].run(t, iterations); });
}

// Bytes that a thread moves in one pass over `bytes` of its own. Counted as by STREAM: what the
// loop reads and writes, not what a cache fetches in addition.
RUNGS_FUNCTION(std::int64_t, rungs_stream_bytes, std::int32_t stream, std::int64_t bytes) {
  using namespace rungs::machine;
  const auto kind = static_cast<Stream>(stream);
  return arrays(kind) * vectors(kind, bytes) * kVectorBytes;
}

// Writes to all parts of memory, each by the thread that will use it, so that it is on its NUMA
// node.
RUNGS_FUNCTION(void, rungs_stream_touch, std::uintptr_t memory, std::int64_t apart,
               std::int32_t threads) {
  using namespace rungs::machine;
  const Parts parts = {memory, apart};
  const auto touch = [&](std::int32_t t) {
    std::fill_n(parts.of(t), apart / kVectorBytes, Doubles{} + 1.0);
  };
  seconds_of(threads, touch, [](std::int32_t) {});
}

RUNGS_FUNCTION(double, rungs_stream_seconds, std::int32_t stream, std::uintptr_t memory,
               std::int64_t apart, std::int32_t threads, std::int64_t bytes, std::int64_t passes) {
  using namespace rungs::machine;
  return stream_seconds(static_cast<Stream>(stream), {memory, apart}, threads, bytes, passes);
}
