// The C API's networks: the learner's forward pass (`learn/forward.hpp`), behind a handle.
#include <bit>

#include "../learn/forward.hpp"
#include "c_api.hpp"
#include "thread_pool.cpp"

// For callers that are not compiled with the header: WebAssembly's, where sizes differ.
RUNGS_STRUCTURE(rungs_network_config, size, weights, num_weights, type, num_threads)

using namespace rungs;

static_assert(RUNGS_NETWORK_WEIGHTS == learn::kWeights);
static_assert(RUNGS_NETWORK_INPUTS == learn::kObservation);

struct rungs_network {
  c::Memory memory;
  c::Pool pool;
  learn::Model<float> model{};

  learn::Workers workers() const {
    return {calls::rungs_pool_run, reinterpret_cast<std::uintptr_t>(pool.get()), pool.threads()};
  }
};

namespace {

rungs_network_config network_defaults() {
  rungs_network_config config{};
  config.size = sizeof config;
  config.num_threads = 1;
  return config;
}

rungs_status check(const rungs_network_config& config) {
  if (!config.weights) return c::fail(RUNGS_ERROR_ARGUMENT, "weights: a pointer is null");
  if (config.num_weights != RUNGS_NETWORK_WEIGHTS)
    return c::fail(RUNGS_ERROR_ARGUMENT, "num_weights: %lld, and a network has %d",
                   static_cast<long long>(config.num_weights), RUNGS_NETWORK_WEIGHTS);
  return c::check_ranges({
      {"type", config.type, RUNGS_WEIGHTS_FLOAT32, RUNGS_WEIGHTS_FLOAT16},
      {"num_threads", config.num_threads, 1, c::kMaxThreads},
  });
}

// Converts a float16 to a float32: moves its bits to the fields of a float32, and corrects the
// exponent's bias by a product, which is exact for subnormal numbers, too.
float widen(std::uint16_t half) {
  constexpr std::uint32_t kInfinite = 0x7C00;
  if ((half & kInfinite) == kInfinite) return INFINITY;
  const float magnitude = std::bit_cast<float>((half & std::uint32_t{0x7FFF}) << 13) * 0x1p112F;
  return half >> 15 ? -magnitude : magnitude;
}

template <class Number, class Read>
rungs_status read_weights(const void* from, float* to, const Read& read) {
  for (std::int64_t i = 0; i < RUNGS_NETWORK_WEIGHTS; ++i) {
    Number number;
    std::memcpy(&number, static_cast<const Number*>(from) + i, sizeof number);
    to[i] = read(number);
    if (!std::isfinite(to[i]))
      return c::fail(RUNGS_ERROR_ARGUMENT, "weights[%lld]: it is not finite",
                     static_cast<long long>(i));
  }
  return RUNGS_OK;
}

rungs_status fill(const rungs_network_config& given, rungs_network& made) {
  auto& model = made.model;
  float* const weights = made.memory.array<float>(learn::kUnits * learn::kUnit);
  model.prepared = made.memory.array<learn::Prepared<float>>(1);
  if (!made.memory.complete())
    return c::fail(RUNGS_ERROR_MEMORY, "there is too little memory for a network");
  const rungs_status status =
      given.type == RUNGS_WEIGHTS_FLOAT16
          ? read_weights<std::uint16_t>(given.weights, weights, widen)
          : read_weights<float>(given.weights, weights, [](float number) { return number; });
  if (status) return status;
  model.precision = sizeof(float);
  model.parameters.weights = weights;
  if (const auto started = made.pool.start(given.num_threads)) return started;
  learn::prepare(model, made.workers());
  return RUNGS_OK;
}

}  // namespace

void rungs_network_config_init(rungs_network_config* config, std::size_t size) {
  c::write_structure(network_defaults(), size, config);
}

rungs_status rungs_network_create(const rungs_network_config* config, rungs_network** network) {
  return c::create("rungs_network", config, network_defaults(), check, fill, network);
}

void rungs_network_destroy(rungs_network* network) { delete network; }

rungs_status rungs_network_evaluate(rungs_network* network, const std::int8_t* observations,
                                    const std::int16_t* actions, const std::int16_t* counts,
                                    std::int64_t rows, float* logits, std::int64_t stride,
                                    float* values) {
  if (!network || !observations || !actions || !counts || !logits || !values)
    return c::null_argument("rungs_network_evaluate");
  if (const auto status = c::check_ranges(
          {{"rows", rows, 0, c::kMaxInt}, {"stride", stride, 0, RUNGS_CHESS_MAX_LEGAL}}))
    return status;
  const std::int64_t unreadable = learn::evaluate(network->model, observations, actions, counts,
                                                  rows, stride, logits, values, network->workers());
  if (unreadable >= 0)
    return c::fail(RUNGS_ERROR_ARGUMENT,
                   "row %lld: it has more than %lld actions, an invalid action, or "
                   "something other than a piece on a square",
                   static_cast<long long>(unreadable), static_cast<long long>(stride));
  for (std::int64_t i = 0; i < rows; ++i) values[i] = std::clamp(values[i], -1.0F, 1.0F);
  return RUNGS_OK;
}
