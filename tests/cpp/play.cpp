// Random self-play through the serial rung, each output buffer between two fences of canary bytes.
//   play STEPS: steps of 7 boards, with each mask format and each opponent.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "rungs/serial.hpp"

using namespace rungs;

constexpr std::int64_t kBoards = 7;
constexpr std::size_t kFence = 64;
constexpr std::uint8_t kCanary = 0xA5;

[[noreturn]] void fail(const char* what) {
  std::printf("%s\n", what);
  std::exit(1);
}

// `size` bytes on the heap, so that the address sanitizer watches their ends too.
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

void play(env::MaskFormat format, env::Opponent opponent, int steps) {
  std::vector<env::ChessEnv> envs(kBoards);
  Fenced observation(kBoards * env::kObservationSize), mask(kBoards * env::mask_bytes(format)),
      reward(kBoards * sizeof(float)), terminated(kBoards), truncated(kBoards), reason(kBoards),
      player(kBoards), final_observation(kBoards * env::kObservationSize);
  const chess::Position start = chess::start_position();
  const ChessBatch batch{{1, opponent, format, 40, 0, 9, 1, &start},
                         kBoards,
                         0,
                         envs.data(),
                         observation.as<std::int8_t>(),
                         mask.as<std::uint8_t>(),
                         reward.as<float>(),
                         terminated.as<bool>(),
                         truncated.as<bool>(),
                         reason.as<std::int8_t>(),
                         player.as<std::int8_t>(),
                         final_observation.as<std::int8_t>()};
  std::vector<std::int64_t> actions(kBoards);
  serial::reset(batch, 0);
  for (int step = 0; step < steps; ++step) {
    for (std::int64_t i = 0; i < kBoards; ++i) {
      const chess::LegalActions& legal = envs[i].game.legal;
      if (envs[i].game.over()) fail("an episode began at its end");
      const std::uint32_t bits = env::philox(2, i, 0, step, env::Stream::OPPONENT);
      actions[i] = env::nth_action(legal, env::below(bits, chess::count(legal)));
      if (!legal.contains(actions[i])) fail("nth_action is not legal");
    }
    // A board's illegal action is found, and nothing has moved.
    const std::int64_t bad = step % kBoards, good = actions[bad];
    actions[bad] = 64 * chess::W;  // from a1 to the west
    if (serial::step(batch, actions.data()) != bad) fail("an illegal action was not found");
    actions[bad] = good;
    if (serial::step(batch, actions.data()) != -1) fail("a legal action was refused");

    for (const Fenced* buffer : {&observation, &mask, &reward, &terminated, &truncated, &reason,
                                 &player, &final_observation})
      buffer->check();
    for (std::int64_t i = 0; i < kBoards; ++i)
      for (int action = 0; action < chess::kActions; ++action) {
        const std::uint8_t* row = batch.mask + i * env::mask_bytes(format);
        const bool set =
            format == env::MaskFormat::BOOL ? row[action] : row[action / 8] >> action % 8 & 1;
        if (set != envs[i].game.legal.contains(action)) fail("the mask is not the legal actions");
      }
  }
}

int main(int, char** arguments) {
  const int steps = std::atoi(arguments[1]);
  // Random123's published answer for the digits of pi.
  if (env::philox(0x299F31D0A4093822, 0x243F6A88, 0x85A308D3, 0x13198A2E,
                  static_cast<env::Stream>(0x03707344)) != 0xD16CFE09)
    fail("Philox");
  for (const auto format : {env::MaskFormat::BOOL, env::MaskFormat::BITS})
    for (const auto opponent : {env::Opponent::NONE, env::Opponent::RANDOM})
      play(format, opponent, steps);
  std::printf("played\n");
}
