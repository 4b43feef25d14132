// The serial rung without Python, for tools that watch a whole process, such as callgrind.
// `bench_rung BOARDS STEPS MASK SELECTIONS` plays at random; MASK is "bool", "bits" or "list".
// Actions are selected SELECTIONS times: the difference of two runs is the cost of selecting.
// With a fifth argument THREADS every other step is OpenMP's by as many threads, and the threads
// and seconds of each step are printed.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "../rungs/chess_loops.hpp"

using namespace rungs;

// A function that a tool can find by name.
extern "C" [[gnu::noinline]] std::int64_t rungs_chess_serial_step(const ChessBatch& batch,
                                                                  const std::int64_t* actions) {
  return serial::step(batch, actions);
}

// A random action for every board, the same each time it is called for a step.
[[gnu::noinline]] static void select(const ChessBatch& batch, std::int64_t step,
                                     std::vector<std::int64_t>& actions) {
  batch.examine_all([&](const ChessEnvs& envs, int k, std::int64_t i) {
    const chess::LegalActions legal = envs.legal(k);
    const auto bits = env::philox(1, static_cast<std::uint32_t>(i), 0,
                                  static_cast<std::uint32_t>(step), env::Purpose::OPPONENT);
    const auto below = static_cast<std::uint32_t>(chess::count(legal));
    actions[i] = env::nth_action(legal, static_cast<int>(env::below(bits, below)));
  });
}

int main(int argc, char** arguments) {
  if (argc != 5 && argc != 6) return 2;
  const std::int64_t boards = std::atoll(arguments[1]), steps = std::atoll(arguments[2]);
  const int selections = std::atoi(arguments[4]);
  const std::int32_t threads = argc == 6 ? std::atoi(arguments[5]) : 1;
  const std::string_view format = arguments[3];
  const auto mask = format == "bits"   ? env::MaskFormat::BITS
                    : format == "list" ? env::MaskFormat::LIST
                                       : env::MaskFormat::BOOL;
  const chess::Position start = chess::start_position();
  ChessBatch batch{};
  batch.config.mask = mask;
  batch.config.num_starts = 1;
  batch.config.starts = &start;
  batch.num_envs = boards;
  std::vector<env::Block> blocks(batch.num_blocks());
  batch.blocks = blocks.data();
  std::vector<std::int64_t> actions(boards);
  std::vector<std::int16_t> chosen(boards);
  batch.chosen = chosen.data();
  std::vector<std::unique_ptr<std::byte[]>> outputs;
  const auto allocated = [&](std::int64_t bytes) {
    outputs.push_back(std::make_unique<std::byte[]>(boards * bytes));
    return outputs.back().get();
  };
  using namespace env;  // the list's own counts
  const ChessConfig& config = batch.config;
#define RUNGS_ALLOCATED(type, name, count) \
  batch.name = reinterpret_cast<type*>(allocated(sizeof(type) * (count)));
  RUNGS_CHESS_OUTPUTS(RUNGS_ALLOCATED)
#undef RUNGS_ALLOCATED
  serial::reset(batch, nullptr, 0);
  for (std::int64_t s = 0; s < steps; ++s) {
    for (int selection = 0; selection < selections; ++selection) select(batch, s, actions);
    const auto start = std::chrono::steady_clock::now();
    const std::int32_t team = s % 2 ? threads : 1;
    const std::int64_t ended =
        team == 1 ? rungs_chess_serial_step(batch, actions.data())
                  : openmp::step(batch, actions.data(), {team, openmp::Schedule::STATIC, 0});
    if (ended < 0) return 1;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (argc == 6) std::printf("%d %.9f\n", team, seconds.count());
  }
}
