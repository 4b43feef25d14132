// Stores of outputs: through the caches, or past them (non-temporal).
#pragma once
#include <cstring>

#include "../chess/lanes.hpp"

#if defined(__x86_64__) && !RUNGS_SCALAR_LANES
#include <immintrin.h>
#define RUNGS_CAN_STREAM 1
#else
#define RUNGS_CAN_STREAM 0
#endif

namespace rungs::env {

// Outputs longer than this many bytes are streamed: with boards of four times as many bytes, they
// do not stay in the caches until they are written again, and a normal store would first read each
// line from memory only to overwrite it.
constexpr std::int64_t kCached = 8 << 20;

// Whether to stream `rows` rows of `bytes` bytes from `first` on, of which `together` are written
// at once. Only whole cache lines can be streamed.
inline bool streams(const void* first, std::int64_t rows, std::int64_t bytes, int together = 1) {
  const bool whole = together * bytes % 64 == 0 && reinterpret_cast<std::uint64_t>(first) % 64 == 0;
  return RUNGS_CAN_STREAM && whole && rows * bytes > kCached;
}

namespace detail {

// Non-temporal stores: whole lines are written without being read first.
inline void stream([[maybe_unused]] const void* bytes, [[maybe_unused]] std::int64_t number,
                   [[maybe_unused]] void* out) {
#if RUNGS_CAN_STREAM
#ifdef __AVX512F__
  if (number == 64)
    return _mm512_stream_si512(static_cast<__m512i*>(out), _mm512_loadu_si512(bytes));
#endif
  const auto* from = static_cast<const __m128i*>(bytes);
  auto* to = static_cast<__m128i*>(out);
  for (; number; number -= sizeof *to) _mm_stream_si128(to++, _mm_loadu_si128(from++));
#endif
}

}  // namespace detail

// Stores a vector of 16, 32 or 64 bytes to `out`.
template <class Squares>
inline void put(const Squares& squares, void* out, bool streamed) {
  if (streamed)
    detail::stream(&squares, sizeof squares, out);
  else
    std::memcpy(out, &squares, sizeof squares);
}

#if RUNGS_2X256
inline void put(const chess::Lanes& x, void* out, bool streamed) {
  auto* const to = static_cast<__m256i*>(out);
  if (!streamed) return chess::store_lanes(x, static_cast<std::uint64_t*>(out), 0);
  _mm256_stream_si256(to, (__m256i)x.low);
  _mm256_stream_si256(to + 1, (__m256i)x.high);
}
#endif

// A fence: makes non-temporal stores visible before other threads are signalled. Every thread that
// has written boards calls it.
inline void end_streams() {
#if RUNGS_CAN_STREAM
  _mm_sfence();
#endif
}

}  // namespace rungs::env
