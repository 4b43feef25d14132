// Counter-based randomness: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011). The number drawn is a pure function of where it is used, so it is the same on
// every rung, for every thread count and every layout of ranks, and no state is kept or shared.
#pragma once
#include <cstdint>

namespace rungs::env {

// What a number is drawn for: the last word of the counter, so that uses never share numbers.
enum class Stream : std::uint32_t { OPPONENT, START, OPENING_LENGTH, OPENING, CARTPOLE_START };

struct Words {
  std::uint32_t word[4];
};

// Philox's four output words for counter (board, episode, ply, stream), key = seed.
inline Words philox_words(std::uint64_t seed, std::uint32_t board, std::uint32_t episode,
                          std::uint32_t ply, Stream stream) {
  Words counter = {{board, episode, ply, static_cast<std::uint32_t>(stream)}};
  std::uint32_t* c = counter.word;
  std::uint32_t k[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ULL * c[0], b = 0xCD9E8D57ULL * c[2];
    const std::uint32_t next[4] = {
        static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(a)};
    for (int i = 0; i < 4; ++i) c[i] = next[i];
    k[0] += 0x9E3779B9U;
    k[1] += 0xBB67AE85U;
  }
  return counter;
}

// The first of them.
inline std::uint32_t philox(std::uint64_t seed, std::uint32_t board, std::uint32_t episode,
                            std::uint32_t ply, Stream stream) {
  return philox_words(seed, board, episode, ply, stream).word[0];
}

// An integer in [0, n), from 32 random bits, by Lemire's multiplication. No integer is preferred by
// more than n / 2^32, which for the legal moves of a position is below 2^-24.
inline std::uint32_t below(std::uint32_t bits, std::uint32_t n) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(bits) * n >> 32);
}

}  // namespace rungs::env
