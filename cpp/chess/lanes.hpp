// Eight 64-bit words side by side: a vector of 512 bits.
//
// Three variants. Compilers with vector types use one of 512 bits. For processors whose registers
// have 256 bits, g++ would keep such a vector in memory: there it is two of 256 bits (RUNGS_2X256).
// A GPU has no vectors and needs none, as each of its threads steps a board: there, and where a
// test asks for it, it is eight scalars (RUNGS_SCALAR_LANES).
#pragma once
#include <cstdint>
#include <cstring>

#ifdef __CUDACC_RTC__
#define RUNGS_SCALAR_LANES 1
#elif !defined(RUNGS_SCALAR_LANES)
#define RUNGS_SCALAR_LANES 0
#endif

#if defined(__AVX2__) && !defined(__AVX512F__) && !defined(__clang__) && !RUNGS_SCALAR_LANES
#define RUNGS_2X256 1
#else
#define RUNGS_2X256 0
#endif

// For long functions with several callers: a GPU's instruction cache is small, and its compiler
// would inline them at every call.
#ifdef __CUDACC_RTC__
#define RUNGS_NOINLINE_ON_GPU __noinline__
#else
#define RUNGS_NOINLINE_ON_GPU inline
#endif

#if (defined(__AVX512F__) && !RUNGS_SCALAR_LANES) || RUNGS_2X256
#include <immintrin.h>
#endif

namespace rungs::chess {

#if RUNGS_SCALAR_LANES

struct Lanes {
  std::uint64_t word[8];

  constexpr std::uint64_t& operator[](int lane) { return word[lane]; }
  constexpr const std::uint64_t& operator[](int lane) const { return word[lane]; }
};

// Written out, so that every lane's number is known at compile time.
template <class Of>
constexpr Lanes lanewise(Of of) {
  return {of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)};
}

#define RUNGS_LANEWISE(op)                                         \
  constexpr Lanes operator op(const Lanes& a, const Lanes& b) {    \
    return lanewise([&](int lane) { return a[lane] op b[lane]; }); \
  }                                                                \
  constexpr Lanes operator op(const Lanes& a, std::uint64_t b) {   \
    return lanewise([&](int lane) { return a[lane] op b; });       \
  }                                                                \
  constexpr Lanes operator op(std::uint64_t a, const Lanes& b) {   \
    return lanewise([&](int lane) { return a op b[lane]; });       \
  }                                                                \
  constexpr Lanes& operator op## = (Lanes & a, const Lanes& b) { return a = a op b; }
RUNGS_LANEWISE(&)
RUNGS_LANEWISE(|)
RUNGS_LANEWISE(^)
RUNGS_LANEWISE(+)
RUNGS_LANEWISE(-)
RUNGS_LANEWISE(*)
RUNGS_LANEWISE(<<)
RUNGS_LANEWISE(>>)
#undef RUNGS_LANEWISE

constexpr Lanes operator~(const Lanes& a) {
  return lanewise([&](int lane) { return ~a[lane]; });
}
constexpr Lanes operator-(const Lanes& a) { return std::uint64_t{0} - a; }

// All ones in the lanes of `x` that hold any bit.
constexpr Lanes nonempty(const Lanes& x) {
  return lanewise([&](int lane) { return x[lane] ? ~std::uint64_t{0} : 0; });
}

template <int... lane>
constexpr Lanes shuffle(const Lanes& x) {
  return {x[lane]...};
}

#elif RUNGS_2X256

using Half = std::uint64_t __attribute__((vector_size(32)));

struct Lanes {
  Half low, high;

  Lanes() = default;
  constexpr Lanes(Half low, Half high) : low(low), high(high) {}
  constexpr Lanes(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d,
                  std::uint64_t e, std::uint64_t f, std::uint64_t g, std::uint64_t h)
      : low{a, b, c, d}, high{e, f, g, h} {}

  std::uint64_t operator[](int lane) const { return lane < 4 ? low[lane] : high[lane - 4]; }
};

template <class Of>
inline Lanes lanewise(Of of) {
  return {of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)};
}

#define RUNGS_HALFWISE(op)                                                                     \
  constexpr Lanes operator op(Lanes a, Lanes b) { return {a.low op b.low, a.high op b.high}; } \
  constexpr Lanes operator op(Lanes a, std::uint64_t b) { return {a.low op b, a.high op b}; }  \
  constexpr Lanes operator op(std::uint64_t a, Lanes b) { return {a op b.low, a op b.high}; }  \
  constexpr Lanes& operator op## = (Lanes & a, Lanes b) { return a = a op b; }
RUNGS_HALFWISE(&)
RUNGS_HALFWISE(|)
RUNGS_HALFWISE(^)
RUNGS_HALFWISE(+)
RUNGS_HALFWISE(-)
RUNGS_HALFWISE(*)
RUNGS_HALFWISE(<<)
RUNGS_HALFWISE(>>)
#undef RUNGS_HALFWISE

constexpr Lanes operator~(Lanes a) { return {~a.low, ~a.high}; }
constexpr Lanes operator-(Lanes a) { return {-a.low, -a.high}; }

inline Lanes nonempty(Lanes x) { return {(Half)(x.low != 0), (Half)(x.high != 0)}; }

// Each half of the result takes lanes from both halves of `x`.
template <int... lane>
inline Lanes shuffle(Lanes x) {
  constexpr int from[8] = {lane...};
  return {__builtin_shufflevector(x.low, x.high, from[0], from[1], from[2], from[3]),
          __builtin_shufflevector(x.low, x.high, from[4], from[5], from[6], from[7])};
}

#else

#pragma GCC diagnostic ignored "-Wpsabi"  // Lanes never cross a function boundary not inlined

using Lanes = std::uint64_t __attribute__((vector_size(64)));

template <class Of>
inline Lanes lanewise(Of of) {
  return Lanes{of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)};
}

inline Lanes nonempty(Lanes x) { return (Lanes)(x != 0); }

template <int... lane>
inline Lanes shuffle(Lanes x) {
  return __builtin_shufflevector(x, x, lane...);
}

#endif

// The same word in every lane.
inline Lanes broadcast(std::uint64_t b) { return Lanes{b, b, b, b, b, b, b, b}; }

// Rotates each lane to the left. g++ does not find the vector instruction by itself, and warns of
// the intrinsic without a mask.
inline Lanes rotate(Lanes x, Lanes left) {
#if defined(__AVX512F__) && !RUNGS_SCALAR_LANES
  return (Lanes)_mm512_maskz_rolv_epi64(255, (__m512i)x, (__m512i)left);
#else
  return (x << left) | (x >> ((64 - left) & 63));
#endif
}

// Stores the lanes to words[first] ... words[first + 7].
inline void store_lanes(const Lanes& x, std::uint64_t* words, int first) {
#if RUNGS_2X256  // g++ copies a pair of registers through memory
  auto* const to = reinterpret_cast<__m256i*>(words + first);
  _mm256_storeu_si256(to, (__m256i)x.low);
  _mm256_storeu_si256(to + 1, (__m256i)x.high);
#else
  std::memcpy(words + first, &x, sizeof x);
#endif
}

// Loads lanes from words[first] ... words[first + 7].
inline Lanes load_lanes(const std::uint64_t* words, int first) {
#if RUNGS_2X256
  const auto* const from = reinterpret_cast<const __m256i*>(words + first);
  return {(Half)_mm256_loadu_si256(from), (Half)_mm256_loadu_si256(from + 1)};
#else
  Lanes x;
  std::memcpy(&x, words + first, sizeof x);
  return x;
#endif
}

// The bitwise or of all lanes, in every lane.
inline Lanes reduce_or_all(Lanes x) {
  x |= shuffle<4, 5, 6, 7, 0, 1, 2, 3>(x);
  x |= shuffle<2, 3, 0, 1, 6, 7, 4, 5>(x);
  return x | shuffle<1, 0, 3, 2, 5, 4, 7, 6>(x);
}

// The bitwise or of all lanes, as a word.
inline std::uint64_t reduce_or(Lanes x) { return reduce_or_all(x)[0]; }

}  // namespace rungs::chess
