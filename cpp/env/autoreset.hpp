// Gymnasium's three ways to go on after an episode.
#pragma once
#include <cstdint>

namespace rungs::env {

// When an episode that ended gives way to the next: at once, in the next step instead of an action,
// or when the caller says so.
enum class Autoreset : std::int32_t { SAME_STEP, NEXT_STEP, DISABLED };

}  // namespace rungs::env
