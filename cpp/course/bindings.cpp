// The functions that the course's Python calls, of teaching code that is in no wheel: threads that
// count, and ways to distribute a step among them (notebook 04), on the memory of the library's
// environments; versions of a matrix product (notebook 08); and carts in two layouts (notebook 13).
#include "../bindings/abi.hpp"
#include "counters.hpp"
#include "false_sharing.hpp"
#include "gemm_ladder.hpp"
#include "layouts.hpp"

namespace rungs::course {

#define RUNGS_WAYS(WAY) \
  WAY(alone)            \
  WAY(naive)            \
  WAY(chunked) WAY(gated) WAY(padded) WAY(padded_runs) WAY(twice) WAY(one_barrier) WAY(two_barriers)
#define RUNGS_WAY(name) name,
enum class Way : std::int64_t { RUNGS_WAYS(RUNGS_WAY) };
#undef RUNGS_WAY
#define RUNGS_WAY(name) sharing::name,
constexpr decltype(&sharing::alone) kWays[] = {RUNGS_WAYS(RUNGS_WAY)};
#undef RUNGS_WAY

// `threads` is the last of them, the only one with threads.
#define RUNGS_PRODUCTS(PRODUCT) PRODUCT(naive) PRODUCT(rows) PRODUCT(blocked) PRODUCT(registers)
#define RUNGS_PRODUCT(name) name,
enum class Product : std::int64_t { RUNGS_PRODUCTS(RUNGS_PRODUCT) threads };
#undef RUNGS_PRODUCT
#define RUNGS_PRODUCT(name) learn::ladder::name,
constexpr decltype(&learn::ladder::naive) kProducts[] = {RUNGS_PRODUCTS(RUNGS_PRODUCT)};
#undef RUNGS_PRODUCT

}  // namespace rungs::course

RUNGS_ENUMERATION(Way, rungs::course::Way)
RUNGS_ENUMERATION(Product, rungs::course::Product)

// Plays (steps, N) actions in a `Way`; returns how many episodes ended.
RUNGS_FUNCTION(std::int64_t, rungs_chess_shared_play, std::uintptr_t batch,
               const std::int64_t* actions, std::int64_t steps, std::int64_t way,
               std::int64_t threads) {
  const auto& boards = rungs::at<const rungs::ChessBatch>(batch);
  std::int64_t ended = 0;
  for (std::int64_t step = 0; step < steps; ++step)
    ended += rungs::course::kWays[way](boards, actions + step * boards.num_envs,
                                       static_cast<std::int32_t>(threads));
  return ended;
}

// The same by threads that are joined once.
RUNGS_FUNCTION(std::int64_t, rungs_chess_apart_play, std::uintptr_t batch,
               const std::int64_t* actions, std::int64_t steps, std::int64_t threads) {
  return rungs::sharing::apart(rungs::at<const rungs::ChessBatch>(batch), actions, steps,
                               static_cast<std::int32_t>(threads));
}

// Seconds in which `threads` threads increment a counter each, `stride` bytes apart.
RUNGS_FUNCTION(double, rungs_counters_count, std::uintptr_t memory, std::int64_t stride,
               std::int64_t times, std::int64_t threads) {
  return rungs::counters::count(memory, stride, times, static_cast<std::int32_t>(threads));
}

// A loop of uneven iterations by a `Schedule`; `chunk` is how many are assigned at a time.
RUNGS_FUNCTION(std::int64_t, rungs_counters_loop, const std::int64_t* work, std::int64_t iterations,
               std::int64_t schedule, std::int64_t chunk, std::int64_t threads) {
  return rungs::counters::loop(
      work, iterations,
      {static_cast<std::int32_t>(threads), static_cast<rungs::openmp::Schedule>(schedule), chunk});
}

// Pins each thread of a team to the cores of its row of `cores`, (threads, each).
RUNGS_FUNCTION(std::int64_t, rungs_counters_pin, const std::int32_t* cores, std::int64_t each,
               std::int64_t threads) {
  return rungs::counters::pin(cores, each, static_cast<std::int32_t>(threads));
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

// Advances carts `times` times, by a force that changes its sign. They are (number, 4) doubles, or,
// where `arrays` is not 0, (4, number).
RUNGS_FUNCTION(void, rungs_layouts_advance, std::int64_t arrays, double* carts, std::int64_t number,
               std::int64_t times) {
  for (std::int64_t time = 0; time < times; ++time) {
    const double force = time % 2 ? rungs::cartpole::kForce : -rungs::cartpole::kForce;
    if (arrays)
      rungs::layouts::advance({carts, carts + number, carts + 2 * number, carts + 3 * number},
                              number, force);
    else
      rungs::layouts::advance(reinterpret_cast<rungs::layouts::Cart*>(carts), number, force);
  }
}

// Counts, `times` times, the poles that lean to the right; returns the sum.
RUNGS_FUNCTION(std::int64_t, rungs_layouts_count, std::int64_t arrays, double* carts,
               std::int64_t number, std::int64_t times) {
  std::int64_t sum = 0;
  for (std::int64_t time = 0; time < times; ++time) {
    sum += arrays ? rungs::layouts::count_right(
                        {carts, carts + number, carts + 2 * number, carts + 3 * number}, number)
                  : rungs::layouts::count_right(
                        reinterpret_cast<const rungs::layouts::Cart*>(carts), number);
    asm volatile("" ::: "memory");  // or it would be counted once
  }
  return sum;
}
