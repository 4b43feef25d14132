// The functions of chess that XLA calls, by its typed FFI: on a batch whose boards and outputs are
// XLA's buffers, so that nothing is kept between calls.
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "../chess/fen.hpp"
#include "../rungs/batch.hpp"
#include "../rungs/cpu_loops.hpp"
#include "xla/ffi/api/ffi.h"

namespace rungs::jax {

namespace ffi = xla::ffi;

// The results' places, which `rungs.adapters.jax` gives in this order.
enum Result {
  STATE,
  OBSERVATION,
  MASK,
  ACTION_COUNT,
  PLAYER,
  REWARD,
  TERMINATED,
  TRUNCATED,
  REASON,
  FINAL_OBSERVATION,
  NUM_RESULTS
};

// Blocks aligned as the loops need them: XLA's own memory if it begins on a cache line, else a
// copy, which `finish` writes back.
class Blocks {
 public:
  explicit Blocks(ffi::AnyBuffer state) : state_(state) {
    if (reinterpret_cast<std::uintptr_t>(state.untyped_data()) % alignof(env::Block) == 0) return;
    copy_.resize(state.size_bytes() / sizeof(env::Block));
    std::memcpy(static_cast<void*>(copy_.data()), state.untyped_data(), state.size_bytes());
  }
  env::Block* data() {
    return copy_.empty() ? static_cast<env::Block*>(state_.untyped_data()) : copy_.data();
  }
  void finish() {
    if (!copy_.empty()) std::memcpy(state_.untyped_data(), copy_.data(), state_.size_bytes());
  }

 private:
  ffi::AnyBuffer state_;
  std::vector<env::Block> copy_;
};

// A batch over XLA's results, and memory for a call. The outputs of a step are 0 at first.
struct Batch : ChessBatch {
  std::vector<std::int16_t> actions_kept;
  std::vector<std::uint8_t> ended_kept;
  const chess::Position start = chess::start_position();

  Batch(std::string_view opponent_name, std::string_view mask_name, std::string_view autoreset_name,
        std::int64_t max_plies, ffi::RemainingRets& results, env::Block* state)
      : ChessBatch{} {
    void* memory[NUM_RESULTS];
    for (int k = 0; k < NUM_RESULTS; ++k) {
      ffi::AnyBuffer result = **results.get<ffi::AnyBuffer>(k);
      memory[k] = result.untyped_data();
      if (k == PLAYER) num_envs = static_cast<std::int64_t>(result.element_count());
      if (k >= REWARD) std::memset(memory[k], 0, result.size_bytes());
    }
    config.opponent = opponent_name == "random" ? env::Opponent::RANDOM : env::Opponent::NONE;
    config.observation = env::ObservationFormat::BOARD;
    config.mask = mask_name == "list" ? env::MaskFormat::LIST : env::MaskFormat::BITS;
    config.autoreset =
        autoreset_name == "SAME_STEP" ? env::Autoreset::SAME_STEP : env::Autoreset::NEXT_STEP;
    config.max_plies = static_cast<std::uint32_t>(max_plies);
    config.num_starts = 1;
    config.starts = &start;
    actions_kept.resize(static_cast<std::size_t>(num_envs));
    ended_kept.resize(static_cast<std::size_t>(num_envs));
    observation = static_cast<std::uint8_t*>(memory[OBSERVATION]);
    mask = static_cast<std::uint8_t*>(memory[MASK]);
    action_count = static_cast<std::int16_t*>(memory[ACTION_COUNT]);
    player = static_cast<std::int8_t*>(memory[PLAYER]);
    reward = static_cast<float*>(memory[REWARD]);
    terminated = static_cast<bool*>(memory[TERMINATED]);
    truncated = static_cast<bool*>(memory[TRUNCATED]);
    ended = reinterpret_cast<bool*>(ended_kept.data());
    reason = static_cast<std::int8_t*>(memory[REASON]);
    final_observation = static_cast<std::uint8_t*>(memory[FINAL_OBSERVATION]);
    blocks = state;
    chosen = actions_kept.data();
  }
  Batch(const Batch&) = delete;  // it points into itself
};

// Begins episode 0 on every board. A seed is three words of uint32: low, high, and whether the
// number is negative; (3,) is that of all boards, (N, 3) each one's own.
ffi::Error init(std::string_view opponent, std::string_view mask, std::string_view autoreset,
                std::int64_t max_plies, ffi::Buffer<ffi::U32> seeds, ffi::RemainingRets results) {
  std::vector<std::uint64_t> own;
  const std::uint32_t* const words = seeds.typed_data();
  for (std::size_t i = 0; i < seeds.element_count(); i += 3) {
    if (words[i + 2])
      return ffi::Error::InvalidArgument("seed " + std::to_string(i / 3) + " is negative");
    own.push_back(std::uint64_t{words[i + 1]} << 32 | words[i]);
  }
  ffi::AnyBuffer state = **results.get<ffi::AnyBuffer>(STATE);
  std::memset(state.untyped_data(), 0, state.size_bytes());
  Blocks blocks(state);
  Batch batch(opponent, mask, autoreset, max_plies, results, blocks.data());
  if (seeds.dimensions().size() == 1)
    batch.config.seed = own[0];
  else
    batch.seeds = own.data();
  serial::reset(batch, nullptr, 0);
  blocks.finish();
  return ffi::Error::Success();
}

// Takes a step on every board. The state is updated in place if XLA has given `before` and the new
// state the same memory.
ffi::Error step(std::string_view opponent, std::string_view mask, std::string_view autoreset,
                std::int64_t max_plies, ffi::AnyBuffer before, ffi::Buffer<ffi::S32> given,
                ffi::RemainingRets results) {
  ffi::AnyBuffer state = **results.get<ffi::AnyBuffer>(STATE);
  if (state.untyped_data() != before.untyped_data())
    std::memcpy(state.untyped_data(), before.untyped_data(), state.size_bytes());
  Blocks blocks(state);
  const Batch batch(opponent, mask, autoreset, max_plies, results, blocks.data());
  const std::int32_t* first = given.typed_data();
  const std::vector<std::int64_t> actions(first, first + given.element_count());
  const std::int64_t done = serial::step(batch, actions.data());
  if (done < 0) {
    const std::int64_t board = -1 - done;
    env::SavedBoard saved;
    batch.save(board, saved, nullptr);
    return ffi::Error::InvalidArgument("board " + std::to_string(board) + ": action " +
                                       std::to_string(actions[static_cast<std::size_t>(board)]) +
                                       " is not legal in " + chess::to_fen(saved.position));
  }
  blocks.finish();
  return ffi::Error::Success();
}

inline auto settings() {
  return ffi::Ffi::Bind()
      .Attr<std::string_view>("opponent")
      .Attr<std::string_view>("mask")
      .Attr<std::string_view>("autoreset")
      .Attr<std::int64_t>("max_plies");
}

}  // namespace rungs::jax

extern "C" {

// What Python builds the state's shape from.
__attribute__((visibility("default"))) std::int64_t rungs_jax_block_bytes() {
  return sizeof(rungs::env::Block);
}

// XLA's macro defines them, and says nothing of visibility.
__attribute__((visibility("default"))) XLA_FFI_Error* rungs_jax_init(XLA_FFI_CallFrame* frame);
__attribute__((visibility("default"))) XLA_FFI_Error* rungs_jax_step(XLA_FFI_CallFrame* frame);
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    rungs_jax_init, rungs::jax::init,
    rungs::jax::settings().Arg<xla::ffi::Buffer<xla::ffi::U32>>().RemainingRets());
XLA_FFI_DEFINE_HANDLER_SYMBOL(rungs_jax_step, rungs::jax::step,
                              rungs::jax::settings()
                                  .Arg<xla::ffi::AnyBuffer>()
                                  .Arg<xla::ffi::Buffer<xla::ffi::S32>>()
                                  .RemainingRets());
