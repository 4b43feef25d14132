// Eleven versions of one step, in the order of notebook 03, and the functions that Python calls. A
// step plays a legal action, finds the legal actions of the new position, writes their mask (4672
// bytes of 0 or 1, from a cache line on) and says whether it is mate or stalemate.
#pragma once
#include <cstdint>
#include <memory>
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

// Boards of a version, by its number from 1; null if there is no such version.
inline std::unique_ptr<Boards> make(std::int64_t version, std::int64_t number) {
  switch (version) {
#define RUNGS_STEP(at, name) \
  case at:                   \
    return std::make_unique<BoardsOf<name::Board>>(number);
    RUNGS_STEP(1, first)
    RUNGS_STEP(2, king)
    RUNGS_STEP(3, arrays)
    RUNGS_STEP(4, bitboards)
    RUNGS_STEP(5, rays)
    RUNGS_STEP(6, pins)
    RUNGS_STEP(7, planes)
    RUNGS_STEP(8, side)
    RUNGS_STEP(9, lanes)
    RUNGS_STEP(10, bytes)
    RUNGS_STEP(11, memory)
#undef RUNGS_STEP
    default:
      return nullptr;
  }
}

}  // namespace rungs::steps

extern "C" {

// The address of `number` boards of a version, which the caller deletes; 0 if there is no such
// version.
std::uintptr_t rungs_steps_new(std::int64_t version, std::int64_t number) {
  return reinterpret_cast<std::uintptr_t>(rungs::steps::make(version, number).release());
}

void rungs_steps_delete(std::uintptr_t boards) {
  delete reinterpret_cast<rungs::steps::Boards*>(boards);
}

// `positions` and `masks` are the addresses of a position and a mask for each.
void rungs_steps_start(std::uintptr_t boards, std::uintptr_t positions, std::uintptr_t masks) {
  reinterpret_cast<rungs::steps::Boards*>(boards)->start(
      reinterpret_cast<const rungs::chess::Position*>(positions),
      reinterpret_cast<std::uint8_t*>(masks));
}

// The addresses are those of `Games`, and of a mask and an outcome for each board.
void rungs_steps_play(std::uintptr_t boards, std::int64_t steps, std::uintptr_t actions,
                      std::uintptr_t ends, std::uintptr_t begins, std::uintptr_t masks,
                      std::uintptr_t outcomes) {
  const rungs::steps::Games games = {steps, reinterpret_cast<const std::int16_t*>(actions),
                                     reinterpret_cast<const bool*>(ends),
                                     reinterpret_cast<const rungs::chess::Position*>(begins)};
  reinterpret_cast<rungs::steps::Boards*>(boards)->play(
      games, reinterpret_cast<std::uint8_t*>(masks), reinterpret_cast<std::int8_t*>(outcomes));
}

std::int64_t rungs_steps_perft(std::uintptr_t boards, std::uintptr_t position, std::int64_t depth) {
  const auto& at = *reinterpret_cast<const rungs::chess::Position*>(position);
  return static_cast<std::int64_t>(
      reinterpret_cast<const rungs::steps::Boards*>(boards)->perft(at, static_cast<int>(depth)));
}

}  // extern "C"
