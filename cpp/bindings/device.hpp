// The code of the CUDA rung, run by the host a board after the other: its layout and its plain
// lanes are tested where there is no GPU. Compiled ahead of time with RUNGS_SCALAR_LANES.
#include "../rungs/batch.hpp"
#include "../rungs/cuda.hpp"
#include "at.hpp"

extern "C" {

// What Python compares with its picture of the struct; at most 4095 characters.
void rungs_device_layout(std::uintptr_t out) {
  using Batch = rungs::DeviceBatch;
  rungs::write_text(rungs::layout("DeviceBatch", sizeof(Batch),
                                  {RUNGS_MIRRORED_OUTPUTS RUNGS_MIRRORED(Batch, words),
                                   RUNGS_MIRRORED(Batch, legal), RUNGS_MIRRORED(Batch, past)}),
                    out, 4096);
}

std::int64_t rungs_device_history_bytes() { return sizeof(rungs::env::History); }

// As the kernels of the same names in cuda.hpp.

void rungs_chess_reset(const rungs::DeviceBatch* batch, const bool* which, std::int64_t episode) {
  for (std::int64_t i = 0; i < batch->num_envs; ++i)
    if (!which || which[i]) batch->reset(i, episode);
}

void rungs_chess_check(const rungs::DeviceBatch* batch, const std::int64_t* actions,
                       std::int64_t* chosen, std::int64_t* first) {
  for (std::int64_t i = batch->num_envs - 1; i >= 0; --i)
    if (!batch->is_legal(i, chosen[i] = actions[i])) *first = i;
}

void rungs_chess_step(const rungs::DeviceBatch* batch, const std::int64_t* actions,
                      std::int64_t* ended) {
  for (std::int64_t i = 0; i < batch->num_envs; ++i) *ended += batch->step(i, actions[i]);
}

void rungs_chess_step_many(const rungs::DeviceBatch* batch, std::int64_t steps,
                           std::int64_t* ended) {
  for (std::int64_t i = 0; i < batch->num_envs; ++i) *ended += batch->step_many(i, steps);
}

// The same plies of boards that lie as a processor likes them, all of each in one place.
void rungs_chess_step_many_together(const rungs::ChessBatch* batch, std::int64_t steps,
                                    std::int64_t* ended) {
  for (std::int64_t i = 0; i < batch->num_envs; ++i)
    for (std::int64_t step = 0; step < steps; ++step) {
      rungs::env::ChessEnv& env = batch->env[i];
      *ended += env.step(batch->config, env.any_action(batch->config), batch->rows(i));
    }
}

void rungs_chess_write(const rungs::DeviceBatch* batch, const bool* which) {
  for (std::int64_t i = 0; i < batch->num_envs; ++i)
    if (!which || which[i]) batch->write(i);
}

}  // extern "C"
