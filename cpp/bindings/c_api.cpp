// The C API: versions, errors, and what no single kind of handle needs.
#include "c_api.hpp"

#include <cstdarg>
#include <cstdio>

namespace rungs::c {

namespace {

// So that moves' numbers stay below what a position has room for: no game with the 50-move rule has
// more than 5,899 moves.
constexpr int kMaxFullmove = 59000;

thread_local char message[512];

}  // namespace

rungs_status fail(rungs_status status, const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(message, sizeof message, format, values);
  va_end(values);
  return status;
}

rungs_status check_range(const char* name, std::int64_t value, std::int64_t low,
                         std::int64_t high) {
  if (low <= value && value <= high) return RUNGS_OK;
  return fail(RUNGS_ERROR_ARGUMENT, "%s: %lld is not from %lld to %lld", name,
              static_cast<long long>(value), static_cast<long long>(low),
              static_cast<long long>(high));
}

rungs_status check_ranges(std::initializer_list<Range> ranges) {
  for (const auto& [name, value, low, high] : ranges)
    if (const auto status = check_range(name, value, low, high)) return status;
  return RUNGS_OK;
}

rungs_status check_marks(const std::uint8_t* which, std::int64_t count) {
  for (std::int64_t i = 0; which && i < count; ++i)
    if (which[i] > 1)
      return fail(RUNGS_ERROR_ARGUMENT, "which[%lld]: %d is neither 0 nor 1",
                  static_cast<long long>(i), which[i]);
  return RUNGS_OK;
}

rungs_status check_size(std::size_t size) {
  constexpr std::size_t kMax = 4096;
  if (sizeof size <= size && size <= kMax) return RUNGS_OK;
  return fail(RUNGS_ERROR_ARGUMENT, "size: %zu is not the size of a structure", size);
}

rungs_status parse_start(const char* fen, bool listed, chess::Position& position) {
  const auto refuse = [&](const char* why) {
    return fail(RUNGS_ERROR_FEN, "%.200s: %s", fen, why);
  };
  if (const std::string why = chess::parse_fen(fen, position); !why.empty())
    return refuse(why.c_str());
  if (position.fullmove > kMaxFullmove) return refuse("the number of its move is above 59000");
  if (listed && !env::fits_list(position)) return refuse("it has more pieces than promotions make");
  chess::Game game;
  chess::start(game, position);
  return game.over() ? refuse("the game is over") : RUNGS_OK;
}

rungs_status write_fen(const char* function, const chess::Position& position, char* out,
                       std::size_t size) {
  const std::string fen = chess::to_fen(position);
  if (fen.size() >= size)
    return fail(RUNGS_ERROR_ARGUMENT, "%s: %zu bytes are too few for the FEN", function, size);
  std::memcpy(out, fen.c_str(), fen.size() + 1);
  return RUNGS_OK;
}

}  // namespace rungs::c

std::int32_t rungs_abi_version() { return RUNGS_ABI_VERSION; }

const char* rungs_error_message() { return rungs::c::message; }
