// What all environments share: counter-based random numbers, and when the next episode begins.
#pragma once
#include <cstdint>

namespace rungs::env {

// When the next episode begins after one has ended: in the same step, in the next step (which then
// ignores its action), or when the caller resets.
enum class Autoreset : std::int32_t { SAME_STEP, NEXT_STEP, DISABLED };

// Counter-based randomness: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011). A number is a pure function of where it is used, so it is the same on every
// rung, for every thread count and every layout of ranks, and no state is kept or shared.

// What a number is used for: the last word of the counter, so that no two uses share numbers.
enum class Purpose : std::uint32_t {
  OPPONENT,
  START,
  OPENING_LENGTH,
  OPENING,
  CARTPOLE_START,
  CARTPOLE_ACTION,
  AGENT,
  SEARCH_NOISE,
  SEARCH_CHOICE,
  GAME
};

template <class Word>
struct Words {
  Word word[4];
};

// Philox's four output words for counter (board, episode, ply, purpose), key = seed. A Word has 64
// bits, of which the low 32 are used, or is a vector of those, one element per counter; a Key is
// one for all of them, or a vector as well.
template <class Word, class Key>
inline Words<Word> philox_words(Key seed, Word board, Word episode, Word ply, Purpose purpose) {
  constexpr std::uint64_t kLow = 0xFFFFFFFF;
  Word c[4] = {board & kLow, episode & kLow, ply & kLow,
               Word{} + static_cast<std::uint64_t>(purpose)};
  Key k[2] = {seed & kLow, seed >> 32};
  for (int round = 0; round < 10; ++round) {
    const Word a = 0xD2511F53ULL * c[0], b = 0xCD9E8D57ULL * c[2];
    const Word next[4] = {(b >> 32) ^ c[1] ^ k[0], b & kLow, (a >> 32) ^ c[3] ^ k[1], a & kLow};
    for (int i = 0; i < 4; ++i) c[i] = next[i];
    k[0] = (k[0] + 0x9E3779B9U) & kLow;
    k[1] = (k[1] + 0xBB67AE85U) & kLow;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

// The first of these words.
inline std::uint32_t philox(std::uint64_t seed, std::uint32_t board, std::uint32_t episode,
                            std::uint32_t ply, Purpose purpose) {
  const auto words = philox_words<std::uint64_t>(seed, board, episode, ply, purpose);
  return static_cast<std::uint32_t>(words.word[0]);
}

// An integer in [0, n), from 32 random bits, by Lemire's multiplication. The bias is below n /
// 2^32, which for the legal moves of a position is below 2^-24.
inline std::uint32_t below(std::uint32_t bits, std::uint32_t n) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(bits) * n >> 32);
}

}  // namespace rungs::env
