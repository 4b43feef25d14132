// The C API's batches of CartPole environments: the memory of a `CartPoleBatch`, and the loops over
// it, behind a handle.
#include "c_api.hpp"
#include "cartpole.cpp"

// For callers that are not compiled with the header: WebAssembly's, where sizes differ.
RUNGS_STRUCTURE(rungs_cartpole_config, rungs::abi::values_of<rungs::env::Autoreset>(autoreset),
                size, num_envs, precision, max_episode_steps, workload, num_threads)
RUNGS_STRUCTURE(rungs_cartpole_outputs, size, stride, observation, reward, terminated, truncated,
                ended, final_observation)

using namespace rungs;

struct rungs_cartpole {
  c::Memory memory;
  c::Pool pool;
  CartPoleBatch batch{};
  std::uint64_t* seeds = nullptr;  // (N,), where they are given
  bool begun = false;

  std::int64_t num_envs() const { return batch.num_envs; }

  void reset(const std::uint8_t* which, std::int64_t episode) {
    cartpole::reset_batch(batch, reinterpret_cast<const bool*>(which), episode);
    begun = true;
  }

  void draw_by(std::uint64_t seed, const std::uint64_t* own) {
    if (own) std::memcpy(seeds, own, static_cast<std::size_t>(num_envs()) * sizeof *seeds);
    batch.seeds = own ? seeds : nullptr;
    batch.config.seed = seed;
  }
};

namespace {

rungs_cartpole_config cartpole_defaults() {
  rungs_cartpole_config config{};
  config.size = sizeof config;
  config.num_envs = 1;
  config.precision = 8;
  config.max_episode_steps = 500;
  config.workload = 1;
  config.num_threads = 1;
  return config;
}

rungs_status check(const rungs_cartpole_config& config) {
  const rungs_status status = c::check_ranges({
      {"num_envs", config.num_envs, 1, c::kMaxInt},
      {"autoreset", config.autoreset, 0, RUNGS_AUTORESET_DISABLED},
      {"max_episode_steps", config.max_episode_steps, 1, c::kMaxInt},
      {"workload", config.workload, 1, 1'000'000},
      {"num_threads", config.num_threads, 1, c::kMaxThreads},
  });
  if (status) return status;
  if (config.precision == 4 || config.precision == 8) return RUNGS_OK;
  return c::fail(RUNGS_ERROR_ARGUMENT, "precision: %d is neither 4 nor 8", config.precision);
}

rungs_status fill(const rungs_cartpole_config& given, rungs_cartpole& envs) {
  constexpr std::int64_t kRegister = env::kRegisterBytes;  // environments, of a byte each
  const std::int64_t stride = (given.num_envs + kRegister - 1) / kRegister * kRegister;
  c::Memory& memory = envs.memory;
  CartPoleBatch& batch = envs.batch;
  batch.config = {0, given.precision, static_cast<env::Autoreset>(given.autoreset),
                  given.max_episode_steps, given.workload};
  batch.num_envs = given.num_envs;
  batch.stride = stride;
  const auto row = [&]<class T>(T*& array) { array = memory.array<T>(stride); };
  batch.state = memory.array<std::uint8_t>(4 * stride, given.precision);
  batch.observation = memory.array<float>(4, stride);
  batch.final_observation = memory.array<float>(4, stride);
  row(batch.steps);
  row(batch.episode);
  row(batch.reward);
  row(batch.terminated);
  row(batch.truncated);
  row(batch.ended);
  row(batch.chosen);
  row(envs.seeds);
  if (!memory.complete())
    return c::fail(RUNGS_ERROR_MEMORY, "there is too little memory for %lld environments",
                   static_cast<long long>(given.num_envs));
  return envs.pool.start(cartpole::useful_threads(given.num_threads, given.num_envs));
}

rungs_status check_begun(const char* function, const rungs_cartpole* envs) {
  if (!envs) return c::null_argument(function);
  if (envs->begun) return RUNGS_OK;
  return c::fail(RUNGS_ERROR_ORDER, "%s: rungs_cartpole_reset comes first", function);
}

}  // namespace

void rungs_cartpole_config_init(rungs_cartpole_config* config, std::size_t size) {
  c::write_structure(cartpole_defaults(), size, config);
}

rungs_status rungs_cartpole_create(const rungs_cartpole_config* config, rungs_cartpole** envs) {
  return c::create("rungs_cartpole", config, cartpole_defaults(), check, fill, envs);
}

void rungs_cartpole_destroy(rungs_cartpole* envs) { delete envs; }

rungs_status rungs_cartpole_get_outputs(const rungs_cartpole* envs,
                                        rungs_cartpole_outputs* outputs) {
  if (!envs || !outputs) return c::null_argument("rungs_cartpole_get_outputs");
  if (const auto status = c::check_size(outputs->size)) return status;
  const CartPoleBatch& batch = envs->batch;
  rungs_cartpole_outputs now{};
  now.stride = batch.stride;
  now.observation = batch.observation;
  now.reward = batch.reward;
  now.terminated = c::as_bytes(batch.terminated);
  now.truncated = c::as_bytes(batch.truncated);
  now.ended = c::as_bytes(batch.ended);
  now.final_observation = batch.final_observation;
  c::write_structure(now, outputs->size, outputs);
  return RUNGS_OK;
}

rungs_status rungs_cartpole_reset(rungs_cartpole* envs, std::uint64_t seed) {
  if (!envs) return c::null_argument("rungs_cartpole_reset");
  envs->draw_by(seed, nullptr);
  envs->reset(nullptr, 0);
  return RUNGS_OK;
}

rungs_status rungs_cartpole_reset_seeds(rungs_cartpole* envs, const std::uint64_t* seeds) {
  if (!envs || !seeds) return c::null_argument("rungs_cartpole_reset_seeds");
  envs->draw_by(0, seeds);
  envs->reset(nullptr, 0);
  return RUNGS_OK;
}

rungs_status rungs_cartpole_reset_some(rungs_cartpole* envs, const std::uint8_t* which) {
  if (const auto status = check_begun("rungs_cartpole_reset_some", envs)) return status;
  if (const auto status = c::check_marks(which, envs->num_envs())) return status;
  envs->reset(which, -1);
  return RUNGS_OK;
}

rungs_status rungs_cartpole_step(rungs_cartpole* envs, const std::int64_t* actions,
                                 std::int64_t* num_ended) {
  if (const auto status = check_begun("rungs_cartpole_step", envs)) return status;
  if (!actions) return c::null_argument("rungs_cartpole_step");
  if (envs->batch.config.autoreset == env::Autoreset::DISABLED)
    for (std::int64_t i = 0; i < envs->num_envs(); ++i)
      if (envs->batch.ended[i])
        return c::fail(RUNGS_ERROR_ORDER, "environment %lld has ended: a reset comes first",
                       static_cast<long long>(i));
  const std::int64_t ended =
      cartpole::step_batch(envs->batch, actions, envs->pool.threads(), envs->pool.get());
  if (ended < 0) {
    const std::int64_t i = -1 - ended;
    return c::fail(RUNGS_ERROR_ILLEGAL_ACTION, "environment %lld: action %lld is neither 0 nor 1",
                   static_cast<long long>(i), static_cast<long long>(actions[i]));
  }
  if (num_ended) *num_ended = ended;
  return RUNGS_OK;
}
