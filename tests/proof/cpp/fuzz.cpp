// A target for libFuzzer: `fuzz_fen`, `fuzz_actions` or `fuzz_states`, as TARGET says.
#include "fuzz_actions.hpp"
#include "fuzz_fen.hpp"
#include "fuzz_states.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using rungs::fuzz_actions, rungs::fuzz_states, rungs::chess::fuzz_fen;
  TARGET(data, size);
  return 0;
}
