// A target for libFuzzer (clang++ -fsanitize=fuzzer). Compiled without it, as with g++, the program
// replays inputs instead: every file named on its command line, changed a little, N times over.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#ifdef REPLAY
int main(int count, char** arguments) {
  std::mt19937 random(1);
  const int rounds = std::atoi(arguments[1]);
  for (int i = 2; i < count; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    const std::vector<std::uint8_t> original{std::istreambuf_iterator<char>(file), {}};
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::uint8_t> input = original;
      for (int change = round % 4; change > 0 && !input.empty(); --change)
        input[random() % input.size()] = original[random() % original.size()];
      LLVMFuzzerTestOneInput(input.data(), input.size());
    }
  }
  std::printf("replayed\n");
}
#endif
