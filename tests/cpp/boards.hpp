// A batch of boards whose output buffers lie between fences of canary bytes.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <deque>
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

// Settings, as a byte says.
inline env::ChessConfig any_config(std::uint8_t settings, std::uint8_t seed,
                                   const chess::Position* start) {
  return {
      seed,
      static_cast<env::Opponent>(settings % 2),
      static_cast<env::ObservationFormat>(settings / 2 % 5),
      static_cast<env::MaskFormat>(settings / 10 % 3),
      static_cast<env::Autoreset>(settings / 30 % 3),
      settings / 90u % 2 * 20,
      0,
      settings / 180u * 10,
      1,
      start,
  };
}

struct Boards {
  Boards(std::int64_t n, const env::ChessConfig& config)
      : envs(n),
        histories(config.observation == env::ObservationFormat::BOARD ? 0 : n),
        replies(n),
        batch{{config, n, 0, histories.empty() ? nullptr : histories.data(), replies.data(),
#define RUNGS_MEMORY(type, name, count) memory(n*(count) * sizeof(type)).as<type>(),
               RUNGS_CHESS_OUTPUTS(RUNGS_MEMORY)},
#undef RUNGS_MEMORY
              envs.data(),
              memory(2 * n).as<std::int16_t>()} {
  }
  Boards(const Boards&) = delete;

  void check_fences() const {
    for (const auto& each : outputs) each.check();
  }

  Fenced& memory(std::size_t size) { return outputs.emplace_back(size); }

  std::vector<env::ChessEnv> envs;
  std::vector<env::History> histories;
  std::vector<std::int64_t> replies;
  std::deque<Fenced> outputs;  // they stay where they are
  ChessBatch batch;
};

}  // namespace rungs
