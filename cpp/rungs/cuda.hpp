// The CUDA rung: a thread per board. Compiled by NVRTC from the headers of every other rung
// (`-default-device`: what isn't marked runs on the device).
#include "device_batch.hpp"

// As the host has them: lib/rungs/chess/boards/device.py.
static_assert(sizeof(rungs::DeviceBatch) == RUNGS_DEVICE_BATCH_BYTES);
static_assert(sizeof(rungs::env::History) == RUNGS_HISTORY_BYTES);

namespace {

__device__ std::int64_t thread_number() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

}  // namespace

extern "C" {

// Begins an episode on the boards that `which` marks (null: on all), as `rungs::serial::reset`.
__global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)
    rungs_chess_reset(const rungs::DeviceBatch* batch, const bool* which, std::int64_t episode) {
  const std::int64_t i = thread_number();
  if (i < batch->num_envs && (!which || which[i])) batch->reset(i, episode);
}

// Puts the first board whose action is not legal into `first`, where there is one before it, and
// what was read of the actions into `chosen`.
__global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)
    rungs_chess_check(const rungs::DeviceBatch* batch, const std::int64_t* actions,
                      std::int64_t* chosen, long long* first) {
  const std::int64_t i = thread_number();
  if (i < batch->num_envs && !batch->accepts(i, chosen[i] = actions[i]))
    atomicMin(first, static_cast<long long>(i));
}

// Plays actions that are all legal, and adds to `ended` how many episodes did.
__global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)
    rungs_chess_step(const rungs::DeviceBatch* batch, const std::int64_t* actions,
                     unsigned long long* ended) {
  const std::int64_t i = thread_number();
  if (i < batch->num_envs && batch->step(i, actions[i])) atomicAdd(ended, 1ULL);
}

// Plays random steps, and adds to `ended` how many episodes ended.
__global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)
    rungs_chess_step_many(const rungs::DeviceBatch* batch, std::int64_t steps,
                          unsigned long long* ended) {
  const std::int64_t i = thread_number();
  if (i >= batch->num_envs) return;
  const std::int64_t mine = batch->step_many(i, steps);
  if (mine) atomicAdd(ended, static_cast<unsigned long long>(mine));
}

// Writes observation, mask and player of the boards that `which` marks (null: of all).
__global__ void __launch_bounds__(RUNGS_THREADS_PER_BLOCK)
    rungs_chess_write(const rungs::DeviceBatch* batch, const bool* which) {
  const std::int64_t i = thread_number();
  if (i < batch->num_envs && (!which || which[i])) batch->write(i);
}

}  // extern "C"
