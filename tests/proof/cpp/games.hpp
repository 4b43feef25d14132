// Plays a recorded game on each board of a batch, and writes out all that the steps put out.
#pragma once
#include "boards.hpp"

namespace rungs {

// A file holds the actions, an `int64` for each board of each step.
inline int play_games(std::uint8_t settings, std::int64_t num_envs, const char* path) {
  const chess::Position start = chess::start_position();
  Boards boards(num_envs, any_config(settings, 1, &start));
  const ChessBatch& batch = boards.batch;
  std::FILE* const file = std::fopen(path, "rb");
  if (!file) fail("there are no recorded games");
  std::vector<std::int64_t> actions(num_envs);
  const auto write = [](const auto* rows, std::int64_t bytes) {
    std::fwrite(rows, 1, bytes, stdout);
  };
  serial::reset(batch, nullptr, 0);
  while (std::fread(actions.data(), sizeof(std::int64_t), actions.size(), file) == actions.size()) {
    if (serial::step(batch, actions.data()) < 0) fail("a recorded action is refused");
    const std::int64_t observed = env::observation_bytes(batch.config.observation);
    write(batch.observation, num_envs * observed);
    write(batch.mask, num_envs * env::mask_bytes(batch.config.mask));
    write(batch.reward, num_envs * sizeof *batch.reward);
    write(batch.terminated, num_envs);
    write(batch.truncated, num_envs);
    write(batch.reason, num_envs);
    write(batch.player, num_envs);
    if (batch.config.autoreset != env::Autoreset::SAME_STEP) continue;
    for (std::int64_t i = 0; i < num_envs; ++i)
      if (batch.ended[i]) write(batch.final_observation + i * observed, observed);
  }
  std::fclose(file);
  boards.check_fences();
  return 0;
}

}  // namespace rungs
