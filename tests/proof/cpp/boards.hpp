// A batch of boards whose output buffers lie between fences of canary bytes.
#pragma once
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "rungs/chess_loops.hpp"

namespace rungs {

[[noreturn]] inline void fail(const char* what) {
  std::printf("%s\n", what);
  std::exit(1);
}

// `size` bytes on the heap, whole cache lines so that they can be streamed, between two more of
// which the address sanitizer watches the ends too.
constexpr std::size_t kLine = 64;
constexpr std::uint8_t kCanary = 0xA5;

class Fenced {
 public:
  explicit Fenced(std::size_t size) : size_(size), lines_((size + kLine - 1) / kLine + 2) {
    std::memset(lines_.data(), kCanary, lines_.size() * kLine);
  }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(lines_[1].bytes);
  }
  void check() const {
    const std::uint8_t* const first = lines_.data()->bytes;
    check(first, first + kLine);
    check(first + kLine + size_, first + lines_.size() * kLine);
  }

 private:
  static void check(const std::uint8_t* first, const std::uint8_t* last) {
    if (std::any_of(first, last, [](std::uint8_t byte) { return byte != kCanary; }))
      fail("a step wrote outside its buffer");
  }
  struct alignas(kLine) Line {
    std::uint8_t bytes[kLine];
  };
  std::size_t size_;
  std::vector<Line> lines_;
};

// Settings of games against random play, which begin with one of some positions; what else a check
// wants it sets by name.
inline env::ChessConfig short_games(const chess::Position* starts, std::size_t num_starts = 1) {
  env::ChessConfig config = {};
  config.seed = 1;
  config.opponent = env::Opponent::RANDOM;
  config.autoreset = env::Autoreset::SAME_STEP;
  config.max_plies = 40;
  config.opening_max = 9;
  config.num_starts = static_cast<std::uint32_t>(num_starts);
  config.starts = starts;
  return config;
}

// Settings, as a byte says.
inline env::ChessConfig any_config(std::uint8_t settings, std::uint8_t seed,
                                   const chess::Position* start) {
  env::ChessConfig config = short_games(start);
  config.seed = seed;
  config.opponent = static_cast<env::Opponent>(settings % 2);
  config.observation = static_cast<env::ObservationFormat>(settings / 2 % 5);
  config.mask = static_cast<env::MaskFormat>(settings / 10 % 3);
  config.autoreset = static_cast<env::Autoreset>(settings / 30 % 3);
  config.max_plies = settings / 90u % 2 * 20;
  config.opening_max = settings / 180u * 10;
  return config;
}

struct Boards {
  Boards(std::int64_t n, const env::ChessConfig& config)
      : blocks((n + env::kBlock - 1) / env::kBlock),
        histories(config.observation == env::ObservationFormat::BOARD ? 0 : n),
        replies(n),
        batch{
            {config, n, 0, nullptr, histories.empty() ? nullptr : histories.data(), replies.data(),
#define RUNGS_MEMORY(type, name, count) memory(n*(count) * sizeof(type)).as<type>(),
             RUNGS_CHESS_OUTPUTS(RUNGS_MEMORY)},
#undef RUNGS_MEMORY
            blocks.data(),
            memory(2 * n).as<std::int16_t>()} {
  }
  Boards(const Boards&) = delete;

  void check_fences() const {
    for (const auto& each : outputs) each.check();
  }

  // A board by itself, and its game.
  env::SavedBoard saved(std::int64_t i) const {
    env::SavedBoard board = {};
    batch.save(i, board, nullptr);
    return board;
  }
  chess::Game game(std::int64_t i) const { return env::game_of(saved(i)); }

  // The actions that a step takes of a board.
  chess::LegalActions taken(std::int64_t i) const {
    ChessEnv env = batch.env_at(i);
    env.examine();
    return env.legal(0);
  }

  bool ended(std::int64_t i) const { return saved(i).ended; }

  bool same_state(const std::vector<env::Block>& others) const {
    return !std::memcmp(blocks.data(), others.data(), blocks.size() * sizeof(env::Block));
  }

  Fenced& memory(std::size_t size) { return outputs.emplace_back(size); }

  std::vector<env::Block> blocks;
  std::vector<env::History> histories;
  std::vector<std::int64_t> replies;
  std::deque<Fenced> outputs;  // they stay where they are
  ChessBatch batch;
};

}  // namespace rungs
