// What Python calls of steps.hpp.
#include "../bindings/abi.hpp"
#include "steps.hpp"

// The address of so many boards, which belong to the caller, of the version whose name is at an
// address; 0 where there is none.
RUNGS_FUNCTION(std::uintptr_t, rungs_steps_new, std::uintptr_t version, std::int64_t number) {
  const auto* name = reinterpret_cast<const char*>(version);
  return reinterpret_cast<std::uintptr_t>(rungs::steps::make(name, number).release());
}

RUNGS_FUNCTION(void, rungs_steps_delete, std::uintptr_t boards) {
  delete reinterpret_cast<rungs::steps::Boards*>(boards);
}

// `positions` and `masks` are the addresses of a position and a mask for each.
RUNGS_FUNCTION(void, rungs_steps_start, std::uintptr_t boards, std::uintptr_t positions,
               std::uintptr_t masks) {
  reinterpret_cast<rungs::steps::Boards*>(boards)->start(
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
  reinterpret_cast<rungs::steps::Boards*>(boards)->play(
      games, reinterpret_cast<std::uint8_t*>(masks), reinterpret_cast<std::int8_t*>(outcomes));
}

RUNGS_FUNCTION(std::int64_t, rungs_steps_perft, std::uintptr_t boards, std::uintptr_t position,
               std::int64_t depth) {
  const auto& at = *reinterpret_cast<const rungs::chess::Position*>(position);
  return static_cast<std::int64_t>(
      reinterpret_cast<const rungs::steps::Boards*>(boards)->perft(at, static_cast<int>(depth)));
}
