// From bits to bytes: 64 squares of a bitboard as 64 bytes, at once.
#pragma once
#include "../chess/lanes.hpp"

namespace rungs::env {

using Bytes = std::uint8_t __attribute__((vector_size(64)));

// Byte i is 255 where bit i is set, else 0. Every byte is sent the eight bits it is among, keeps
// its own, and is compared with zero.
inline Bytes where(chess::Bitboard bits) {
  const Bytes all = (Bytes)chess::everywhere(bits);
  // Within each quarter of 16 bytes, as that is how far a byte shuffle reaches on x86.
  const Bytes among = __builtin_shufflevector(
      all, all, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18, 18, 18, 18, 18, 19,
      19, 19, 19, 19, 19, 19, 19, 36, 36, 36, 36, 36, 36, 36, 36, 37, 37, 37, 37, 37, 37, 37, 37,
      54, 54, 54, 54, 54, 54, 54, 54, 55, 55, 55, 55, 55, 55, 55, 55);
  const Bytes own = (Bytes)chess::everywhere(0x8040201008040201ULL);
  return (Bytes)((among & own) != 0);
}

inline void store(Bytes bytes, void* out) { __builtin_memcpy(out, &bytes, sizeof bytes); }

}  // namespace rungs::env
