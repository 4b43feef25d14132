// Eleven versions of one step, in the order of notebook 03. A step plays a legal action, finds the
// legal actions of the new position, writes their mask (4672 bytes of 0 or 1, from a cache line on)
// and says whether it is mate or stalemate.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "step_planes.hpp"

namespace rungs::steps {

// What every version provides.
template <class B>
concept Version = requires(B board, const chess::Position& position, std::uint8_t* mask) {
  B(position);
  board.play(Action{});
  { board.write_legal(mask) } -> std::same_as<Outcome>;
};

// The games that boards play: per step and board an action, and whether the game ends with it.
// Where one ends, the next begins in the same step, at the next of the positions `begins`.
struct Games {
  std::int64_t steps;
  const std::int16_t* actions;
  const bool* ends;
  const chess::Position* begins;
};

// Boards of a version, behind one interface for all versions.
struct Boards {
  virtual ~Boards() = default;
  virtual void start(const chess::Position* positions, std::uint8_t* masks) = 0;
  virtual void play(const Games& games, std::uint8_t* masks, std::int8_t* outcomes) = 0;
  virtual std::uint64_t perft(const chess::Position& position, int depth) const = 0;
};

// Compiled once per version, not once per caller: it takes long.
template <Version B>
[[gnu::noinline]] Outcome write_legal(B& board, std::uint8_t* mask) {
  return board.write_legal(mask);
}

template <Version B>
std::uint64_t perft_of(const B& board, int depth) {
  alignas(64) std::uint8_t mask[chess::kActions];
  B looked = board;
  write_legal(looked, mask);
  std::uint64_t leaves = 0;
  for (Action action = 0; action < chess::kActions; ++action) {
    if (!mask[action]) continue;
    if (depth == 1) {
      ++leaves;
      continue;
    }
    B next = board;
    next.play(action);
    leaves += perft_of(next, depth - 1);
  }
  return leaves;
}

template <Version B>
struct BoardsOf final : Boards {
  std::vector<B> boards;

  // Sets boards to positions, and writes the first masks.
  void start(const chess::Position* positions, std::uint8_t* masks) override {
    for (std::size_t i = 0; i < boards.size(); ++i) {
      boards[i] = B(positions[i]);
      write_legal(boards[i], masks + chess::kActions * i);
    }
    env::end_streams();
  }

  void play(const Games& games, std::uint8_t* masks, std::int8_t* outcomes) override {
    auto [steps, action, ends, begins] = games;
    for (; steps > 0; --steps)
      for (std::size_t i = 0; i < boards.size(); ++i) {
        std::uint8_t* const mask = masks + chess::kActions * i;
        boards[i].play(*action++);
        outcomes[i] = static_cast<std::int8_t>(write_legal(boards[i], mask));
        if (!*ends++) continue;
        boards[i] = B(*begins++);
        write_legal(boards[i], mask);
      }
    env::end_streams();
  }

  std::uint64_t perft(const chess::Position& position, int depth) const override {
    return depth ? perft_of(B(position), depth) : 1;
  }

  explicit BoardsOf(std::int64_t number) : boards(number, B(chess::start_position())) {}
};

// Boards of a version, by its name; null if there is no such version.
inline std::unique_ptr<Boards> make(std::string_view version, std::int64_t number) {
#define RUNGS_STEP(name) \
  if (version == #name) return std::make_unique<BoardsOf<name::Board>>(number);
  RUNGS_STEP(first)
  RUNGS_STEP(king)
  RUNGS_STEP(arrays)
  RUNGS_STEP(bitboards)
  RUNGS_STEP(rays)
  RUNGS_STEP(pins)
  RUNGS_STEP(planes)
  RUNGS_STEP(side)
  RUNGS_STEP(lanes)
  RUNGS_STEP(bytes)
  RUNGS_STEP(memory)
#undef RUNGS_STEP
  return nullptr;
}

}  // namespace rungs::steps
