// A target for libFuzzer: `fuzz_fen` or `fuzz_actions`, as TARGET says.
#include "fuzz_actions.hpp"
#include "fuzz_fen.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using rungs::fuzz_actions, rungs::chess::fuzz_fen;
  TARGET(data, size);
  return 0;
}
