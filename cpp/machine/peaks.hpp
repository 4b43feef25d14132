// What cores can compute at most: multiply-adds, integer operations, and cycles.
//
// A loop does one kind of operation and nothing else, in chains that don't depend on each other, as
// many as it takes to hide the latency of each, and each with values of its own, or the compiler
// would make one of all.
#pragma once
#include "lanes.hpp"
#include "team.hpp"

namespace rungs::machine {

// A multiply-add takes up to five cycles, and a core begins up to two a cycle.
constexpr int kChains = 12;

// The kinds of operation.
enum class Peak : std::int32_t { FLOAT32, FLOAT64, VECTOR_INTEGER, SCALAR_INTEGER, CYCLE };

namespace detail {

constexpr int kScalarChains = 8;
constexpr int kCycles = 16;  // so that the loop's own instructions hide beside the chain

template <class T>
double multiply_adds(std::int32_t t, std::int64_t iterations) {
  using Vector = typename Lanes<T>::Vector;
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
  using Vector = typename Lanes<std::uint64_t>::Vector;
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

// What a loop has computed goes to memory, or the compiler would leave the loop out.
struct Result {
  alignas(64) volatile double value;
};

}  // namespace detail

// What one thread does in an iteration: floating-point operations, two for each multiply-add;
// operations on 64-bit integers, an addition and an exclusive or in turn; or cycles.
inline std::int64_t operations(Peak peak) {
  switch (peak) {
    case Peak::FLOAT32:
      return 2 * kChains * Lanes<float>::kCount;
    case Peak::FLOAT64:
      return 2 * kChains * Lanes<double>::kCount;
    case Peak::VECTOR_INTEGER:
      return 2 * kChains * Lanes<std::uint64_t>::kCount;
    case Peak::SCALAR_INTEGER:
      return 2 * detail::kScalarChains;
    default:
      return detail::kCycles;
  }
}

// Seconds that all threads take for so many iterations each.
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

}  // namespace rungs::machine
