// How fast bytes move: read, copied, as in STREAM's triad, or only written, from and to whichever
// cache holds them; and written past the caches.
#pragma once
#include <cstdlib>
#include <memory>

#include "peaks.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace rungs::machine {

enum class Stream : std::int32_t { READ, COPY, TRIAD, WRITE, WRITE_PAST_CACHES };

namespace detail {

struct Free {
  void operator()(double* memory) const { std::free(memory); }
};

using Doubles = Lanes<double>::Vector;

// Eight sums, so that loads wait for no addition.
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

// What fills whole lines is written without reading them first.
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

// The length of each array within `bytes`: whole blocks of eight vectors.
inline std::int64_t vectors(Stream stream, std::int64_t bytes) {
  return bytes / arrays(stream) / kVectorBytes / 8 * 8;
}

}  // namespace detail

// Bytes that a thread with `bytes` of its own moves going through them once. Counted as STREAM
// does: what the loop reads and writes, not what a cache fetches besides.
inline std::int64_t bytes_moved(Stream stream, std::int64_t bytes) {
  return detail::arrays(stream) * detail::vectors(stream, bytes) * kVectorBytes;
}

// Seconds that all threads take to go through `bytes` of their own `repeats` times; -1 where there
// is no memory left.
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
        // By the thread that will use it, so that it is near; and gone through once, to be there.
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
          asm volatile("" ::: "memory");  // each time anew
        }
        results[t].value = sum + memory[t].get()[0];
      });
  for (const auto& own : memory)
    if (!own) return -1;
  return seconds;
}

}  // namespace rungs::machine
