// A batch of boards whose output buffers lie between fences of canary bytes.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "rungs/serial.hpp"

namespace rungs {

[[noreturn]] inline void fail(const char* what) {
  std::printf("%s\n", what);
  std::exit(1);
}

// `size` bytes on the heap, so that the address sanitizer watches their ends too.
constexpr std::size_t kFence = 64;
constexpr std::uint8_t kCanary = 0xA5;

struct Fenced {
  explicit Fenced(std::size_t size) : bytes(size + 2 * kFence, kCanary) {}
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data() + kFence);
  }
  void check() const {
    for (std::size_t i = 0; i < kFence; ++i)
      if (bytes[i] != kCanary || bytes[bytes.size() - 1 - i] != kCanary)
        fail("a step wrote outside its buffer");
  }
  std::vector<std::uint8_t> bytes;
};

struct Boards {
  Boards(std::int64_t n, const env::ChessConfig& config)
      : envs(n),
        histories(config.observation == env::ObservationFormat::BOARD ? 0 : n),
        observation(n * env::observation_bytes(config.observation)),
        mask(n * env::mask_bytes(config.mask)),
        reward(n * sizeof(float)),
        terminated(n),
        truncated(n),
        ended(n),
        reason(n),
        player(n),
        final_observation(n * env::observation_bytes(config.observation)),
        batch{{config, n, 0, histories.empty() ? nullptr : histories.data(),
               observation.as<std::uint8_t>(), mask.as<std::uint8_t>(), reward.as<float>(),
               terminated.as<bool>(), truncated.as<bool>(), ended.as<bool>(),
               reason.as<std::int8_t>(), player.as<std::int8_t>(),
               final_observation.as<std::uint8_t>()},
              envs.data()} {}
  Boards(const Boards&) = delete;

  void check_fences() const {
    for (const Fenced* each : {&observation, &mask, &reward, &terminated, &truncated, &ended,
                               &reason, &player, &final_observation})
      each->check();
  }

  std::vector<env::ChessEnv> envs;
  std::vector<env::History> histories;
  Fenced observation, mask, reward, terminated, truncated, ended, reason, player, final_observation;
  ChessBatch batch;
};

}  // namespace rungs
