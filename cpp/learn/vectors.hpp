// SIMD vectors of the widest registers, and the element-wise functions and reductions that the
// network needs of them.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace rungs::learn {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// As many `T`s as a register holds. (g++ takes no vector type in an alias template.)
template <class T>
struct Register {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename Register<T>::Vector;

template <class T>
constexpr int kLanes = kVectorBytes / sizeof(T);

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

// Sets all lanes to `x`. Written as x - 0, which compilers fold to a broadcast; x + 0 would turn -0
// into 0, so it can't be folded.
template <class T>
inline Vector<T> broadcast(T x) {
  return x - Vector<T>{};
}

// a * b + c: one fused operation with a single rounding where the processor has FMA. It is spelt
// out because the compiler must not contract expressions itself (-ffp-contract=off).
inline Vector<float> multiply_add(Vector<float> a, Vector<float> b, Vector<float> c) {
#if defined(__AVX512F__)
  return (Vector<float>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  return (Vector<float>)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__aarch64__)
  return (Vector<float>)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return a * b + c;
#endif
}
inline Vector<double> multiply_add(Vector<double> a, Vector<double> b, Vector<double> c) {
#if defined(__AVX512F__)
  return (Vector<double>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
  return (Vector<double>)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__aarch64__)
  return (Vector<double>)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
  return a * b + c;
#endif
}

// The square root of each lane. An intrinsic, because compilers that must set errno don't vectorise
// std::sqrt.
inline Vector<float> square_root(Vector<float> x) {
#if defined(__AVX512F__)
  return (Vector<float>)_mm512_maskz_sqrt_ps(0xFFFF, (__m512)x);
#elif defined(__FMA__)
  return (Vector<float>)_mm256_sqrt_ps((__m256)x);
#elif defined(__aarch64__)
  return (Vector<float>)vsqrtq_f32((float32x4_t)x);
#else
  for (int lane = 0; lane < kLanes<float>; ++lane) x[lane] = std::sqrt(x[lane]);
  return x;
#endif
}
inline Vector<double> square_root(Vector<double> x) {
#if defined(__AVX512F__)
  return (Vector<double>)_mm512_maskz_sqrt_pd(0xFF, (__m512d)x);
#elif defined(__FMA__)
  return (Vector<double>)_mm256_sqrt_pd((__m256d)x);
#elif defined(__aarch64__)
  return (Vector<double>)vsqrtq_f64((float64x2_t)x);
#else
  for (int lane = 0; lane < kLanes<double>; ++lane) x[lane] = std::sqrt(x[lane]);
  return x;
#endif
}

namespace detail {

// Exchanges lanes that are `distance` apart.
template <int distance, class V, int... lane>
inline V swap_lanes(V x, std::integer_sequence<int, lane...>) {
  return __builtin_shufflevector(x, x, (lane ^ distance)...);
}
template <int distance, class V>
inline V swap_lanes(V x) {
  constexpr int kCount = sizeof(V) / sizeof(x[0]);
  return swap_lanes<distance>(x, std::make_integer_sequence<int, kCount>{});
}

template <int distance, class V>
inline V add_halves(V x) {
  x += swap_lanes<distance>(x);
  if constexpr (distance > 1) return add_halves<distance / 2>(x);
  return x;
}

template <int distance, class V>
inline V max_halves(V x) {
  const V other = swap_lanes<distance>(x);
  x = x > other ? x : other;
  if constexpr (distance > 1) return max_halves<distance / 2>(x);
  return x;
}

}  // namespace detail

// The sum and the maximum of all lanes, by halving: always in the same order.
template <class V>
inline auto reduce_add(V x) {
  return detail::add_halves<sizeof(V) / sizeof(x[0]) / 2>(x)[0];
}
template <class V>
inline auto reduce_max(V x) {
  return detail::max_halves<sizeof(V) / sizeof(x[0]) / 2>(x)[0];
}

// e^x of each lane, for x <= 0: within 2 ulp; 0 below x = -87. Cephes' method: x = n ln 2 + r, a
// polynomial for e^r, and n is added to the exponent's bits.
inline Vector<float> exponential(Vector<float> x) {
  typedef std::uint32_t Words __attribute__((vector_size(kVectorBytes)));
  constexpr float kRound = 12582912;  // 1.5 * 2^23: adding it rounds to an integer
  const Vector<float> rounded = multiply_add(x, broadcast(1.44269504F), broadcast(kRound));
  const Vector<float> n = rounded - kRound;
  Vector<float> r = multiply_add(n, broadcast(-0.693359375F), x);
  r = multiply_add(n, broadcast(2.12194440e-4F), r);
  Vector<float> power = broadcast(1.9875691500e-4F);
  for (const float c :
       {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F})
    power = multiply_add(power, r, broadcast(c));
  power = multiply_add(power, r * r, r) + 1.0F;
  const Vector<float> result = (Vector<float>)((Words)power + ((Words)rounded << 23));
  return x < broadcast(-87.0F) ? Vector<float>{} : result;
}
inline Vector<double> exponential(Vector<double> x) {
  for (int lane = 0; lane < kLanes<double>; ++lane) x[lane] = std::exp(x[lane]);
  return x;
}

}  // namespace rungs::learn
