// Twelve versions of one step, in the order of notebook 17, behind one interface for Python. A step
// plays a legal action, finds the legal actions of the new position, writes their mask (4672 bytes
// of 0 or 1, from a cache line on) and says whether it is mate or stalemate.
#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "../bindings/abi.hpp"
#include "../chess/perft.hpp"
#include "step_boards.hpp"

namespace rungs::steps {

// What every version provides that takes one board at a time.
template <class B>
concept Version = requires(B board, const chess::Position& position, std::uint8_t* mask) {
  B(position);
  board.play(Action{});
  { board.write_legal(mask) } -> std::same_as<Outcome>;
};

// Compiled once per version, not once per caller: it takes long.
template <Version B>
[[gnu::noinline]] Outcome write_legal(B& board, std::uint8_t* mask) {
  return board.write_legal(mask);
}

template <Version B>
std::uint64_t perft(const B& board, int depth) {
  if (depth == 0) return 1;
  alignas(64) std::uint8_t mask[chess::kActions];
  B looked = board;
  write_legal(looked, mask);
  if (depth == 1) return std::count(mask, mask + chess::kActions, 1);
  std::uint64_t leaves = 0;
  for (Action action = 0; action < chess::kActions; ++action) {
    if (!mask[action]) continue;
    B next = board;
    next.play(action);
    leaves += perft(next, depth - 1);
  }
  return leaves;
}

// The games that boards play: per step and board an action, and whether the game ends with it.
// Where one ends, the next begins in the same step, at the next of the positions `begins`.
struct Games {
  std::int64_t steps;
  const std::int16_t* actions;
  const bool* ends;
  const chess::Position* begins;
};

// Boards of a version.
struct Boards {
  virtual ~Boards() = default;
  virtual void start(const chess::Position* positions, std::uint8_t* masks) = 0;
  virtual void play(const Games& games, std::uint8_t* masks, std::int8_t* outcomes) = 0;
  virtual std::uint64_t leaves(const chess::Position& position, int depth) const = 0;
};

template <Version B>
struct BoardsOf final : Boards {
  std::vector<B> boards;

  explicit BoardsOf(std::int64_t number) : boards(number, B(chess::start_position())) {}

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

  std::uint64_t leaves(const chess::Position& position, int depth) const override {
    return perft(B(position), depth);
  }
};

// Boards of the version that takes several at a time.
struct BoardsTogether final : Boards {
  using Group = together::Group;

  const std::int64_t number;
  std::vector<Group> groups;

  explicit BoardsTogether(std::int64_t number)
      : number(number), groups((number + Group::kBoards - 1) / Group::kBoards) {}

  // The boards of a group that a batch has.
  int size(std::size_t group) const {
    return static_cast<int>(
        std::min<std::int64_t>(Group::kBoards, number - Group::kBoards * group));
  }

  void start(const chess::Position* positions, std::uint8_t* masks) override {
    std::int8_t outcomes[Group::kBoards];
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (int k = 0; k < size(g); ++k) groups[g].place(k, *positions++);
      groups[g].write_legal(size(g), masks + chess::kActions * Group::kBoards * g, outcomes);
    }
    env::end_streams();
  }

  void play(const Games& games, std::uint8_t* masks, std::int8_t* outcomes) override {
    const chess::Position* begins = games.begins;
    for (std::int64_t step = 0; step < games.steps; ++step)
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::size_t first = Group::kBoards * g, at = number * step + first;
        const int boards = size(g);
        std::int16_t actions[Group::kBoards] = {};
        std::copy_n(games.actions + at, boards, actions);
        groups[g].play(actions);
        groups[g].write_legal(boards, masks + chess::kActions * first, outcomes + first);
        for (int k = 0; k < boards; ++k) {
          if (!games.ends[at + k]) continue;
          groups[g].place(k, *begins);
          memory::Board(*begins++).write_legal(masks + chess::kActions * (first + k));
        }
      }
    env::end_streams();
  }

  std::uint64_t leaves(const chess::Position& position, int depth) const override {
    return chess::perft(position, depth);
  }
};

}  // namespace rungs::steps

// Makes boards of the version with the name at an address; returns their address, or 0 if unknown.
RUNGS_FUNCTION(std::uintptr_t, rungs_steps_new, std::uintptr_t version, std::int64_t number) {
  using namespace rungs::steps;
  const std::string_view name = reinterpret_cast<const char*>(version);
#define RUNGS_STEP(name_of) \
  if (name == #name_of)     \
    return reinterpret_cast<std::uintptr_t>(new BoardsOf<name_of::Board>(number));
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
  if (name == "together") return reinterpret_cast<std::uintptr_t>(new BoardsTogether(number));
  return 0;
}

RUNGS_FUNCTION(void, rungs_steps_delete, std::uintptr_t boards) {
  delete &rungs::at<rungs::steps::Boards>(boards);
}

// `positions` and `masks` are the addresses of a position and a mask for each board.
RUNGS_FUNCTION(void, rungs_steps_start, std::uintptr_t boards, std::uintptr_t positions,
               std::uintptr_t masks) {
  rungs::at<rungs::steps::Boards>(boards).start(
      reinterpret_cast<const rungs::chess::Position*>(positions),
      reinterpret_cast<std::uint8_t*>(masks));
}

// The addresses are those of `Games`, and of a mask and an outcome for each board.
RUNGS_FUNCTION(void, rungs_steps_play, std::uintptr_t boards, std::int64_t steps,
               std::uintptr_t actions, std::uintptr_t ends, std::uintptr_t begins,
               std::uintptr_t masks, std::uintptr_t outcomes) {
  const rungs::steps::Games games = {steps, reinterpret_cast<const std::int16_t*>(actions),
                                     reinterpret_cast<const bool*>(ends),
                                     reinterpret_cast<const rungs::chess::Position*>(begins)};
  rungs::at<rungs::steps::Boards>(boards).play(games, reinterpret_cast<std::uint8_t*>(masks),
                                               reinterpret_cast<std::int8_t*>(outcomes));
}

RUNGS_FUNCTION(std::int64_t, rungs_steps_perft, std::uintptr_t boards, std::uintptr_t position,
               std::int64_t depth) {
  const auto& root = rungs::at<const rungs::chess::Position>(position);
  return static_cast<std::int64_t>(
      rungs::at<const rungs::steps::Boards>(boards).leaves(root, static_cast<int>(depth)));
}
