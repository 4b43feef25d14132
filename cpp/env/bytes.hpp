// From bits to bytes: 64 squares of a bitboard as 64 bytes, at once.
#pragma once
#include <cstring>

#include "../chess/lanes.hpp"

namespace rungs::env {

// The 64 bytes are kept as eight words, as not every compiler has instructions for vectors of bytes
// of that length and takes them apart byte by byte.
using chess::Lanes;

constexpr Lanes kOnes = {0x0101010101010101ULL, 0x0101010101010101ULL, 0x0101010101010101ULL,
                         0x0101010101010101ULL, 0x0101010101010101ULL, 0x0101010101010101ULL,
                         0x0101010101010101ULL, 0x0101010101010101ULL};

// Byte i is 255 where bit i is set, else 0. Every byte is sent the eight bits it is among, keeps
// its own, and is compared with zero.
inline Lanes where(chess::Bitboard bits) {
  const Lanes all = chess::everywhere(bits), own = chess::everywhere(0x8040201008040201ULL);
#if !RUNGS_PLAIN && (defined(__clang__) || defined(__AVX512BW__))
  using Bytes = std::uint8_t __attribute__((vector_size(64)));
  // Within each quarter of 16 bytes, as that is how far a byte shuffle reaches on x86.
  const Bytes among = __builtin_shufflevector(
      (Bytes)all, (Bytes)all, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18, 18,
      18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19, 36, 36, 36, 36, 36, 36, 36, 36, 37, 37, 37, 37,
      37, 37, 37, 37, 54, 54, 54, 54, 54, 54, 54, 54, 55, 55, 55, 55, 55, 55, 55, 55);
  return (Lanes)((among & (Bytes)own) != 0);
#else
  Lanes among = (all >> Lanes{0, 8, 16, 24, 32, 40, 48, 56}) & 255;
  among |= among << 8;
  among |= among << 16;
  among |= among << 32;
  const Lanes ones = ((among & own) + kOnes * 127) >> 7 & kOnes;
  return (ones << 8) - ones;
#endif
}

inline void store(Lanes bytes, void* out) { std::memcpy(out, &bytes, sizeof bytes); }

}  // namespace rungs::env
