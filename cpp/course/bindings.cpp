// The functions that the course's Python calls, of teaching code that is in no wheel: threads that
// count (notebook 04), and versions of a matrix product (notebook 08).
#include "../bindings/abi.hpp"
#include "counters.hpp"
#include "gemm_ladder.hpp"

namespace rungs::course {

// `threads` is the last of them, the only one with threads.
#define RUNGS_PRODUCTS(PRODUCT) PRODUCT(naive) PRODUCT(rows) PRODUCT(blocked) PRODUCT(registers)
#define RUNGS_PRODUCT(name) name,
enum class Product : std::int64_t { RUNGS_PRODUCTS(RUNGS_PRODUCT) threads };
#undef RUNGS_PRODUCT
#define RUNGS_PRODUCT(name) learn::ladder::name,
constexpr decltype(&learn::ladder::naive) kProducts[] = {RUNGS_PRODUCTS(RUNGS_PRODUCT)};
#undef RUNGS_PRODUCT

}  // namespace rungs::course

RUNGS_ENUMERATION(Product, rungs::course::Product)

// Threads increment a counter each, `stride` bytes apart, in turns; `begin` and `end` get the times
// of each, (turns, threads) seconds.
RUNGS_FUNCTION(void, rungs_counters_count, std::uintptr_t memory, std::int64_t stride,
               std::int64_t times, std::int64_t turns, std::int64_t threads, double* begin,
               double* end) {
  rungs::counters::count(memory, stride, times, turns, static_cast<std::int32_t>(threads), begin,
                         end);
}

// A loop of uneven iterations by a `Schedule`; `chunk` is how many are assigned at a time.
RUNGS_FUNCTION(std::int64_t, rungs_counters_loop, const std::int64_t* work, std::int64_t iterations,
               std::int64_t schedule, std::int64_t chunk, std::int64_t threads) {
  return rungs::counters::loop(
      work, iterations,
      {static_cast<std::int32_t>(threads), static_cast<rungs::openmp::Schedule>(schedule), chunk});
}

// Multiplies matrices, (n, n) floats, by a `Product`.
RUNGS_FUNCTION(void, rungs_learn_product, std::int64_t version, std::uintptr_t a, std::uintptr_t b,
               std::uintptr_t c, std::int64_t n, std::uintptr_t runner, std::uintptr_t pool,
               std::int64_t threads) {
  using rungs::course::Product;
  const auto* left = reinterpret_cast<const float*>(a);
  const auto* right = reinterpret_cast<const float*>(b);
  auto* result = reinterpret_cast<float*>(c);
  const auto size = static_cast<int>(n);
  if (static_cast<Product>(version) != Product::threads)
    return rungs::course::kProducts[version](left, right, result, size);
  rungs::learn::ladder::threads(left, right, result, size,
                                {reinterpret_cast<rungs::learn::Runner>(runner), pool, threads});
}
