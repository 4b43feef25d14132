// Vectors as wide as the processor's registers, and what a network computes with them.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "lanes.hpp"

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

namespace rungs::learn {

template <class T>
using Vector = typename machine::Lanes<T>::Vector;

template <class T>
constexpr int kLanes = machine::Lanes<T>::kCount;

template <class T>
inline Vector<T> load(const T* from) {
  Vector<T> x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

template <class T>
inline void store(const Vector<T>& x, T* to) {
  std::memcpy(to, &x, sizeof x);
}

// The same number in all lanes. (Added to zeros, -0 would become 0, and a compiler can't leave that
// addition out.)
template <class T>
inline Vector<T> everywhere(T x) {
  return x - Vector<T>{};
}

// a * b + c, rounded once where the processor does it at once. No compiler may choose that by
// itself, as it is told to round as it is written.
inline Vector<float> multiply_add(Vector<float> a, Vector<float> b, Vector<float> c) {
#if defined(__AVX512F__)
  return (Vector<float>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  return (Vector<float>)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return a * b + c;
#endif
}
inline Vector<double> multiply_add(Vector<double> a, Vector<double> b, Vector<double> c) {
#if defined(__AVX512F__)
  return (Vector<double>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
  return (Vector<double>)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return a * b + c;
#endif
}

// The square root of each lane. Compilers that must set errno find no instruction for it.
inline Vector<float> root(Vector<float> x) {
#if defined(__AVX512F__)
  return (Vector<float>)_mm512_maskz_sqrt_ps(0xFFFF, (__m512)x);
#else
  for (int lane = 0; lane < kLanes<float>; ++lane) x[lane] = std::sqrt(x[lane]);
  return x;
#endif
}
inline Vector<double> root(Vector<double> x) {
  for (int lane = 0; lane < kLanes<double>; ++lane) x[lane] = std::sqrt(x[lane]);
  return x;
}

namespace detail {

// Lanes that are `distance` apart, swapped.
template <int distance, class V, int... lane>
inline V swapped(V x, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(x, x, (lane ^ distance)...);
}
template <int distance, class V>
inline V swapped(V x) {
  constexpr int kCount = sizeof(V) / sizeof(x[0]);
  return swapped<distance>(x, std::make_integer_sequence<int, kCount>{});
}

template <int distance, class V>
inline V summed(V x) {
  x += swapped<distance>(x);
  if constexpr (distance > 1) return summed<distance / 2>(x);
  return x;
}

template <int distance, class V>
inline V highest(V x) {
  const V other = swapped<distance>(x);
  x = x > other ? x : other;
  if constexpr (distance > 1) return highest<distance / 2>(x);
  return x;
}

}  // namespace detail

// The sum of all lanes, always in the same order; and the highest.
template <class V>
inline auto sum(V x) {
  return detail::summed<sizeof(V) / sizeof(x[0]) / 2>(x)[0];
}
template <class V>
inline auto highest(V x) {
  return detail::highest<sizeof(V) / sizeof(x[0]) / 2>(x)[0];
}

// e to the power of each lane, at most 0, within 2 units in the last place; 0 below e^-87. As
// Cephes does it: x = n ln 2 + r, a polynomial for e^r, and n goes to the exponent's bits.
inline Vector<float> exponential(Vector<float> x) {
  typedef std::uint32_t Words __attribute__((vector_size(machine::kVectorBytes)));
  constexpr float kRound = 12582912;  // 1.5 * 2^23: what is added to it loses its fraction
  const Vector<float> rounded = multiply_add(x, everywhere(1.44269504F), everywhere(kRound));
  const Vector<float> n = rounded - kRound;
  Vector<float> r = multiply_add(n, everywhere(-0.693359375F), x);
  r = multiply_add(n, everywhere(2.12194440e-4F), r);
  Vector<float> power = everywhere(1.9875691500e-4F);
  for (const float c :
       {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F})
    power = multiply_add(power, r, everywhere(c));
  power = multiply_add(power, r * r, r) + 1.0F;
  const Vector<float> result = (Vector<float>)((Words)power + ((Words)rounded << 23));
  return x < everywhere(-87.0F) ? Vector<float>{} : result;
}
inline Vector<double> exponential(Vector<double> x) {
  for (int lane = 0; lane < kLanes<double>; ++lane) x[lane] = std::exp(x[lane]);
  return x;
}

}  // namespace rungs::learn
