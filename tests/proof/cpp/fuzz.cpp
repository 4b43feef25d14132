// A target for libFuzzer: `fuzz_fen`, `fuzz_actions` or `fuzz_states`, as TARGET says.
#include "fuzz_targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rungs::TARGET(data, size);
  return 0;
}
