// Eight words that are worked on as one.
//
// Where the compiler has vectors, a 512-bit one of its own. A GPU has none, and needs none: each of
// its threads steps a board, and 32 of them go together.
#pragma once
#include <cstdint>

#if defined(__CUDACC_RTC__) || defined(RUNGS_PLAIN_LANES)
#define RUNGS_PLAIN 1
#else
#define RUNGS_PLAIN 0
#endif

// Before a long function that is called from several places: a GPU has little room for code, and
// its compiler would copy it to each of them.
#ifdef __CUDACC_RTC__
#define RUNGS_ONCE __noinline__
#else
#define RUNGS_ONCE inline
#endif

namespace rungs::chess {

#if RUNGS_PLAIN

struct Lanes {
  std::uint64_t word[8];

  constexpr std::uint64_t& operator[](int lane) { return word[lane]; }
  constexpr const std::uint64_t& operator[](int lane) const { return word[lane]; }
};

// Written out, so that every lane's number is known when it is compiled.
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

#else

#pragma GCC diagnostic ignored "-Wpsabi"  // Lanes never cross a function boundary not inlined

using Lanes = std::uint64_t __attribute__((vector_size(64)));

inline Lanes nonempty(Lanes x) { return (Lanes)(x != 0); }

template <int... lane>
inline Lanes shuffle(Lanes x) {
  return __builtin_shufflevector(x, x, lane...);
}

#endif

}  // namespace rungs::chess
