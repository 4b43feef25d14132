// A version of steps.cpp without Python, for tools that watch a whole process, and sanitizers.
// `bench_versions VERSION BOARDS STEPS GAMES [OUT]` plays the games in a file: positions, actions,
// ends, and positions where games begin, as `rungs_steps_play` takes them, one after the other.
// Writes the masks that it ends with to OUT.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "steps.cpp"

using namespace rungs::calls;

// A function that a tool can find by name.
extern "C" [[gnu::noinline]] void play_version(std::uintptr_t boards, std::int64_t steps,
                                               std::uintptr_t actions, std::uintptr_t ends,
                                               std::uintptr_t begins, std::uintptr_t masks,
                                               std::uintptr_t outcomes) {
  rungs_steps_play(boards, steps, actions, ends, begins, masks, outcomes);
}

int main(int count, char** arguments) {
  if (count < 5) return 2;
  const auto version = reinterpret_cast<std::uintptr_t>(arguments[1]);
  const std::int64_t boards = std::atoll(arguments[2]);
  const std::int64_t steps = std::atoll(arguments[3]), plies = boards * steps;
  std::ifstream file(arguments[4], std::ios::binary);
  const std::vector<char> games{std::istreambuf_iterator<char>(file), {}};
  const auto positions = reinterpret_cast<std::uintptr_t>(games.data());
  const std::uintptr_t actions = positions + 64 * boards, ends = actions + 2 * plies;
  std::vector<rungs::chess::Position> begins(
      (games.data() + games.size() - reinterpret_cast<const char*>(ends + plies)) / 64);
  std::memcpy(static_cast<void*>(begins.data()), reinterpret_cast<const char*>(ends + plies),
              64 * begins.size());
  struct alignas(64) Plane {
    std::uint8_t bytes[64];
  };
  std::vector<Plane> masks(rungs::chess::kPlanes * boards);
  std::vector<std::int8_t> outcomes(boards);
  const auto out = reinterpret_cast<std::uintptr_t>(masks.data());
  const std::uintptr_t address = rungs_steps_new(version, boards);
  if (!address) return 2;
  rungs_steps_start(address, positions, out);
  play_version(address, steps, actions, ends, reinterpret_cast<std::uintptr_t>(begins.data()), out,
               reinterpret_cast<std::uintptr_t>(outcomes.data()));
  rungs_steps_delete(address);
  if (count > 5)
    std::ofstream(arguments[5], std::ios::binary)
        .write(reinterpret_cast<const char*>(masks.data()),
               64 * static_cast<std::streamsize>(masks.size()));
}
