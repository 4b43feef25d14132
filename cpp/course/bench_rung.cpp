// The serial rung without Python, for tools that watch a whole process, such as callgrind.
// `bench_rung BOARDS STEPS MASK SELECTIONS` plays at random; MASK is "bool", "bits" or "list".
// Actions are selected SELECTIONS times: the difference of two runs is the cost of selecting.
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "../rungs/cpu_loops.hpp"

using namespace rungs;

// A function that a tool can find by name.
extern "C" [[gnu::noinline]] std::int64_t rungs_chess_serial_step(const ChessBatch& batch,
                                                                  const std::int64_t* actions) {
  return serial::step(batch, actions);
}

// A random action for every board, the same each time it is called for a step.
[[gnu::noinline]] static void select(const std::vector<env::ChessEnv>& envs, std::int64_t step,
                                     std::vector<std::int64_t>& actions) {
  for (std::size_t i = 0; i < envs.size(); ++i) {
    const chess::LegalActions& legal = envs[i].game.legal;
    const auto bits = env::philox(1, static_cast<std::uint32_t>(i), 0,
                                  static_cast<std::uint32_t>(step), env::Purpose::OPPONENT);
    const auto below = static_cast<std::uint32_t>(chess::count(legal));
    actions[i] = env::nth_action(legal, static_cast<int>(env::below(bits, below)));
  }
}

int main(int argc, char** arguments) {
  if (argc != 5) return 2;
  const std::int64_t boards = std::atoll(arguments[1]), steps = std::atoll(arguments[2]);
  const int selections = std::atoi(arguments[4]);
  const std::string_view format = arguments[3];
  const auto mask = format == "bits"   ? env::MaskFormat::BITS
                    : format == "list" ? env::MaskFormat::LIST
                                       : env::MaskFormat::BOOL;
  const auto observation = env::ObservationFormat::BOARD;
  const chess::Position start = chess::start_position();
  std::vector<env::ChessEnv> envs(boards);
  std::vector<std::uint8_t> observations(2 * boards * env::observation_bytes(observation));
  std::vector<std::uint8_t> masks(boards * env::mask_bytes(mask)), flags(3 * boards);
  std::vector<float> rewards(boards);
  std::vector<std::int8_t> codes(2 * boards);
  std::vector<std::int64_t> actions(boards);
  std::vector<std::int16_t> chosen(boards), counts(boards);
  auto* const flag = reinterpret_cast<bool*>(flags.data());
  ChessBatch batch{};
  batch.config = {.seed = 0,
                  .opponent = env::Opponent::NONE,
                  .observation = observation,
                  .mask = mask,
                  .autoreset = env::Autoreset::SAME_STEP,
                  .max_plies = 0,
                  .opening_min = 0,
                  .opening_max = 0,
                  .num_starts = 1,
                  .starts = &start};
  batch.num_envs = boards;
  batch.observation = observations.data();
  batch.mask = masks.data();
  batch.action_count = counts.data();
  batch.reward = rewards.data();
  batch.terminated = flag;
  batch.truncated = flag + boards;
  batch.ended = flag + 2 * boards;
  batch.reason = codes.data();
  batch.player = codes.data() + boards;
  batch.final_observation = observations.data() + boards * env::observation_bytes(observation);
  batch.env = envs.data();
  batch.chosen = chosen.data();
  serial::reset(batch, nullptr, 0);
  for (std::int64_t s = 0; s < steps; ++s) {
    for (int selection = 0; selection < selections; ++selection) select(envs, s, actions);
    if (rungs_chess_serial_step(batch, actions.data()) < 0) return 1;
  }
}
