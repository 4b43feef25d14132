// A batch of any game that is one struct, which the loops on a CPU step as they step chess. The
// caller owns all memory; nothing here allocates.
//
// The game is a struct of plain values (memory of zeros is one) with
//   static constexpr int kActions, kCells;  // actions are 0 to kActions - 1
//   using Cell = std::int8_t;               // of an observation, (kCells,)
//   void reset(GameRandom& random);         // begins an episode
//   bool legal(int action) const;           // some action must be, until the game has ended
//   GameStep step(int action, GameRandom& random);
//   void observe(Cell* cells) const;
// `bindings/game.hpp` catches what they throw; the environment must then be reset.
#pragma once
#include <cstdint>
#include <type_traits>

#include "../env/philox.hpp"

namespace rungs {

// The random numbers of a board's episode, in the order in which the game draws them.
struct GameRandom {
  std::uint64_t seed;
  std::uint32_t board, episode, drawn;

  // A number from 0 to n - 1.
  int below(int n) {
    const auto bits = env::philox(seed, board, episode, drawn++, env::Purpose::GAME);
    return static_cast<int>(env::below(bits, static_cast<std::uint32_t>(n)));
  }
};

// What a step of a game returns.
struct GameStep {
  float reward = 0;
  bool terminated = false, truncated = false;
};

template <class Game>
struct GameBatch {
  static_assert(std::is_trivially_copyable_v<Game>);
  static_assert(sizeof(Game) < 1u << 31);
  static_assert(Game::kActions > 0 && Game::kCells > 0);
  // Boards that one thread steps together.
  static constexpr std::int64_t kBlock = 16;
  using Cell = typename Game::Cell;

  std::int64_t num_envs;
  std::uint64_t seed;
  const std::uint64_t* seeds;  // (N,) each board's, which then draws the random numbers of board 0
                               // of a batch with it; null: seed
  env::Autoreset autoreset;
  Game* games;
  std::uint32_t* episode;  // (N,) its number
  std::uint32_t* drawn;    // (N,) random numbers of the episode
  std::int32_t* chosen;    // (N,) the actions of the next step
  Cell* observation;       // (N, kCells)
  Cell* final_observation;
  bool* action_mask;  // (N, kActions)
  float* reward;
  bool* terminated;
  bool* truncated;
  bool* ended;

  std::int64_t num_blocks() const { return (num_envs + kBlock - 1) / kBlock; }

  // As `ChessBatch::reset_block`.
  void reset_block(std::int64_t b, const bool* which, std::int64_t number) const {
    for (std::int64_t i = b * kBlock; i < end_of(b); ++i)
      if (!which || which[i]) begin(i, number < 0 ? episode[i] + 1 : number);
  }

  // As `ChessBatch::check_block`.
  std::int64_t check_block(std::int64_t b, const std::int64_t* actions) const {
    for (std::int64_t i = b * kBlock; i < end_of(b); ++i) {
      const std::int64_t action = actions[i];  // read once: another thread may write there
      if (action < 0 || action >= Game::kActions || !takes(i, static_cast<int>(action))) return i;
      chosen[i] = static_cast<std::int32_t>(action);
    }
    return num_envs;
  }

  // As `ChessBatch::step_block`.
  std::int64_t step_block(std::int64_t b) const {
    std::int64_t number = 0;
    for (std::int64_t i = b * kBlock; i < end_of(b); ++i) number += step(i);
    return number;
  }

 private:
  std::int64_t end_of(std::int64_t b) const {
    return (b + 1) * kBlock < num_envs ? (b + 1) * kBlock : num_envs;
  }

  // Whether the next step accepts an action of a board. A step that only begins an episode accepts
  // any action.
  bool takes(std::int64_t i, int action) const {
    if (ended[i] && autoreset == env::Autoreset::NEXT_STEP) return true;
    return !(ended[i] && autoreset == env::Autoreset::DISABLED) && games[i].legal(action);
  }

  void begin(std::int64_t i, std::int64_t number) const {
    start(i, number);
    set(i, {});
    write(i);
  }

  bool step(std::int64_t i) const {
    if (ended[i] && autoreset == env::Autoreset::NEXT_STEP) {
      begin(i, episode[i] + 1);
      return false;
    }
    draw(i, [&](GameRandom& random) { set(i, games[i].step(chosen[i], random)); });
    if (ended[i] && autoreset == env::Autoreset::SAME_STEP) {
      games[i].observe(final_observation + i * Game::kCells);
      start(i, episode[i] + 1);
    }
    write(i);
    return ended[i];
  }

  void start(std::int64_t i, std::int64_t number) const {
    episode[i] = static_cast<std::uint32_t>(number);
    drawn[i] = 0;
    draw(i, [&](GameRandom& random) { games[i].reset(random); });
  }

  template <class Body>
  void draw(std::int64_t i, const Body& body) const {
    const auto board = seeds ? 0 : static_cast<std::uint32_t>(i);
    GameRandom random{seeds ? seeds[i] : seed, board, episode[i], drawn[i]};
    body(random);
    drawn[i] = random.drawn;
  }

  void set(std::int64_t i, const GameStep& step) const {
    reward[i] = step.reward;
    terminated[i] = step.terminated;
    truncated[i] = step.truncated;
    ended[i] = step.terminated || step.truncated;
  }

  void write(std::int64_t i) const {
    games[i].observe(observation + i * Game::kCells);
    for (int action = 0; action < Game::kActions; ++action)
      action_mask[i * Game::kActions + action] = takes(i, action);
  }
};

}  // namespace rungs
